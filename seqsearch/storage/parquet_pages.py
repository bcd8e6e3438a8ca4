"""The pages of a column in a Parquet file, by their own headers.

Arrow allocates as much memory for a page as its header asks for, and a header of a few bytes can ask for two gigabytes. What the
footer says of sizes binds nobody. So the headers are read first. They are Thrift structs in compact protocol
(https://github.com/apache/parquet-format, https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

HEADER = 4096
"""Bytes of a header that are read at first; one with long statistics takes more."""
LONGEST_HEADER = 1 << 20
DEEPEST = 8
"""Structs within structs; a page header has three levels."""
MOST_PAGES = 100_000
"""Pages of one column of one row group. Writers make them of a megabyte or of thousands of values."""

_TYPE, _FULL, _STORED = 1, 2, 3
_KINDS = {0: (5, 2), 3: (8, 4)}
"""Pages that hold values, of version 1 and 2: the field of their own header, and its field of the encoding."""
DELTA_BYTE_ARRAY = 7
"""The encoding that gives only what is new in a value against the one before it."""


class Page(NamedTuple):
    """``stored`` bytes in the file become ``full`` bytes in memory; ``values`` (nulls included), 0 if it is no data page."""

    stored: int
    full: int
    values: int
    encoding: int


class BadHeader(Exception):
    """Something else than a page header."""


def pages(read_at: Callable[[int, int], bytes], start: int, end: int, values: int) -> list[Page]:
    """The pages between two places of a file, as far as a reader goes that needs so many values.

    Args:
        read_at: gives so many bytes from a place on.

    Raises:
        BadHeader: something else is there, or a page reaches beyond ``end``.
        OSError: the file cannot be read.
    """
    found, at, seen = list[Page](), start, 0
    while at < end and seen < values:
        page, size = _page(read_at, at, end)
        at += size + page.stored
        seen += page.values
        if at > end or len(found) == MOST_PAGES:
            raise BadHeader("pages beyond the end of their column" if at > end else f"more than {MOST_PAGES} pages")
        found.append(page)
    return found


def _page(read_at: Callable[[int, int], bytes], at: int, end: int) -> tuple[Page, int]:
    """The page at a place of the file, and the length of its header."""
    size = HEADER
    while True:
        data = read_at(min(size, end - at), at)
        try:
            fields, used = _struct(data, 0, 0)
            break
        except IndexError:
            if len(data) < size or size >= LONGEST_HEADER:
                raise BadHeader("a page header that does not end") from None
            size *= 16
    full, stored = fields.get(_FULL), fields.get(_STORED)
    if not (isinstance(full, int) and isinstance(stored, int) and full >= 0 and stored >= 0):
        raise BadHeader("a page without a size")
    header, encoding = _KINDS.get(fields.get(_TYPE, -1), (-1, -1))
    own = fields.get(header, {1: 0})
    values = own.get(1) if isinstance(own, dict) else None
    if not (isinstance(values, int) and values >= 0):
        raise BadHeader("a page without a number of values")
    return Page(stored, full, values, own.get(encoding, -1)), used


# ------------------------------------------------------------------------------------------------ Thrift


def _struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Integers and structs of a struct by field number, and where it ends. IndexError: it goes on beyond ``data``."""
    if depth > DEEPEST:
        raise BadHeader("a page header nested too deeply")
    fields: dict[int, Any] = {}
    number = 0
    while (head := data[at]) != 0:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(data, at)
        value, at = _value(data, at, head & 15, depth)
        if value is not None:
            fields[number] = value
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, depth: int, in_list: bool = False) -> tuple[Any, int]:
    """A value of a kind: an integer or a struct, None for all others, which are passed over."""
    if kind in (1, 2):  # true, false: said by the kind itself, but in a list
        return None, at + in_list
    if kind == 3:
        return None, at + 1
    if kind in (4, 6):  # of 16 and 64 bits: all that is wanted has 32, and Arrow passes over others as well
        return None, _varint(data, at)[1]
    if kind == 5:
        return _integer(data, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:
        length, at = _varint(data, at)
        return None, at + length
    if kind in (9, 10):
        size, kind, at = data[at] >> 4, data[at] & 15, at + 1
        if size == 15:
            size, at = _varint(data, at)
        for _ in range(size):
            _, at = _value(data, at, kind, depth + 1, in_list=True)
            data[at - 1]  # IndexError rather than counting on beyond the end
        return None, at
    if kind == 12:
        return _struct(data, at, depth + 1)
    raise BadHeader("something else than a page header")


def _integer(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise BadHeader("a number of more than 64 bits")
