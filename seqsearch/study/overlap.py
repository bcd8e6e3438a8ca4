"""Overlap of two pools: classes of the same name, classes under two names, images.

Tuning on one pool and evaluating on the other needs pools without overlap. Otherwise hyperparameters are chosen by the
classes and images that are evaluated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.core.text import counted, cut, shown
from seqsearch.pools.base import Pool
from seqsearch.pools.parts.prints import Observe, Prints, fingerprints
from seqsearch.pools.union import Union, class_names
from seqsearch.storage.files import cache_root
from seqsearch.study.same_name import Called, Pair, by_name, covering_pairs, folded

ALL = "all"
"""Value that allows any overlap."""
MANY = 20_000
"""Images of a pool, to be decoded, from which progress is reported."""
NAMED = 5
"""Classes that a refusal names."""


@dataclass(frozen=True)
class Shared:
    """A class to tune on and one to evaluate on that have something in common.

    Attributes:
        tuned, evaluated: names of the two classes, each unique in its pools (`class_names`).
        tuned_index, evaluated_index: their places among the classes of their pools.
        called: ``name`` if it is the same but for case and separators, ``alias`` if one may be called like the other, or empty.
        images: how many different images are in both.
    """

    tuned: str
    evaluated: str
    tuned_index: int
    evaluated_index: int
    called: Called | Literal[""]
    images: int


@dataclass(frozen=True)
class Overlap:
    """Overlap of the classes in play of two pools.

    Attributes:
        tune, evaluated: names of the pools.
        shared: by the class that is evaluated. Of several classes to tune on that share the same thing with several to evaluate
            on, each is in at least one pair, not in all.
        images: different images that are in both.
    """

    tune: str
    evaluated: str
    shared: tuple[Shared, ...]
    images: int

    @property
    def evaluated_indices(self) -> tuple[int, ...]:
        """Evaluation classes that share something with a class to tune on, increasing."""
        return tuple(sorted({s.evaluated_index for s in self.shared}))


def overlaps(
    tune: Pool | Union,
    evaluated: Pool | Union,
    tune_classes: Sequence[int],
    evaluated_classes: Sequence[int],
    cache: Path | None = None,
    observe: Observe = lambda done, total: None,
) -> Overlap:
    """Find the overlap of these classes.

    Every image of them is decoded once, small. Its fingerprint (`seqsearch.pools.parts.prints`) is kept in ``cache``,
    by default the user's. Pixels are compared with pixels, so a folder can be compared with a Parquet file and with
    drawn images.

    Args:
        observe: called with images done, and all that are to do, for one pool after the other.

    Raises:
        UserError: an image cannot be read.
    """
    one, other = (p if isinstance(p, Union) else Union([p]) for p in (tune, evaluated))
    called = by_name(one, other, tune_classes, evaluated_classes)
    kept = cache or cache_root()
    images, distinct = _by_images(
        _prints(one, tune_classes, kept, observe), _prints(other, evaluated_classes, kept, observe)
    )
    names, there = class_names(one), class_names(other)
    pairs = sorted(called.keys() | images.keys(), key=lambda pair: pair[::-1])
    shared = [Shared(names[t], there[j], t, j, called.get((t, j), ""), images.get((t, j), 0)) for t, j in pairs]
    return Overlap(one.name, other.name, tuple(shared), distinct)


def tenths(notice: Callable[[str], None] | None) -> Observe:
    """Return an observer for `overlaps`, which reports progress at the beginning and after each tenth, for pools of
    more than `MANY` images."""
    before = [-1, 0]

    def observe(done: int, total: int) -> None:
        tenth = 10 * done // max(1, total)
        if notice is None or total <= MANY or before == [tenth, total]:
            return
        before[:] = tenth, total
        notice(f"looking whether pools share images: {done:,} of {counted(total, 'image')} of a pool looked at")

    return observe


def refused(overlap: Overlap, allowed: Sequence[str]) -> None:
    """Check that the whole overlap is allowed: by ``all``, or by the name of either class of each pair.

    Raises:
        UserError: a pair is not allowed, or an allowed name belongs to no class of the overlap; in one line.
    """
    wanted = {folded(name): name for name in allowed if name != ALL}
    names = [{folded(n) for s in (p.tuned, p.evaluated) for n in (s, s.rpartition("/")[2])} for p in overlap.shared]
    if unknown := [name for key, name in wanted.items() if not any(key in own for own in names)]:
        there = f"they share {_some(overlap.shared)}" if overlap.shared else "they share nothing"
        raise UserError(f"--allow-overlap {_short(unknown[0])}: the pools share no class of that name; {there}")
    left = [p for p, own in zip(overlap.shared, names, strict=True) if not own & wanted.keys()]
    if left and ALL not in allowed:
        classes = len({p.evaluated_index for p in left})
        in_both = f"{counted(overlap.images, 'image')} {'is' if overlap.images == 1 else 'are'} in both"
        images = f", and {in_both}" if any(p.images for p in left) else ""
        raise UserError(
            f"pools {_short(overlap.tune)} (to tune on) and {_short(overlap.evaluated)} (to evaluate on) share "
            f"{counted(classes, 'class')}: {_some(left)}{images}: take others, or allow it with --allow-overlap NAME "
            f"(repeatable), or --allow-overlap {ALL}"
        )


def _some(pairs: Sequence[Shared]) -> str:
    named = [
        (_short(p.evaluated) if p.tuned == p.evaluated else f"{_short(p.tuned)} = {_short(p.evaluated)}")
        + ("" if p.called else f" ({counted(p.images, 'image')})")
        for p in pairs[:NAMED]
    ]
    return ", ".join(named) + (f" and {len(pairs) - NAMED} more" if len(pairs) > NAMED else "")


def _short(name: str) -> str:
    return f"'{shown(cut(name, 60))}'"


def _prints(pools: Union, classes: Sequence[int], cache: Path, observe: Observe) -> dict[int, Prints]:
    """Fingerprints by class; a class that occurs several times is looked at once."""
    own: Mapping[int, list[tuple[int, int]]] = defaultdict(list)
    for index in sorted(set(classes)):
        part, inside = pools.part_of_class(index)
        own[part].append((index, inside))
    found: dict[int, Prints] = {}
    for part, members in own.items():
        prints = fingerprints(pools.parts[part], [inside for _, inside in members], cache, observe)
        found |= {index: p for (index, _), p in zip(members, prints, strict=True)}
    return found


def _by_images(tuned: Mapping[int, Prints], evaluated: Mapping[int, Prints]) -> tuple[dict[Pair, int], int]:
    """How many images each pair of classes shares, and how many different ones are on both sides."""
    mine, theirs = (np.concatenate([np.zeros(0, np.uint64), *side.values()]) for side in (tuned, evaluated))
    common: Prints = np.intersect1d(mine, theirs)
    counts: dict[Pair, int] = defaultdict(int)
    holders = [_holders(side, common) for side in (tuned, evaluated)]
    for print_ in common.tolist():
        for pair in covering_pairs(holders[0][print_], holders[1][print_]):
            counts[pair] += 1
    return dict(counts), len(common)


def _holders(side: Mapping[int, Prints], common: Prints) -> dict[int, list[int]]:
    """By fingerprint the classes, each once, that have such an image."""
    found: dict[int, list[int]] = defaultdict(list)
    for index, prints in side.items() if len(common) else ():
        own = np.unique(prints)
        at = np.searchsorted(common, own).clip(max=len(common) - 1)
        for print_ in own[common[at] == own].tolist():
            found[print_].append(index)
    return found
