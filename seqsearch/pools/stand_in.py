"""Data that stand in for others that are not there: their mark, which goes wherever their images go.

The mark is in the names of their classes, so copies, halves, unions and files built of them carry it. What is opened with such
a class has a digest that ends in the mark, and the digest is part of the identity of each run on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

NAMED = "stand-in "
"""How the names of their classes begin."""
MARK = "-standin"
"""How the digests of their pools and streams end."""


def marked(digest: str, names: Iterable[str]) -> str:
    """The digest of a pool or stream with classes of these names; with the mark if one of them is of stand-in data.

    >>> marked("ab", ["stand-in cub200 001"]), marked("ab-standin", ["stand-in cub200 001"]), marked("ab", ["owl"])
    ('ab-standin', 'ab-standin', 'ab')
    """
    return digest.removesuffix(MARK) + MARK * any(name.startswith(NAMED) for name in names)


def has_mark(said: Any) -> bool:
    """Whether a digest in plain values, such as those of ``config.json``, is of stand-in data.

    >>> has_mark({"pools": [{"pool": "a-standin", "digest": "ab-standin"}]}), has_mark({"pool": "a-standin"})
    (True, False)
    """
    if isinstance(said, list | tuple):
        return any(map(has_mark, said))
    if not isinstance(said, dict):
        return False
    digests = (v for k, v in said.items() if str(k).endswith("digest") and isinstance(v, str))
    return any(d.endswith(MARK) for d in digests) or any(map(has_mark, said.values()))
