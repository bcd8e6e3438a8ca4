"""Runs beside each other: figures computed by hand, what must be shared, what is missing."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from protocols.evaluate.compare.comparison import Comparison, compare
from protocols.evaluate.compare.figures import MEAN, NO_IMAGES, SAME
from protocols.report.compare.notes import headline, notes, tiles
from protocols.report.compare.tables import key, tables
from protocols.report.compare.view import view
from protocols.report.notes import Note
from protocols.running.provenance import CIRCULAR, REWARDED_ON_TEST
from seqsearch.core.errors import UserError
from seqsearch.results.rows import EvaluatedRollout, TaskSequence
from seqsearch.results.run import read_results
from seqsearch.results.schema import RESULTS
from tests.unit.run_folders import STATS, RenamedPool, glyphs, outcome, rescored, sequence, write_run

POOL, NEW = glyphs(), glyphs(20)
METHODS = ("er", "slca")
SEEDS = (1000, 1001)
ACC = {"er": 0.4, "slca": 0.6}
"""Final Acc on found sequences, that of the first task; .1 lower on the second."""


def result(acc: float) -> Any:
    return outcome([[0.9], [acc + 0.05, acc - 0.05]], [[0.95], [0.95, 0.95]])


def evaluated(
    s: TaskSequence, more: float, seeds: tuple[int, ...] = SEEDS, digest: str = "one"
) -> list[EvaluatedRollout]:
    results = {(m, seed): result(ACC[m] + more + 0.02 * i) for m in METHODS for i, seed in enumerate(seeds)}
    return [replace(rescored(s, m, seed, r), config_digest=f"{m}: {digest}") for (m, seed), r in results.items()]


def make(
    path: Path,
    found: list[list[int]],
    more: float = 0.0,
    config: Callable[[dict[str, Any]], None] | None = None,
    extra: tuple[TaskSequence, ...] = (),
    first: list[int] | None = None,
    methods: tuple[str, ...] = METHODS,
    also: tuple[str, ...] = (),
    seeds: tuple[int, ...] = SEEDS,
    digest: str = "one",
    extra_digest: str = "",
    **kwargs: Any,
) -> Path:
    """A run of two tasks with one found and two random sequences; ``more`` is added to all accuracies of the found one.

    ``digest``: what stands behind the labels, ``extra_digest`` on ``extra`` sequences. ``also``: labels of a reference
    that is evaluated on all with one seed, and of one that is evaluated on the union of the found one.
    """
    start = first or [0, 1]
    f = sequence(POOL, "search-0", "searched", METHODS, [start, *found])
    randoms = [sequence(POOL, f"random-{i}", "random", METHODS, [start, [10 + i, 20 + i]]) for i in range(2)]
    rolled = evaluated(f, more, seeds, digest)
    rolled += [j for i, r in enumerate(randoms) for j in evaluated(r, 0.2 + 0.1 * i, seeds, digest)]
    rolled += [j for s in extra for j in evaluated(s, 0.1, seeds, extra_digest or digest)]
    unions: tuple[TaskSequence, ...] = ()
    if also:
        unions = (sequence(POOL, "search-0/joint", "joint", METHODS, [[i for task in (start, *found) for i in task]]),)
        rolled += [rescored(s, also[0], SEEDS[0], result(0.3)) for s in (f, *randoms)]
        rolled += [rescored(s, also[1], SEEDS[0], outcome([[0.8]], [[0.9]])) for s in unions]
    write_run(path, POOL, [f, *randoms, *unions, *extra], rolled, methods, **kwargs)
    said = json.loads((path / "config.json").read_text())
    said["identity"]["pools"] = [pool_record(POOL, 1)]
    if config:
        config(said)
    (path / "config.json").write_text(json.dumps(said))
    return path


def pool_record(pool: Any, step: int) -> dict[str, Any]:
    return {
        "pool": pool.name,
        "digest": pool.digest,
        "from_step": step,
        "classes": len(pool.classes),
        "in_play": len(pool.classes),
        "images": 100,
        "split": "drawn",
        "excluded_groups": [],
    }


def coded(c: Comparison) -> dict[str, list[Note]]:
    """Notes by code."""
    found: dict[str, list[Note]] = {}
    for n in notes(c):
        found.setdefault(n.code, []).append(n)
    return found


@pytest.fixture
def two(tmp_path: Path) -> Comparison:
    """The second run's found sequence is .1 easier."""
    a, b = make(tmp_path / "full", [[2, 3]]), make(tmp_path / "uniform", [[4, 5]], 0.1)
    return compare([a, b], "random")


