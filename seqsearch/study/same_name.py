"""Classes of two pools that have the same name, or may be called like each other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal, TypeVar

from seqsearch.building.aliases import plain
from seqsearch.pools.union import Union
from seqsearch.results.class_aliases import forms
from seqsearch.results.frozen import FrozenClass, frozen_orders

_WORDNET = re.compile(r"n\d{8}", re.ASCII)

T = TypeVar("T")
Called = Literal["name", "alias"]
Pair = tuple[int, int]
"""Indices of a class of the one and of one of the other."""


def by_name(one: Union, other: Union, tuned: Sequence[int], evaluated: Sequence[int]) -> dict[Pair, Called]:
    """Pairs of classes that have the same name, or may have."""
    mine, theirs = _classes(one, tuned), _classes(other, evaluated)
    here, there = (_grouped((folded(n), i) for n, own in side.items() for i in own) for side in (mine, theirs))
    same = {p for key in here.keys() & there.keys() for p in paired(here[key], there[key])}
    a, b = _stands_for(mine), _stands_for(theirs)
    alike = {
        pair
        for form in a.keys() & b.keys()
        for first, second in paired(a[form], b[form])
        if not (_WORDNET.fullmatch(first) and _WORDNET.fullmatch(second)) and folded(first) != folded(second)
        for pair in paired(mine[first], theirs[second])
    }
    found: dict[Pair, Called] = dict.fromkeys(alike, "alias")
    return found | dict.fromkeys(same, "name")


def _classes(pools: Union, indices: Iterable[int]) -> dict[str, list[int]]:
    """Classes by their names."""
    return _grouped((pools.classes[index].name, index) for index in indices)


def _grouped(named: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for name, index in named:
        found[name].append(index)
    return dict(found)


def _stands_for(names: Iterable[str]) -> dict[str, list[str]]:
    """The names that a form stands for (`seqsearch.results.class_aliases.forms`, and those without plural).

    A form that is not all of a name, but what is left of several (``of clubs`` of ``1 of clubs``), stands for none; a further
    word for a class does not where it is the name of another class, of these or of ImageNet-R and -A.
    """
    known = {c.name: c for c in wordnet()}
    taken = {form for c in known.values() for form in _own(c)} | {_singular(n) for n in names}
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        c = known.get(name, FrozenClass(name, "", ""))
        for form in _own(c) | ({plain(f) for f in forms(c)[1]} - taken):
            found[form].append(name)
    several = {
        form: [n for n in own if n in known or _singular(n) == form] for form, own in found.items() if len(own) > 1
    }
    return {form: own for form, own in (found | several).items() if own}


def _own(c: FrozenClass) -> set[str]:
    """Return all forms of the name of a class."""
    joined = forms(c)[0]
    return {_singular(c.name)} | joined | ({plain(form) for form in joined} if c.reads else set())


def _singular(name: str) -> str:
    """`plain`, but that ``letter es`` is not ``letter e``: the last word must have a singular."""
    joined = "".join(c for c in name.casefold() if c.isalnum()) or name
    return plain(name) if len(folded(name).rpartition(" ")[2]) > 3 else joined


@cache
def wordnet() -> tuple[FrozenClass, ...]:
    """Classes that are called by a WordNet id, and how they read: those of ImageNet-R and -A."""
    found = {c.name: c for order in frozen_orders() for c in order.of.classes if c.reads and _WORDNET.fullmatch(c.name)}
    return tuple(found.values())


def folded(name: str) -> str:
    """A name without case; blanks, ``_`` and ``-`` are one separator."""
    return " ".join(re.sub(r"[\s_-]+", " ", name.casefold()).split()) or name


def paired(tuned: Sequence[T], evaluated: Sequence[T]) -> list[tuple[T, T]]:
    """Pairs in which each is once or more: all with the first of the others, since there may be thousands on both sides."""
    return [(tuned[0], j) for j in evaluated] + [(t, evaluated[0]) for t in tuned[1:]]
