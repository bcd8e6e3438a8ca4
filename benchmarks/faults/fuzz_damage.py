"""Damage to files, for `benchmarks.faults.fuzz`: bytes, and values of JSON, changed at random."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from seqsearch.engine.journal_lines import written

Random = np.random.Generator
Damage = Callable[[Random, bytes], bytes]
NAN, INFINITY = float("nan"), float("inf")
JUNK: list[Any] = [
    None, True, -1, 0, 10**9, 10**40, 0.5, -0.0, NAN, INFINITY, "", "a" * 3000, "../../x", "\x00\x1b[2J", "\udcff", [], {},
    [[]], [None], [1, "a"], {"a": {"a": []}}, "2020-01-01", "9" * 400,
]  # fmt: skip
WORDS = (
    b"\0",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\0" * 4,
    b"\xff" * 4,
    b"\xff\xff\xff\x7f",
    b"\0\0\0\x80",
    b"{",
    b"[",
    b'"',
    b"9" * 20,
)


def bytes_changed(draw: Random, data: bytes) -> bytes:
    """A few bits, words, spans or the end of it, changed."""
    found = bytearray(data)
    for _ in range(int(draw.integers(1, 5))):
        at, span = int(draw.integers(len(found) + 1)), int(2 ** draw.uniform(0, 8))
        what = draw.integers(7)
        if what == 0 and found:
            found[at % len(found)] ^= 1 << int(draw.integers(8))
        elif what == 1:
            word = WORDS[draw.integers(len(WORDS))]
            found[at : at + len(word)] = word
        elif what == 2:
            del found[at : at + span]
        elif what == 3:
            found[at:at] = found[at : at + span] * int(draw.integers(1, 9))
        elif what == 4:
            found[at:at] = draw.bytes(span)
        elif what == 5 and draw.random() < 0.3:
            del found[at:]
        elif what == 6:
            other = int(draw.integers(len(found) + 1))
            found[at : at + span] = found[other : other + span]
    return bytes(found)


def value_changed(draw: Random, value: Any) -> Any:
    """One value somewhere within, replaced, removed, or moved to another name."""
    if isinstance(value, (dict, list)) and value and draw.random() < 0.85:
        changed = value.copy()
        keys = list(changed) if isinstance(changed, dict) else range(len(changed))
        key, way = keys[int(draw.integers(len(keys)))], draw.random()
        if way < 0.1:
            del changed[key]
        elif way < 0.2 and isinstance(changed, dict):
            changed[str(JUNK[draw.integers(len(JUNK))])] = changed[key]
        else:
            changed[key] = value_changed(draw, changed[key])
        return changed
    return JUNK[draw.integers(len(JUNK))]


def json_changed(draw: Random, data: bytes) -> bytes:
    if draw.random() < 0.2:
        return bytes_changed(draw, data)
    return json.dumps(value_changed(draw, json.loads(data))).encode()


def journal_changed(draw: Random, data: bytes) -> bytes:
    """Mostly with a right checksum: else hardly anything is looked at."""
    if draw.random() < 0.2:
        return bytes_changed(draw, data)
    rows = data.splitlines(keepends=True)
    at = int(draw.integers(len(rows)))
    entry = {k: v for k, v in json.loads(rows[at]).items() if k != "sum"}
    changed = value_changed(draw, entry)
    rows[at] = written(changed) if isinstance(changed, dict) and changed else json.dumps(changed).encode() + b"\n"
    return b"".join(rows)
