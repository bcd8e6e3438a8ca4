"""Texts of others (names of files, of classes, messages of libraries): as they can be stored, and as they can be shown."""

from __future__ import annotations


def printable(name: str) -> str:
    r"""A text that can be written as UTF-8: with ``\xff`` for the bytes of a file name that are none.

    >>> print(printable("caf\udce9"))
    caf\xe9
    """
    if name.isascii():
        return name
    return name.encode("utf-8", "surrogateescape" if _of_bytes(name) else "backslashreplace").decode(
        "utf-8", "backslashreplace"
    )


def shown(text: str) -> str:
    r"""A text in one line in which every character shows: ``\n`` for a line break, ``\x1b`` for an escape.

    >>> print(shown("a\nb \x1b[31m\udcff"))
    a\nb \x1b[31m\xff
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in printable(text))


def cut(text: str, most: int = 2000) -> str:
    """A text of at most ``most`` characters: of a longer one its beginning and its end.

    >>> cut("a" * 100 + "b", 20)
    'aaaaaaaaaaa ... aaab'
    """
    if len(text) <= most:
        return text
    end = most // 5
    return f"{text[: most - end - 5]} ... {text[-end:]}"


def _of_bytes(text: str) -> bool:
    """Its surrogates, if there are any, stand for bytes of a file name."""
    return all(not "\ud800" <= c <= "\udfff" or "\udc80" <= c <= "\udcff" for c in text)
