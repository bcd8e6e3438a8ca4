"""``seqsearch status``, ``status.json``, ``log.jsonl``: a run seen from outside, in every state it can be in."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from protocols.cldyb.settings import CldybSettings
from protocols.cli.main import main
from protocols.report.commands.status import lines
from protocols.running.event_log import EventLog, now
from protocols.running.folder import RunFolder
from protocols.running.heartbeat import SOONEST, Heartbeat
from protocols.running.status import status
from seqsearch.core.notices import shown_by
from seqsearch.storage.locks import lock
from tests.studies import small_settings


def call(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (path / "log.jsonl").read_text().splitlines()]


def test_a_finished_run(finished: Path) -> None:
    found = status(finished)
    assert (found.state, found.run) == ("finished", "mine")
    said = found.to_json()
    stats = json.loads((finished / "stats.json").read_text())
    assert (said["trained"], said["saved"]) == (stats["trained"], stats["naive"] - stats["trained"])
    assert said["cache_hits"] > 0
    assert (said["steps"], said["phase"], said["in_flight"], said["queued"]) == (3, "finished", 0, 0)
    assert said["rollouts"] == said["done"] <= said["total"]
    text = call("status", finished).stdout
    assert text.startswith("run mine: finished\n")
    more = stats["naive"] - stats["trained"]
    assert f"{stats['trained']} trainings done, {more} asked for again and not repeated\n" in text
    assert said["replayed"] == 0
    assert json.loads(call("status", finished, "--json", "--watch").stdout) == {
        **said,
        "silent_seconds": pytest.approx(said["silent_seconds"], abs=1000),
    }


def test_the_log_tells_what_happened_in_order(finished: Path) -> None:
    found = events(finished)
    assert [e["event"] for e in found] == [
        "session-begin",
        "journal-opened",
        "step-decided",
        "step-decided",
        "exported",
        "session-end",
    ]
    begin, opened, second, third, exported, end = found
    assert [e["time"] for e in found] == sorted(e["time"] for e in found)
    assert (begin["workers"], opened["replayed"], len(begin["settings_digest"]) > 10) == (0, 0, True)
    import pyarrow.parquet as pq

    rows = pq.read_table(finished / "sequences.parquet").to_pylist()
    for event in (second, third):
        chosen = [r for r in rows if r["sequence_id"] == event["search"] and r["step"] == event["step"]]
        assert [r["class_name"] for r in chosen] == event["classes"]
        assert [r["class_id"] for r in chosen] == event["class_ids"]
        assert {r["value"] for r in chosen} == {event["value"]}
        assert (event["replayed"], event["candidates"]) == (False, 4)
    assert (second["step"], third["step"]) == (2, 3)
    assert (exported["complete"], end["state"], end["reason"]) == (True, "finished", "")


def test_a_resumed_run_says_what_it_replayed(finished: Path, tmp_path: Path) -> None:
    import shutil

    path = Path(shutil.copytree(finished, tmp_path / "mine"))
    (path / "report.html").unlink()
    with (path / "log.jsonl").open("a") as log:
        log.write('{"event": "torn')
    assert call("cldyb", "--resume", path, "--workers", 0, "--quiet").exit_code == 0
    again = (path / "log.jsonl").read_text().splitlines()[7:]
    assert [json.loads(line).get("replayed") for line in again[:4]] == [None, status(path).said["trained"], True, True]


def make(path: Path) -> Path:
    RunFolder.create(path, small_settings()).close()
    return path


def test_states_of_runs_that_said_nothing(tmp_path: Path) -> None:
    assert "is no run folder" in call("status", tmp_path).stderr
    path = make(tmp_path / "old")
    assert (status(path).state, status(path).silent_seconds) == ("stopped", None)
    assert call("status", path).exit_code == 0
    (path / "journal.jsonl").write_text('{"note":{}}\n' * 7)
    text = call("status", path).stdout
    assert "7 lines in its journal; it said no more (made by an older version)" in text
    assert f"continue with: seqsearch cldyb --resume {path}" in text
    (path / "config.json").write_text("{")
    assert status(path).run == "old"
    (path / "config.json").unlink()
    assert "continue with: the command that made it, with --resume" in call("status", path).stdout
    (path / "report.html").touch()
    assert status(path).state == "finished"


@pytest.mark.parametrize("left", ["1e999", "NaN", "-1e999", '"soon"', "9" * 400])
def test_times_that_cannot_be_are_no_sign_of_life(tmp_path: Path, left: str) -> None:
    path = make(tmp_path / "planted")
    said = (
        '{"state": "running", "host": "elsewhere", "at": "2999-01-01T00:00:00+00:00", "total": 1, "left_seconds": LEFT}'
    )
    said = said.replace("LEFT", left)
    (path / "status.json").write_text(said)
    assert (status(path).state, status(path).silent_seconds) == ("killed", None)
    assert call("status", path).exit_code == 0
    (path / "status.json").write_text(said.replace('"total": 1', '"total": ' + "9" * 400))
    assert call("status", path).exit_code == 0
    now = datetime.now(UTC).isoformat()
    (path / "status.json").write_text(said.replace("2999-01-01T00:00:00+00:00", now))
    assert status(path).state == "running"
    assert call("status", path).exit_code == 0


def test_states_by_lock_and_last_words(tmp_path: Path) -> None:
    path = make(tmp_path / "mine")

    def say(**fields: Any) -> None:
        (path / "status.json").write_text(json.dumps({"at": now(), "host": "far-away", "pid": 1, **fields}))

    say(state="running", phase="step 2/5")
    assert status(path).state == "running", "another machine's lock may be invisible here, its words are fresh"
    say(state="running", at="2020-01-01T00:00:00+00:00")
    assert status(path).state == "killed"
    say(state="stopped", reason="time is up")
    assert status(path).state == "stopped"
    assert lines(status(path))[0].startswith("run mine: stopped: time is up, last sign of life 0 s ago")
    held = lock(path / "lock")
    assert held is not None
    with held:
        assert status(path).state == "running"
        assert len(lines(status(path))) == 1, "the figures of the session before are not those of this one"
    say(state="running", phase="scoring", total=9, workers=0, in_flight=8, queued=7, cache_hits=90, replayed=7)
    text = "\n".join(lines(status(path)))
    assert "in the driver's process, one at a time, 1 job under way, 7 queued" in text
    assert "7 results of earlier sessions" in text
    assert "90" not in text, "answers that were there, this session's too: more than a reader of a status expects"
    say(state="running", phase="scoring", total=9, workers=4, busy=4, in_flight=8, queued=4)
    assert "  scoring: 0 of about 9 " in "\n".join(lines(status(path)))
    assert "4 of 4 workers busy, 8 jobs under way, 4 queued" in "\n".join(lines(status(path)))
    for broken in ("", "[]", '{"at": 3, "state": [], "troubles": 7, "left_seconds": "x", "done": null}'):
        (path / "status.json").write_text(broken)
        assert call("status", path).exit_code == 0


def test_a_look_never_keeps_a_run_from_starting(tmp_path: Path) -> None:
    """The look holds the lock for an instant; whoever starts the run then waits that long."""
    import threading

    path = make(tmp_path / "mine")
    looked = lock(path / "lock", shared=True)
    assert looked is not None
    threading.Timer(0.02, looked.close).start()
    folder, _ = RunFolder.resume(path, CldybSettings, {})
    folder.close()


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_living_run_is_seen_from_outside_and_its_end_as_well(tmp_path: Path, how: signal.Signals) -> None:
    path = tmp_path / "mine"
    (tmp_path / "slow.py").write_text(
        "import time\nfrom seqsearch.methods.simplecil import build as SimpleCIL\nclass Slow(SimpleCIL):\n"
        "    def fit_task(self, task):\n        time.sleep(1000 * (task.depth > 0))\n        return super().fit_task(task)\n"
    )
    flags = (
        f"--methods {tmp_path}/slow.py:Slow --pool glyphs:classes=48,train=8,reward=4,test=4 --tasks 3 --classes-per-task 3 "
        f"--candidates 4 --condensed 2 --simulations 2 --score-seeds 1 --workers 0 --time-budget 1h --out {path}"
    )
    driver = subprocess.Popen(
        [sys.executable, "-m", "protocols.cli", "cldyb", *flags.split()],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 120
    while (
        time.monotonic() < until and not (path / "states").exists()
    ):  # the first task is learned, the second takes for ever
        time.sleep(0.05)
    seen = status(path)
    while time.monotonic() < until and (seen.said.get("phase") != "step 2/3" or seen.said["in_flight"] < 3):
        time.sleep(0.05)
        seen = status(path)
    assert (seen.state, seen.said["pid"], seen.said["in_flight"]) == ("running", driver.pid, 3)
    text = "\n".join(lines(seen))
    assert f"run mine: running (process {driver.pid} on " in text
    assert re.search(r"stops in (1 h|5\d min)", text)
    first = seen.said["at"]
    while (
        time.monotonic() < until and status(path).said["at"] == first
    ):  # it waits for a training, and still gives signs
        time.sleep(0.2)
    assert status(path).said["at"] > first
    os.kill(driver.pid, how)
    driver.wait(60)
    assert status(path).state == ("killed" if how == signal.SIGKILL else "stopped")
    assert f"continue with: seqsearch cldyb --resume {path}" in call("status", path).stdout
    if how == signal.SIGTERM:
        assert events(path)[-1]["reason"] == status(path).said["reason"] == "interrupted"
    assert (b'"session":"end"' in (path / "journal.jsonl").read_bytes().splitlines()[-1]) == (how == signal.SIGTERM)


def test_what_went_wrong_is_logged_and_shown(tmp_path: Path) -> None:
    (tmp_path / "fragile.py").write_text(
        "from seqsearch.methods.simplecil import build as SimpleCIL\nclass Fragile(SimpleCIL):\n"
        "    def fit_task(self, task):\n        if task.depth:\n            raise ValueError('no second task')\n"
        "        return super().fit_task(task)\n"
    )
    path = tmp_path / "mine"
    small = (
        "--pool glyphs:classes=48,train=8,reward=4,test=4 --tasks 2 --classes-per-task 3 --candidates 4 --condensed 2"
    )
    result = call("cldyb", "--methods", f"{tmp_path}/fragile.py:Fragile", *small.split(), "--workers", 0, "--out", path)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    assert result.stderr.count("(fragile.py:5) [--traceback shows all that led to it; seqsearch check ") == 1
    again = call("cldyb", "--resume", path, "--workers", 0, "--quiet", "--traceback")
    assert f'{tmp_path}/fragile.py", line 5, in fit_task\n' in again.stderr
    assert "--traceback shows" not in again.stderr
    [failed, _] = [e for e in events(path) if e["event"] == "training-failed"]
    assert "no second task" in failed["message"]
    assert events(path)[-1]["state"] == "stopped"
    text = call("status", path).stdout
    assert "run mine: stopped: step 2: no candidate could be evaluated" in text
    assert f"went wrong: {failed['message']}" in text


def test_candidates_that_could_not_be_judged_are_told_with_the_result(tmp_path: Path) -> None:
    """The hardest of what did not fail is not the hardest."""
    (tmp_path / "some.py").write_text(
        "from seqsearch.methods.simplecil import build as SimpleCIL\nclass Some(SimpleCIL):\n"
        "    def fit_task(self, task):\n        if task.depth == 1 and int(task.train.indices[0]) % 2:\n"
        "            raise ValueError('odd task')\n        return super().fit_task(task)\n"
    )
    small = (
        "--pool glyphs:classes=48,train=8,reward=4,test=4 --tasks 2 --classes-per-task 3 --candidates 10 --condensed 4 "
        "--clusters 2 --simulations 6 --lookahead 0 --random-sequences 0 --score-seeds 1 --quiet"
    )
    path = tmp_path / "mine"
    result = call("cldyb", "--methods", f"{tmp_path}/some.py:Some", *small.split(), "--workers", 0, "--out", path)
    assert result.exit_code == 0, result.stderr
    [note] = [n for n in json.loads(call("show", path, "--json").stdout)["notes"] if "could not be evaluated" in n]
    assert note.startswith("2 of 4 candidates could not be evaluated")
    assert "The first, of step 2: method 'some.py:Some' failed: ValueError: odd task (some.py:5)." in note


def test_a_log_or_status_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    log, warned = EventLog(tmp_path / "gone"), list[str]()
    with shown_by(None, warned.append):
        log.write("a", path=tmp_path, event_time=1)
        log.write("b")
    assert [w.endswith("; the run goes on") for w in warned] == [True]
    heart = Heartbeat(tmp_path / "gone" / "status.json", lambda: {"state": "running"})
    heart.close()


def test_status_is_written_at_most_once_a_second_however_often_it_changes(tmp_path: Path) -> None:
    said, written = [0], []

    class Counted(Heartbeat):
        def write(self) -> None:
            super().write()
            written.append(json.loads(self.path.read_text())["n"])

    heart = Counted(tmp_path / "status.json", lambda: {"n": said[0]})
    begin = time.monotonic()
    while time.monotonic() - begin < 2.5:
        said[0] += 1
        time.sleep(0.001)
    heart.close()
    took = time.monotonic() - begin
    assert (written[0], written[-1]) == (0, said[0])
    assert 2 <= len(written) <= 2 + took / SOONEST
