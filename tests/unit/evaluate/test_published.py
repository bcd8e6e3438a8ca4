"""The ledger of published results: what is in it is sound, every command is one, and what need no data is run."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from scipy import stats

from protocols.cli.main import main
from protocols.cli.run_commands import run_command
from protocols.evaluate.published.figures import Figure, derived, found, from_answers, number, share
from protocols.evaluate.published.ledger import check_ledger, read_ledger
from protocols.evaluate.published.records import Load
from protocols.evaluate.published.results import joined, read_results
from protocols.evaluate.published.running import Places, waits
from protocols.evaluate.published.where import LEDGER, RESULTS
from protocols.online.settings import OnlineSettings
from protocols.online.study import variants
from protocols.report.commands.published import ORDER, run_first
from seqsearch.core.errors import UserError
from seqsearch.core.registry import names
from tests.unit.evaluate.published import ledger, parsed

PLACES = Places(Path("DATA"), Path("OUT"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["reproduce", *arguments])


def test_nothing_is_claimed_that_was_not_run() -> None:
    pairs = joined(ledger(), read_results(RESULTS))
    assert {e.name for e, r in pairs if r} == {e.name for e, _ in pairs if not e.data and not e.needs}
    for entry, result in pairs:
        assert (result is not None) == (entry.status in ("reproduced", "differs"))


def test_results_of_printed_tables_are_what_they_are_computed_to_be() -> None:
    results = read_results(RESULTS)
    entries = [e for e in ledger().entries if e.derive]
    assert len(entries) == 9
    for entry in entries:
        assert results[entry.name].figures == tuple(derived(entry))


def test_every_command_is_one_that_the_command_line_takes() -> None:
    for entry in ledger().entries:
        for words in entry.words():
            labels = parsed(PLACES.put(words))
            assert "--json" in words
            if labels and words[1] == "gtep":
                assert {k for r in entry.read for _, k in r.rows} >= set(labels), entry.name


def test_learners_are_called_in_their_runs_what_their_figures_are_read_by() -> None:
    names_of = {f.name for f in dataclasses.fields(OnlineSettings)}
    for entry in ledger().entries:
        for i, words in enumerate(entry.words(), 1):
            if words[1] != "online":
                continue
            given = run_command("online").make_context("online", PLACES.put(words)[2:]).params
            settings = OnlineSettings(**{k: v for k, v in given.items() if k in names_of})
            called = {v.text for v in variants(settings, Path.cwd())}
            read = {k for r in entry.read if r.command == i and "label={row}" in r.value for _, k in r.rows}
            assert read <= called, entry.name


@pytest.mark.parametrize(
    "words",
    ["seqsearch edge --tasks 3 --enumarate --methods l2p", "seqsearch edge --planner papier --methods l2p",
     "seqsearch cldyb --methods l2p:epoch=3", "seqsearch cldyb --methods slcaa", "seqsearch pool build --recip x o.parquet"],
)  # fmt: skip
def test_a_typo_in_a_command_is_found(words: str) -> None:
    with pytest.raises((click.ClickException, UserError)):
        parsed(words.split())


def test_commands_read_what_earlier_ones_wrote() -> None:
    for entry in ledger().entries:
        written: set[str] = set()
        for words in entry.words():
            read = {w for before, w in zip(["", *words], words, strict=False) if "{out}" in w and before != "--out"}
            assert {w.removesuffix("/chosen.yaml") for w in read} <= written or words[1] == "pool", (
                f"{entry.name}: {read - written}"
            )
            assert bool(read) == waits(words)
            written |= {w for before, w in zip(["", *words], words, strict=False) if before == "--out"}


def test_what_is_not_possible_yet_is_not_built() -> None:
    commands, methods = set(main.list_commands(click.Context(main))), set(names("method"))
    for entry in ledger().entries:
        missing = {w.strip(",").lower() for w in entry.needs.partition(" (")[0].split()} - {"methods"}
        if entry.needs:
            assert re.search("paper does not print|are not published", entry.needs), entry.name
            assert not (commands | methods) & missing, f"{entry.name} needs what is there now"


def written(tmp_path: Path, old: str, new: str) -> Path:
    text = LEDGER.read_text()
    assert old in text
    path = tmp_path / "published.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("  status: not run\n", "  statos: not run\n", "unknown key 'statos'"),
        ("  status: not run\n", "  status: done\n", "must be reproduced or compatible or differs"),
        ("  status: not run\n", "", "status is missing"),
        ("- name: cldyb-table-4\n", "- name: cldyb-table-1\n", "is there twice"),
        ("schema: seqsearch-published/1", "schema: x", "must have `schema: seqsearch-published/1`"),
        ("schema: seqsearch-published/1", "schema: seqsearch-published/1\nschema: y", "again: keep one"),
        ('["ER", "67.9", "55.1"', '["ER", 67.9, "55.1"', "in quotes"),
        ('["ER", "67.9", "55.1"', '["ER", "67.9"', "row 'ER' has 3 figures"),
        ('["CLDyB", "found"]', '["CLDYB", "found"]', "no column is called 'CLDYB'"),
        ("{data}/heldout.parquet", "{date}/heldout.parquet", "unknown placeholder 'date'"),
        ("data: [cldyb, heldout]", "data: [cldyb, held]", "unknown data 'held'"),
        ("  rate: 80\n", "  rate: many\n", "must be a number"),
        ("  rate: 80\n", "  rate: .nan\n", "must be finite and not negative"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_ledger_is_one_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        read_ledger(written(tmp_path, old, new))
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"hours": -4.0}, "finite and not negative"),
        ({"loads": (), "rate": 0.0, "hours": math.nan}, "finite and not negative"),
        ({"hours": 8.0}, "go together"),
        ({"rate": 0.0}, "go together"),
        ({"loads": (Load("x", 10, -1, 3),)}, "must be above 0"),
    ],
)
def test_hours_that_are_none_are_refused(given: dict[str, Any], says: str) -> None:
    entry = dataclasses.replace(ledger().entry("edge-table-a4"), **given)
    with pytest.raises(UserError, match=says):
        check_ledger(Path("x.yaml"), dataclasses.replace(ledger(), entries=(entry,)))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("status: not run", "status: reproduced", "no result is there"),
        ("status: reproduced", "status: differs", "it says `differs`"),
        ('["SRCC", "0.643"', '["SRCC", "0.999"', "is not that of its result"),
        ("--reference Held-out", "--reference CLDyB", "its commands are not those that were run"),
        (
            '["ER", "67.9", "55.1", "54.8", "79.9"]',
            '["ER", "66.9", "55.1", "54.8", "79.9"]',
            "is not the entry that was run",
        ),
    ],
)
def test_a_claim_that_no_result_shows_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    text = LEDGER.read_text()
    head, of_ranks, rest = text.partition("- name: cldyb-table-1-ranks\n")
    path = tmp_path / "published.yaml"
    path.write_text(text.replace(old, new, 1) if old in head else head + of_ranks + rest.replace(old, new, 1))
    if old.startswith('["ER"'):  # inputs of the entry that was run, which are printed in another entry, too
        path.write_text(head + of_ranks + rest.replace(old, new, 1))
    with pytest.raises(UserError, match="ledger of published results") as error:
        joined(read_ledger(path), read_results(RESULTS))
    assert says in str(error.value)


def test_figures_are_read_as_they_are_printed() -> None:
    assert number("69.93(0.39)") == (69.93, 2)
    assert number("0.964*") == (0.964, 3)
    assert number("2,505,185") == (2505185, 0)
    assert (number("NaN"), number("N/A"), number("30.30/2")) == (None, None, None)


def test_a_figure_without_an_interval_is_reproduced_if_it_rounds_to_the_printed_one() -> None:
    assert Figure("r", "c", "0.643", 0.64286).verdict == "reproduced"
    assert Figure("r", "c", "0.643", 0.6437).verdict == "differs"
    assert Figure("r", "c", "N/A", 1.0).verdict == "differs"


@pytest.mark.parametrize(
    ("ours", "half", "verdict"),
    [
        (70.0, 0.8, "reproduced"),
        (70.5, 0.3, "reproduced"),  # 0 is outside, and all of the interval within the margin
        (70.0, 0.9, "compatible"),  # a wide interval reproduces nothing
        (61.0, 10.0, "compatible"),
        (61.0, 6.0, "differs"),
        (72.0, 0.5, "differs"),
    ],
)
def test_a_figure_with_an_interval_is_compared_within_the_margin(ours: float, half: float, verdict: str) -> None:
    assert Figure("r", "c", "70.0", ours, ours - half, ours + half).verdict == verdict


@pytest.mark.parametrize("runs", [3, 10])
def test_false_verdicts_are_rare(runs: int) -> None:
    """Both figures are means of as many normal accuracies; true differences of 0 and of the margin."""
    rng = np.random.default_rng(0)
    for truth, wrong in ((0.0, "differs"), (1.0, "reproduced")):
        for sd in (0.2, 1.0, 3.0):
            ours, printed = rng.normal(70 + truth, sd, (1000, runs)), rng.normal(70, sd / runs**0.5, 1000)
            half = stats.t.ppf(0.975, runs - 1) * ours.std(axis=1, ddof=1) / runs**0.5
            figures = [
                Figure("r", "c", f"{p:.4f}", o, o - h, o + h)
                for p, o, h in zip(printed, ours.mean(axis=1), half, strict=True)
            ]
            assert sum(f.verdict == wrong for f in figures) <= 70


def test_answers_are_read_by_path() -> None:
    answer: dict[str, Any] = {
        "sides": [{"m": "a:x=1,y=2", "s": "random", "v": 3}, {"m": "a:x=1,y=2", "s": "found", "v": 4}]
    }
    assert found(answer, "sides[m=a:x=1,y=2][s=found]/v") == 4
    for path in ("sides[m=a:x=1,y=2]/v", "sides[m=b]/v", "side[m=a]/v", "sides/v"):
        with pytest.raises(UserError, match="answer has"):
            found(answer, path)


def test_a_claim_is_checked_against_the_whole_interval() -> None:
    intervals = [(1.0, 3.0), (-1.0, 3.0), (-3.0, -1.0)]
    verdicts = [Figure("r", "c", "> 0", (low + high) / 2, low, high).verdict for low, high in intervals]
    assert verdicts == ["reproduced", "compatible", "differs"]
    assert [Figure("r", "c", "> 50", ours).verdict for ours in (50.1, 50.0, None)] == [
        "reproduced",
        "differs",
        "differs",
    ]


def test_a_share_pairs_values_in_their_order() -> None:
    answer = {
        "a": [{"m": m, "k": k, "v": v} for k, vs in (("x", (1, 2, 3)), ("y", (0, 2, 5))) for m, v in enumerate(vs)]
    }
    assert share(answer, "a[k=x]/v", "a[k=y]/v") == pytest.approx(1 / 3)
    assert share(answer, "a[k=x]/v", "1") == pytest.approx(2 / 3)
    assert share({"a": [{"k": "x", "v": None}, {"k": "x", "v": 1}]}, "a[k=x]/v", "0") == 0.5
    for below in ("a[k=z]/v", "a[k=x]/w"):
        with pytest.raises(UserError, match="answer has"):
            share(answer, "a[k=x]/v", below)


def test_entries_that_were_run_are_listed_first() -> None:
    pairs = joined(ledger(), read_results(RESULTS))
    listed = [e.status for e, _ in run_first(pairs)]
    assert listed == sorted(listed, key=ORDER.index)
    assert listed[0] == "reproduced"
    for status in ORDER:
        assert [e for e, _ in run_first(pairs) if e.status == status] == [e for e, _ in pairs if e.status == status]


def test_figures_of_a_pool_are_found_wherever_the_data_lie() -> None:
    entry = dataclasses.replace(ledger().entry("gtep-table-15"), commands=("seqsearch gtep",))
    methods = [m for _, m in entry.read[0].rows]
    table = [
        {"pool": f"/my/data/{pool}", "method_id": m, "use": use, "accuracy": 0.01 * i, "average_accuracy": 0.5}
        for pool in ("imagenet-r", "imagenet-a")
        for i, m in enumerate(methods)
        for use in ("tuned", "original")
    ]
    figures = from_answers(entry, [{"table": table}], "/my/data")
    assert len(figures) == 24
    assert [f.ours for f in figures if f.column == "ImageNet-A Acc"] == pytest.approx([0, 1, 2, 3, 4, 5])
    with pytest.raises(UserError, match="the command's answer has 0 of"):
        from_answers(entry, [{"table": table}], "/other")


def test_the_ledger_is_listed() -> None:
    entries = json.loads(run("--json").output)
    assert {e["name"] for e in entries} == {e.name for e in ledger().entries}
    assert all(e["figures"] is None for e in entries if e["status"] in ("not run", "not possible yet"))
    assert "No accuracy of a paper has been reproduced here yet" in " ".join(run().output.split())


def test_ranks_of_table_4_are_reproduced() -> None:
    ran = run("cldyb-table-4-ranks", "--json")
    assert ran.exit_code == 0, ran.output
    figures = json.loads(ran.stdout)["figures"]
    assert [f["published"] for f in figures] == ["0.867*", "0.722*", "0.833*", "0.667*", "0.983*", "0.944*"]
    assert all(f["verdict"] == "reproduced" and abs(f["difference"]) < 0.0005 for f in figures)


def test_what_does_not_follow_from_its_own_table_is_said() -> None:
    ran = run("mcil-table-2-drops")
    assert ran.exit_code == 0, ran.output
    assert "reproduced 0 of 7, differs 7" in ran.output
    assert "80.280" in ran.output


def test_missing_data_are_named_with_where_to_get_them(tmp_path: Path) -> None:
    for more in ([], ["--data", str(tmp_path)], ["--data", str(tmp_path), "--dry-run"]):
        ran = run("gtep-table-15", *more)
        assert ran.exit_code == 2
        [line] = ran.stderr.splitlines()
        assert "was not run" in line
        assert "github.com/hendrycks/imagenet-r" in line
        assert "also missing: imagenet-a" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["gtep-table-6"], "is not possible yet: it needs the two settings HP1 and HP2"),
        (["cldyb-tabel-1"], "did you mean cldyb-table-1"),
        (["--dry-run"], "are of one result"),
        (["mcil-table-2-drops", "--out", "x"], "leaves no runs behind"),
        (["gtep-table-14", "--data", "/nowhere"], "is no folder"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], says: str) -> None:
    ran = run(*arguments)
    assert ran.exit_code == 2
    assert says in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_what_a_command_refuses_it_says_itself(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cldyb-sources").mkdir()
    ran = run("cldyb-table-2", "--data", str(tmp_path), "--out", str(tmp_path / "out"))
    assert ran.exit_code == 2
    assert "22 of 22 sources of cldyb are not in" in capfd.readouterr().err.splitlines()[-1]
    assert ran.stderr.startswith("running: seqsearch pool build --recipe cldyb")
    assert len(ran.stderr.splitlines()) == 1


def test_an_installation_without_the_ledger_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.cli.reproduce.LEDGER", tmp_path / "published.yaml")
    ran = run()
    assert ran.exit_code == 2
    assert "published.yaml is missing, which comes with seqsearch: install seqsearch again" in ran.stderr
