"""``seqsearch score``: what is new is trained, what is known is taken over, and nothing is lost where a method fails."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from protocols.evaluate.score.summary import _scoring
from protocols.running.folder import RunFolder
from seqsearch.planners.replicates import ORDERS
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults, Scored, read_results
from tests.lines import messages
from tests.studies import execute, small_settings
from tests.unit.evaluate.commands import ran, rows, told
from tests.unit.gtep.small import finished

RUN: dict[str, Any] = {
    "methods": "simplecil,ranpac:M=32",
    "tasks": 3,
    "score_seeds": 2,
    "simulations": 3,
    "condensed": 3,
}
FAILS = """
from seqsearch.methods.simplecil import SimpleCIL

class Fails(SimpleCIL):
    def fit_task(self, task):
        if {int(row) // 16 for row in task.train.indices} == CLASSES:
            raise RuntimeError("not this one")
        return super().fit_task(task)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = RunFolder.create(tmp_path_factory.mktemp("runs") / "run", small_settings(**RUN))
    assert execute(folder, small_settings(**RUN))
    return folder.path


score, scored = partial(ran, "score"), partial(told, "score")


def test_scoring_one_new_method_trains_only_it_and_shares_every_prefix(run: Path, tmp_path: Path) -> None:
    said = scored(tmp_path / "new", run, "--methods", "ranpac:M=16")
    trained = rows(tmp_path / "new", "trainings")
    assert {t["method_id"] for t in trained} == {"ranpac:M=16"}
    prefixes = {
        (r, s.tasks[:n])
        for s in read_results(run).sequences
        for n in range(1, len(s.tasks) + 1)
        for r in ((1000,) if s.sequence_id.startswith("random") else (1000, 1001))
    }
    assert Counter(t["depth"] for t in trained) == Counter(len(tasks) for _, tasks in prefixes)
    assert len({t["state"] for t in trained}) == len(trained)
    methods = {m["method"]: m for m in said["methods"]}
    assert {m: r["taken_over"] for m, r in methods.items()} == {
        "ranpac:M=16": False,
        "simplecil": True,
        "ranpac:M=32": True,
    }
    assert methods["ranpac:M=16"]["searched"] is None
    assert methods["ranpac:M=16"]["unseen"]["sequences"] == 1
    assert methods["simplecil"]["searched"]
    assert methods["simplecil"]["unseen"] is None


def test_what_was_known_is_as_it_was_and_a_score_can_be_scored(run: Path, tmp_path: Path) -> None:
    known = [r for r in rows(run) if r["role"] == "rescore"]
    scored(tmp_path / "again", run, "--methods", "simplecil,ranpac:M=32")
    assert rows(tmp_path / "again", "trainings") == []
    ours = rows(tmp_path / "again")

    def key(r: dict[str, Any]) -> tuple[Any, ...]:
        return r["sequence_id"], r["method_id"], r["seed"], r["trained_step"], r["evaluated_step"]

    assert sorted(({**r, "run_id": ""} for r in ours), key=key) == sorted(({**r, "run_id": ""} for r in known), key=key)
    said = scored(tmp_path / "third", tmp_path / "again", "--methods", "ranpac:M=8")
    assert {t["method_id"] for t in rows(tmp_path / "third", "trainings")} == {"ranpac:M=8"}
    assert len(said["methods"]) == 3


def test_training_again_by_name_gives_the_same_figures(run: Path, tmp_path: Path) -> None:
    scored(tmp_path / "named", run, "--methods", "simplecil", "--by-name")
    assert rows(tmp_path / "named", "trainings")
    names = {
        (r["sequence_id"], r["seed"], r["trained_step"], r["evaluated_step"]): r["accuracy"]
        for r in rows(run)
        if r["role"] == "rescore" and r["method_id"] == "simplecil"
    }
    for r in rows(tmp_path / "named"):
        key = r["sequence_id"], r["seed"], r["trained_step"], r["evaluated_step"]
        assert key not in names or names[key] == r["accuracy"]
    assert {r["seed"] for r in rows(tmp_path / "named")} == {1000, 1001}


def test_references_bound_each_task_and_are_known_the_next_time(run: Path, tmp_path: Path) -> None:
    said = scored(tmp_path / "bound", run, "--methods", "simplecil", "--references", "--which", "found")
    assert {t["method_id"] for t in rows(tmp_path / "bound", "trainings")} == {"joint@glyph_vit"}, (
        "the run knows simplecil"
    )
    [simplecil] = [m for m in said["methods"] if m["method"] == "simplecil"]
    assert simplecil["over_mean"] == {"searched": pytest.approx(0)}
    assert [t["bound"].keys() for t in said["tasks"]] == [{"glyph_vit": 0}.keys()] * 3
    found = [t["bound"]["glyph_vit"] for t in said["tasks"]]
    assert simplecil["bound"]["searched"] == pytest.approx(sum(found) / 3)
    more = scored(tmp_path / "more", tmp_path / "bound", "--methods", "ranpac:M=8")
    assert all(m["bound"].keys() == {"searched"} for m in more["methods"]), "of those taken over, too"
    assert {t["method_id"] for t in rows(tmp_path / "more", "trainings")} == {"ranpac:M=8"}


@pytest.mark.long
def test_a_reference_may_be_a_method_as_well(run: Path, tmp_path: Path) -> None:
    said = scored(tmp_path / "out", run, "--methods", "simplecil@glyph_vit", "--references", "--which", "found")
    methods = {m["method"]: m for m in said["methods"]}
    assert methods.keys() == {"simplecil@glyph_vit", "simplecil", "ranpac:M=32"}
    assert methods["simplecil@glyph_vit"]["sides"]["searched"]["seeds"] == 2


def test_a_session_that_trains_nothing_has_a_time_and_was_not_killed(run: Path, tmp_path: Path) -> None:
    said = scored(tmp_path / "same", run, "--methods", "simplecil", "--no-joint")
    stats = json.loads((tmp_path / "same" / "stats.json").read_text())
    assert (stats["trained"], stats["sessions"]) == (0, 1)
    assert stats["wall_seconds"] >= 0
    assert "killed_sessions" not in stats
    assert not any("killed" in note for note in said["notes"])


def test_of_fewer_seeds_nothing_is_said_to_be_missing(run: Path, tmp_path: Path) -> None:
    said = scored(tmp_path / "out", run, "--methods", "simplecil,ranpac:M=8", "--score-seeds", 1)
    assert not any("missing" in note or "left out" in note for note in said["notes"])
    assert {"simplecil: 12", "ranpac:M=32: 14"} <= {
        note.partition(" rollouts were taken over")[0] for note in said["notes"]
    }


def test_a_held_out_pool_is_scored_by_all_and_ranks_are_compared(run: Path, tmp_path: Path) -> None:
    other = "glyphs:classes=20,size=32,train=8,reward=4,test=6"
    arguments = (run, "--methods", "ranpac:M=16", "--heldout-pool", other, "--heldout-sequences", 2)
    said = scored(tmp_path / "out", *arguments)
    held = [r for r in rows(tmp_path / "out") if r["kind"] == "heldout"]
    assert {(r["sequence_id"], r["method_id"]) for r in held} == {
        (f"heldout-{i}", m) for i in range(2) for m in ("simplecil", "ranpac:M=32", "ranpac:M=16")
    }
    assert [(a["kind"], a["ranks"]["n"]) for a in said["agreement"]] == [("found", 3), ("random", 3)]
    assert any("called like classes of the other" in note for note in said["notes"])
    sequences = [r for r in rows(tmp_path / "out", "sequences") if r["kind"] == "heldout"]
    assert len({r["pool_digest"] for r in sequences}) == 1
    assert {r["pool_digest"] for r in sequences}.isdisjoint(r["pool_digest"] for r in rows(run, "sequences"))
    page = (tmp_path / "out" / "report.html").read_text()
    pictured = page[page.index("Random sequences of the held-out pool: 2") :].partition("</details>")[0]
    assert pictured.count("<img") == len(sequences), "one of each class of each"
    assert "of another pool" not in pictured
    too_small = score(run, "--heldout-pool", "glyphs:classes=6,train=8,reward=4,test=6", "--out", tmp_path / "small")
    assert too_small.exit_code == 2
    assert "has 6 classes, sequences have" in too_small.stderr


def test_of_a_gtep_run_only_the_orders_that_judge_are_scored(tmp_path: Path) -> None:
    """Those that it tuned on are of another pool."""
    gtep = finished(tmp_path / "gtep", "simplecil", trials="2")
    said = scored(tmp_path / "out", gtep, "--methods", "ranpac:M=16")
    evaluated = {(r["sequence_id"], r["method_id"]) for r in rows(tmp_path / "out")}
    assert evaluated == {(f"judge-0-{i}", m) for i in range(2) for m in ("simplecil", "ranpac:M=16")}
    assert {m["method"] for m in said["methods"]} == {"simplecil", "ranpac:M=16"}


def test_own_files_of_a_run_may_be_named_from_where_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text("from seqsearch.methods.simplecil import build as Mine\n")
    settings = small_settings(**{**RUN, "methods": f"{tmp_path}/own.py:Mine,simplecil"})
    folder = RunFolder.create(tmp_path / "run", settings)
    assert execute(folder, settings)
    folder.close()
    other = "glyphs:classes=20,size=32,train=8,reward=4,test=6"
    arguments = ("--heldout-pool", other, "--heldout-sequences", 2)
    refused = score(folder.path, "--methods", "simplecil", *arguments, "--out", tmp_path / "no")
    assert f"name all methods yourself (--methods), also {tmp_path}/own.py:Mine" in refused.stderr
    scored(tmp_path / "out", folder.path, "--methods", "own.py:Mine,simplecil", *arguments)


def test_names_from_csv_are_the_same_sequence(run: Path, tmp_path: Path) -> None:
    found = [r for r in rows(run, "sequences") if r["sequence_id"] == "search-0"]
    lines = ["step,class_name", *(f'{r["step"]},"{r["class_name"]}"' for r in found)]
    (tmp_path / "s.csv").write_text("\n".join(lines))
    pool, seed = small_settings(**RUN).pool, small_settings(**RUN).seed
    arguments = ("--methods", "simplecil", "--pool", pool, "--seed", seed, "--score-seeds", 1)
    said = scored(tmp_path / "csv", tmp_path / "s.csv", *arguments)
    [known] = [
        m for m in scored(tmp_path / "run", run, "--methods", "simplecil")["methods"] if m["method"] == "simplecil"
    ]
    assert said["methods"][0]["sides"]["given"]["acc"] == known["searched"]["acc"]
    parquet = scored(tmp_path / "parquet", run / "sequences.parquet", *arguments, "--which", "found")
    assert parquet["methods"][0]["searched"]["acc"] == said["methods"][0]["sides"]["given"]["acc"]
    assert not parquet["methods"][0]["taken_over"]


def test_a_method_that_fails_on_one_sequence_of_many_loses_that_one_alone(run: Path, tmp_path: Path) -> None:
    data = read_results(run)
    [first, *_] = data.random()
    (tmp_path / "fails.py").write_text(FAILS.replace("CLASSES", str({c.index for c in first.tasks[1].classes})))
    result = score(run, "--methods", f"{tmp_path / 'fails.py'}:Fails", "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert any("1 random sequence left out, not evaluated to their end" in note for note in said["notes"])
    [own] = [m for m in said["methods"] if not m["taken_over"]]
    assert own["unseen_drop"]["random_sequences"] == 4


def test_a_mean_over_the_few_sequences_that_did_not_fail_is_not_given(run: Path, tmp_path: Path) -> None:
    *most, _ = read_results(run).random()
    failing = [{c.index for c in s.tasks[1].classes} for s in most]
    (tmp_path / "fails.py").write_text(FAILS.replace("== CLASSES", f"in {failing}"))
    said = scored(tmp_path / "out", run, "--methods", f"{tmp_path / 'fails.py'}:Fails")
    [own] = [m for m in said["methods"] if not m["taken_over"]]
    assert "random" not in own["sides"]
    assert any(
        "4 random sequences left out, not evaluated to their end (failed), so no mean" in n for n in said["notes"]
    )


def copied(run: Path, to: Path, **changed: Any) -> Path:
    """The run, with parts of its ``config.json`` changed."""
    shutil.copytree(run, to)
    said = json.loads((to / "config.json").read_text())
    for part, values in changed.items():
        said[part] = {**said.get(part, {}), **values}
    (to / "config.json").write_text(json.dumps(said))
    return to


def test_a_surrogate_that_searched_is_not_held_out(run: Path, tmp_path: Path) -> None:
    source = copied(run, tmp_path / "run", identity={"surrogates": {"ranpac:M=16": {}}})
    said = scored(tmp_path / "out", source, "--methods", "ranpac:M=16", "--which", "found")
    methods = {m["method"]: m for m in said["methods"]}
    assert methods["ranpac:M=16"]["searched"]
    assert methods["ranpac:M=16"]["unseen"] is None
    assert methods["simplecil"]["unseen"]
    assert methods["simplecil"]["searched"] is None


def test_what_biases_the_run_is_said_again_and_again(run: Path, tmp_path: Path) -> None:
    source = copied(run, tmp_path / "run", settings={"reward_split": "test"})
    first = scored(tmp_path / "first", source, "--methods", "simplecil")
    second = scored(tmp_path / "second", tmp_path / "first", "--methods", "simplecil")
    for said in (first, second):
        assert sum("--reward-split test): biased" in note for note in said["notes"]) == 1


def test_another_method_of_the_same_name_is_held_out_and_both_are_shown(run: Path, tmp_path: Path) -> None:
    said = scored(tmp_path / "out", run, "--methods", "simplecil", "--precision", "bf16", "--which", "found")
    methods = {m["method"]: m for m in said["methods"]}
    assert methods.keys() == {"simplecil", "simplecil of run", "ranpac:M=32"}
    assert methods["simplecil"]["searched"] is None
    assert (
        methods["simplecil of run"]["searched"]["acc"]
        == read_results(run).rollouts["search-0", "simplecil", 1000].accuracy[-1].mean()
    )
    assert any("simplecil is not what" in note for note in said["notes"])


def test_a_method_that_fails_on_one_sequence_of_a_file_is_not_averaged_in_silence(run: Path, tmp_path: Path) -> None:
    found = [r for r in rows(run, "sequences") if r["kind"] == "random" and r["sequence_id"] < "random-3"]
    names: dict[str, list[list[str]]] = {}
    for r in found:
        tasks = names.setdefault(r["sequence_id"], [[] for _ in range(3)])
        tasks[r["step"] - 1].append(r["class_name"])
    (tmp_path / "s.json").write_text(json.dumps(names))
    [first, *_] = read_results(run).random()
    (tmp_path / "fails.py").write_text(FAILS.replace("CLASSES", str({c.index for c in first.tasks[1].classes})))
    pool, seed = small_settings(**RUN).pool, small_settings(**RUN).seed
    arguments = ("--methods", f"{tmp_path / 'fails.py'}:Fails", "--pool", pool, "--seed", seed, "--score-seeds", 1)
    said = scored(tmp_path / "out", tmp_path / "s.json", *arguments)
    assert said["methods"][0]["sides"]["given"]["sequences"] == 2
    assert any("1 given sequence left out, not evaluated to their end" in note for note in said["notes"])


def test_a_held_out_pool_does_not_change_what_names_mean(run: Path, tmp_path: Path) -> None:
    name = next(r["class_name"] for r in rows(run, "sequences"))
    (tmp_path / "s.json").write_text(json.dumps([[name]]))
    pool, other = small_settings(**RUN).pool, "glyphs:classes=48,train=8,reward=4,test=5"
    said = scored(
        tmp_path / "out", tmp_path / "s.json", "--methods", "simplecil", "--pool", pool, "--heldout-pool", other
    )
    assert said["methods"][0]["sides"].keys() == {"given", "heldout"}


def test_sequences_of_different_lengths_and_code_of_strangers_are_refused(run: Path, tmp_path: Path) -> None:
    table = pq.read_table(run / "sequences.parquet")
    keep = [not (r["sequence_id"] == "random-1" and r["step"] == 3) for r in table.to_pylist()]
    pq.write_table(table.filter(keep), tmp_path / "s.parquet")
    result = score(tmp_path / "s.parquet", "--methods", "simplecil", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "evaluate those of one length at a time" in result.stderr
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nbuild = None\n")
    for setting in ("pool", "backbone"):
        source = copied(run, tmp_path / setting, settings={setting: f"{tmp_path / 'evil.py'}:build"})
        result = score(source, "--methods", "simplecil", "--out", tmp_path / "out")
        assert result.exit_code == 2
        assert "names code of its own" in result.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "name a RUN, or a file of sequences"),
        (("nothing",), "no such run folder or file"),
        (("{run}", "--resume", "{run}"), "leave RUN out"),
        (("{run}",), "--methods is missing"),
        (("{run}", "--methods", "simplecil", "--pool", "glyphs:classes=48,train=8,reward=4,test=5"), "by their names"),
        (("{run}", "--methods", "simplecil", "--seed", "5"), "with another --seed than 5"),
        (("{run}/results.parquet", "--methods", "simplecil"), "no column"),
        (("{file}", "--methods", "simplecil", "--pool", "glyphs:classes=48"), "has class 'no such class'"),
        (("{run}", "--methods", "simplecil", "--which", "found", "--heldout-pool", "{pool}"), "named twice"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_before_anything_is_trained(
    run: Path, tmp_path: Path, arguments: tuple[str, ...], why: str
) -> None:
    (tmp_path / "s.json").write_text(json.dumps([["no such class"]]))
    names = {"run": run, "file": tmp_path / "s.json", "pool": small_settings(**RUN).pool}
    result = score(*(a.format(**names) for a in arguments), "--out", tmp_path / "out")
    assert result.exit_code == 2, result.output
    assert why in result.stderr
    assert len(messages(result.stderr)) == 1
    assert not (tmp_path / "out" / "journal.jsonl").exists()


def test_random_orders_with_a_seed_of_their_own_are_not_paired() -> None:
    """Those of a run of EDGE have the seeds from `ORDERS` on."""
    scored = Scored("ok", np.zeros((1, 1)), np.zeros((1, 1)), {})
    sequences = tuple(TaskSequence(f"random-{n}", "random", (), n, (), ()) for n in range(3))
    seeds = 0, ORDERS, ORDERS + 1
    rollouts = {(s.sequence_id, "er", seed): scored for s, seed in zip(sequences, seeds, strict=True)}
    found = _scoring(RunResults({}, None, ("er",), sequences, seeds, rollouts))
    assert [s.sequence_id for s in found.sequences] == ["random-0"]
    assert found.seeds == (0,)
    assert set(found.rollouts) == {("random-0", "er", 0)}
