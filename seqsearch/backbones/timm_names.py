"""Names of timm's architectures, read from the text of the installed timm: importing it takes seconds, reading it 0.1 s."""

from __future__ import annotations

import difflib
import importlib.util
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from seqsearch.core.errors import UserError
from seqsearch.core.registry import names
from seqsearch.core.text import did_you_mean

_REGISTERED = re.compile(r"^@register_model\s+(?:@.*\n)*def (\w+)\(", re.MULTILINE)
_OLD_NAMES = re.compile(r"^register_model_deprecations\(__name__, \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_OLD_NAME = re.compile(r"""["'](\w+)["']\s*:""")


class Architectures(NamedTuple):
    """Names without weights.

    Attributes:
        listed: as ``timm.list_models()`` has them.
        old: names that timm still accepts for others.
    """

    listed: frozenset[str]
    old: frozenset[str]


def architectures() -> Architectures:
    """The architectures of the installed timm; both sets are empty if there is no timm.

    Nothing is remembered between processes, so that the names are always those of the timm that would be imported.
    """
    found = importlib.util.find_spec("timm")
    files = [] if found is None or found.origin is None else (Path(found.origin).parent / "models").rglob("*.py")
    listed, old = set[str](), set[str]()
    for file in files:
        text = file.read_text(encoding="utf-8")
        listed.update(_REGISTERED.findall(text))
        for table in _OLD_NAMES.findall(text):
            old.update(_OLD_NAME.findall(table))
    return Architectures(frozenset(listed), frozenset(old))


def check_architecture(name: str) -> None:
    """Check the architecture of a timm model; whether timm has the weights behind its dot is left to timm.

    Raises:
        UserError: the installed timm has no such architecture.
    """
    listed, old = architectures()
    if listed and name.partition(".")[0] not in listed | old:
        raise unknown(name, listed)


def unknown(name: str, listed: Iterable[str]) -> UserError:
    """The refusal of a backbone that is neither one of ours nor one of timm's ``listed`` architectures."""
    close = difflib.get_close_matches(name.partition(".")[0], sorted(listed), n=3, cutoff=0.5)
    like = f"; close to it: {', '.join(close)}" if close else ""
    meant = did_you_mean(name, [n for n in names("backbone") if n != "given"])
    return UserError(
        f"unknown backbone {name!r}: {meant}it is none of glyph_vit and plain_vit, nor a timm model (timm.list_models()){like}"
    )
