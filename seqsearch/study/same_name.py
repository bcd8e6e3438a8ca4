"""Finds classes that are in both the tuning and the evaluation pool, by their names.

Two classes have the same name if their `folded` names are equal. One may be an alias of the other if they have a form in common.
The forms of a name (see `_names_by_form` for the rules) are for instance:

=========================  ==================================================================
name                       forms
=========================  ==================================================================
``Hot_Dogs``               ``hotdogs``, ``hotdog``
``001.Laysan_Albatross``   ``001laysanalbatross``, ``laysanalbatross``
``n01498041`` (stingray)   ``n01498041``, ``stingray``
``letter es``              ``letteres`` (not ``lettere``: ``es`` is too short to have a plural)
=========================  ==================================================================
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal, TypeVar

from seqsearch.building.aliases import plain as letters_without_plural
from seqsearch.pools.union import Union as PoolUnion
from seqsearch.results.class_aliases import forms
from seqsearch.results.frozen import FrozenClass, frozen_orders

_WORDNET = re.compile(r"n\d{8}", re.ASCII)

T = TypeVar("T")
Called = Literal["name", "alias"]
Pair = tuple[int, int]
"""Index of a class of the tuning pool, and index of a class of the evaluation pool."""


def by_name(
    tuning: PoolUnion, evaluation: PoolUnion, tuned: Sequence[int], evaluated: Sequence[int]
) -> dict[Pair, Called]:
    """Find classes that are in both the tuning and the evaluation pool: pairs with the same name, or with names for one thing.

    Args:
        tuning: the pool on which hyperparameters are tuned.
        evaluation: the pool on which methods are evaluated.
        tuned: indices of the classes of ``tuning`` that are in play.
        evaluated: indices of the classes of ``evaluation`` that are in play.

    Returns:
        For each pair "name" if the names are equal but for case and separators, "alias" if they only have a form in common.
    """
    of_tuning, of_evaluation = _classes(tuning, tuned), _classes(evaluation, evaluated)
    here, there = (
        _grouped((folded(name), i) for name, indices in side.items() for i in indices)
        for side in (of_tuning, of_evaluation)
    )
    same = {p for key in here.keys() & there.keys() for p in covering_pairs(here[key], there[key])}
    a, b = _names_by_form(of_tuning), _names_by_form(of_evaluation)
    alike = {
        pair
        for form in a.keys() & b.keys()
        for first, second in covering_pairs(a[form], b[form])
        if not (_WORDNET.fullmatch(first) and _WORDNET.fullmatch(second)) and folded(first) != folded(second)
        for pair in covering_pairs(of_tuning[first], of_evaluation[second])
    }
    found: dict[Pair, Called] = dict.fromkeys(alike, "alias")
    return found | dict.fromkeys(same, "name")


def _classes(pools: PoolUnion, indices: Iterable[int]) -> dict[str, list[int]]:
    """Indices of the classes by name."""
    return _grouped((pools.classes[index].name, index) for index in indices)


def _grouped(named: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for name, index in named:
        found[name].append(index)
    return dict(found)


def _names_by_form(names: Iterable[str]) -> dict[str, list[str]]:
    """The names of a pool by the forms that stand for them.

    1. A name has the form of its letters and digits, with and without a plural s: ``Hot_Dogs`` has ``hotdogs`` and ``hotdog``.
    2. A name that begins with a number also has the form without it: ``001.Laysan_Albatross`` has ``laysanalbatross``.
    3. A WordNet id also has the forms of the words that it stands for, all together and the first alone, each with and without a
       plural s: ``n01531178`` (goldfinch, Carduelis carduelis) has ``goldfinch``.
    4. A WordNet id also has the form, without a plural s, of each further word that it stands for: ``n01531178`` has
       ``cardueliscardueli``. A word that is a form of another class, of this pool or of ImageNet-R and -A, is left out: ``harp``
       is a further word for the harmonica, but a class of its own.
    5. A form that several names have stands only for WordNet ids and for names that are the form itself by rule 1.
       So ``ofclubs``, which rule 2 gives both ``3 of clubs`` and ``5 of clubs``, stands for neither.
    """
    known = {c.name: c for c in wordnet()}
    taken = {form for c in known.values() for form in _own_forms(c)} | {_without_plural(n) for n in names}
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        c = known.get(name, FrozenClass(name, "", ""))
        further = {letters_without_plural(f) for f in forms(c).further} - taken
        for form in _own_forms(c) | further:
            found[form].append(name)
    several = {
        form: [n for n in own if n in known or _without_plural(n) == form]
        for form, own in found.items()
        if len(own) > 1
    }
    return {form: own for form, own in (found | several).items() if own}


def _own_forms(c: FrozenClass) -> set[str]:
    """Return the forms of a class by rules 1 to 3 of `_names_by_form`."""
    own = forms(c).own
    return {_without_plural(c.name)} | own | ({letters_without_plural(form) for form in own} if c.reads else set())


def _without_plural(name: str) -> str:
    """Letters and digits of a name in small letters. A plural s is dropped if the last word has more than three letters, so that
    ``letter es`` stays different from ``letter e``."""
    joined = "".join(c for c in name.casefold() if c.isalnum()) or name
    return letters_without_plural(name) if len(folded(name).rpartition(" ")[2]) > 3 else joined


@cache
def wordnet() -> tuple[FrozenClass, ...]:
    """Classes of ImageNet-R and -A. Their names are WordNet ids; ``reads`` has the words that the id stands for."""
    found = {c.name: c for order in frozen_orders() for c in order.of.classes if c.reads and _WORDNET.fullmatch(c.name)}
    return tuple(found.values())


def folded(name: str) -> str:
    """A name in small letters, with one blank for any run of blanks, ``_`` and ``-``: ``Hot-Dog`` becomes ``hot dog``."""
    return " ".join(re.sub(r"[\s_-]+", " ", name.casefold()).split()) or name


def covering_pairs(tuned: Sequence[T], evaluated: Sequence[T]) -> list[tuple[T, T]]:
    """Pairs in which each element of both sides occurs. Not all pairs: there may be thousands of elements on both sides.

    The first of ``tuned`` is paired with all of ``evaluated``, the rest of ``tuned`` with the first of ``evaluated``.
    """
    return [(tuned[0], j) for j in evaluated] + [(t, evaluated[0]) for t in tuned[1:]]
