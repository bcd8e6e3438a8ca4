"""Entries of a leaderboard: what they say of a run, and what is refused on the way in, in one line."""

from __future__ import annotations

import json
import math
import shlex
import shutil
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import seqsearch as ss
from protocols.report.site.boards import BOARDS
from protocols.report.site.command import command_of, without_folders
from protocols.report.site.entry import LONGEST, Entry, entry_of, read_entry
from protocols.report.view import protocol_of
from protocols.running.protocol import protocols
from seqsearch.core.errors import UserError
from tests.unit.api.small import SMALL
from tests.unit.report.site.made import Fields, changed, ended, refused

ROOT = Path(__file__).parents[4]
METHODS = ("simplecil", "ranpac:M=64")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("anna smith") / "made"
    return ss.cldyb(**{**SMALL, "methods": ",".join(METHODS), "random_sequences": 6}, out=out).path


@pytest.fixture(scope="module")
def entry(run: Path) -> Entry:
    return entry_of(run)[0]


def test_an_entry_is_read_as_it_was_written(run: Path, entry: Entry, tmp_path: Path) -> None:
    file = tmp_path / "made.json"
    assert entry.digest in ended("entry", run, "--out", file)
    assert read_entry(file) == entry
    assert file.read_text() == entry.text() == read_entry(file).text()
    assert "--force" in refused("entry", run, "--out", file)
    assert json.loads(ended("entry", run, "--out", file, "--force", "--json"))["digest"] == entry.digest
    assert "must end in .json" in refused("entry", run, "--out", tmp_path / "made.txt")


def test_figures_are_those_of_the_rows(run: Path, entry: Entry) -> None:
    """Acc and AR of random sequences, Acc of found ones, from results.parquet by numpy alone."""
    rows = [r for r in pq.read_table(run / "results.parquet").to_pylist() if r["role"] == "rescore"]
    for row in entry.rows:
        own = [r for r in rows if r["method_id"] == row.method and not r["sequence_id"].endswith("/joint")]
        shares = {
            (r["kind"], r["sequence_id"], r["seed"], r["trained_step"], r["evaluated_step"]): r["correct"] / r["n"]
            for r in own
        }
        final = {
            kind: np.mean([v for (k, *_, t, _), v in shares.items() if k == kind and t == 2])
            for kind in ("random", "searched")
        }
        kept = np.mean(
            [shares["random", s, r, 2, 1] - v for (k, s, r, t, e), v in shares.items() if k == "random" and t == e == 1]
        )
        figures = {f.column: f for f in row.figures}
        assert figures["acc_random"].value == pytest.approx(final["random"])
        assert figures["acc_found"].value == pytest.approx(final["searched"])
        assert figures["ar_random"].value == pytest.approx(kept)
        low, value, high = (getattr(figures["acc_random"], name) for name in ("low", "value", "high"))
        assert low < value < high
    assert [r.method for r in entry.rows] == list(METHODS)


def test_the_command_makes_the_same_run_and_nothing_names_the_machine(run: Path, entry: Entry, tmp_path: Path) -> None:
    words = shlex.split(entry.command)[1:]
    ended(*words, "--out", tmp_path / "again", "--workers", 0, "--quiet")
    again, _ = entry_of(tmp_path / "again")
    assert (again.command, again.settings, again.found, again.rows) == (
        entry.command,
        entry.settings,
        entry.found,
        entry.rows,
    )
    assert "anna smith" not in entry.text()
    assert str(run.parent) not in entry.text()
    said = json.loads((run / "config.json").read_text())
    said["settings"] |= {"pool": "/home/anna smith/photos/:half=1", "weights": ["resnet50=/home/anna/w.pt"]}
    said["settings"] |= {"methods": "er,cmd:python /home/anna/l.py {sequence} {out}", "joint": False, "separate": True}
    said["identity"]["methods"] = {"er": {}, "cmd:l.py [self-graded]": {}}
    command = command_of(protocol_of(run), said)
    assert command.startswith("seqsearch cldyb --methods 'er,cmd:l.py [self-graded]' --weights resnet50=w.pt")
    assert "--pool photos/:half=1 " in command
    assert "--no-joint" in command
    assert "--separate " in command
    assert without_folders("~/x/own.py:Mine,../a/b.py:C") == "own.py:Mine,../a/b.py:C"


def test_protocols_with_figures_of_methods_have_a_board() -> None:
    assert set(protocols()) - set(BOARDS) == {"duel", "explain", "edge-plan"}
    for board in BOARDS.values():
        keys = [c.key for c in board.columns]
        assert len(set(keys)) == len(keys)
        assert {*board.main, *board.found, *board.sides} <= set(keys)
        assert all(c.over for c in board.columns if c.key in board.main)


def figure(fields: Fields, **values: Any) -> None:
    fields["rows"][0]["figures"][0] |= values


