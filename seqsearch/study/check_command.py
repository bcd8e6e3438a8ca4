"""``seqsearch check`` of a method by command: two small tasks, learned again and again."""

from __future__ import annotations

from dataclasses import replace

from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge, MethodSpec, StateKey, Task, reported
from seqsearch.training.trainer import Trainer

SEEDS = (0, 0, 1)
"""Training replicates that it is run with."""


def command_findings(trainer: Trainer, spec: MethodSpec, tasks: tuple[Task, ...]) -> list[tuple[str, str, str]]:
    """Contract, what it asks, and what is wrong (empty if nothing is)."""

    def run(count: int, replicate: int = 0) -> EdgeResult:
        key = StateKey(spec, 0, replicate, reported(tasks[:count]))
        return trainer.train(replace(Edge(key, "test"), keep=False))

    first, again, one = run(2), run(2), run(1)
    wrong = next((r.message for r in (first, again, one) if r.status != "ok"), "")
    answers = "it learns what it is given and answers with accuracies of these images"
    if wrong:
        return [("C9", answers, wrong)]
    same, alone = first.steps == again.steps, first.steps[0] == one.steps[0]
    return [
        ("C9", answers, ""),
        ("C1", "the same seed gives the same accuracies", "" if same else _differ(first, again)),
        ("C1", "later tasks change nothing before they come", "" if alone else _early(first, one)),
    ]


def _differ(a: EdgeResult, b: EdgeResult) -> str:
    return (
        f"images right after each task: {_said(a)}, then {_said(b)}: seed all that draws from the seed in sequence.json"
    )


def _early(a: EdgeResult, b: EdgeResult) -> str:
    return (
        f"images right after task 1: {list(a.steps[0])} in a sequence of two tasks, {list(b.steps[0])} in one of one: it may "
        "size its network, or draw, by what comes later; its results hold for whole sequences, as score uses them"
    )


def _said(result: EdgeResult) -> str:
    return str([list(row) for row in result.steps])
