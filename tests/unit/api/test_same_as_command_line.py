"""A function and its command make the same settings and go the same way; two of them also come to the same results."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import seqsearch as ss
from protocols.cli.main import main
from protocols.running.launch import Launch
from protocols.running.protocol import commands
from seqsearch.core.errors import UserError
from tests.unit.api.small import POOL, SMALL

ARCHIVE = Path(__file__).parents[2] / "golden" / "runs-0.1.0.tar.xz"
RUN = "cldyb-finished"
CALLS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "cldyb": (
        f"--methods ranpac:M=64,er@glyph_vit --pool {POOL} --tasks 3 --difficulty easy --classes-per-task 3 "
        "--command-writes a --command-writes b --no-bound "
        "--time-budget 90m --workers 0 --out made",
        (),
        {
            "methods": {"ranpac": {"M": 64}, "er@glyph_vit": None},
            "pool": POOL,
            "tasks": 3,
            "difficulty": "easy",
            "classes_per_task": 3,
            "command_writes": ["a", "b"],
            "joint": False,
            "time_budget": "90m",
            "workers": 0,
            "out": Path("made"),
        },
    ),
    "edge": (
        f"--methods simplecil --pool {POOL} --tasks 3 --random-sequences 7 --workers 2 --worker-memory 2GB --out made",
        (),
        {
            "methods": ["simplecil"],
            "pool": POOL,
            "tasks": 3,
            "random_sequences": 7,
            "workers": 2,
            "worker_memory": "2GB",
            "out": "made",
        },
    ),
    "gtep": (
        "--methods ranpac --tune-pool glyphs:half=1 --pool glyphs:half=2 --tasks 2 "
        "--classes-per-task 3 --trials 3 --workers 0 --out made",
        (),
        {
            "methods": "ranpac",
            "tune_pool": "glyphs:half=1",
            "pool": ["glyphs:half=2"],
            "tasks": 2,
            "classes_per_task": 3,
            "trials": 3,
            "workers": 0,
            "out": "made",
        },
    ),
    "online": (
        "--methods ncm,fc_only --stream glyphs:samples=2000 --shift 128 --workers 0 --out made",
        (),
        {"methods": ["ncm", "fc_only"], "stream": "glyphs:samples=2000", "shift": 128, "workers": 0, "out": "made"},
    ),
    "mcil": (
        f"--methods ranpac --backbone glyph_vit --pool {POOL} --classes 4 --experiences 2 --workers 0 --out made",
        (),
        {
            "methods": "ranpac",
            "backbone": "glyph_vit",
            "pool": POOL,
            "classes": 4,
            "experiences": 2,
            "workers": 0,
            "out": "made",
        },
    ),
    "score": (
        f"{RUN} --methods ranpac --references --workers 0 --out made",
        (RUN,),
        {"methods": "ranpac", "references": True, "workers": 0, "out": "made"},
    ),
    "explain": (f"{RUN} --draws 4 --workers 0 --out made", (RUN,), {"draws": 4, "workers": 0, "out": "made"}),
    "duel": (
        f"ranpac simplecil --pool {POOL} --tasks 2 --classes-per-task 3 --sequences 6 --find both --workers 0 --out made",
        ("ranpac", "simplecil"),
        {"pool": POOL, "tasks": 2, "classes_per_task": 3, "sequences": 6, "find": "both", "workers": 0, "out": "made"},
    ),
}


class _Stop(Exception):
    """Nothing is to be computed."""


@pytest.fixture
def launched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What every launch was given; none of them computes."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, [m for m in archive.getmembers() if m.name.split("/")[0] == RUN], filter="data")
    monkeypatch.chdir(tmp_path)
    seen: list[tuple[Any, ...]] = []

    def note(self: Launch, runtime: Any, display: Any = None, write_report: Any = None) -> Any:
        seen.append(
            (self.protocol.name, self.settings, self.folder.path.absolute(), runtime.engine, runtime.deadline._seconds)
        )
        self.folder.close()
        for file in self.folder.path.iterdir():
            file.unlink()
        raise _Stop

    monkeypatch.setattr(Launch, "run", note)
    return seen


def test_no_command_that_makes_runs_is_left_out() -> None:
    assert set(CALLS) == set(commands())


@pytest.mark.parametrize("command", CALLS)
def test_settings_and_launch_are_the_same(command: str, launched: list[tuple[Any, ...]]) -> None:
    words, arguments, keywords = CALLS[command]
    ended = CliRunner().invoke(main, [command, *words.split()])
    assert isinstance(ended.exception, _Stop), ended.output
    with pytest.raises(_Stop):
        getattr(ss, command)(*arguments, **keywords)
    of_command_line, of_python = launched
    assert of_python == of_command_line


def without_times(run: Path) -> list[pd.DataFrame]:
    frames = [pd.read_parquet(run / f"{name}.parquet") for name in ("sequences", "results")]
    return [f.drop(columns=[c for c in f if c == "run_id" or c.endswith("_seconds")]) for f in frames]


@pytest.mark.parametrize("command", ["cldyb", "duel"])
def test_both_come_to_the_same(command: str, tmp_path: Path) -> None:
    given = dict(SMALL, out=tmp_path / "python")
    arguments: list[str] = []
    if command == "duel":
        given = {
            k: v
            for k, v in given.items()
            if k in ("pool", "tasks", "classes_per_task", "score_seeds", "workers", "quiet", "out")
        }
        given |= {"sequences": 6}
        arguments = ["simplecil", "ranpac:M=32"]
    made = getattr(ss, command)(*arguments, **given)
    flags = [f"--{k.replace('_', '-')}={v}" for k, v in given.items() if k not in ("quiet", "out")]
    ended = CliRunner().invoke(main, [command, *arguments, *flags, "--quiet", "--out", str(tmp_path / "words")])
    assert ended.exit_code == 0, ended.output
    for one, other in zip(without_times(made.path), without_times(tmp_path / "words"), strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_cost_and_compare_say_what_the_commands_print(tmp_path: Path) -> None:
    flags = [f"--{k.replace('_', '-')}={v}" for k, v in SMALL.items() if k != "quiet"]
    said = CliRunner().invoke(main, ["cldyb", *flags, "--dry-run", "--json"])
    cost = ss.cost("cldyb", **SMALL).to_json()
    assert {k: v for k, v in json.loads(said.stdout).items() if k in ("trainings", "rollouts")} == {
        k: cost[k] for k in ("trainings", "rollouts")
    }
    runs = [ss.cldyb(**SMALL, out=tmp_path / name, **more) for name, more in (("a", {}), ("b", {"difficulty": "easy"}))]
    said = CliRunner().invoke(main, ["compare", *(str(r.path) for r in runs), "--json"])
    found = ss.compare(*runs)
    assert json.loads(said.stdout)["headline"] == found.headline
    assert json.loads(said.stdout)["tables"] == {n: t.records() for n, t in found.tables.items()}


BAD: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("cldyb", (), {"method": "er"}, "cldyb: no keyword 'method'; did you mean methods? it has methods, backbone,"),
    ("cldyb", (), {"methods": "simplecl"}, "unknown method 'simplecl': did you mean simplecil?"),
    ("cldyb", (), {"methods": "simplecil", "tasks": "five"}, "--tasks 'five': must be a whole number"),
    ("cldyb", (), {"methods": "simplecil", "tasks": 0}, "--tasks 0: must be at least 1"),
    ("cldyb", (), {"methods": 7}, "method 7: give a name, a path or a class"),
    ("cldyb", (), {"methods": "simplecil", "time_budget": "soon"}, "--time-budget 'soon' is no duration"),
    ("cldyb", (), {"methods": "simplecil", "workers": -1}, "--workers -1: must be at least 0"),
    ("cldyb", (), {}, "--methods is missing"),
    ("score", ("nothing",), {"methods": "er"}, "nothing"),
    ("duel", ("ranpac", "ranpac"), {}, "method 'ranpac' is named twice"),
    ("open", ("nothing",), {}, "nothing is no run folder"),
    ("open", (None,), {}, "None is no path of a run folder"),
    ("open", ("\0",), {}, "is no run folder"),
    ("runs_df", (["nothing"],), {}, "nothing is no run folder"),
    ("cldyb", (), {"methods": {"ranpac": 50}}, "ranpac: its parameters must be a mapping, as {'M': 5000}"),
    ("cldyb", (), {"methods": "er", "callbacks": [print]}, "is no object of a class derived from seqsearch.Callback"),
    ("cldyb", (), {"methods": None}, "--methods is missing"),
    ("cost", (None,), {}, "no command that makes runs is called None"),
    ("resume", ("nothing",), {}, "nothing is no run folder"),
    ("runs", ("nothing",), {}, "there is no folder nothing"),
    ("cost", ("clydb",), {}, "no command that makes runs is called 'clydb'; did you mean cldyb?"),
    ("cost", ("edge",), {"methods": "er", "plan_only": True}, "this trains nothing"),
    ("compare", (), {}, "name runs to compare"),
    ("methods", ("ranpca",), {}, "unknown method 'ranpca': did you mean ranpac?"),
    ("pools", ("glyph",), {}, "unknown pool 'glyph': did you mean glyphs?"),
]


@pytest.mark.parametrize(("function", "arguments", "keywords", "said"), BAD, ids=lambda v: str(v)[:40])
def test_bad_input_is_a_value_error_in_a_line(
    function: str,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=re.escape(said)) as refused:
        getattr(ss, function)(*arguments, **keywords)
    assert isinstance(refused.value, UserError)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []
