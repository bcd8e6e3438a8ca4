"""A stream from its text: a name, a file that `seqsearch stream build` wrote, ``pool:POOL``, or ``FILE.py:OBJECT``."""

from __future__ import annotations

import os
from pathlib import Path

from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.paths import at_home
from seqsearch.core.registry import located_text, made, names
from seqsearch.streams.base import Stream, checked

MEMBERS = ("name", "digest", "classes", "labels", "times", "pool", "rows")
"""What an own stream must have."""


def located_stream(text: str, directory: Path) -> str:
    """A stream item as workers find it: paths in it made absolute."""
    item = parse_item(text, "stream")
    return located_text(text, "stream", directory) if item.target not in names("stream") else item.text


def build_stream(text: str) -> Stream:
    """A stream from the item grammar.

    Raises:
        UserError: unknown stream or option, or one that is not as `checked` wants it.
    """
    item = parse_item(text, "stream")
    if item.target in names("stream") or (":" in item.target and not os.path.exists(at_home(item.target))):
        found: Stream = made("stream", item, MEMBERS)
        return checked(found)
    raise UserError(
        f"unknown stream {item.text!r}: there are {', '.join(names('stream'))}; an own one is FILE.py:OBJECT"
    )
