"""What ``seqsearch sequences list`` and ``show`` say of frozen class orders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from protocols.report.terminal import explained
from seqsearch.results.frozen import PREFIX, Frozen, FrozenClass

HEADINGS = (
    "name",
    "data set",
    "tasks",
    "kind",
    "sequences",
    "S",
    "sd from random",
    "easy (hard: 0, easy: 1)",
    "digest",
)
DIGITS = 12
"""Of a digest that a table shows; the JSON has all."""
HOW = (
    "S: mean similarity of class names in neighbouring tasks (hard: low, easy: high); of random sequences beside it the distance "
    "from their mean\nin standard deviations. It is about names: what is hard for a method was not measured (docs/frozen.md).\n"
    "Tasks with names: seqsearch sequences show NAME. Use: seqsearch score frozen:NAME --pool POOL --methods ..."
)


def record(f: Frozen) -> dict[str, Any]:
    """An order without its tasks, in plain values."""
    n = f.length
    return {
        "name": f.order.name, "version": f.of.version, "source": PREFIX + f.name, "data_set": f.of.title,
        "classes": len(f.of.classes), "tasks": n.tasks, "kind": f.order.kind, "digest": f.order.digest,
        "scores": list(f.order.scores), "random_mean": n.random_mean, "random_sd": n.random_sd,
        "sd_from_random": [(s - n.random_mean) / n.random_sd for s in f.order.scores],
        "easy": list(f.places), "lowest": n.lowest, "highest": n.highest,
        "similarity": f.of.similarity, "similarity_digest": f.of.similarity_digest,
    }  # fmt: skip


def record_with_tasks(f: Frozen) -> dict[str, Any]:
    """An order, its classes, and its sequences with the names of their classes, in plain values."""
    classes = [{"name": c.name, "reads": c.reads or c.name, "group": c.group} for c in f.of.classes]
    return {**record(f), "class_list": classes, "sequences": {s.name: [list(t) for t in s.tasks] for s in f.sequences}}


def table(orders: Iterable[Frozen]) -> str:
    """A line for each order."""
    rows = [HEADINGS, *(_row(record(f)) for f in orders)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", HOW, explained("frozen")])


def _row(r: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{r['name']}@{r['version']}", r["data_set"], str(r["tasks"]), r["kind"], str(len(r["scores"])),
        _range(r["scores"], ".4f"), _range(r["sd_from_random"], "+.1f"), _range(r["easy"], ".2f"), r["digest"][:DIGITS],
    )  # fmt: skip


def _range(values: list[float], form: str) -> str:
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def text(f: Frozen) -> str:
    """An order with its tasks."""
    r, reads = record(f), {c.name: _reads(c) for c in f.of.classes}
    head = [
        f"{r['source']}: {r['kind']}, {r['tasks']} tasks of the {r['classes']} classes of {r['data_set']}, digest {r['digest']}",
        f"similarity: {r['similarity']}, digest {r['similarity_digest'][:DIGITS]}",
        f"random sequences have S {r['random_mean']:.4f}, sd {r['random_sd']:.4f}; none goes below {r['lowest']:.4f} or above "
        f"{r['highest']:.4f}",
    ]
    for s, score, away, place in zip(f.sequences, r["scores"], r["sd_from_random"], r["easy"], strict=True):
        head.append(f"\n{s.name}: S {score:.4f}, {away:+.1f} sd from random; {place:.2f} of the way from hard to easy")
        head += [f"  {t:2}: {', '.join(reads[c] for c in task)}" for t, task in enumerate(s.tasks, 1)]
    return "\n".join(head)


def _reads(c: FrozenClass) -> str:
    return f"{c.name} ({c.reads.partition(',')[0]})" if c.reads else c.name