def test_the_table_has_a_column_a_run_and_one_of_random_sequences_that_they_share(two: Comparison) -> None:
    assert two.table.columns == ("full", "uniform", "random")
    assert two.table.methods == METHODS
    assert two.random_shared
    assert two.table.values[0].tolist() == pytest.approx([0.41, 0.51, 0.66])  # seeds: .40 and .42
    assert two.table.values[1].tolist() == pytest.approx([0.61, 0.71, 0.86])
    assert two.ranks is not None
    assert [(c.column, c.correlations and c.correlations.srcc) for c in two.ranks.columns] == [
        ("full", 1),
        ("uniform", 1),
    ]


def test_avg_acc_ar_and_ala_stand_beside_acc(two: Comparison) -> None:
    [mean, _] = two.of("found", MEAN)
    assert {n: e.value.value for n, e in mean.estimates.items()} == pytest.approx(
        {"acc": 0.51, "avg_acc": (0.9 + 0.51) / 2, "ar": 0.56 - 0.9, "ala": (0.9 + 0.46) / 2}
    )
    assert mean.estimates["ar"].unavailable_because == NO_IMAGES
    assert mean.steps["acc"] == pytest.approx((0.9, 0.51))


def test_each_run_is_compared_with_the_first_under_common_seeds(two: Comparison) -> None:
    of = {(d.side, d.figure): d.estimate for d in two.differences}
    assert {side for side, _ in of} == {"found"}  # random sequences are the same
    assert of["found", "acc"].value.value == pytest.approx(0.1)
    assert of["found", "acc"].unavailable_because == "too few training seeds, 1 more needed"
    assert math.isnan(of["found", "ar"].value.low)


def test_other_random_sequences_get_a_column_and_a_difference_of_their_own(tmp_path: Path) -> None:
    a, b = make(tmp_path / "a", [[2, 3]]), make(tmp_path / "b", [[2, 3]])
    extra = sequence(POOL, "random-9", "random", METHODS, [[0, 1], [40, 41]])
    c = make(tmp_path / "c", [[6, 7]], extra=(extra,))
    found = compare([a, b, c])
    assert found.table.columns == ("a", "b", "c", "random", "c: random")
    assert not found.random_shared
    of = {(d.run, d.side): d.estimate for d in found.differences if d.figure == "acc"}
    assert of["b", "found"].unavailable_because == SAME
    assert of["c", "random"].sequences == (3, 2)
    assert math.isfinite(of["c", "random"].value.low)
    assert found.ranks is None


def test_held_out_sequences_are_the_reference_and_of_any_pool(tmp_path: Path) -> None:
    other = RenamedPool(NEW, "w", "unseen")
    held = sequence(other, "heldout-0", "heldout", METHODS, [[0, 1], [2, 3]])
    found = compare([make(tmp_path / "a", [[2, 3]], extra=(held,)), make(tmp_path / "b", [[4, 5]])])
    assert found.table.columns == ("a", "b", "random", "held-out")
    assert found.ranks is not None
    assert found.ranks.reference == "held-out"
    with pytest.raises(UserError, match="no such column; choose one of a; random; held-out"):
        compare([tmp_path / "a"], "held")


