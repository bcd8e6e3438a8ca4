"""A protocol of one's own, in no folder of the package: begun, stopped, resumed, looked at and exported like any other."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from actors.options import EngineOptions
from protocols.cli.run_commands import run_command
from protocols.report.notes import note
from protocols.report.view import View
from protocols.running import session as sessions
from protocols.running.costs import Cost, of_trainings, unit_costs
from protocols.running.export import RunFiles, classes_of, rescored
from protocols.running.folder import RunFolder
from protocols.running.launch import Launch
from protocols.running.protocol import Exported, Protocol, ProtocolRun, protocols
from protocols.running.run import Ended, run
from protocols.running.runtime import Runtime
from protocols.running.session import Session
from protocols.running.snapshot import Expected
from protocols.running.status import status
from seqsearch.core.deadline import Deadline
from seqsearch.core.errors import UserError
from seqsearch.core.settings import StudySettings, setting
from seqsearch.planners.fixed import FixedPlanner, FixedSequence
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults, assembled, read_results
from seqsearch.stats.accuracy import acc
from seqsearch.storage.files import write_json
from seqsearch.study.classes import EVALUATE, HELD_OUT, TUNE, kept_classes, view_of
from seqsearch.study.study import Study, reads_frozen, resolved
from tests.unit.running.test_time_budget import results_in

MARK = "done.json"


@dataclass(frozen=True)
class PairsSettings(StudySettings):
    """No tasks, no search: classes of one pool two by two, and the same of another pool in the end."""

    protocol: ClassVar[str] = "pairs"
    pairs: int = setting(2, "Tasks of two classes.", minimum=1, maximum=9, group="what")


@dataclass(frozen=True)
class PairsSummary:
    run: str
    tuned: float
    evaluated: float


class PairsRun(ProtocolRun):
    """Two sequences, of two views of one world, the second with more training seeds than the first."""

    def __init__(self, session: Session, study: Study) -> None:
        self.session, self.study = session, study
        tune, evaluate = (self._sequence(study.views[name]) for name in (TUNE, EVALUATE))
        self.given = {"tune": FixedSequence(tune, (7,)), "evaluate": FixedSequence(evaluate, (8, 9))}
        self.planner = FixedPlanner("pairs", lambda: list(self.given.values()), study.methods, study.settings.seed)

    def _sequence(self, view: Any) -> Any:
        n = self.study.settings.pairs
        return tuple(view.task(view.class_ids[2 * i : 2 * i + 2]) for i in range(n))

    def run(self) -> None:
        s = self.session
        s.monitor.begin_phase([self.planner], "pairs")
        s.search(self.study.world).run([self.planner], deadline=s.deadline)

    def export(self, reached: str | None) -> Exported:
        s, study, labels = self.session, self.study, tuple(m.label for m in self.study.methods)
        folder, files = s.folder.path, RunFiles(s, classes_of(study.world))
        sequences = [
            TaskSequence(name, "given", labels, study.settings.seed, g.prefix, (None,) * len(g.prefix))
            for name, g in self.given.items()
        ]
        files.sequences(sequences)
        named = [(name, "given", g.prefix, g.replicates) for name, g in self.given.items()]
        rows = files.results(rescored(study, s.journal, study.methods, named))
        stats = files.costs(s.search(study.world), reached)
        results = assembled(folder, s.folder.saved(), stats, sequences, rows)
        summary = summarise(results)
        if reached is None:
            write_json(folder / MARK, dataclasses.asdict(summary))
        return Exported(results, summary)


def summarise(data: RunResults) -> PairsSummary:
    def mean(name: str) -> float:
        found = [acc(r.accuracy) for (sequence, _, _), r in data.rollouts.items() if sequence == name and r.complete]
        return sum(found) / len(found) if found else 0.0

    return PairsSummary(data.config["run_id"], mean("tune"), mean("evaluate"))


def prepare(settings: PairsSettings, states: Path, device: str, directory: Path) -> Study:
    world, methods, tags = resolved(settings, states, device, directory, settings.pairs)
    by_pool: dict[int, list[int]] = {}
    for i in kept_classes(world, settings):
        by_pool.setdefault(world.images.part_of_class(i)[0], []).append(i)
    views = {TUNE: view_of(world, by_pool[0]), EVALUATE: view_of(world, by_pool[1]), HELD_OUT: view_of(world, [])}
    return Study(settings, world, views, methods, tags, reads_frozen(methods))


def expected(study: Study) -> Expected:
    return Expected(3, 3 * study.settings.pairs)


def cost(study: Study, workers: int, scratch: Path) -> Cost:
    tasks = tuple(study.view.task(study.view.class_ids[2 * i : 2 * i + 2]) for i in range(2))
    return of_trainings(expected(study), unit_costs(study, tasks, "test", scratch, study.settings.pairs), workers)


def read(run: Path) -> Exported:
    results = read_results(run)
    return Exported(results, summarise(results))


def view(summary: PairsSummary, results: RunResults | None = None) -> View:
    """Its note has a code that the program does not know."""
    data = dataclasses.asdict(summary)
    return View(
        section="score",
        name=summary.run,
        kind="pairs",
        headline=note("pairs.mean", evaluated=summary.evaluated),
        data=data,
    )


PAIRS = Protocol(
    PairsSettings,
    package="tests.unit.running",
    view=__name__,
    study="test_protocol:prepare",
    count="test_protocol:expected",
    pricing="test_protocol:cost",
    session="test_protocol:PairsRun",
    reader="test_protocol:read",
    exports=("sequences.parquet", "results.parquet", "trainings.parquet", "stats.json"),
    marks=(MARK,),
)


POOLS = "glyphs:classes=6,train=6,reward=3,test=6,glyphs:classes=8,train=6,reward=3,test=6,seed=1"


def begin(path: Path, results: float = float("inf"), export: str = "", pool: str = POOLS) -> Ended:
    """Begin a run, or resume it, with time for so many lines in its journal."""
    if path.exists():
        folder, settings = RunFolder.resume(path, PairsSettings, {})
        settings = dataclasses.replace(settings, pool=pool)
    else:
        settings = PairsSettings(methods="simplecil", pool=pool)
        folder = RunFolder.create(path, settings)
    try:
        study = PAIRS.prepare(settings, path / "states", "cpu", Path.cwd())
        deadline = Deadline(results, results_in(path))
        return run(folder, PAIRS, study, Runtime(EngineOptions(workers=0, export=export), True, deadline=deadline))
    finally:
        folder.close()


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path / "results.parquet").to_pylist()
    return [{k: v for k, v in row.items() if k not in ("run_id", "train_seconds")} for row in found]


def test_it_runs_stops_resumes_and_is_exported(tmp_path: Path) -> None:
    whole = begin(tmp_path / "whole")
    assert whole.finished
    cut = begin(tmp_path / "cut", results=4)
    assert not cut.finished
    assert status(tmp_path / "cut").state == "stopped"
    assert json.loads((tmp_path / "cut" / "stats.json").read_text())["reached"] == "pairs"
    resumed = begin(tmp_path / "cut", export=str(tmp_path / "copy"))
    assert resumed.finished
    assert status(tmp_path / "cut").state == "finished"
    assert rows(tmp_path / "cut") == rows(tmp_path / "whole")
    assert {"results.parquet", "sequences.parquet", "config.json"} <= {p.name for p in (tmp_path / "copy").iterdir()}
    assert begin(tmp_path / "cut").exported is None, "a finished run is left as it is"


def test_what_is_read_again_is_what_was_exported(tmp_path: Path) -> None:
    """The one summary: nothing is read back while a run exports, and the files say the same."""
    exported = begin(tmp_path / "run").exported
    again = PAIRS.read(tmp_path / "run")
    assert exported is not None
    assert again.summary == exported.summary
    assert exported.summary.evaluated > 0.5
    assert again.results.config == exported.results.config
    assert again.results.stats == exported.results.stats
    assert again.results.sequences == exported.results.sequences


def test_views_of_one_world_are_of_different_pools_and_sequences_have_seeds_of_their_own(tmp_path: Path) -> None:
    begin(tmp_path / "run")
    pools: dict[str, set[str]] = {}
    for r in pq.read_table(tmp_path / "run" / "sequences.parquet").to_pylist():
        pools.setdefault(r["sequence_id"], set()).add(r["pool_digest"])
    assert len(pools["tune"] | pools["evaluate"]) == 2
    assert len(pools["tune"]) == len(pools["evaluate"]) == 1
    seeds = {(r["sequence_id"], r["seed"]) for r in rows(tmp_path / "run")}
    assert seeds == {("tune", 7), ("evaluate", 8), ("evaluate", 9)}
    identity = json.loads((tmp_path / "run" / "config.json").read_text())["identity"]
    assert identity["other_views"] == {"tune": 6, "held-out": 0}
    assert identity["classes_in_play"] == 8
    assert identity["images"] == {"trained": 9, "searched": 6, "test": 6}


def test_all_of_its_identity_must_match_on_resume_by_default(tmp_path: Path) -> None:
    begin(tmp_path / "run", results=4)
    other = POOLS.replace("classes=8", "classes=9")
    with pytest.raises(UserError, match=r"classes in play changed since run .* was made \(8 -> 9\): restore it"):
        begin(tmp_path / "run", pool=other)


def test_nothing_is_opened_that_is_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session without workers and without a journal."""

    class Idle(PairsRun):
        def run(self) -> None:
            self.session.monitor.show_planning()

        def export(self, reached: str | None) -> Exported:
            write_json(self.session.folder.path / MARK, {})
            return Exported(None, None)

    def refuse(*_: Any) -> Any:
        raise AssertionError("nobody asked for this")

    monkeypatch.setitem(globals(), "PairsRun", Idle)
    for name in ("open_evaluator", "connected", "Journal"):
        monkeypatch.setattr(sessions, name, refuse)
    assert begin(tmp_path / "run").finished
    assert not (tmp_path / "run" / "journal.jsonl").exists()
    assert not (tmp_path / "run" / "states").exists()


