"""Joint training beside found and random sequences: which methods do it, and how it compares with final accuracy.

The joint learner of a method is the method itself: it learns all classes of a sequence as one task, with the same training seed,
on the same images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from protocols.cldyb.compared import Evaluated, Pair, image_shares
from seqsearch.core.types import MethodSpec
from seqsearch.methods.spec import capabilities_of
from seqsearch.results.joint import joint_rollout
from seqsearch.results.run import RunResults
from seqsearch.stats.drop import GapDifference, ImageShares, gap_difference


@dataclass(frozen=True)
class Gap:
    """The gaps to joint training of some methods, mean over these, and the difference of found and random sequences."""

    methods: tuple[str, ...]
    of: GapDifference


def trained_jointly(methods: Sequence[MethodSpec], joint: bool | None) -> tuple[MethodSpec, ...]:
    """Those that ``--joint`` asks for; by default those in closed form. A command does not say which classes are right."""
    if joint is False:
        return ()
    able = [m for m in methods if not m.command]
    return tuple(m for m in able if joint or capabilities_of(m).closed_form)


def joint_side(data: RunResults, method: str, side: Evaluated) -> Evaluated | None:
    """Joint training on the sequences of a side, with the same seeds; None where some was not trained, or not to its end."""
    if not side.seeds:
        return None
    rows = [[joint_rollout(data, s, method, r) for r in side.seeds] for s in side.sequences]
    whole = tuple(tuple(r for r in row if r is not None) for row in rows)
    return Evaluated(side.sequences, side.seeds, whole) if list(map(len, whole)) == list(map(len, rows)) else None


def joint_accuracy(data: RunResults, method: str, side: Evaluated) -> float | None:
    """Acc of joint training, mean over the sequences; every task weighs alike, as in Acc. None where it is not complete."""
    joint = joint_side(data, method, side)
    return float(joint.by_sequence.mean()) if joint else None


def incomplete(data: RunResults, pairs: Sequence[tuple[str, Pair]]) -> list[str]:
    """Methods whose joint training was begun on sequences that are compared, and is not complete, in a sentence each."""
    ids = {s.sequence_id for s in data.sequences if s.kind == "joint"}
    begun = {m for name, m, _ in data.rollouts if name in ids}
    return [
        f"{m}: joint training did not end well on all sequences, so that its gap is not known."
        for m, p in pairs
        if m in begun and p.seeds and joint_pair(data, m, p) is None
    ]


def joint_pair(data: RunResults, method: str, pair: Pair) -> Pair | None:
    """Joint training on both sides; None where it is not complete."""
    found, random = (joint_side(data, method, side) for side in (pair.found, pair.random))
    return Pair(found, random, pair.seeds) if found and random and pair.seeds else None


def gap_of(data: RunResults, pairs: Sequence[tuple[str, Pair]]) -> Gap | None:
    """Of the methods that were trained jointly; None without such, or unless they have as many sequences and the same seeds."""
    both = [(method, p, j) for method, p in pairs if (j := joint_pair(data, method, p))]
    shapes = {(len(p.found.sequences), len(p.random.sequences), p.found.seeds, p.seeds) for _, p, _ in both}
    if len(shapes) != 1:
        return None
    finals, joints = [p for _, p, _ in both], [j for _, _, j in both]
    found, random = (
        tuple(np.mean([getattr(p, side).final for p in of], axis=0) for of in (joints, finals))
        for side in ("found", "random")
    )
    (joint_f, final_f), (joint_r, final_r) = found, random
    difference = gap_difference((joint_f, final_f), (joint_r, final_r), _images(joints, finals))
    return Gap(tuple(method for method, _, _ in both), difference)


def _images(joints: Sequence[Pair], finals: Sequence[Pair]) -> ImageShares | None:
    """Return the share of each test image in the mean gap; None if per-image correctness is unknown."""
    joint, final = image_shares(joints), image_shares(finals)
    if joint is None or final is None or joint.found.shape != final.found.shape:
        return None
    return ImageShares(joint.found - final.found, joint.random - final.random, final.classes)