def test_a_grown_pool_is_compared_on_the_tasks_since_and_its_classes_are_counted(tmp_path: Path) -> None:
    base, grown = make(tmp_path / "base", [[2, 3]]), tmp_path / "grown"
    f = sequence(POOL, "search-0", "searched", METHODS, [[0, 1], [2, 3]])
    task = sequence(NEW, "x", "searched", METHODS, [[4]]).tasks[0].classes + f.tasks[1].classes[:1]
    mixed = TaskSequence(
        "search-0", "searched", METHODS, 7, (f.tasks[0], type(f.tasks[0])(task, "a-split")), (None, 0.1)
    )
    write_run(grown, POOL, [mixed], evaluated(mixed, -0.1), METHODS)
    said = json.loads((grown / "config.json").read_text())
    said["identity"]["pools"] = [pool_record(POOL, 1), pool_record(NEW, 2)]
    (grown / "config.json").write_text(json.dumps(said))
    found = compare([base, grown])
    assert found.start == 2
    [new] = found.new
    assert (new.run, new.step, new.taken, new.classes, new.share) == ("grown", 2, 1, 2, 0.5)
    assert new.left == pytest.approx(20 / (60 - 2 + 20))
    upcoming = {d.run: d.estimate.value.value for d in found.differences if (d.side, d.figure) == ("found", "upcoming")}
    assert upcoming == pytest.approx({"grown": -0.1})
    [first, _] = found.of("found", MEAN)
    assert first.steps["upcoming"] == pytest.approx((math.nan, 0.46), nan_ok=True)


def test_rewards_are_by_group_and_beside_their_step(two: Comparison) -> None:
    rewards = two.groups["full"]
    groups = {c.group for i, c in enumerate(POOL.classes) if i in (2, 3)}
    assert {g.group for g in rewards.groups} == groups
    assert rewards.unknown == 0
    assert sum(g.above * g.candidates for g in rewards.groups) == pytest.approx(0, abs=1e-9)


def change(**settings: Any) -> Callable[[dict[str, Any]], None]:
    return lambda said: said["settings"].update(settings)


def other_pool(said: dict[str, Any]) -> None:
    said["identity"]["pools"][0]["excluded_groups"] = ["birds"]


def other_seed_and_pool(said: dict[str, Any]) -> None:
    change(seed=8)(said)
    other_pool(said)


@pytest.mark.parametrize(
    ("kwargs", "what"),
    [
        ({"found": [[2, 3]], "config": other_seed_and_pool}, "they differ in seed (7 and 8) and in pool;"),
        ({"found": [[2, 3]], "config": change(seed=8, tasks=9)}, "they differ in seed (7 and 8) and in --tasks;"),
        ({"found": [[2, 3], [4, 5]]}, "not all sequences are of one length"),
        ({"found": [[2, 3, 4]]}, "tasks of different sizes"),
        ({"found": [[2, 3]], "first": [6, 7]}, "they differ in first task;"),
        ({"found": [[2, 3]], "config": other_pool}, "they differ in pool;"),
        ({"found": [[2, 3]], "stats": {**STATS, "complete": False}}, "is not finished"),
    ],
)
def test_runs_that_cannot_be_compared_say_in_what_they_differ(
    tmp_path: Path, kwargs: dict[str, Any], what: str
) -> None:
    a, b = make(tmp_path / "a", [[2, 3]]), make(tmp_path / "b", **kwargs)
    with pytest.raises(UserError) as error:
        compare([a, b])
    assert what in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("protocol", ["duel", "explain", None, ["edge"], "x\n" * 999])