FUNCTIONS = ("study", "count", "session", "reader", "pricing", "opening", "refusal", "remarks", "source", "settling")


def test_every_name_in_a_record_is_a_function_of_its_package() -> None:
    found = protocols()
    assert {"cldyb", "edge", "edge-plan", "gtep", "online", "mcil", "score", "explain", "duel"} == set(found)
    for name, protocol in found.items():
        assert protocol.name == protocol.settings.protocol == name
        for part in FUNCTIONS:
            if named := getattr(protocol, part):
                module, _, function = named.partition(":")
                assert callable(getattr(import_module(f"{protocol.package}.{module}"), function)), (name, part)
        assert bool(protocol.pricing) is protocol.trains
        assert callable(import_module(protocol.view).view)
        assert protocol.resume_command(Path("runs/x")) == f"seqsearch {protocol.made_by} --resume runs/x"
        assert protocol.made_by == name.partition("-")[0], (
            "what reads runs without protocols names it by that (results.run)"
        )


def test_its_cost_is_estimated_like_any_other(tmp_path: Path) -> None:
    settings = PairsSettings(methods="simplecil", pool=POOLS)
    cost = Launch(PAIRS, settings).cost(Runtime(EngineOptions(workers=0), quiet=True))
    assert cost.to_json()["trainings"] == 6
    assert cost.hours > 0
    assert cost.trained == "6 trainings at most (3 times a method is trained on a sequence)"


