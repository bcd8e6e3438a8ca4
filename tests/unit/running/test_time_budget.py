"""``--time-budget``: a run stops in time with the best so far, and goes on to what it would have found without a stop."""

from __future__ import annotations

import json
import math
import signal
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from actors.options import EngineOptions
from protocols.cldyb.settings import CldybSettings
from protocols.cli.main import main
from protocols.report.common_notes import cost
from protocols.running.folder import RunFolder
from protocols.running.monitor import Monitor
from protocols.running.runtime import Runtime
from protocols.running.snapshot import Expected, NoDisplay
from seqsearch.core.deadline import Deadline, TimeIsUp
from seqsearch.core.errors import UserError
from seqsearch.core.units import duration
from tests.studies import SMALL, execute, small_settings, summary_of

RAN = {**SMALL, "methods": "simplecil,ranpac:M=32", "tune_tasks": 1, "tune_trials": 2, "score_seeds": 1}


def results_in(folder: Path) -> Callable[[], float]:
    """A clock that ticks with every result that is journalled."""
    journal = folder / "journal.jsonl"
    return lambda: float(journal.read_bytes().count(b"\n")) if journal.exists() else 0.0


def session(path: Path, results: float = math.inf) -> bool:
    """Start or continue a run; the time for so many results is given to it. Whether it is finished."""
    settings = small_settings(**RAN)
    if path.exists():
        folder, settings = RunFolder.resume(path, CldybSettings, {})
    else:
        folder = RunFolder.create(path, settings)
    try:
        deadline = Deadline(results, results_in(path))
        return execute(folder, settings, Runtime(EngineOptions(workers=0), quiet=True, deadline=deadline))
    finally:
        folder.close()


def rows(path: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path / f"{name}.parquet").to_pylist()
    return [{k: v for k, v in row.items() if k not in ("run_id", "train_seconds")} for row in found]