def test_runs_of_other_commands_are_refused_in_one_line(tmp_path: Path, protocol: Any) -> None:
    a = make(tmp_path / "a", [[2, 3]])
    b = make(tmp_path / "b", [[2, 3]], config=lambda said: said.update(protocol=protocol))
    with pytest.raises(UserError, match="only runs of cldyb, edge, score can be compared") as error:
        compare([a, b])
    assert str(error.value).startswith(f"run {b} is of ")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_no_run_and_one_that_is_named_twice_are_refused(tmp_path: Path) -> None:
    a = make(tmp_path / "a", [[2, 3]])
    with pytest.raises(UserError, match="named twice"):
        compare([a, tmp_path / "x" / ".." / "a"])
    with pytest.raises(UserError, match="is no run folder"):
        compare([a, tmp_path])


def test_one_sequence_with_one_seed_has_no_interval_and_says_so(tmp_path: Path) -> None:
    f = sequence(POOL, "search-0", "searched", METHODS, [[0, 1], [2, 3]])
    write_run(tmp_path / "a", POOL, [f], [j for j in evaluated(f, 0) if j.seed == SEEDS[0]], METHODS)
    found = compare([tmp_path / "a"])
    assert math.isnan(found.reach[0, 0])
    [missing] = coded(found)["compare.without_interval"]
    assert missing.values == {
        "cells": 2,
        "who": ["er (a, found)", "slca (a, found)"],
        "why": "too few training seeds, 2 more needed",
    }
    assert headline(found) == Note("compare.one", {"run": "a"})
    assert [t.value for t in tiles(found)] == ["50.0 %"]


def test_a_method_that_failed_on_one_sequence_is_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "a"
    f = sequence(POOL, "search-0", "searched", METHODS, [[0, 1], [2, 3]])
    rolled = evaluated(f, 0)
    failed = [rescored(f, "er", s, outcome([[0.9]], status="diverged", steps=2, footprint=None)) for s in SEEDS]
    write_run(path, POOL, [f], [j for j in rolled if j.method_id != "er"] + failed, METHODS)
    found = compare([path])
    assert found.table.methods == ("slca",)
    assert found.troubles == ("a, found: left out er: not evaluated to the end on every sequence.",)


def referring(references: Any) -> Callable[[dict[str, Any]], None]:
    return lambda said: said["identity"].update(references=references)


def with_references(path: Path, references: Any, methods: tuple[str, ...] = METHODS) -> Path:
    """A run of ``score --references``: nearest class mean ``mean`` on all sequences, joint training on their unions."""
    make(path, [[2, 3]], methods=methods, config=referring(references), also=("mean", "bound"))
    return path


BOTH = {"glyph_vit": {"mean": "mean", "bound": "bound"}}


def test_references_are_no_methods(tmp_path: Path) -> None:
    found = compare([with_references(tmp_path / "a", BOTH), make(tmp_path / "b", [[4, 5]])], "random")
    assert found.table.methods == METHODS
    assert found.shared == METHODS
    assert found.troubles == ()
    assert found.ranks is not None
    assert {c.correlations.n for c in found.ranks.columns if c.correlations} == {2}
    mine = compare([with_references(tmp_path / "c", BOTH, (*METHODS, "mean"))])  # asked for as a method, too
    assert mine.table.methods == (*METHODS, "mean")


@pytest.mark.parametrize(
    "references", [["mean"], {"x": "mean"}, {"x": {"mean": "mean"}}, {"x": {"mean": 1, "bound": "b"}}]
)
def test_references_that_were_not_written_so_are_one_line(tmp_path: Path, references: Any) -> None:
    with pytest.raises(UserError, match=r"a/config\.json: identity\.references is not as it was written: restore it"):
        compare([with_references(tmp_path / "a", references)])


