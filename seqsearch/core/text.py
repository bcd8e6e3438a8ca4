"""Untrusted text (names of files and classes, messages of libraries) in forms that can be stored, shown and copied safely."""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_DOUBTFUL = re.compile(r"[^\n -~]")
"""Characters that `shows` must test: all but newlines and printable ASCII."""
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Characters that are invisible although Unicode calls them printable, or that are ignored by default."""

_FORMULA = re.compile("'*[=+@-]|'*[\uff0b\uff0d\uff1d\uff20]")
"""The beginning of a cell that a spreadsheet computes (full-width signs as well), also behind apostrophes of `as_cell`."""


def as_cell(name: str) -> str:
    """A name that no spreadsheet takes for a formula: with an apostrophe before it, as spreadsheets themselves mark text."""
    return f"'{name}" if _FORMULA.match(name) else name


def from_cell(cell: str) -> str:
    """The name in a cell that `as_cell` may have written."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def printable(name: str) -> str:
    r"""A text that can be encoded as UTF-8. Bytes of a file name that are not UTF-8 are written as ``\xff``, other surrogates as
    ``\ud800``. Control characters and invisible ones stay; `shown` escapes them as well.

    >>> print(printable("caf\udce9"))
    caf\xe9
    """
    if name.isascii():
        return name
    return name.encode("utf-8", "surrogateescape" if _of_bytes(name) else "backslashreplace").decode(
        "utf-8", "backslashreplace"
    )


def counted(n: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1.

    >>> counted(1, "class"), counted(2000, "class"), counted(0, "image"), counted(2, "search"), counted(2, "study")
    ('1 class', '2,000 classes', '0 images', '2 searches', '2 studies')
    """
    if n == 1:
        return f"{n:,} {noun}"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{n:,} {noun[:-1]}ies"
    return f"{n:,} {noun}" + ("es" if noun.endswith(("s", "ch")) else "s")


def shown(text: str) -> str:
    r"""A text in one line in which every character is visible (`shows`): ``\n`` for a line break, ``\x1b`` for an escape.

    >>> print(shown("a\nb \x1b[31m\udcff"))
    a\nb \x1b[31m\xff
    """
    if shows(text):
        return text
    return "".join(c if shows(c) else c.encode("unicode_escape").decode() for c in printable(text))


def shows(text: str) -> bool:
    """Whether every character is visible: none moves the cursor, changes the direction of writing, or is blank (but for spaces).

    >>> shows("caf\u00e9 x"), shows("\u202ex"), shows("\u3164")
    (True, False, False)
    """
    return text.isprintable() and not _BLANK.search(text)


def shortened(text: str, most: int) -> str:
    """The beginning of a text, at most ``most`` characters; `cut` keeps its end as well.

    >>> shortened("abcdef", 6), shortened("abcdefg", 6)
    ('abcdef', 'abc...')
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def shown_lines(text: str) -> str:
    r"""As `shown`, but line breaks stay: for a text of several lines, such as a page.

    >>> print(shown_lines("a \x1b[31m\nb"))
    a \x1b[31m
    b
    """
    return _DOUBTFUL.sub(lambda found: shown(found[0]), text)


def json_line(value: Any) -> str:
    r"""JSON in one line in which every character is visible; values that JSON does not know are written as text.

    >>> print(json_line({"class": "\u7aef \x7f\u202e"}))
    {"class": "\u7aef \u007f\u202e"}
    """
    text = json.dumps(value, default=str, ensure_ascii=False)
    return _DOUBTFUL.sub(lambda found: found[0] if shows(found[0]) else _escape(found[0]), text)


def copyable(path: Path | str) -> str:
    r"""A path as one word of a shell's command line, also if it begins with a dash or has characters that a shell interprets.

    >>> print(copyable("runs/my run"), copyable("-x"), copyable("a\nb"))
    'runs/my run' ./-x $'a\x0ab'
    """
    text = str(path)
    text = f"./{text}" if text.startswith("-") else text
    if shows(text):
        return shlex.quote(text)
    return "$'" + "".join(c if shows(c) and c not in "'\\" else _bytes(c) for c in text) + "'"


def _bytes(character: str) -> str:
    r"""A character in the form of a shell's ``$'...'``: ``\x`` and two digits for each byte."""
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(character))


def _escape(character: str) -> str:
    r"""A character in JSON's form: ``\u`` and four digits, twice if it is beyond 16 bits."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def cut(text: str, most: int = 2000) -> str:
    """A text of at most ``most`` characters; of a longer one its beginning and its end, without the middle.

    >>> cut("a" * 100 + "b", 20)
    'aaaaaaaaaaa ... aaab'
    """
    if len(text) <= most:
        return text
    end = most // 5
    return f"{text[: most - end - 5]} ... {text[-end:]}"


def _of_bytes(text: str) -> bool:
    """Whether all surrogates of a text stand for bytes of a file name (Python's ``surrogateescape``)."""
    return all(not "\ud800" <= c <= "\udfff" or "\udc80" <= c <= "\udcff" for c in text)


def nearest(name: str, names: Iterable[str]) -> str:
    """Words for the end of a message: those of ``names`` that are spelled most like ``name``; empty if none is similar.

    >>> nearest("zebar", ["horse", "zebra"]), nearest("zebar", ["horse"])
    ("; the nearest: 'zebra'", '')
    """
    found = near(name, names)
    return f"; the nearest: {', '.join(map(repr, found))}" if found else ""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """As `nearest`, but a question for the middle of a message, before the list of all ``names``; empty if none is similar.

    >>> did_you_mean("ranpca", ["er", "ranpac"]), did_you_mean("m", ["M", "lr"]), did_you_mean("zebar", ["horse"])
    ('did you mean ranpac? ', 'did you mean M? ', '')
    """
    found = near(name, names)
    return f"did you mean {' or '.join(found)}? " if found else ""


def as_sentence(text: str) -> str:
    """A text with a capital first letter and without spaces around it, as a sentence of its own.

    >>> as_sentence("did you mean M? ")
    'Did you mean M?'
    """
    return (text[:1].upper() + text[1:]).strip()


def as_clause(sentence: str) -> str:
    """A sentence with a small first letter, as it follows a colon.

    >>> as_clause("Found sequences are harder.")
    'found sequences are harder.'
    """
    return sentence[:1].lower() + sentence[1:]


def near(name: str, names: Iterable[str]) -> list[str]:
    """At most three of ``names`` that are spelled most like ``name``, regardless of case, the most similar first.

    >>> near("Ranpca", ["er", "ranpac"])
    ['ranpac']
    """
    low = {n: n.lower() for n in names if len(n) <= 200}
    wanted = name[:200].lower()
    found = difflib.get_close_matches(wanted, set(low.values()), n=3)
    alike = sorted((n for n in low if low[n] in found), key=lambda n: (found.index(low[n]), _differing(n, name)))
    return alike[:3]


def _differing(one: str, other: str) -> int:
    """Number of places at which the letters differ."""
    return sum(a != b for a, b in zip(one, other, strict=False))