def decided(path: Path) -> int:
    """Tasks of the found sequence."""
    return max((r["step"] for r in rows(path, "sequences") if r["kind"] == "searched"), default=0)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "run"
    assert session(path)
    return path


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stopped in the middle of the search."""
    path = tmp_path_factory.mktemp("stopped") / "run"
    assert not session(path, 34)
    return path


@pytest.mark.long
def test_stopped_again_and_again_it_finds_the_same(whole: Path, tmp_path: Path) -> None:
    path, reached = tmp_path / "run", []
    while not session(path, 10 if reached else 3):
        assert not (path / "report.html").exists()
        stats = json.loads((path / "stats.json").read_text())
        assert stats["complete"] is False
        reached.append((stats["reached"], decided(path)))
        trained = [r["state"] for r in rows(path, "trainings")]
        assert len(trained) == len(set(trained)) == stats["trained"]
    assert reached[0][0] == "tuning"
    assert {"step 2/3", "step 3/3", "scoring"} <= {phase for phase, _ in reached}
    steps = [n for _, n in reached]
    assert steps == sorted(steps), "what was found must not shrink"
    assert {0, 1, 2, 3} == set(steps)
    for name in ("sequences", "results", "trace", "trials"):
        assert rows(path, name) == rows(whole, name)
    assert {r["state"] for r in rows(path, "trainings")} == {r["state"] for r in rows(whole, "trainings")}
    assert json.loads((path / "stats.json").read_text())["complete"] is True


def test_the_best_so_far_is_the_beginning_of_what_is_found(whole: Path, stopped: Path) -> None:
    n = decided(stopped)
    assert 1 < n < 3
    found = [r for r in rows(stopped, "sequences") if r["kind"] == "searched"]
    assert found == [r for r in rows(whole, "sequences") if r["kind"] == "searched" and r["step"] <= n]
    assert rows(stopped, "trace") == [r for r in rows(whole, "trace") if r["step"] <= n]
    of_the_end = ("class_n", "right")
    known = [{k: v for k, v in r.items() if k not in of_the_end} for r in rows(stopped, "results")]
    assert {"search"} <= {r["role"] for r in known}
    everything = {tuple(sorted((k, v) for k, v in r.items() if k not in of_the_end)) for r in rows(whole, "results")}
    assert {tuple(sorted(r.items())) for r in known if r["role"] == "rescore"} <= everything


def test_nothing_is_claimed_of_a_stopped_run(stopped: Path) -> None:
    summary = summary_of(stopped)
    assert (summary.unfinished.reached, summary.overall.drop, summary.overall.found) == ("step 3/3", None, None)
    text = CliRunner().invoke(main, ["show", str(stopped)]).stdout
    for said in (
        "Not finished: the run stopped at step 3/3. It has no result yet.",
        "search-0: 2 of 3 tasks decided.",
        "0 rollouts were re-scored so far.",
        f"seqsearch cldyb --resume {stopped}",
    ):
        assert said in " ".join(text.split()).replace("- ", "") or said in text.replace("\n", "")


def test_no_time_at_all_is_a_clean_stop_too(tmp_path: Path) -> None:
    assert not session(tmp_path / "run", 0)
    assert rows(tmp_path / "run", "sequences") == rows(tmp_path / "run", "trainings") == []
    assert summary_of(tmp_path / "run").unfinished.reached == "tuning"


FLAGS = {
    "--methods": "simplecil", "--pool": "glyphs:classes=48,train=8,reward=4,test=4", "--tasks": 2, "--classes-per-task": 3,
    "--candidates": 4, "--condensed": 2, "--simulations": 2, "--score-seeds": 1, "--workers": 0,
}  # fmt: skip
SMALLEST = ["cldyb", *(part for pair in FLAGS.items() for part in pair)]


def call(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def test_the_command_ends_well_and_says_how_to_go_on(tmp_path: Path) -> None:
    result = call(*SMALLEST, "--out", tmp_path / "run", "--time-budget", "0.001", "--json")
    assert result.exit_code == 0, result.stderr
    too_short = (
        "time is up before the first result: give it a longer --time-budget. Continue with: seqsearch cldyb --resume"
    )
    assert f"{too_short} {tmp_path / 'run'}\n" in result.stderr
    assert json.loads(result.stdout)["stats"]["complete"] is False
    again = call("cldyb", "--resume", tmp_path / "run", "--workers", 0, "--time-budget", "1h", "--quiet")
    assert again.exit_code == 0, again.stderr
    assert "time is up" not in again.stderr
    assert (tmp_path / "run" / "report.html").exists()


@pytest.mark.long
def test_starting_does_not_count(tmp_path: Path) -> None:
    """What takes longer to start than its budget is computed all the same."""
    (tmp_path / "slow.py").write_text(
        "import time\nfrom seqsearch.methods.simplecil import build as SimpleCIL\ntime.sleep(2.2)\nclass Slow(SimpleCIL):\n"
        "    def fit_task(self, task):\n        time.sleep(2 * (task.depth > 0))\n        return super().fit_task(task)\n"
    )
    run = tmp_path / "run"
    words = ["cldyb", *SMALLEST[1:], "--methods", f"{tmp_path}/slow.py:Slow", "--out", run, "--quiet"]
    result = call(*words, "--time-budget", "2s", "--json")
    assert result.exit_code == 0, result.stderr
    stats = json.loads(result.stdout)["stats"]
    assert (stats["complete"], stats["reached"]) == (False, "step 2/2")
    assert stats["trained"] >= 1
    assert f"time is up; nothing is lost. Continue with: seqsearch cldyb --resume {run}\n" in result.stderr
    said = json.loads((run / "status.json").read_text())
    assert said["stops_at"] > said["started"]
    assert stats["starting_seconds"] > 2.2, "the file sleeps so long when it is loaded"
    assert stats["budget_seconds"] > 1.9
    shown = " ".join(call("show", run, "--details").stdout.split())
    assert f"The run took {round(stats['budget_seconds'])} s in 1 session." in shown
    assert f"Starting took {round(stats['starting_seconds'])} s more, which --time-budget does not count." in shown


def test_what_starting_took_is_known_of_a_budget_that_waits() -> None:
    now = [0.0]
    budget = Deadline(20, lambda: now[0], waits=True)
    assert (budget.starting, budget.spent) == (None, 0.0)
    now[0] = 9.0
    with budget.interrupting():
        now[0] = 12.0
    assert (budget.starting, budget.spent) == (9.0, 3.0)
    assert Deadline(20, lambda: 0.0).starting is Deadline(waits=True).starting is None


def test_starting_is_told_only_where_every_session_had_a_budget() -> None:
    said = {"trained": 4, "wall_seconds": 60.0, "sessions": 2}
    assert [n.text for n in cost(said)] == ["4 trainings were done.", "The run took 1 min 0 s in 2 sessions."]
    budget = {"starting_seconds": 19.0, "budget_seconds": 40.2}
    assert [n.text for n in cost({**said, **budget})][1:] == [
        "The run took 40 s in 2 sessions.",
        "Starting took 19 s more, which --time-budget does not count.",
    ]


def test_a_budget_and_then_none_are_told_as_one_time(stopped: Path) -> None:
    stats = json.loads((stopped / "stats.json").read_text())
    assert "starting_seconds" not in stats, "its deadline did not wait"
    assert stats["wall_seconds"] > 0


def test_the_end_is_told_once_it_is_known(tmp_path: Path) -> None:
    deadline = Deadline(60, waits=True)
    runtime = Runtime(EngineOptions(workers=0), quiet=True, deadline=deadline)

    def stops_at() -> Any:
        return json.loads((tmp_path / "status.json").read_text())["stops_at"]

    with Monitor(tmp_path, "mine", runtime, Expected(), NoDisplay()):
        assert stops_at() is None
        with deadline.interrupting():
            pass
    ends = datetime.fromisoformat(stops_at()) - datetime.now(UTC)
    assert 0 < ends.total_seconds() <= 61


def test_a_budget_can_stand_in_the_yaml_file(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("time_budget: 90x\n")
    result = call("cldyb", "--config", tmp_path / "study.yaml", "--methods", "er")
    assert result.exit_code == 2
    assert "seqsearch: --time-budget '90x' is no duration: write e.g. 90m, 2h, 1d12h, or seconds" in result.stderr
    (tmp_path / "study.yaml").write_text("time_budget: 0\n")
    assert "--time-budget 0 must be more than 0" in call("cldyb", "--config", tmp_path / "study.yaml").stderr
    (tmp_path / "study.yaml").write_text("time_budget: true\n")
    assert "must be of type" in call("cldyb", "--config", tmp_path / "study.yaml").stderr


def test_durations() -> None:
    texts = ["90m", "2h", "1d", "3600", "1d12h", "0.5h", " 1W ", "7.5"]
    assert [duration(t) for t in texts] == [5400, 7200, 86400, 3600, 129600, 1800, 604800, 7.5]
    for wrong in ("", "h", "-5", "5 m", "1h30", "nan", "inf", "1e3", "5y", "0m"):
        with pytest.raises(UserError):
            duration(wrong)


@pytest.fixture
def own_alarm() -> Iterator[list[int]]:
    """A timer and a handler of somebody else, which must come back."""
    struck: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: struck.append(1))
    timer = signal.setitimer(signal.ITIMER_REAL, 3000)
    yield struck
    left = signal.setitimer(signal.ITIMER_REAL, *timer)[0]
    assert 2900 < left <= 3000
    signal.signal(signal.SIGALRM, before)


def swallow_once(deadline: Deadline) -> None:
    """What a careless method may do."""
    with deadline.interrupting():
        try:
            time.sleep(100)
        except Exception:
            raise AssertionError("methods do catch every Exception") from None
        except BaseException:
            time.sleep(100)


def test_what_waits_is_interrupted_even_if_it_swallows_that(own_alarm: list[int]) -> None:
    deadline = Deadline(0.2)
    with pytest.raises(TimeIsUp):
        swallow_once(deadline)
    with pytest.raises(TimeIsUp), deadline.interrupting():
        raise AssertionError("nothing is begun when it has passed")
    assert own_alarm == []


def test_ctrl_c_stays_what_it_is(own_alarm: list[int]) -> None:
    with pytest.raises(KeyboardInterrupt), Deadline(100).interrupting():
        raise KeyboardInterrupt
    with Deadline().interrupting():
        pass
