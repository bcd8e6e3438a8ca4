"""A run of one task compares nothing: headline, notes and report say so, and nothing of a search that was not made."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from protocols.cldyb.preflight import ONE_TASK, SHARED
from protocols.cldyb.protocol import CLDYB
from protocols.evaluate.score.protocol import SCORE
from protocols.evaluate.score.summary import ScoreSummary
from protocols.report.cldyb.view import view as of_cldyb
from protocols.report.page import laid_out, reporter
from protocols.report.score import notes as score_notes
from protocols.report.score.view import view as of_score
from protocols.report.terminal import render
from protocols.running.protocol import Protocol
from tests.unit.report.report_pages import said_to_be
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

POOL = glyphs()
METHODS = ("er", "slca")
SEARCHED = (
    "Task by task",
    "search saw",
    "search trained on",
    "search moved on",
    "Robustness",
    "Searched with",
    "search-1",
)


def one_task(folder: Path, random: int, **settings: bool) -> Path:
    """Two searches for each method alone, all of the same task, and so many random sequences."""
    of = [sequence(POOL, f"search-{i}-{m}", "searched", [m], [[0, 1]]) for m in METHODS for i in range(2)]
    of += [sequence(POOL, f"random-{i}", "random", METHODS, [[0, 1]]) for i in range(random)]
    evaluated = [rescored(s, m, 1000 + r, outcome([[0.8 + r / 10]])) for s in of for m in METHODS for r in range(2)]
    run = write_run(folder / "run", POOL, of, evaluated, METHODS)
    said = json.loads((said_to_be(run, "cldyb", **settings) / "config.json").read_text())
    said["identity"]["images"] = {"trained": 9, "searched": 6, "test": 3}
    (run / "config.json").write_text(json.dumps(said))
    return run


def write(protocol: Protocol, run: Path) -> Path:
    """The report of a run."""
    made = reporter(protocol)
    assert made
    return made(run, protocol.read(run), [POOL])


def in_terminal(shown: object) -> str:
    file = io.StringIO()
    Console(file=file, width=120).print(shown)
    return " ".join(file.getvalue().split())


@pytest.mark.parametrize("random", [0, 5])
def test_nothing_is_said_of_a_search_or_of_sequences_that_are_not_there(tmp_path: Path, random: int) -> None:
    run = one_task(tmp_path, random, separate=True)
    page = write(CLDYB, run).read_text()
    view = of_cldyb(CLDYB.read(run).summary)
    said = in_terminal(render(view, details=True))
    assert view.headline.code == "cldyb.one_task"
    assert {"cldyb.same": {"why": ONE_TASK}, "cldyb.images": {"trained": 9, "test": 3}}.items() <= {
        n.code: n.values for n in view.notes
    }.items()
    assert f"{laid_out(view.headline.text)}</h1>" in page
    assert "nothing was searched" in page.replace("\n", " ")
    for absent in (*SEARCHED, "the notes say why", "random ones", "--random-sequences"):
        assert absent not in said
        assert absent not in page.partition("Settings and identity")[0]
    assert page.count('<div class="step">') == 1, "the task is pictured once"


def test_score_says_why_and_explains_no_column_that_is_not_there(tmp_path: Path) -> None:
    run = said_to_be(one_task(tmp_path, 5), "score")
    said = json.loads((run / "config.json").read_text())
    methods = {m: {"backbone": "b", "digest": m, "params": {}} for m in METHODS}
    said["identity"] |= {"methods": methods, "taken_over": {}, "references": {}, "known": {}, "remarks": []}
    (run / "config.json").write_text(json.dumps(said))
    exported = SCORE.read(run)
    view, page = of_score(exported.summary), write(SCORE, run).read_text()
    text = in_terminal(render(view, details=True))
    assert view.headline.code == "score.equal"
    for told in (text, page):
        assert f"Why nothing differs: {SHARED}." in told
        assert "ransfer" not in told
        assert "means over sequences and the training seeds of each, test images." in told
        assert "relative drop" not in told
        assert "search saw" not in told


def test_score_without_random_sequences_says_why_nothing_is_compared() -> None:
    s = ScoreSummary("r", "s", (), None, None, {}, (), (), (), None, same=SHARED)
    assert (score_notes.headline(s).code, score_notes.headline(s).values) == ("score.none", {"methods": 0})
    assert {n.code: n.values for n in score_notes.notes(s)}["cldyb.same"] == {"why": SHARED}
