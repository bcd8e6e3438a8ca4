"""Classes of a frozen order under the slightly other names that a pool may have for them: an exact rule, no guess."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.results.frozen import FrozenClass

_NUMBER = re.compile(r"\d+[._ -]+(?=.)", re.ASCII)


def plain(name: str) -> str:
    """A name's letters and digits alone, in small letters.

    >>> plain("Black-footed_Albatross")
    'blackfootedalbatross'
    """
    return "".join(c for c in name.casefold() if c.isalnum())


class Forms(NamedTuple):
    """Names that a class may have, in the form of `plain`."""

    own: set[str]
    """The name of the class with and without the number before it, what it reads, and the part of that before the first comma."""
    further: set[str]
    """The other parts of what it reads, which are other words for the class."""


def forms(c: FrozenClass) -> Forms:
    """Return the names that a class may have.

    >>> tuple(map(sorted, forms(FrozenClass("001.Laysan_Albatross", "", ""))))
    (['001laysanalbatross', 'laysanalbatross'], [])
    >>> tuple(map(sorted, forms(FrozenClass("n01", "harmonica, harp", ""))))
    (['harmonica', 'harmonicaharp', 'n01'], ['harp'])
    """
    first, *others = c.reads.split(",")
    own = {plain(text) for text in (c.name, _NUMBER.sub("", c.name, count=1), c.reads, first)} - {""}
    return Forms(own, {plain(text) for text in others} - {""} - own)


def called(classes: Sequence[FrozenClass], there: Sequence[str], where: str) -> dict[str, str]:
    """Map each frozen class to its name among the names that are ``there``. Classes that are not there are left out.

    A class whose exact name is there has that name. Any other class gets the one remaining name that is one of its own
    `forms` and of no other class. A name that is no class's own form goes to a class if it is another word for that
    class alone.

    Raises:
        UserError: several names could be meant.
    """
    exact = {c.name for c in classes} & set(there)
    owners = {form: name for form, name in _owners(classes).items() if name not in exact}
    found = {name: name for name in exact}
    for name in there:
        owner = owners.get(plain(name))
        if owner is None or name in exact:
            continue
        if owner in found:
            raise UserError(
                f"{where}: class {brief(owner)} could be {brief(found[owner])} or {brief(name)} of the pool: rename one of them"
            )
        found[owner] = name
    return found


def _owners(classes: Sequence[FrozenClass]) -> dict[str, str]:
    """The name of the class that a form stands for, of all forms that stand for one alone."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for rank in (0, 1):
        times = Counter(form for c in classes for form in forms(c)[rank])
        found |= {f: c.name for c in classes for f in forms(c)[rank] if times[f] == 1 and f not in taken}
        taken |= times.keys()
    return found
