"""Where classes were allowed to be shared: figures without them, from the rows, and in a real run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocols.gtep.protocol import GTEP
from protocols.gtep.summary import Summary
from protocols.gtep.unshared import Marks, Unshared, unshared
from protocols.report.gtep import view as gtep
from protocols.report.gtep.notes import notes
from protocols.report.page import html
from seqsearch.results.rows import Row
from tests.unit.gtep.small import HALF, finished, rows, trimmed

WHOLE = HALF.format(1).removesuffix(",half=1")
MARKS: Marks = {"judge-0-0": {1: [True, True], 2: [False, True]}}
"""Of four classes only the first of the second task is not shared."""


def order(*right: Sequence[int], n: int = 10) -> list[Row]:
    """Rows of two tasks of two classes; images right after task 1 of task 1, after task 2 of task 1, of task 2."""
    found = []
    for (t, e), own in zip(((1, 1), (2, 1), (2, 2)), right, strict=True):
        found.append(
            {
                "trained_step": t,
                "evaluated_step": e,
                "n": n * len(own),
                "correct": sum(own),
                "class_n": [n] * len(own),
                "class_correct": list(own),
            }
        )
    return found


def of(rows_: list[Row], marked: Marks = MARKS) -> Unshared | None:
    return unshared({"judge-0-0": rows_}, marked, 2)


def test_only_images_of_the_other_classes_count() -> None:
    found = of(order([9, 8], [7, 6], [5, 4]))
    assert found is not None
    assert (found.shared, found.classes) == (3, 4)
    assert np.isnan(found.curve[0, 0]), "after the first task none of the other classes was seen"
    assert (found.acc.tolist(), found.avg.tolist(), found.harmonic.value.value) == ([0.5], [0.5], 0.5)
    other = of(order([9, 8], [7, 6], [5, 4]), {"judge-0-0": {1: [False, True], 2: [True, False]}})
    assert other is not None
    assert other.curve.tolist() == [[0.9, (7 + 4) / 20]]
    acc, avg = 0.55, (0.9 + 0.55) / 2
    assert other.harmonic.value.value == pytest.approx(2 * acc * avg / (acc + avg))


def test_where_all_classes_are_shared_nothing_is_left() -> None:
    found = of(order([9, 8], [7, 6], [5, 4]), {"judge-0-0": {1: [True, True], 2: [True, True]}})
    assert found is not None
    assert not found.known
    assert found.harmonic.unavailable_because == "all classes are shared"


@pytest.mark.parametrize(
    "damage",
    [
        {"class_correct": None}, {"class_correct": []}, {"class_correct": [5]}, {"class_correct": [11, -2]},
        {"class_correct": [4, 4]}, {"class_n": [10, 11]}, {"class_n": None}, {"trained_step": 3}, {"evaluated_step": 7},
    ],
)  # fmt: skip
def test_rows_that_do_not_say_so_or_err_give_no_figure(damage: dict[str, Any]) -> None:
    damaged = order([9, 8], [7, 6], [5, 4])
    damaged[2] |= damage
    assert of(damaged) is None
    assert of([*order([9, 8], [7, 6], [5, 4])[:2], order([1, 1], [2, 2], [3, 3])[0]]) is None, (
        "a task twice, another not"
    )
    assert of(order([9, 8], [7, 6], [5, 4]), {}) is None


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Evaluated on 12 of 24 classes, some of which are in the half that was tuned on, and on a pool that shares none."""
    folder = tmp_path_factory.mktemp("shared")
    return finished(
        folder / "run",
        f"{trimmed(folder / 'm')},simplecil",
        pool=(WHOLE, HALF.format(2)),
        classes_per_task=4,
        allow_overlap=("all",),
        trials="2",
    )


def summary(run: Path) -> Summary:
    found: Summary = GTEP.read(run).summary
    return found


def test_a_run_with_shared_classes_has_both_figures(run: Path) -> None:
    s = summary(run)
    tuned_on = {r["class_name"] for r in rows(run, "sequences") if r["sequence_id"] == "tune-0"}
    marked = [r for r in rows(run, "sequences") if r["sequence_id"].startswith("judge-0")]
    shared = {r["class_name"] for r in marked if r["shared"]}
    assert shared == {r["class_name"] for r in marked} & tuned_on
    assert 0 < len(shared) < 12
    assert all(r["shared"] is None for r in rows(run, "sequences") if not r["sequence_id"].startswith("judge-0"))
    table = {(r["pool"], r["method_id"]): r for r in rows(run, "table")}
    for method in s.results.methods:
        row = table[WHOLE, method]
        assert row["shared_classes"] == len(shared)
        assert row["unshared_harmonic_mean"] != row["harmonic_mean"]
        assert row["unshared_rank"] in (1, 2)
        assert table[HALF.format(2), method]["shared_classes"] is None
    [said] = [n for n in notes(s) if n.code == "gtep.shared"]
    assert (said.values["shared"], said.values["classes"]) == (len(shared), 12)
    view = gtep.view(s)
    [shown] = [t for t in view.all_tables() if "shared classes" in t.title]
    assert {row[0] for row in shown.rows} == {said.values["pool"]}, "only of the pool that shares some"
    assert "With and without the shared classes" in html(view, "")
    found = next(c for c in view.to_json()["table"] if c["pool"] == WHOLE)
    last = [curve[-1] for curve in found["unshared"]["curve"]]
    assert found["unshared_accuracy"] == pytest.approx(sum(last) / 2)
    json.dumps(view.to_json(), allow_nan=False)


def test_its_figures_are_those_of_the_images(run: Path) -> None:
    """From the bits of single images that the last step keeps."""
    from seqsearch.core.bits import unpacked

    s = summary(run)
    by: dict[tuple[str, int], list[bool]] = {}
    for r in rows(run, "sequences"):
        by.setdefault((r["sequence_id"], r["step"]), []).append(bool(r["shared"]))
    right, evaluated = np.zeros(2), np.zeros(2)
    for r in rows(run, "results"):
        if (r["method_id"], r["trained_step"]) == ("simplecil", 3) and r["sequence_id"].startswith("judge-0"):
            images = np.split(unpacked(r["right"], r["n"]), np.cumsum(r["class_n"])[:-1])
            own = [
                part for part, skip in zip(images, by[r["sequence_id"], r["evaluated_step"]], strict=True) if not skip
            ]
            n = int(r["sequence_id"][-1])
            right[n] += sum(part.sum() for part in own)
            evaluated[n] += sum(len(part) for part in own)
    [c] = [c for c in s.cells if (c.pool, c.method, c.use) == (WHOLE, "simplecil", "tuned")]
    assert c.unshared is not None
    assert c.unshared.acc.tolist() == pytest.approx((right / evaluated).tolist())
