"""A site of runs and entries: tables of equal settings, ties instead of ranks, files that come and go, names that do no harm."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import seqsearch as ss
from protocols.report.site.entry import Entry, entry_of, read_entry
from protocols.report.site.index import Compared, Listed, listed, sections
from seqsearch.core.text import shown_lines
from tests.unit.api.small import SMALL
from tests.unit.report.site.made import Fields, changed, ended, refused, with_rows

HOSTILE = "<script>alert(1)</script>\"'&\n\x1b[31m\u202e\\textbf{$x$} {{ 7*7 }} --b"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two of one kind with other methods, and one with another seed."""
    out = tmp_path_factory.mktemp("runs")
    return [
        ss.cldyb(**{**SMALL, "methods": "simplecil,ranpac:M=64"}, out=out / "one").path,
        ss.cldyb(**{**SMALL, "methods": "ranpac:M=32", "candidates": 6}, out=out / "two").path,
        ss.cldyb(**SMALL, seed=1, out=out / "other").path,
    ]


@pytest.fixture(scope="module")
def entry(runs: list[Path]) -> Entry:
    return entry_of(runs[0])[0]


def names(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names(folder)}


def of_files(*files: Path) -> list[Listed]:
    return listed((read_entry(f), None) for f in files)


def tables(*files: Path) -> tuple[Compared, ...]:
    [section] = sections(of_files(*files))
    return section.tables


def verdicts(*files: Path) -> dict[str, str]:
    [table] = tables(*files)
    return {line.method: line.verdict for line in table.lines}


def words(page: str) -> str:
    """What a reader sees of a page."""
    return unescape(re.sub(r"<[^>]*>", "", page))


# ------------------------------------------------------------------------------------------------ tables


def test_equal_settings_share_a_table_and_others_have_their_own(runs: list[Path]) -> None:
    [section] = sections(listed((entry_of(run)[0], None) for run in runs))
    assert section.pool.startswith("glyphs:")
    shared, alone = sorted(section.tables, key=lambda t: -len(t.entries))
    assert [e.name for e in shared.entries] == ["one", "two"]
    assert {line.method for line in shared.lines} == {"simplecil", "ranpac:M=64", "ranpac:M=32"}
    assert shared.title.startswith("seed 0, ")
    assert alone.title.startswith("seed 1, ")
    assert "tasks 2, classes per task 2" in shared.settings
    found = {c.key for c in shared.left_out}
    assert found == ({"acc_found"} if len({e.entry.found for e in shared.entries}) > 1 else set())
    assert "acc_found" in {c.key for c in alone.columns}


def test_rows_are_sorted_and_all_that_may_be_the_best_are_marked(entry: Entry, tmp_path: Path) -> None:
    one = with_rows(tmp_path / "1", entry, "one", best=(0.8, 0.75, 0.85), lone=(0.9, None, None), low=(0.3, 0.2, 0.4))
    two = with_rows(tmp_path / "2", entry, "two", near=(0.7, 0.6, 0.76), far=(0.7, 0.66, 0.74), none=(None, None, None))
    [table] = tables(one, two)
    assert [line.method for line in table.lines] == ["lone", "best", "far", "near", "low", "none"]
    expected = {"best": "yes", "near": "yes", "far": "no", "low": "no", "lone": "undecided", "none": "undecided"}
    assert verdicts(one, two) == expected
    assert {line.method: line.cells[0] for line in table.lines}["best"] == "80.0 [75.0, 85.0]"
    assert set(verdicts(with_rows(tmp_path / "3", entry, "t", a=(0.9, 0.8, 1.0), b=(0.1, None, None))).values()) == {
        "undecided"
    }


def test_many_rows_need_a_larger_distance(entry: Entry, tmp_path: Path) -> None:
    """Two intervals that do not overlap, beside none and beside eight others."""
    two = {"best": (0.8, 0.75, 0.85), "next": (0.695, 0.65, 0.74)}
    assert verdicts(with_rows(tmp_path / "2", entry, "two", **two))["next"] == "no"
    others = {f"m{i}": (0.3, 0.25, 0.35) for i in range(8)}
    of_ten = verdicts(with_rows(tmp_path / "10", entry, "ten", **two, **others))
    assert (of_ten["next"], of_ten["m0"]) == ("yes", "no")


def test_within_an_entry_its_own_paired_comparison_decides(entry: Entry, tmp_path: Path) -> None:
    def paired(*best: str) -> Any:
        def change(fields: Fields) -> None:
            for row in fields["rows"]:
                row["figures"][0]["best"] = row["method"] in best

        return change

    own = with_rows(tmp_path / "1", entry, "own", a=(0.8, 0.7, 0.9), b=(0.79, 0.7, 0.9), c=(0.5, 0.4, 0.6))
    assert verdicts(own) == {"a": "yes", "b": "yes", "c": "no"}
    own = changed(own, read_entry(own), paired("a", "c"))
    assert verdicts(own) == {"a": "yes", "b": "no", "c": "yes"}
    other = with_rows(tmp_path / "2", entry, "other", d=(0.95, 0.92, 0.98))
    assert verdicts(own, other) == {"a": "no", "b": "no", "c": "no", "d": "yes"}


# ------------------------------------------------------------------------------------------------ files


