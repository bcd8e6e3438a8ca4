"""The output of ``seqsearch sequences list`` and ``show``: frozen class orders."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Group, RenderableType

from protocols.report.table import COUNT, EDGE, NEITHER, OURS, Column, Layout, Scale, Value, table
from protocols.report.terminal import Grid, columns_of
from protocols.report.text import line
from seqsearch.results.frozen import PREFIX, Frozen, FrozenClass

OWN = f"{OURS}, docs/frozen.md"


def _span(form: str) -> Callable[[tuple[float, float]], str]:
    """From the lowest to the highest of some values."""

    def text(ends: tuple[float, float]) -> str:
        low, high = (format(end, form) for end in ends)
        return low if low == high else f"{low} to {high}"

    return text


ENDS = ("_lowest", "_highest")
ORDERS = Layout(
    "frozen",
    "",
    (
        Column("name", "name"),
        Column("data_set", "data set"),
        Column("tasks", "tasks", "tasks of a sequence", COUNT, NEITHER, OWN),
        Column("kind", "kind"),
        Column("sequences", "sequences", "sequences of this name", COUNT, NEITHER, OWN),
        Column(
            "S",
            "S",
            "similarity of class names in neighbouring tasks",
            Scale("that of the similarity", "any", _span(".4f")),
            "higher: easier, by the paper",
            f"{EDGE}, Eq. 5 but for that factor",
            "mean over neighbouring tasks of the mean of Sim(c, c'); Eq. 5 is (N/K) S for N classes in K equal tasks",
            parts=ENDS,
        ),
        Column(
            "sd_from_random",
            "sd from random",
            "how far S is from that of random sequences",
            Scale("sd", "any", _span("+.1f")),
            NEITHER,
            OWN,
            "(S - mean) / sd of random S",
            parts=ENDS,
        ),
        Column(
            "easy",
            "easy (hard: 0, easy: 1)",
            "where S lies between the hard and the easy sequence",
            Scale("1", "any", _span(".2f")),
            "higher: easier, by the paper",
            OWN,
            "(S - S hard) / (S easy - S hard)",
            parts=ENDS,
        ),
        Column("digest", "digest"),
    ),
)
LAYOUTS = (ORDERS,)
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
        "name": f.order.name,
        "version": f.of.version,
        "source": PREFIX + f.name,
        "data_set": f.of.title,
        "classes": len(f.of.classes),
        "tasks": n.tasks,
        "kind": f.order.kind,
        "digest": f.order.digest,
        "scores": list(f.order.scores),
        "random_mean": n.random_mean,
        "random_sd": n.random_sd,
        "sd_from_random": [(s - n.random_mean) / n.random_sd for s in f.order.scores],
        "easy": list(f.places),
        "lowest": n.lowest,
        "highest": n.highest,
        "similarity": f.of.similarity,
        "similarity_digest": f.of.similarity_digest,
    }


def record_with_tasks(f: Frozen) -> dict[str, Any]:
    """An order, its classes, and its sequences with the names of their classes, in plain values."""
    classes = [{"name": c.name, "reads": c.reads or c.name, "group": c.group} for c in f.of.classes]
    return {**record(f), "class_list": classes, "sequences": {s.name: [list(t) for t in s.tasks] for s in f.sequences}}


def listing(orders: Iterable[Frozen]) -> RenderableType:
    """A row for each order."""
    listed = table(ORDERS, "", [_row(record(f)) for f in orders])
    return Group(Grid(listed), line(""), *map(line, HOW.splitlines()), columns_of("frozen"))


def _row(r: dict[str, Any]) -> tuple[Value, ...]:
    ends = ((min(r[name]), max(r[name])) for name in ("scores", "sd_from_random", "easy"))
    return (
        f"{r['name']}@{r['version']}",
        r["data_set"],
        r["tasks"],
        r["kind"],
        len(r["scores"]),
        *ends,
        r["digest"][:DIGITS],
    )


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
