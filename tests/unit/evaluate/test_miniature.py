"""Entries of the ledger made small, on stand-in data that are marked wherever they go."""

from __future__ import annotations

import dataclasses
import json
import re
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from protocols.evaluate.published.figures import Figure
from protocols.evaluate.published.miniature import SIZES, miniature, write_data
from protocols.evaluate.published.records import Data, Entry
from protocols.evaluate.published.results import Result, joined
from protocols.evaluate.published.running import Places
from protocols.evaluate.published.running import run as reproduced
from protocols.evaluate.published.stand_in import Size, classes_of, write_stand_in
from protocols.report.page import laid_out
from protocols.running.provenance import STAND_IN, biases
from seqsearch.core.errors import UserError
from seqsearch.pools.open import build_pool
from seqsearch.pools.stand_in import MARK
from seqsearch.streams.open import build_stream
from tests.unit.evaluate.published import ledger, parsed

WITH_DATA = [e for e in ledger().entries if e.data and e.commands]
"""Entries whose data are stood in for."""


def run(*words: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(main, [str(w) for w in words])
    return ran.exit_code, ran.stdout, ran.stderr


@pytest.mark.parametrize("entry", WITH_DATA, ids=lambda e: e.name)
def test_a_miniature_of_every_entry_is_one_that_the_command_line_takes(entry: Entry, tmp_path: Path) -> None:
    small, places = miniature(entry), Places(tmp_path / "standin", tmp_path)
    assert len(small.commands) == len(entry.commands)
    for large, words in zip(entry.words(), small.words(), strict=True):
        labels = parsed(places.put(words))
        assert len(labels) == len(parsed(places.put(large)))
        assert not re.search(r"vit_base|resnet|openai|@| flava ", " ".join(words))
        if words[1] in SIZES:
            assert words[-2:] == ["--workers", "0"]
    assert small.read
    named = {label for words in small.words() for label in parsed(places.put(words))}
    own = {key for r in entry.read for _, key in (*r.rows, *r.columns)} & {
        label for words in entry.words() for label in parsed(Places(tmp_path, tmp_path).put(words))
    }
    assert not {key for r in small.read for _, key in (*r.rows, *r.columns)} & (own - named)
    assert small.digest != entry.digest


@pytest.mark.parametrize("data", ledger().data, ids=lambda d: d.name)
def test_stand_in_data_have_the_layout_and_the_mark(data: Data, tmp_path: Path) -> None:
    size = Size(4, 4, (20, 40, 10))
    write_stand_in(path := tmp_path / data.path, data, size)
    names = {name for _, name in classes_of(data, size)}
    if data.kind == "stream":
        stream = build_stream(str(path))
        assert stream.digest.endswith(MARK)
        assert (len(stream), set(stream.classes)) == (70, names)
        return
    if not data.classes:
        assert {p.name for p in path.iterdir()} == set(data.groups)
    for name in ("", ":half=1") if data.classes else ("",):
        pool = build_pool(f"{path}{name}")
        assert pool.digest.endswith(MARK)
        assert {c.name for c in pool.classes} <= names
    assert {c.group for c in build_pool(str(path)).classes} == (set(data.groups) or {path.stem})


def test_the_same_stand_in_data_come_again(tmp_path: Path) -> None:
    entry = ledger().entry("cldyb-table-1")
    for folder in ("a", "b"):
        write_data(ledger(), entry, tmp_path / folder)
    first, second = (build_pool(str(tmp_path / f / "cldyb.parquet")).digest for f in ("a", "b"))
    assert first == second


def test_a_pool_of_real_data_has_no_mark() -> None:
    assert MARK not in build_pool("glyphs:classes=4,train=2,reward=1,test=1").digest


@pytest.mark.long
def test_stand_in_data_are_refused_where_real_ones_are_asked_for(tmp_path: Path) -> None:
    places = {"edge-table-a4": "cifar100", "cldyb-table-2": "cldyb-sources", "near-future-figure-7": "cglm.parquet"}
    for name, copied in places.items():
        write_data(ledger(), ledger().entry(name), tmp_path)
        code, _, err = run("reproduce", name, "--data", tmp_path, "--out", tmp_path / "out", "--dry-run")
        assert code == 2
        assert f"{tmp_path / copied} is stand-in data (reproduce --miniature)" in err
        assert len(err.strip().splitlines()) == 1


def test_flags_that_do_not_go_together(tmp_path: Path) -> None:
    code, _, err = run("reproduce", "edge-table-a4", "--miniature", "--data", tmp_path)
    assert code == 2
    assert f"--miniature makes its own stand-in data: leave --data {tmp_path} out" in err
    assert run("reproduce", "--miniature")[0] == 2
    assert run("reproduce", "gtep-table-6", "--miniature")[0] == 2
    code, _, err = run("reproduce", "edge-tabel-a4", "--miniature")
    assert code == 2
    assert "did you mean edge-table-a4" in err


@pytest.mark.long
def test_a_dry_run_names_the_folders_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run("reproduce", "edge-table-a4", "--miniature", "--dry-run")
    assert code == 0, err
    assert "runs/miniature-edge-table-a4/" in out
    assert tempfile.gettempdir() not in out
    assert not (tmp_path / "runs").exists(), "a dry run leaves nothing"


def test_an_entry_without_data_is_run_as_it_is() -> None:
    code, out, err = run("reproduce", "cldyb-table-2-sums", "--miniature")
    assert code == 0
    assert "it is run as it is, not as a miniature" in err
    assert "reproduced 2 of 2" in out


def test_figures_of_a_miniature_cannot_enter_the_results() -> None:
    small = miniature(ledger().entry("cldyb-table-2"))
    cells = [(r[0], c, v) for r in small.rows for c, v in zip(small.columns, r[1:], strict=True)]
    figures = tuple(Figure(*cell, float(cell[2].replace(",", ""))) for cell in cells)
    result = Result(small.name, small.commands, small.digest, "2026-01-01", "0.1.0", figures)
    claimed = dataclasses.replace(ledger().entry(small.name), status=result.status)
    with pytest.raises(UserError, match="its commands are not those that were run"):
        joined(dataclasses.replace(ledger(), entries=(claimed,)), {small.name: result})


def test_a_pool_is_built_of_stand_in_data(tmp_path: Path) -> None:
    code, out, _ = run("reproduce", "cldyb-table-2", "--miniature", "--out", tmp_path, "--json")
    assert code == 0
    said = json.loads(out)
    assert said["stand_in"].startswith("STAND-IN DATA")
    assert {f["on_stand_in_data"] for f in said["figures"]} == {1, 12}
    assert not re.search("published_|agrees|difference", out)
    [made] = tmp_path.glob("*/cldyb.parquet")
    assert build_pool(str(made)).digest.endswith(MARK)


@pytest.mark.long
def test_its_commands_show_how_far_they_are(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """They answer in JSON, and what they show beside it comes on the way."""
    asked = (
        "mcil --pool glyphs:classes=6,train=6,reward=3,test=3 --methods simplecil --backbone glyph_vit --experiences 2"
    )
    command = f"seqsearch {asked} --seeds 1 --workers 0 --json --out {{out}}/run"
    entry = Entry("small", "", "", "", "not run", (), (), commands=(command,))
    assert reproduced(entry, Places(None, tmp_path / "out")) == []
    shown = capfd.readouterr().err.splitlines()
    assert "reading code and weights of 1 method ..." in shown
    assert any(line.startswith(("features of ", "learning: ")) for line in shown), "of `Progress`, whatever is first"
    assert "writing tables and report ..." in shown


ONE_OF_EACH = ("cldyb-table-1", "edge-table-a4", "gtep-table-14", "near-future-figure-3", "mcil-table-2")


@pytest.mark.long
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_miniature_runs_to_its_end_and_says_what_it_is(name: str, tmp_path: Path) -> None:
    code, out, err = run("reproduce", name, "--miniature", "--out", tmp_path)
    assert code == 0, err
    assert f"MINIATURE of {name} on STAND-IN DATA" in out
    found = re.search(r"(\d+) of (\d+) figures came out", out)
    assert found is not None
    assert found[1] == found[2]
    runs = [p.parent for p in tmp_path.glob("*/*/config.json")]
    assert runs
    for folder in runs:
        config = json.loads((folder / "config.json").read_text())
        assert biases(config).count(STAND_IN) == 1
        assert str(laid_out(STAND_IN)) in (folder / "report.html").read_text()
        assert run("show", folder)[1].startswith(STAND_IN)
        assert json.loads(run("show", folder, "--json")[1])["stand_in"] == STAND_IN
    again = run("reproduce", name, "--miniature", "--out", tmp_path)
    assert again[0] == 0
    assert "kept from" in again[2]