def test_a_site_of_runs_and_entries(runs: list[Path], entry: Entry, tmp_path: Path) -> None:
    theirs = changed(tmp_path / "theirs.json", entry, lambda e: e.update(name="theirs"))
    site = tmp_path / "site"
    said = json.loads(ended("site", *runs, theirs, "--out", site, "--json"))
    assert [e["name"] for e in said["entries"]] == ["one", "other", "theirs", "two"]
    files = {"index.html", "site.json", "one.html", "other.html", "two.html"}
    assert names(site) == files | {f"entries/{n}.json" for n in ("one", "other", "theirs", "two")}
    page = (site / "index.html").read_text()
    assert "not that its figures are true" in page
    assert page.count("no page") == 3  # two rows, and in the list of commands
    for file in (site / "entries").iterdir():
        found = read_entry(file)
        assert found.digest in page
        assert found.command in words(page)
    links = set(re.findall(r'href="([^"]*)"', page))
    assert links == names(site) - {"index.html", "site.json"}
    for name in files - {"site.json"}:
        text = (site / name).read_text()
        assert not re.search(r"<script|<link|https?://(?!www\.w3\.org)", text)
        assert str(runs[0].parent) not in text
    again = tmp_path / "again"
    ended("site", theirs, *reversed(runs), "--out", again)
    assert contents(again) == contents(site)


def test_files_of_entries_that_are_not_named_any_more_go_and_others_stay(runs: list[Path], tmp_path: Path) -> None:
    site = tmp_path / "site"
    ended("site", *runs, "--out", site)
    before = contents(site)
    (site / "CNAME").write_text("example.org")
    ended("site", site, "--out", site)
    assert contents(site) == before | {"CNAME": b"example.org"}, "entries keep the pages that they had"
    (site / "two.html").unlink()
    ended("site", site / "entries/one.json", site / "entries/two.json", "--out", site)
    assert names(site) == {"CNAME", "index.html", "site.json", "one.html", "entries/one.json", "entries/two.json"}


def test_folders_that_are_not_ours_are_refused(runs: list[Path], tmp_path: Path) -> None:
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "index.html").write_text("mine")
    assert "has other files" in refused("site", runs[0], "--out", thesis)
    assert (thesis / "index.html").read_text() == "mine"
    assert "does not exist" in refused("site", runs[0], "--out", tmp_path / "a" / "b")
    ended("site", runs[0], "--out", tmp_path / "site")
    (tmp_path / "site/site.json").write_text('{"entries": [{"file": "../x", "digest": "", "page": true}]}')
    assert "is not as it was written" in refused("site", runs[0], "--out", tmp_path / "site")


def test_pages_of_runs_name_no_absolute_folders(runs: list[Path], tmp_path: Path) -> None:
    run = Path(shutil.copytree(runs[0], tmp_path / "run"))
    said = (run / "config.json").read_text().replace('"glyphs:', '"/home/anna <smith>/photos/birds/:half=1,glyphs:')
    (run / "config.json").write_text(said)
    ended("site", run, "--out", tmp_path / "site")
    for file in contents(tmp_path / "site").values():
        assert not re.search("anna|photos|smith", file.decode())
    assert "birds/:half=1,glyphs" in (tmp_path / "site/index.html").read_text()


def test_the_same_entry_twice_is_one_line(runs: list[Path], entry: Entry, tmp_path: Path) -> None:
    file = changed(tmp_path / "one.json", entry, dict)
    assert "are the same entry: name one of them" in refused("site", runs[0], file, "--out", tmp_path / "site")


# ------------------------------------------------------------------------------------------------ names


def hostile(fields: Fields, text: str = HOSTILE) -> None:
    """A text in the place of every one that is free."""
    for name in ("program", "name", "headline", "found"):
        fields[name] = text
    for name in ("pools", "settings", "digests", "versions"):
        fields[name] = [{"name": text, "value": text}]
    fields["notes"], fields["biases"], fields["command"] = [text], [text], shlex.join(["seqsearch", "cldyb", text])
    for row in fields["rows"]:
        row["method"] += text
    for column in fields["columns"]:
        column.update(dict.fromkeys(column, text))


def test_hostile_names_stay_text(entry: Entry, tmp_path: Path) -> None:
    file = changed(tmp_path / "theirs.json", entry, hostile)
    same = changed(tmp_path / "same.json", entry, lambda e: (hostile(e), e.update(notes=["other"])))
    ended("site", file, same, "--out", tmp_path / "site")
    page = (tmp_path / "site/index.html").read_text()
    assert all(c.isprintable() or c == "\n" for c in page)
    assert not re.search(r"<script|<b>x|&lt;/script&gt;\"", page)
    assert "49" not in re.sub(r"[0-9a-f]{8,}", "", page)
    assert words(page).count(shown_lines(HOSTILE)) >= 6
    tags = set(re.findall(r"<[a-z0-9]+ ([^>]*)>", page))
    assert not any("alert" in unescape(re.sub(r'="[^"]*"', "", tag)) for tag in tags), "attributes are closed"
    assert {p.name for p in (tmp_path / "site/entries").iterdir()} == {
        f"{name}.json" for name in re.findall(r'href="entries/([\w.-]+)\.json"', page)
    }
    assert len(list((tmp_path / "site/entries").iterdir())) == 2


def test_names_that_differ_in_capitals_have_files_of_their_own(entry: Entry, tmp_path: Path) -> None:
    files = [
        changed(tmp_path / f"{i}.json", entry, lambda e, n=name: e.update(name=n))
        for i, name in enumerate(["Index", "index", "a/b", "a b", "\u00e9", "..", "x" * 200])
    ]
    found = of_files(*files)
    assert len({e.file.lower() for e in found}) == len(found)
    assert all(re.fullmatch(r"[A-Za-z0-9_][\w.-]{0,79}", e.file) for e in found)
    assert "index" not in {e.file.lower() for e in found}
