"""Notes as data: a sentence for each code, made of the values that it needs and of no others."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from protocols.report.notes import FIRST, LEVELS, Note, Sentence, all_texts, by_importance, fields, note, page
from seqsearch.stats.interval import Interval

ROOT = Path(__file__).parents[3]
REPORT = ROOT / "protocols" / "report"


@cache
def written() -> tuple[tuple[str, set[str] | None], ...]:
    """Every code that the program makes a note of, and the names of its values; None where they come from elsewhere."""
    return tuple(_written())


def _written() -> Iterator[tuple[str, set[str] | None]]:
    for path in REPORT.rglob("*.py"):
        for call in [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]:
            if not isinstance(call.func, ast.Name) or call.func.id not in ("note", "Note") or not call.args:
                continue
            [code, *more] = call.args
            for one in codes(code):
                named = {k.arg for k in call.keywords if k.arg}
                yield one, None if more or len(named) < len(call.keywords) else named


def codes(node: ast.expr) -> Iterator[str]:
    """What an expression for a code may be."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.IfExp):
        yield from codes(node.body)
        yield from codes(node.orelse)


def test_every_code_has_a_text_and_every_text_a_code() -> None:
    assert {code for code, _ in written()} == set(all_texts())


def test_a_text_needs_what_its_notes_have() -> None:
    for code, named in written():
        assert named is None or fields(all_texts()[code].text) <= named, code


def test_a_text_is_a_sentence_of_a_known_level() -> None:
    for code, (level, text) in all_texts().items():
        assert level in LEVELS, code
        assert text[-1] in ".}", code
        assert "  " not in text, code
        if level == "headline":
            assert len(re.sub(r"\{[^}]*\}", "x", text).split()) <= 16, code


def test_values_are_shown_in_their_ways() -> None:
    said = Sentence().vformat(
        "{a:percent} {b:points} {c:percent} {n:n class} {n:is/are} {m} {k:to class} {k2:to class} {names:or} {sd:percent}",
        (),
        {
            "a": 0.123,
            "b": -0.02,
            "c": Interval(0.5, 0.4, 0.6),
            "n": 1,
            "m": ["x", "y", "z"],
            "k": (2, 3),
            "k2": (2, 2),
            "names": ["er", "ncm"],
            "sd": {"er": 0.01, "ncm": 0.02},
        },
    )
    assert (
        said
        == "12.3 -2.0 50.0 [40.0, 60.0] 1 class is x, y and z 2 to 3 classes 2 classes er or ncm er 1.0 and ncm 2.0"
    )
    assert Sentence().vformat("{x:percent}", (), {"x": Interval(0.5, math.nan, math.nan)}) == "50.0"


@pytest.mark.parametrize(
    "of", [Note("of.tomorrow", {"x": 1}), Note("mcil.few", {"x": 1}), Note("mcil.few", {"runs": {}})]
)
def test_a_note_of_another_version_is_shown_as_it_is(of: Note) -> None:
    assert of.text.startswith(f"{of.code}: {next(iter(of.values))} = ")
    assert of.record()["code"] == of.code


def test_values_in_braces_are_no_templates() -> None:
    assert "{0.__class__}" in note("mcil.why_failed", method="{0.__class__}", why="{x}").text


def test_the_most_important_notes_come_first_and_details_never() -> None:
    made = [
        note("cost.busy", share=0.5),
        note("mcil.bold"),
        *(note("mcil.unseeded", methods=[str(i)]) for i in range(7)),
    ]
    made.append(note("mcil.conditional"))
    first, more = by_importance(made)
    assert [n.code for n in first] == ["mcil.conditional", *["mcil.unseeded"] * (FIRST - 1)]
    assert len(more) == len(made) - FIRST
    assert by_importance(made[:2])[0] == []


def test_the_page_of_codes_is_the_one_that_is_committed() -> None:
    assert (ROOT / "docs" / "notes.md").read_text() == page()