def test_its_command_follows_from_its_record(tmp_path: Path) -> None:
    command = run_command("pairs", (PAIRS,))
    words = ["--methods", "simplecil", "--pool", POOLS, "--pairs", "2", "--workers", "0", "--quiet"]
    cost = CliRunner().invoke(command, [*words, "--dry-run", "--json"], catch_exceptions=False)
    assert json.loads(cost.stdout)["trainings"] == 6
    made = CliRunner().invoke(command, [*words, "--out", str(tmp_path / "run")], catch_exceptions=False)
    assert made.stdout.startswith("pairs.mean: evaluated = ")
    assert (tmp_path / "run" / MARK).exists()
    again = CliRunner().invoke(command, ["--resume", str(tmp_path / "run"), "--json"], catch_exceptions=False)
    assert json.loads(again.stdout)["run"] == "run"
    with pytest.raises(UserError, match="--pairs 3 differs from 2 of run"):
        CliRunner().invoke(command, ["--resume", str(tmp_path / "run"), "--pairs", "3"], catch_exceptions=False)


@pytest.mark.parametrize("name", sorted(protocols()))
def test_all_functions_that_a_record_names_are_there(name: str) -> None:
    record = protocols()[name]
    values = [getattr(record, f.name) for f in dataclasses.fields(record)]
    named = [v for v in values if isinstance(v, str) and ":" in v and " " not in v]
    assert len(named) >= 4
    for one in named:
        assert callable(record._function(one)), one
