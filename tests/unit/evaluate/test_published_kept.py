"""What is kept of an entry's run, and when it is not used again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import protocols.evaluate.published.running as running
from protocols.cli.main import main
from protocols.evaluate.published.dataset_on_disk import on_disk
from protocols.evaluate.published.records import Data, Entry, Ledger, Paper, Read
from protocols.evaluate.published.running import Places, key, run, unlike
from seqsearch.core.errors import UserError
from tests.unit.evaluate.published import stand_in, stand_in_stream

SET = Data("set", "set", "https://example.org", classes=4, images=24)
ENTRY = Entry(
    "small",
    "p",
    "Table 1",
    "classes",
    "not run",
    ("classes",),
    (("all", "4"),),
    data=("set",),
    hours_how="seconds",
    commands=("seqsearch pool show {data}/set --json",),
    read=(Read("classes", (("classes", ""),), (("all", ""),)),),
)
BUILD = Entry(
    "made",
    "p",
    "Table 1",
    "images",
    "not run",
    ("images",),
    (("all", "24"),),
    data=("set",),
    hours_how="seconds",
    commands=("seqsearch pool build {data}/set {out}/made.parquet --min-images 1 --json",),
    read=(Read("images", (("images", ""),), (("all", ""),)),),
)


def ledger(data: Data = SET) -> Ledger:
    return Ledger((Paper("p", "Paper"),), (data,), (ENTRY, BUILD))


def answers(monkeypatch: pytest.MonkeyPatch, *given: object) -> list[list[str]]:
    """Commands that are run, each answering the next of these."""
    ran: list[list[str]] = []

    def answered(words: list[str]) -> object:
        ran.append(list(words))
        return given[len(ran) - 1]

    monkeypatch.setattr(running, "answered", answered)
    return ran


def placed(root: Path, data: Path, entry: Entry = ENTRY) -> Places:
    return Places(data, root / key(entry, data, on_disk(ledger(), entry, data)))


def test_an_answer_is_of_the_data_it_was_given_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, out, said = tmp_path / "a", tmp_path / "b", tmp_path / "out", list[str]()
    for folder in (first, second):
        stand_in(folder / "set", 4, ())
    ran = answers(monkeypatch, {"classes": 4}, {"classes": 5}, {"classes": 6}, {"classes": 7})
    assert [run(ENTRY, placed(out, first), said.append)[0].ours for _ in range(2)] == [4, 4]
    assert len(ran) == 1
    assert said[1].startswith(f"kept from {out}")
    assert run(ENTRY, placed(out, second), said.append)[0].ours == 5  # other place
    image = next((first / "set").rglob("*.png"))
    image.write_bytes(image.read_bytes() + b" ")
    assert run(ENTRY, placed(out, first), said.append)[0].ours == 6  # other content
    monkeypatch.setattr(running, "version", lambda name: "999")
    assert run(ENTRY, placed(out, first), said.append)[0].ours == 7
    assert len(unlike(placed(out, first))) == 3


@pytest.mark.parametrize("text", ["", '{"command": "seqs', "[" * 100_000, "[]"])
def test_an_answer_that_is_not_whole_is_given_again(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path / "set", 4, ())
    places = placed(tmp_path / "out", tmp_path)
    ran = answers(monkeypatch, {"classes": 4}, {"classes": 4})
    run(ENTRY, places)
    (places.out / "answer-1.json").write_text(text)
    run(ENTRY, places)
    assert len(ran) == 2
    assert json.loads((places.out / "answer-1.json").read_text())["answer"] == {"classes": 4}


def test_a_pool_without_its_answer_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path / "set", 4, ())
    places = placed(tmp_path / "out", tmp_path, BUILD)
    places.out.mkdir(parents=True)
    (places.out / "made.parquet").write_bytes(b"of a command whose caller was killed")
    ran = answers(monkeypatch, {"images": 24})
    assert run(BUILD, places)[0].verdict == "reproduced"
    assert ran[0][-1] == "--force"


@pytest.mark.parametrize("where", ["afile", "afile/x"])
def test_a_file_where_runs_should_lie_is_one_line(where: str, tmp_path: Path) -> None:
    (tmp_path / "afile").write_text("mine")
    with pytest.raises(UserError, match="choose another --out"):
        run(ENTRY, Places(tmp_path, tmp_path / where))
    assert (tmp_path / "afile").read_text() == "mine"


def test_nothing_is_written_through_a_link_or_over_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Entry(**{**vars(ENTRY), "commands": ("seqsearch compare --table {table} --json",), "data": ()})
    answers(monkeypatch, {"classes": 4})
    (tmp_path / "mine.csv").write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    (out / "table.csv").symlink_to(tmp_path / "mine.csv")
    with pytest.raises(UserError):
        run(table, Places(None, out))
    assert (tmp_path / "mine.csv").read_text() == "mine"
    (out / "table.csv").unlink()
    (out / "table.csv").mkdir()
    with pytest.raises(UserError):
        run(table, Places(None, out))


def test_data_are_compared_before_anything_is_run(tmp_path: Path) -> None:
    stand_in(tmp_path / "set", 4, ())
    on_disk(ledger(), ENTRY, tmp_path)
    for wrong, says in (({"classes": 5}, "4 classes, not 5"), ({"images": 25}, "24 images, not 25")):
        data = Data(**{**vars(SET), **wrong})
        with pytest.raises(UserError, match=says):
            on_disk(ledger(data), ENTRY, tmp_path)
        told = on_disk(ledger(Data(**{**vars(data), "may_differ": tuple(wrong)})), ENTRY, tmp_path)
        assert says in told["set"].odd


def test_a_stream_is_compared_as_a_stream(tmp_path: Path) -> None:
    stand_in_stream(tmp_path / "set", classes=5)
    with pytest.raises(UserError, match="5 classes, not 4"):
        on_disk(ledger(Data("set", "set", "made", classes=4, kind="stream")), ENTRY, tmp_path)
    there = on_disk(
        ledger(Data("set", "set", "made", classes=5, images=9, may_differ=("images",), kind="stream")), ENTRY, tmp_path
    )
    assert there["set"].odd == "117,500 images, not 9"


def test_other_data_than_the_ledger_names_are_refused_by_the_command(tmp_path: Path) -> None:
    stand_in(tmp_path / "imagenet", 3, ())
    ran = CliRunner().invoke(
        main, ["reproduce", "gtep-table-7", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    )
    assert ran.exit_code == 2
    [line] = ran.stderr.splitlines()
    assert "3 classes, not 1,000; 18 images, not 1,331,167" in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("group", ["pool", "sequences"])
def test_a_group_alone_prints_its_help_in_lines(group: str) -> None:
    ran = CliRunner().invoke(main, [group])
    assert ran.exit_code == 2
    assert "\\n" not in ran.output
    assert "Commands:" in ran.output.split("\n")
