"""For which methods by themselves found sequences are harder: marks in the tables, one sentence, and --json."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from protocols.evaluate.score.summary import MethodScore, ScoreSummary
from protocols.report.cldyb import tables as cldyb_tables
from protocols.report.cldyb.notes import marks, notes
from protocols.report.cldyb.tables import stars
from protocols.report.cldyb.view import view
from protocols.report.score import notes as score_notes
from protocols.report.score import tables as score_tables
from protocols.report.terminal import render
from protocols.report.text import Bold
from seqsearch.stats.drop import drop
from seqsearch.stats.multiple import max_t
from tests.studies import summary_of
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

POOL = glyphs()
METHODS = ("er", "lwf", "slca")
RANDOM = np.linspace(0.6, 0.9, 19)
FOUND = {"er": 0.2, "lwf": 0.75, "slca": 0.1}
"""Harder for two of three."""


def run(folder: Path, found: dict[str, float], L: int = 19, apart: bool = False, **settings: Any) -> Path:
    """One found sequence, of each method where they are searched ``apart``, and L random ones; one training each."""
    searched = [METHODS] if not apart else [(m,) for m in METHODS]
    sought = [sequence(POOL, f"search-{i}", "searched", of, [[0, 1], [2, 3 + i]]) for i, of in enumerate(searched)]
    drawn = [sequence(POOL, f"random-{i}", "random", METHODS, [[0, 1], [5 + i, 6 + i]]) for i in range(L)]
    evaluated = []
    for m in METHODS:
        for s in sought:
            evaluated.append(rescored(s, m, 1000, final(found[m])))
        evaluated += [rescored(s, m, 1000, final(a)) for s, a in zip(drawn, np.roll(RANDOM, len(m))[:L], strict=True)]
    return write_run(folder / "run", POOL, [*sought, *drawn], evaluated, list(METHODS), **settings)


def final(acc: float) -> Any:
    return outcome([[acc], [acc, acc]], [[0.95], [0.95, 0.95]])


def drops(path: Path) -> list[str]:
    return [row[-1].split(" ")[0] for row in cldyb_tables.key(summary_of(path)).texts]


def test_rows_are_marked_by_the_adjusted_p(tmp_path: Path) -> None:
    path = run(tmp_path, FOUND)
    s = summary_of(path)
    by_hand = max_t([[FOUND[m]] for m in METHODS], [np.roll(RANDOM, len(m)) for m in METHODS])
    assert [m.adjusted_p for m in s.methods] == pytest.approx(by_hand)
    assert by_hand[1] > 0.05 == by_hand[0] == by_hand[2]
    assert [cell.endswith("*") for cell in drops(path)] == [True, False, True, False], "the mean has none"
    there = list(notes(s))
    assert [n.values for n in there if n.code == "cldyb.stars"] == [
        {"which": "found", "end": "harder", "level": 0.05, "correction": "step-down max-T", "methods": 3}
    ]
    assert sum(n.code == "cldyb.each" for n in there) == 1
    assert [m["adjusted_p"] for m in view(s).to_json()["methods"]] == [m.adjusted_p for m in s.methods]
    printed = io.StringIO()
    Console(file=printed, width=80).print(render(view(s), details=True))
    assert printed.getvalue().count("*") == 3, "two rows and the note"


def of_seeds(folder: Path, found: dict[str, tuple[float, float, float]], apart: bool = False) -> Path:
    """One found sequence with three training seeds, of each method where they are searched ``apart``, and three random ones."""
    searched = [METHODS] if not apart else [(m,) for m in METHODS]
    sought = [sequence(POOL, f"search-{i}", "searched", of, [[0, 1], [2, 3 + i]]) for i, of in enumerate(searched)]
    drawn = [sequence(POOL, f"random-{i}", "random", METHODS, [[0, 1], [5 + i, 6 + i]]) for i in range(3)]
    evaluated = [rescored(s, m, 1000 + i, final(a)) for s in sought for m in METHODS for i, a in enumerate(found[m])]
    evaluated += [rescored(s, m, 1000, final(0.8 + 0.01 * i)) for i, s in enumerate(drawn) for m in METHODS]
    return write_run(folder / "run", POOL, [*sought, *drawn], evaluated, list(METHODS))


def test_methods_that_may_be_the_best_are_bold(tmp_path: Path) -> None:
    """Seeds move all three alike: one is worse with every seed, two take turns."""
    s = summary_of(
        of_seeds(tmp_path, {"er": (0.50, 0.60, 0.70), "lwf": (0.41, 0.50, 0.61), "slca": (0.51, 0.59, 0.70)})
    )
    assert s.best == ("er", "slca")
    assert view(s).to_json()["best"] == ["er", "slca"]
    rows = cldyb_tables.key(s).texts
    assert [isinstance(row[1], Bold) for row in rows] == [True, False, True, False]
    assert [n.values for n in notes(s) if n.code == "cldyb.bold"] == [{"which": "found", "methods": ["er", "slca"]}]
    printed = io.StringIO()
    Console(file=printed, width=80, force_terminal=True, color_system="standard").print(render(view(s)))
    bold = re.findall(r"\x1b\[1m *([\d.]+) *\x1b", printed.getvalue())
    assert bold == ["60.0", "60.0"]
    assert isinstance(rows[0][1], Bold)


def test_where_no_method_is_worse_or_each_has_sequences_of_its_own_none_is_bold(tmp_path: Path) -> None:
    equal = dict.fromkeys(METHODS, (0.5, 0.6, 0.7))
    for name, apart in (("shared", False), ("apart", True)):
        s = summary_of(of_seeds(tmp_path / name, equal, apart))
        assert s.best == (() if apart else METHODS)
        assert not any(isinstance(cell, Bold) for row in cldyb_tables.key(s).texts for cell in row)
        assert "cldyb.bold" not in {n.code for n in notes(s)}


def test_with_fewer_random_sequences_than_a_verdict_needs_nothing_is_marked(tmp_path: Path) -> None:
    path = run(tmp_path, FOUND, L=18)
    assert not any("*" in cell for cell in drops(path))
    assert not {"cldyb.stars", "cldyb.no_stars"} & {n.code for n in notes(summary_of(path))}
    assert max(m.adjusted_p or 0 for m in summary_of(path).methods) < 1


def test_that_no_row_is_marked_is_said(tmp_path: Path) -> None:
    s = summary_of(run(tmp_path, dict.fromkeys(METHODS, 0.75)))
    [said] = [n for n in notes(s) if n.code == "cldyb.no_stars"]
    assert (said.values["end"], said.values["methods"], said.values["correction"]) == ("harder", 3, "step-down max-T")


def test_sequences_of_each_method_take_holm(tmp_path: Path) -> None:
    """No relabelling moves all methods together; 19 random sequences allow no mark of three methods."""
    s = summary_of(run(tmp_path, FOUND, apart=True))
    assert s.placed is not None
    assert (s.separate, s.placed.shared) == (True, False)
    assert [m.adjusted_p for m in s.methods][::2] == pytest.approx([0.15, 0.15])
    assert not list(marks(s.placed, ["", "", ""]))


def test_one_method_and_equal_digits_have_no_star() -> None:
    low, same = drop([[0.2]], RANDOM[:, None]), drop([[0.5]], np.full((19, 1), 0.5001))
    assert stars([(low, 0.05)]) == [""]
    assert stars([(low, 0.05), (low, None)]) == ["", ""]
    assert stars([(low, 0.05), (same, 0.05), (None, None), (low, 0.06)]) == ["*", "", "", ""]


def test_both_drops_of_score_are_marked(tmp_path: Path) -> None:
    where, low = summary_of(run(tmp_path, FOUND)).placed, drop([[0.2]], RANDOM[:, None])
    rows = tuple(
        MethodScore(m, False, None, None, low, low, {}, {}, {}, searched_adjusted_p=p, unseen_adjusted_p=0.3)
        for m, p in (("er", 0.05), ("slca", 0.2))
    )
    s = ScoreSummary("r", "s", rows, low, low, {}, (), (), (), None, searched_placed=where, unseen_placed=where)
    table = score_tables.key(s)
    columns = {h: [row[i].split(" ")[0][-1] for row in table.texts] for i, h in enumerate(table.headings)}
    assert [c == "*" for c in columns["drop (searched)"]] == [True, False]
    assert [c == "*" for c in columns["drop (held out)"]] == [False, False]
    said = [(n.code, n.values.get("which")) for n in score_notes.notes(s)]
    assert {("cldyb.stars", "found (searched)"), ("cldyb.no_stars", "found (held out)")} <= set(said)
    assert sum(code == "cldyb.each" for code, _ in said) == 1
