"""YAML files of others: plain values, no key twice, no more of it than was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seqsearch.core.typed import brief


def read_plain(path: Path, largest: int, deepest: int) -> Any:
    """What a YAML file says, without aliases: a few lines of them stand for more than fits into memory.

    Args:
        largest: bytes that it may have.
        deepest: lists and mappings that may be within each other.

    Raises:
        ValueError: it has an alias or a key twice, is nested too deeply, is larger, or is no UTF-8.
        OSError: it cannot be read.
        yaml.YAMLError: it is no YAML.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same, and faster
    with path.open("rb") as file:  # it may be a pipe, as in --config <(...)
        text = file.read(largest + 1).decode()
    if len(text) > largest:
        raise ValueError(f"it has more than {largest >> 10} kB")
    depth = 0
    for event in yaml.parse(text, loader):
        line = f"line {event.start_mark.line + 1}" if event.start_mark else "it"
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise ValueError(f"{line} has an alias (*{event.anchor}): write out what it stands for")
        if depth > deepest:
            raise ValueError(f"{line} is nested too deeply")
    _check_keys(yaml.compose(text, loader))
    return yaml.load(text, loader)


def _check_keys(node: Any) -> None:
    """Raises ValueError: a mapping in a YAML file has a key twice, of which YAML readers keep the last in silence."""
    import yaml

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
