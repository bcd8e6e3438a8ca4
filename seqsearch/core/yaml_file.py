"""YAML files of others: plain values, no key twice, no more of it than was asked for."""

from __future__ import annotations

import dataclasses
import errno
import stat
import typing
from pathlib import Path
from typing import Any, TypeVar

import yaml

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief, built, fits, in_words

R = TypeVar("R")


def read_plain(path: Path, largest: int, deepest: int) -> Any:
    """Parse a YAML file, see `plain`. It may be a pipe, as in ``--config <(...)``.

    Args:
        largest: bytes that it may have.
        deepest: lists and mappings that may be within each other.

    Raises:
        ValueError: see `plain`; it is larger, or is no UTF-8.
        OSError: it cannot be read.
        yaml.YAMLError: it is no YAML.
    """
    with path.open("rb") as file:
        text = file.read(largest + 1)
    if len(text) > largest:
        raise ValueError(f"it has more than {largest >> 10} kB")
    return plain(text.decode(), deepest)


def plain(text: str, deepest: int) -> Any:
    """Parse a YAML text without aliases, because a few lines of aliases can stand for more than fits into memory.

    Raises:
        ValueError: it has an alias or a key twice, is nested too deeply, or a value is not of the kind that its tag names.
        yaml.YAMLError: it is no YAML.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same, and faster
    depth = 0
    for event in yaml.parse(text, loader):
        line = f"line {event.start_mark.line + 1}" if event.start_mark else "it"
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise ValueError(f"{line} has an alias (*{event.anchor}): write out what it stands for")
        if depth > deepest:
            raise ValueError(f"{line} is nested too deeply")
    node = yaml.compose(text, loader)
    _check_keys(node)

    class Unique(yaml.constructor.SafeConstructor):
        """Of keys that are one value, as 0 and 00, YAML would take the last."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            own, merged = len(node.value), any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value)
            found = super().construct_mapping(node, deep)
            if len(found) < own and not merged:
                raise ValueError("a key stands twice")
            return found

    try:
        return None if node is None else Unique().construct_document(node)
    except (AttributeError, TypeError, LookupError, OverflowError) as error:  # e.g. of `!!timestamp x`
        raise ValueError(f"a value is not of the kind that its tag names ({error})") from None


def read_mapping(path: Path, largest: int, deepest: int, schema: str) -> dict[str, Any]:
    """Read a YAML file that names this ``schema``, and return its other entries; see `read_plain`.

    Raises:
        UserError: it cannot be read, or is of another schema.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "it is no plain file")
        content = read_plain(path, largest, deepest)
    except (OSError, yaml.YAMLError, ValueError) as error:
        said = getattr(error, "strerror", None) or " ".join(str(error).split())[:300]
        raise UserError(f"{path} cannot be read as YAML: {said}") from None
    if not isinstance(content, dict) or content.get("schema") != schema:
        raise UserError(f"{path} is another file than was asked for: it must have `schema: {schema}`")
    return {key: value for key, value in content.items() if key != "schema"}


def record(where: str, content: Any, kind: type[R]) -> R:
    """A record of plain values, with the defaults of ``kind`` for what is left out.

    Raises:
        UserError: an unknown key, one that lacks, or a value of another kind; ``where`` begins the line.
    """
    if not isinstance(content, dict):
        raise UserError(f"{where} must hold `key: value` lines")
    fields = {f.name: f for f in dataclasses.fields(typing.cast(Any, kind))}
    if unknown := [k for k in content if k not in fields]:
        raise UserError(f"{where}: unknown key {brief(unknown[0])}; keys are {', '.join(fields)}")
    hints, values = typing.get_type_hints(kind), {}
    for name, f in fields.items():
        if name not in content:
            if f.default is dataclasses.MISSING:
                raise UserError(f"{where}: {name} is missing")
            continue
        inner = typing.get_args(hints[name])
        if len(inner) == 2 and dataclasses.is_dataclass(inner[0]) and isinstance(content[name], list):
            values[name] = tuple(record(f"{where}: {name}", c, typing.cast(Any, inner[0])) for c in content[name])
        elif not fits(content[name], hints[name]):
            raise UserError(f"{where}: {name} is {brief(content[name])}, must be {_wanted(hints[name])}")
        else:
            values[name] = built(content[name], hints[name])
    return kind(**values)


def _wanted(kind: Any) -> str:
    texts = typing.get_origin(kind) is tuple and "str" in str(kind)
    return "a list of texts (numbers as they are printed: in quotes)" if texts else in_words(kind)


def _check_keys(node: Any) -> None:
    """Raises ValueError: a mapping in a YAML file has a key twice, of which YAML readers keep the last in silence."""
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                continue  # it is no name of an option
            if key.value in seen:
                raise ValueError(
                    f"line {line} has the key {brief(key.value)} of line {seen[key.value]} again: keep one of them"
                )
            seen[key.value] = line
    children = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else []
    for child in children + (node.value if isinstance(node, yaml.SequenceNode) else []):
        _check_keys(child)
