"""Mean reward of evaluated candidates by the groups of their classes.

Section 5.3 of "CLDyB: Towards Dynamic Benchmarking for Continual Learning" reports this figure. Rewards are from
``trace.parquet``.

The figures are descriptive. Candidates of a step share the state that they extend, and were not drawn at random. The
steps of a search depend on each other. So there is no interval, but the range over the steps.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from protocols.evaluate.compare.runs import ComparedRun
from seqsearch.results.rows import Row


@dataclass(frozen=True)
class GroupReward:
    """Candidates with classes of a group, each counting with the share of its classes that are of it.

    Attributes:
        candidates: how many have a class of it.
        reward: mean reward.
        above: mean of the reward minus the mean of all candidates of the same step (and search): steps differ in level.
        lowest, highest: of that, by step.
        steps: in how many it was evaluated.
    """

    run: str
    group: str
    candidates: int
    reward: float
    above: float
    lowest: float
    highest: float
    steps: int


@dataclass(frozen=True)
class GroupRewards:
    """By group, the most rewarding first; ``unknown``: classes of candidates, of ``classes``, whose group no file says."""

    groups: tuple[GroupReward, ...]
    unknown: int
    classes: int


def group_rewards(run: ComparedRun, names: dict[tuple[str, int], str]) -> GroupRewards:
    """From the run's trace; ``names``: groups of classes (pool digest and index) for traces that do not name them."""
    by_step: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in run.data.trace:
        if row["reward"] is not None and np.isfinite(row["reward"]):
            by_step[row["search_id"], row["step"]].append(row)
    parts: dict[str, list[tuple[float, float, float, tuple[str, int]]]] = defaultdict(list)
    unknown = classes = 0
    for step, rows in by_step.items():
        level = float(np.mean([r["reward"] for r in rows]))
        for row in rows:
            groups = _groups(row, names)
            unknown, classes = unknown + groups[""], classes + groups.total()
            for group, n in groups.items():
                parts[group].append((n / groups.total(), row["reward"], row["reward"] - level, step))
    found = [_of_group(run.name, group, p) for group, p in parts.items() if group]
    return GroupRewards(tuple(sorted(found, key=lambda g: (-g.above, g.group))), unknown, classes)


def _groups(row: Row, names: dict[tuple[str, int], str]) -> Counter[str]:
    """Classes of a candidate by group; ``""`` where it is not known."""
    ids = list(zip(row["pool_digests"], row["class_ids"], strict=False))
    said = row["groups"] or []
    said = said if len(said) == len(ids) else [""] * len(ids)
    return Counter(group or names.get(c, "") for group, c in zip(said, ids, strict=True))


def _of_group(run: str, group: str, parts: list[tuple[float, float, float, tuple[str, int]]]) -> GroupReward:
    weights, reward, above = (np.array([p[i] for p in parts]) for i in range(3))
    steps = list(dict.fromkeys(p[3] for p in parts))
    at = [np.array([p[3] == s for p in parts]) for s in steps]
    by_step = [float(np.average(above[i], weights=weights[i])) for i in at]
    return GroupReward(
        run,
        group,
        len(parts),
        float(np.average(reward, weights=weights)),
        float(np.average(above, weights=weights)),
        min(by_step),
        max(by_step),
        len(steps),
    )