def test_biases_of_each_run_are_told_by_its_name(tmp_path: Path) -> None:
    def first(said: dict[str, Any]) -> None:
        said["settings"].update(tune_on="first", tune_tasks=1)
        said["tuned"] = {"er": {"lr": 0.1}}

    paths = [
        make(tmp_path / "plain", [[2, 3]]),
        make(tmp_path / "test", [[4, 5]], config=change(reward_split="test")),
        make(tmp_path / "tuned", [[4, 5]], config=first),
        make(tmp_path / "later", [[4, 5]], config=lambda said: said["identity"].update(biases=["Theirs \x1b[31m."])),
        make(tmp_path / "held", [[4, 5]], config=lambda said: said["identity"].update(remarks=["Of names.", 7])),
    ]
    remarks = [note.text for note in coded(compare(paths))["compare.remark"]]
    assert remarks == [f"test: {REWARDED_ON_TEST}", f"tuned: {CIRCULAR}", "later: Theirs \\x1b[31m.", "held: Of names."]


ALONE = "compare.found_alone"


def test_a_label_that_stands_for_another_method_is_told_and_random_sequences_are_no_longer_one_column(
    tmp_path: Path,
) -> None:
    runs = [
        make(tmp_path / "a", [[2, 3]]),
        make(tmp_path / "b", [[4, 5]]),
        make(tmp_path / "c", [[4, 5]], digest="bf16"),
    ]
    assert ALONE in coded(compare(runs[:2]))
    found = compare(runs)
    assert ALONE not in coded(found)
    assert [n.values for n in coded(found)["compare.unlike"]] == [{"labels": METHODS, "first": "a", "run": "c"}]
    assert found.shared == METHODS  # other backbones are compared
    assert found.table.columns == ("a", "b", "c", "random", "c: random")
    of = {(d.run, d.side): d.estimate for d in found.differences if d.figure == "acc"}
    assert of.keys() == {("b", "found"), ("c", "found"), ("c", "random")}
    assert (of["c", "random"].value.value, of["c", "random"].unavailable_because) == (0, SAME)


def test_other_training_seeds_are_told_and_those_that_both_have_are_compared(tmp_path: Path) -> None:
    found = compare([make(tmp_path / "a", [[2, 3]]), make(tmp_path / "b", [[4, 5]], seeds=(1001, 1002))])
    assert ALONE not in coded(found)
    said = "b, found: evaluated with other training seeds than a; the difference is over the 1 that both have."
    assert said in found.troubles
    assert "compare.unlike" not in coded(found)
    [difference] = [d for d in found.differences if (d.side, d.figure) == ("found", "acc")]
    assert difference.estimate.seeds == 1


def test_held_out_results_may_be_of_a_method_that_another_pool_feeds(tmp_path: Path) -> None:
    other = RenamedPool(NEW, "w", "unseen")
    held = sequence(other, "heldout-0", "heldout", METHODS, [[0, 1], [2, 3]])
    fed = {"extra": (held,), "extra_digest": "fed by another pool"}
    found = compare([make(tmp_path / "a", [[2, 3]], **fed), make(tmp_path / "b", [[4, 5]])])
    assert found.unlike == {}
    assert found.random_shared


def test_a_run_that_is_called_like_a_column_takes_no_other_ones_place(tmp_path: Path) -> None:
    found = compare([make(tmp_path / "random", [[2, 3]]), make(tmp_path / "random (2)", [[4, 5]])])
    assert found.table.columns == ("random", "random (2)", "random (3)")


def torn_pools(said: dict[str, Any]) -> None:
    said["identity"]["pools"] = ["none"]


@pytest.mark.parametrize(
    ("kwargs", "what"),
    [
        ({"methods": (*METHODS, "")}, "a method has an empty label: restore its files"),  # a mean has none
        ({"config": torn_pools}, "config.json: identity.pools is not as it was written: restore it"),
    ],
)
def test_a_torn_run_is_named(tmp_path: Path, kwargs: dict[str, Any], what: str) -> None:
    with pytest.raises(UserError) as error:
        compare([make(tmp_path / "a", [[2, 3]]), make(tmp_path / "b", [[2, 3]], **kwargs)])
    assert str(error.value) == f"run {tmp_path / 'b'}: {what}"