DAMAGE: dict[str, Any] = {
    "schema is 2, and this version reads 1": lambda e: e.update(schema=2),
    "schema is True": lambda e: e.update(schema=True),
    "headline is missing": lambda e: e.pop("headline"),
    "'more' is unknown": lambda e: e.update(more=1),
    "name is 3, must be a text": lambda e: e.update(name=3),
    "name is empty": lambda e: e.update(name=" "),
    "rows[0].figures[0].value is 'x', must be a number": lambda e: figure(e, value="x"),
    "rows[0] is 'x', must be an object": lambda e: e.update(rows=["x"]),
    "acc_random: a value is no finite number": lambda e: figure(e, value=math.inf),
    "acc_random: the value is not within": lambda e: figure(e, value=0.5, low=0.6, high=0.7),
    "acc_random: an interval has a value and two": lambda e: figure(e, low=None),
    "acc_random: an accuracy is a fraction": lambda e: figure(e, value=81.2, low=79.0, high=83.0),
    "rows[0].pool is 4, and there are 1 pools": lambda e: e["rows"][0].update(pool=4),
    "rows[0].figures must be of acc_random, ": lambda e: figure(e, column="accuracy"),
    "rows: two are of method 'ranpac:M=64'": lambda e: e["rows"][0].update(method="ranpac:M=64"),
    "pools: there are none": lambda e: e.update(pools=[], rows=[]),
    "or two have one digest": lambda e: e.update(pools=e["pools"] * 2),
    "protocol is 'duel', none of": lambda e: e.update(protocol="duel"),
    "command is 'seqsearch cldyb; true', must be": lambda e: e.update(command="seqsearch cldyb; true"),
    "command is 'curl": lambda e: e.update(command="curl x"),
    "settings: two are called 'seed'": lambda e: e["settings"].append({"name": "seed", "value": "1"}),
    "notes[0] has 10,001 characters": lambda e: e.update(notes=["x" * (LONGEST + 1)]),
    "rows has 1,001 items": lambda e: e.update(rows=e["rows"][:1] * 1001),
    "it has more than 2 MB": lambda e: e.update(notes=["x" * LONGEST] * 300),
}
"""Part of the line, and what is wrong."""


@pytest.mark.parametrize("line", DAMAGE)
def test_an_entry_that_cannot_be_is_one_line(line: str, entry: Entry, tmp_path: Path) -> None:
    file = changed(tmp_path / "theirs.json", entry, DAMAGE[line])
    said = refused("site", file, "--out", tmp_path / "site")
    assert line in said
    assert "theirs.json" in said
    assert not (tmp_path / "site").exists()


def test_other_files_are_one_line(run: Path, entry: Entry, tmp_path: Path) -> None:
    damaged = changed(tmp_path / "damaged.json", entry, lambda e: figure(e, value=0.999, high=1.0), digest=False)
    (tmp_path / "foreign.json").write_text('{"leaderboard": []}')
    (tmp_path / "torn.json").write_text(entry.text()[:500])
    (tmp_path / "deep.json").write_text('{"schema": ' + "[" * 90_000)
    (tmp_path / "link.json").symlink_to(changed(tmp_path / "whole.json", entry, dict))
    for name, line in {
        damaged.name: "its digest is not that of its content",
        "foreign.json": "is no entry of a leaderboard: it has no schema",
        "torn.json": "cannot be read",
        "deep.json": "cannot be read",
        "link.json": "it is a link",
        "none.json": "No such file",
        "whole.json": "",
    }.items():
        if line:
            assert line in refused("site", tmp_path / name, "--out", tmp_path / "site")
        else:
            ended("site", tmp_path / name, "--out", tmp_path / "site")


def test_runs_that_are_not_finished_or_have_no_board_are_one_line(run: Path, tmp_path: Path) -> None:
    cut = Path(shutil.copytree(run, tmp_path / "cut"))
    said = json.loads((cut / "stats.json").read_text())
    (cut / "stats.json").write_text(json.dumps({**said, "complete": False, "reached": "task 1"}))
    assert "is not finished: finish it with seqsearch cldyb --resume" in refused(
        "entry", cut, "--out", tmp_path / "a.json"
    )
    plan = ss.edge(pool="glyphs:classes=6", tasks=2, plan_only=True, workers=0, quiet=True, out=tmp_path / "plan").path
    assert "leaderboards are of cldyb, edge" in refused("entry", plan, "--out", tmp_path / "a.json")
    said = json.loads((run / "config.json").read_text())
    for pools in (5, True, [None], "", {"a": 1}):
        edited = {**said, "identity": {**said["identity"], "pools": pools}}
        (cut / "config.json").write_text(json.dumps(edited))
        assert "cut: config.json: identity.pools is not" in refused("entry", cut, "--out", tmp_path / "a.json")
    assert "is no run folder" in refused("entry", tmp_path / "nothing", "--out", tmp_path / "a.json")
    with pytest.raises(UserError, match="no run folder"):
        entry_of(tmp_path)


@pytest.mark.parametrize("protocol", BOARDS)
def test_runs_of_every_board_have_entries_with_the_figures_of_their_pages(protocol: str, tmp_path: Path) -> None:
    with tarfile.open(next((ROOT / "tests/golden").glob("runs-*.tar.xz"))) as archive:
        members = [m for m in archive if m.name.removeprefix("./").startswith(f"{protocol}-finished")]
        archive.extractall(tmp_path, members, filter="data")
    entry, view = entry_of(tmp_path / f"{protocol}-finished")
    (tmp_path / "entry.json").write_text(entry.text())
    assert read_entry(tmp_path / "entry.json") == entry
    main = entry.board.main[0]
    figures = {r.method: next(f for f in r.figures if f.column == main) for r in entry.rows}
    assert all(f.value is not None for f in figures.values())
    shown = {r.get("method", r.get("learner")): r for r in view.key[0].records()}
    for method, f in figures.items():
        values = [
            v for key, v in shown[method].items() if key in (main, "acc_searched", "acc_unseen") and v is not None
        ]
        assert any(v == pytest.approx(f.value) for v in values if isinstance(v, float))
        if protocol not in ("cldyb", "score"):  # whose pages have no intervals of accuracies
            assert (f.low, f.high) == (shown[method][f"{main}_low"], shown[method][f"{main}_high"])
