"""Below its tables every command says where their columns are explained, in words that ``seqsearch metrics`` understands."""

from __future__ import annotations

import ast
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console, RenderableType

from protocols.cli.main import main
from protocols.edge.plan import ExtremesPlan
from protocols.edge.plan_only import PlanSummary
from protocols.evaluate.compare.agreement import agreement
from protocols.evaluate.compare.table import Table
from protocols.evaluate.explain.common import Common, Pair
from protocols.evaluate.explain.summary import Summary as Explained
from protocols.evaluate.published.ledger import read_ledger
from protocols.evaluate.published.where import LEDGER
from protocols.evaluate.score.summary import MethodScore, ScoreSummary, TaskScore
from protocols.report.commands import published
from protocols.report.commands.metrics import matching, sections
from protocols.report.compare import view as compare
from protocols.report.edge import plan as edge_plan
from protocols.report.explain import view as explain
from protocols.report.score.tables import bounds, key
from protocols.report.score.view import view as of_score
from protocols.report.terminal import render
from protocols.running.provenance import Provenance
from seqsearch.extremes.find import Extreme
from tests.unit.report.cldyb.test_notes import side

WITHOUT = {"costs", "methods", "pools"}
"""Whose columns say by themselves what they are, or by a line above them; those of costs are in files for papers."""


def shown(what: RenderableType) -> str:
    printed = io.StringIO()
    Console(file=printed, width=200).print(what)
    return printed.getvalue()


def below(section: str) -> str:
    assert matching(section)
    return f"Columns: seqsearch metrics {section} (docs/metrics.md)."


def scored() -> ScoreSummary:
    rows = (
        MethodScore("er", False, None, side(), None, None, {"random": side(), "hard": side()}, {"searched": 0.75}, {}),
        MethodScore("slca", False, side(), None, None, None, {"random": replace(side(), acc=0.25)}, {}, {}),
    )
    tasks = (TaskScore("found-0", 1, 2, {"er": 0.5}, {"joint": 0.75}, {}),)
    return ScoreSummary("r", "runs/r", rows, None, None, {}, tasks, (), (), None)


def explained() -> Explained:
    pairs = (Pair("found-0", "names", 2, "owl", "wren", 0.5),)
    return Explained("r", "runs/r", (), None, Common(pairs=pairs), None, (), Provenance(), ())


def test_score_explain_and_compare_say_it_below_their_tables_and_not_without() -> None:
    table = Table(("a", "b", "c"), ("one", "two"), np.array([[0.1, 0.2], [0.2, 0.4], [0.3, 0.3]]))
    for section, what in (
        ("score", render(of_score(scored()))),
        ("explain", render(explain.view(explained()), details=True)),
        ("compare", render(compare.view_of_table(table, agreement(table, "two")))),
    ):
        assert shown(what).rstrip().endswith(below(section)), section
    assert "Columns:" not in shown(render(of_score(replace(scored(), reached="found-0"))))
    assert "Columns:" not in shown(render(explain.view(replace(explained(), unfinished="found-0")), details=True))


def test_the_table_of_scores_has_the_columns_that_somebody_has_a_figure_for() -> None:
    found, of = key(scored()), bounds(scored())
    assert found.headings == ("Method", "found (searched)", "found (held out)", "random")
    assert found.texts == [("er", "-", "50.0", "50.0"), ("slca", "50.0", "-", "25.0")]
    assert of.headings == ("Method", "bound, found")
    assert of.texts == [("er", "75.0"), ("slca", "-")]
    assert key(replace(scored(), methods=())).rows == ()
    alone = replace(scored().methods[0], unseen=None)
    assert key(replace(scored(), methods=(alone,))).headings == ("Method", "random", "hard")
    assert bounds(replace(scored(), methods=(replace(alone, bound={}),))).rows == ()


def test_plans_and_published_results_say_it() -> None:
    hard = Extreme("hard", ((0, 1), (2, 3)), 0.25, 0.0, "exact", 3, 0.1, 0.0)
    easy = replace(hard, direction="easy", value=0.75, bound=1.0)
    plan = ExtremesPlan("names", "a file", "digest", "adjacent", (2, 2), 0.5, 0.1, (hard,), (easy,))
    assert shown(render(edge_plan.view(PlanSummary(plan, (0.4,))))).rstrip().endswith(below("edge"))
    ledger = read_ledger(LEDGER)
    pairs = [(e, None) for e in ledger.entries]
    assert below("published") in shown(published.listing(ledger, pairs))
    assert shown(published.outcome(ledger.entries[0], ())).rstrip().endswith(below("published"))


@pytest.mark.parametrize(
    ("arguments", "section"),
    [(("sequences", "list"), "frozen"), (("stream", "show", "glyphs:samples=60,classes=3"), "streams")],
)
def test_plain_tables_say_it(arguments: tuple[str, ...], section: str) -> None:
    said = CliRunner().invoke(main, arguments)
    assert said.exit_code == 0, said.output
    assert said.stdout.rstrip().endswith(below(section))
    assert "Columns:" not in CliRunner().invoke(main, [*arguments, "--json"]).stdout


def test_no_section_is_forgotten() -> None:
    report = Path(published.__file__).parents[1]
    calls = [n for p in report.rglob("*.py") for n in ast.walk(ast.parse(p.read_text())) if isinstance(n, ast.Call)]
    said = [c for c in calls if getattr(c.func, "id", "") in ("columns_of", "explained", "summary")]
    made = {str(c.args[0].value) for c in said if isinstance(c.args[0], ast.Constant)}
    made |= {
        str(k.value.value)
        for c in calls
        for k in c.keywords
        if k.arg == "section" and isinstance(k.value, ast.Constant)
    }
    assert made == set(sections()) - WITHOUT
