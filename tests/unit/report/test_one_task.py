"""A run of one task compares nothing: headline, notes and report say so, and nothing of a search that was not made."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from protocols.cldyb.cannot_differ import ONE_TASK, SHARED
from protocols.cldyb.protocol import CLDYB
from protocols.evaluate.score.protocol import SCORE
from protocols.evaluate.score.summary import ScoreSummary
from protocols.report import cldyb, score, score_words
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
    judged = [rescored(s, m, 1000 + r, outcome([[0.8 + r / 10]])) for s in of for m in METHODS for r in range(2)]
    run = write_run(folder / "run", POOL, of, judged, METHODS)
    said = json.loads((said_to_be(run, "cldyb", **settings) / "config.json").read_text())
    said["identity"]["images"] = {"trained": 9, "searched": 6, "test": 3}
    (run / "config.json").write_text(json.dumps(said))
    return run


def in_terminal(shown: object) -> str:
    file = io.StringIO()
    Console(file=file, width=120).print(shown)
    return " ".join(file.getvalue().split())


@pytest.mark.parametrize("random", [0, 5])
def test_nothing_is_said_of_a_search_or_of_sequences_that_are_not_there(tmp_path: Path, random: int) -> None:
    run = one_task(tmp_path, random, separate=True)
    page = cldyb.write_report(run, CLDYB.read(run), [POOL]).read_text()
    said = in_terminal(cldyb.render(CLDYB.read(run).summary))
    assert f"; {ONE_TASK}." in said
    assert f"; {ONE_TASK}</h1>" in page
    assert "trained on 9, all but the 3 tested." in said
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
    text, page = in_terminal(score.render(exported.summary)), score.write_report(run, exported, [POOL]).read_text()
    for told in (text, page):
        assert f"on each; {SHARED}." in told
        assert "ransfer" not in told
        assert "means over sequences and the training seeds of each, test images." in told
        assert "relative drop" not in told
        assert "search saw" not in told


def test_score_without_random_sequences_says_why_nothing_is_compared() -> None:
    s = ScoreSummary("r", "s", (), None, None, {}, (), (), (), None, same=SHARED)
    assert score_words.headline(s).endswith(f"without a comparison of found and random ones; {SHARED}.")