def test_runs_that_differ_in_their_seed_alone_are_studies_with_a_spread_and_never_paired(tmp_path: Path) -> None:
    runs = [
        make(tmp_path / "zero", [[2, 3]]),
        make(tmp_path / "one", [[4, 5]], 0.1, change(seed=8), first=[6, 7]),
        make(tmp_path / "two", [[4, 5]], 0.3, change(seed=9), seeds=(5, 6)),
    ]
    c = compare(runs)
    assert c.studies is not None
    assert c.differences == ()
    spreads = {(s.side, s.method, s.figure): s for s in c.studies.spreads}
    found = spreads["found", "er", "acc"]
    assert found.values == pytest.approx({"zero": 0.41, "one": 0.51, "two": 0.71})
    assert (found.mean, *found.range) == pytest.approx((1.63 / 3, 0.41, 0.71))
    assert spreads["found", MEAN, "acc"].range == pytest.approx((0.51, 0.81))
    assert {d.what: d.differs for d in c.studies.differing} == {
        "seed": True,
        "split of the images": False,
        "first task": True,
        "found sequences": True,
        "random sequences": True,
    }
    assert c.studies.differing[0].values == ("7", "8", "9")
    [first], (parts, *_) = key(c), tables(c)
    assert first.texts[0][:4] == ("found", "mean of 2", "3", "64.3 (51.0 to 81.0)")
    assert ("first task", "differs", "-") in parts.texts
    assert not any(t.title.startswith("Minus") for t in (*key(c), *tables(c)))
    assert headline(c) == Note("compare.studies", {"studies": 3})
    assert "compare.spread" in coded(c)
    assert [t.value for t in tiles(c)] == ["64.3 %", "76.0 %"]
    said = view(c).to_json()["studies"]
    assert said["spreads"][0] == {
        "side": "found",
        "method": None,
        "figure": "acc",
        "n": 3,
        "mean": pytest.approx(0.6433, abs=1e-4),
        "range": pytest.approx([0.51, 0.81]),
        "values": pytest.approx({"zero": 0.51, "one": 0.61, "two": 0.81}),
    }


def test_one_seed_twice_is_no_study_of_its_own(tmp_path: Path) -> None:
    runs = [make(tmp_path / name, [[2, 3]], config=change(seed=seed)) for name, seed in (("a", 7), ("b", 7), ("c", 8))]
    with pytest.raises(UserError, match=r"a and .*c cannot be compared: they differ in seed \(7 and 8\); compare"):
        compare(runs)


def test_studies_on_other_devices_or_of_other_code_are_refused(tmp_path: Path) -> None:
    def on(device: str, seed: int) -> Callable[[dict[str, Any]], None]:
        def change(config: dict[str, Any]) -> None:
            config["settings"]["seed"], config["identity"]["device"] = seed, device

        return change

    cpu, same, gpu = (
        make(tmp_path / f"{seed}", [[2, 3]], config=on(device, seed))
        for seed, device in ((7, "cpu x86_64"), (8, "cpu x86_64"), (9, "cuda H200"))
    )
    assert compare([cpu, same]).studies is not None
    with pytest.raises(UserError, match=r"7 and .*9 cannot .* in seed \(7 and 9\) and in device \(cpu and cuda\);"):
        compare([cpu, same, gpu])
    other = make(tmp_path / "10", [[2, 3]], config=on("cpu x86_64", 10), digest="edited")
    with pytest.raises(UserError, match="and in code, parameters, weights or versions of er, code, parameters"):
        compare([cpu, other])


def test_results_of_another_run_are_refused(tmp_path: Path) -> None:
    a, b = make(tmp_path / "a", [[2, 3]]), make(tmp_path / "b", [[4, 5]])
    shutil.copyfile(b / RESULTS.file, a / RESULTS.file)
    with pytest.raises(UserError, match=r"a/results\.parquet is of run 'b', config\.json of 'a': restore the file"):
        read_results(a)
