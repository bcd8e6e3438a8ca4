"""The command line that makes a run again, from its ``config.json``, without the folders of the machine that it ran on."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from protocols.running.protocol import Protocol
from seqsearch.core import command_line
from seqsearch.core.settings import flag
from seqsearch.core.text import shown

_FOLDERS = re.compile(r"(?<![\w./-])(?:~[^/,:;='\"]*)?/(?:[^/,:;='\"]+/)*(?=[^/,:;='\"\s])")
"""The folders of an absolute path within a setting."""


def without_folders(text: str) -> str:
    """A setting in which absolute paths are names alone.

    >>> without_folders("/home/me/my photos/birds/:half=1,er"), without_folders("resnet50=~/b.pt"), without_folders("timm/vit")
    ('birds/:half=1,er', 'resnet50=b.pt', 'timm/vit')
    """
    return _FOLDERS.sub("", text)


def absolute_folders(value: Any) -> set[str]:
    """Absolute folders in the texts of settings, as they stand before the names in them.

    >>> absolute_folders({"pool": "/home/me/my photos/birds/:half=1", "methods": ["er", "own/a.py:A"]})
    {'/home/me/my photos/'}
    """
    if isinstance(value, str):
        return {found for found in _FOLDERS.findall(value) if found.count("/") > 1}
    within = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return set().union(*map(absolute_folders, within))


def command_of(protocol: Protocol, config: Mapping[str, Any]) -> str:
    """All settings that are not the default. Files have no folders; methods that are commands have their labels."""
    said, identity = config.get("settings"), config.get("identity")
    methods = identity.get("methods") if isinstance(identity, dict) else None
    arguments, flags = list[str](), list[str]()
    for f in dataclasses.fields(protocol.settings):
        value = said.get(f.name, f.default) if isinstance(said, dict) else f.default
        value = tuple(value) if isinstance(value, list) else value
        if isinstance(value, str) and command_line.in_list(value):
            value = ",".join(methods if f.name == "methods" and isinstance(methods, dict) else [command_line.PREFIX])
        if f.metadata.get("argument"):
            arguments.append(without_folders(str(value)))
        elif value != f.default and not f.metadata.get("hidden"):
            flags += _words(f.name, value)
    return shlex.join(map(shown, ["seqsearch", protocol.made_by, *arguments, *flags]))


def _words(name: str, value: Any) -> Iterator[str]:
    """A flag with its value; one that is repeatable once for each."""
    if isinstance(value, bool):
        yield flag(name) if value else f"--no-{name.replace('_', '-')}"
    elif isinstance(value, tuple):
        for each in value:
            yield from (flag(name), without_folders(str(each)))
    else:
        yield from (flag(name), without_folders(str(value)))
