"""Named orders and fixed partitions: what is trained, and what is found of named orders among random ones."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from protocols.edge.groups import Group
from protocols.edge.named import named_orders
from protocols.edge.partition import partition_of
from protocols.edge.settings import EdgeSettings
from protocols.edge.study import prepare
from protocols.edge.trained import expected
from protocols.report.edge.notes import notes
from seqsearch.core.errors import UserError
from seqsearch.similarity.files import read
from tests.studies import summary_of
from tests.unit.edge.test_edge import POOL, SMALL, edge

BOTH = "greedy-dissimilar,periphery-to-core"


def groups(named: list[float], random: list[float]) -> dict[str, Group]:
    def group(name: str, accuracies: list[float]) -> Group:
        names = tuple(f"{name}-{i}" for i in range(len(accuracies)))
        return Group(names, (0.5,) * len(names), np.array(accuracies).reshape(-1, 1))

    return {"named": group("named", named), "random": group("random", random)}


@pytest.mark.parametrize(
    ("accuracy", "random", "finding"),
    [(0.9, 39, "better"), (0.1, 199, "worse"), (0.1, 39, "none"), (0.5, 39, "none"), (0.9, 38, "too few")],
)
def test_findings_are_of_exact_ranks_adjusted_for_two_orders(accuracy: float, random: int, finding: str) -> None:
    found = named_orders([groups([accuracy, 0.5], list(np.linspace(0.3, 0.7, random)))], None)
    assert found[0][0].finding == finding
    if accuracy == 0.9:
        assert found[0][0].p_better == pytest.approx(2 / (random + 1))
        assert found[0][0].needed == max(0, 39 - random)


def test_no_finding_where_no_order_changes_the_accuracy() -> None:
    [[order]] = named_orders([groups([0.5], [0.5] * 40)], None)
    assert order.finding == "constant"
    assert order.p_better == order.p_worse == 1.0


@pytest.mark.parametrize("partition", ["free", "fixed"])
def test_named_orders_are_trained_beside_the_extremes(tmp_path: Path, partition: str) -> None:
    run = tmp_path / "run"
    flags = ("--heuristics", BOTH, "--partition", partition)
    said = edge("--methods", "simplecil", *SMALL, "--random-sequences", 4, *flags, "--out", run)
    assert said.exit_code == 0, said.stderr
    rows = pq.read_table(run / "sequences.parquet").to_pandas()
    tasks = {
        name: [tuple(sorted(of.class_id)) for _, of in one.groupby("step")] for name, one in rows.groupby("sequence_id")
    }
    assert set(rows.kind) == {"hard", "easy", "random", "named"}
    different = {frozenset(t) for t in tasks.values()}
    assert len(different) == 1 if partition == "fixed" else len(different) > 1
    results = pq.read_table(run / "results.parquet").to_pandas()
    assert results[results.sequence_id == "named-greedy-dissimilar"].seed.nunique() == 2
    similarity = np.asarray(read(run / "similarity.parquet").values)
    ends = {name: [similarity[np.ix_(a, b)].mean() for a, b in pairwise(of)] for name, of in tasks.items()}
    objective = rows.groupby("sequence_id").value.first()
    assert objective["named-greedy-dissimilar"] == pytest.approx(np.mean(ends["named-greedy-dissimilar"]))
    assert min(np.mean(e) for e in ends.values()) == pytest.approx(np.mean(ends["hard-0"]))
    [m] = summary_of(run).methods
    assert [n.name for n in m.named] == BOTH.split(",")
    assert {n.finding for n in m.named} == {"constant"}
    codes = {n.code for n in notes(summary_of(run))}
    assert ("edge.fixed_partition" in codes) == (partition == "fixed")
    estimates = pq.read_table(run / "estimates.parquet").to_pandas()
    assert "named greedy-dissimilar" in set(estimates.about)
    assert "Named orders among random sequences" in (run / "report.html").read_text()


def test_a_dry_run_counts_named_orders_and_permutations(tmp_path: Path) -> None:
    plain = EdgeSettings(methods="simplecil", pool=POOL, tasks=3)
    named = EdgeSettings(methods="simplecil", pool=POOL, tasks=3, heuristics=BOTH)
    counts = [expected(prepare(s, tmp_path, "cpu")).rollouts for s in (plain, named)]
    assert counts[1] - counts[0] == 2 * 3
    every = EdgeSettings(methods="simplecil", pool=POOL, tasks=3, partition="fixed", enumerate=True, score_seeds=1)
    free = EdgeSettings(methods="simplecil", pool=POOL, tasks=3, enumerate=True, score_seeds=1)
    both = [expected(prepare(s, tmp_path, "cpu")).rollouts for s in (free, every)]
    assert both[0] - both[1] == 90 - 6


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"partition": "fixed", "tasks": 4}, "leave a task with one class"),
        ({"partition": "fixed", "tasks": 2, "initial_classes": 4}, "--partition fixed permutes tasks"),
        ({"partition": "fixed", "objective": "within"}, "says nothing of 3 tasks in a fixed partition"),
        ({"partition": "fixed", "fit": True}, "--partition fixed has its tasks: leave one out"),
        ({"similarity": "flat.csv", "heuristics": BOTH}, "the similarity is the same for all pairs"),
    ],
)
def test_bad_input_is_refused_before_anything_is_computed(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    (tmp_path / "flat.csv").write_text(flat_matrix())
    with pytest.raises(UserError) as error:
        prepare(EdgeSettings(**{"methods": "simplecil", "pool": POOL, "tasks": 3, **wrong}), tmp_path, "cpu", tmp_path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def flat_matrix() -> str:
    study = prepare(EdgeSettings(methods="simplecil", pool=POOL, tasks=3), Path(), "cpu")
    rows = [",".join(["class", *study.names])]
    return "\n".join([*rows, *(",".join([name, *["0.5"] * len(study.names)]) for name in study.names)])


def test_orders_of_other_tasks_have_no_fixed_partition() -> None:
    orders = [((0, 1), (2, 3)), ((2, 3), (0, 1)), ((0, 2), (1, 3))]
    assert partition_of(True, (2, 2), 0, orders[:2]).given == ((0, 1), (2, 3))
    with pytest.raises(UserError, match="orders of different tasks"):
        partition_of(True, (2, 2), 0, orders)
