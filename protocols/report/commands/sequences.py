"""The task sequences of a run with the names and groups of their classes: for ``show --sequence`` and for plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from protocols.report.text import line
from seqsearch.core.text import counted
from seqsearch.results.in_names import InNames, NamedClass

KINDS = {
    "searched": "found by search",
    "hard": "planned hard",
    "easy": "planned easy",
    "named": "named order",
    "fitted": "extreme by a fit",
    "given": "given",
    "random": "random",
    "enumerated": "one of all there are",
    "heldout": "random, of the held-out pool",
    "regrouped": "found classes in other tasks",
    "reordered": "found tasks in another order",
    "retrained": "trained again with other seeds",
    "joint": "all classes as one task",
}
"""Names of the kinds of sequences."""
FOUND = ("searched", "hard", "easy", "named", "fitted", "given")
"""Kinds that are shown however many there are."""
MOST = 10
"""Sequences of the other kinds that are shown, by their names without the number."""


def render(title: str, sequences: Sequence[InNames], rest: str = "") -> RenderableType:
    """All found sequences and the first `MOST` of every other sort, task by task; ``rest``: where the others are to be had."""
    shown, left = chosen(sequences)
    times = Counter(s.sequence.kind for s in sequences)
    kinds = "; ".join(f"{n:,} {KINDS.get(kind, kind)}" for kind, n in times.items())
    groups = {c.group for s in sequences for task in s.tasks for c in task}
    one = next(iter(groups)) if len(groups) == 1 else ""
    heads = [line(f"{title}: {kinds}", "bold"), *([line(f"all classes are of group {one}")] if one else [])]
    ends = [line(f"{left:,} more random ones or the like are not shown{rest}", "dim")] if left else []
    return Group(*heads, *(part for s in shown for part in _sequence(s, with_groups=len(groups) > 1)), *ends)


def to_json(sequences: Iterable[InNames]) -> list[dict[str, Any]]:
    """All of them, in plain values."""
    return [
        {
            "sequence_id": s.sequence.sequence_id,
            "kind": s.sequence.kind,
            "method_ids": list(s.sequence.method_ids),
            "tasks": [
                {"step": step, "value": value, "classes": [_plain(c) for c in task]}
                for step, (task, value) in enumerate(zip(s.tasks, s.sequence.values, strict=True), 1)
            ],
        }
        for s in sequences
    ]


def chosen(sequences: Sequence[InNames]) -> tuple[list[InNames], int]:
    """Those that are shown, found ones first, and the number of the others."""
    times: Counter[tuple[str, str]] = Counter()
    found, others, left = list[InNames](), list[InNames](), 0
    for s in sequences:
        sort = (s.sequence.kind, s.sequence.sequence_id.rpartition("-")[0])
        times[sort] += 1
        if s.sequence.kind in FOUND:
            found.append(s)
        elif s.sequence.kind == "joint":  # the classes of another sequence
            continue
        elif times[sort] <= MOST:
            others.append(s)
        else:
            left += 1
    return [*found, *others], left


def _plain(c: NamedClass) -> dict[str, Any]:
    return {"name": c.name, "group": c.group, "class_id": c.index, "pool_digest": c.pool}


def _sequence(s: InNames, with_groups: bool) -> Iterator[RenderableType]:
    """A line on the sequence, and a line or more for each task."""
    own, searched = s.sequence, s.sequence.kind == "searched"
    score = next((v for v in own.values if v is not None), None)
    of_methods = f", for {', '.join(own.method_ids)}" if searched and own.method_ids else ""
    of_score = f"; S {score:.5g}" if score is not None and not searched else ""
    yield line("")
    yield line(
        f"{own.sequence_id}: {KINDS.get(own.kind, own.kind)}{of_methods}; {counted(len(s.tasks), 'task')}{of_score}",
        "bold" if own.kind in FOUND else "",
    )
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", no_wrap=True)
    if searched and score is not None:
        grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    for step, (task, value) in enumerate(zip(s.tasks, own.values, strict=True), 1):
        evaluated = [line("" if value is None else f"J {value:.3f}")] if len(grid.columns) == 3 else []
        grid.add_row(line(f"  {step}"), *evaluated, line(in_words(task, with_groups)))
    yield grid


def in_words(task: Sequence[NamedClass], with_groups: bool = True) -> str:
    """Names in order of arrival, those that follow each other in one group behind its name: ``birds: owl, wren; cars: van``."""
    if not with_groups:
        return ", ".join(map(_name, task))
    parts = [(group, [_name(c) for c in members]) for group, members in groupby(task, key=lambda c: c.group)]
    return "; ".join(f"{group}: {', '.join(names)}" if group else ", ".join(names) for group, names in parts)


def _name(c: NamedClass) -> str:
    return f"class {c.index} of another pool" if c.name is None else c.name
