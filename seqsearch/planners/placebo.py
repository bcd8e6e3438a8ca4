"""A search that cannot learn (``--reward shuffled``): its candidates are trained as always, and their results change places."""

from __future__ import annotations

import numpy as np

from seqsearch.planners.step import Arm


def shuffle(arms: list[Arm], rng: np.random.Generator) -> None:
    """Permute the results of all simulations among the arms that were evaluated, each arm's results together; then the arms.

    Every permutation is as likely, whatever the results are. The arm with the largest J is then a uniform choice among the
    evaluated arms, with every ``--allocation`` and at every temperature; equal J go to the first arm, which is any. Arms that
    failed keep their failure.
    """
    evaluated = [a for a in arms if a.visits and not a.invalid]
    results = [(a.values, a.rewards, a.image_variance) for a in evaluated]
    for arm, i in zip(evaluated, rng.permutation(len(evaluated)), strict=True):
        arm.values, arm.rewards, arm.image_variance = results[i]
    arms[:] = [arms[i] for i in rng.permutation(len(arms))]
