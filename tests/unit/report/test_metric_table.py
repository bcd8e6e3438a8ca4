"""Every column of the protocols' tables is explained, and docs/metrics.md is what the code says."""

from __future__ import annotations

import ast
import io
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from protocols.cli.main import main
from protocols.report import cldyb_words
from protocols.report.metric_table import COLUMNS, ROWS, page
from protocols.report.tables import told
from tests.unit.report.test_cldyb_words import summary

HERE = Path(__file__).parents[3]
FILES = {
    "edge": ("edge_cells", "edge_truth", "edge_fit", "edge_plan"), "gtep": ("gtep_cells",), "mcil": ("mcil_cells",),
    "online": ("online_cells",), "duel": ("duel",),
}  # fmt: skip


def written(node: ast.expr) -> str:
    """A heading, ``...`` for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.Constant) else "..." for p in node.values]
        return "".join(map(str, parts)).replace("......", "...")
    return "..."


def headings(file: str) -> set[str]:
    """Of the tables that a file makes, from its source: what is called headings, and what is handed to a table."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((HERE / f"protocols/report/{file}.py").read_text())):
        value: ast.expr | None = None
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "headings" for t in node.targets):
            value = node.value
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Cells" and len(node.args) > 2:
            value = node.args[2]
        elif isinstance(node, ast.For) and getattr(node.target, "id", "") == "name" and file == "edge_plan":
            value = node.iter
        if isinstance(value, ast.Tuple | ast.List):
            found |= {written(e) for e in value.elts if not isinstance(e, ast.Starred)}
    return found


@pytest.mark.parametrize("protocol", FILES)
def test_every_heading_is_explained(protocol: str) -> None:
    known = {h for c in COLUMNS if c.protocol == protocol for h in c.headings} | set(ROWS)
    found = set().union(*map(headings, FILES[protocol]))
    assert len(found) > 5
    assert found - known - {"..."} == set()


@pytest.mark.parametrize("separate", [False, True])
def test_every_heading_of_cldyb_is_explained(separate: bool) -> None:
    known = {h for c in COLUMNS if c.protocol == "cldyb" for h in c.headings} | set(ROWS)
    titles, _ = cldyb_words.table(replace(summary(), separate=separate))
    found = {upper + lower if upper.endswith("-") else upper for upper, lower in titles}
    assert {"Acc", "AR", "ALA", "Relative drop", "Size"} <= found
    assert found - known == set()


def test_the_page_is_what_the_code_says() -> None:
    assert (HERE / "docs/metrics.md").read_text() == page()
    assert CliRunner().invoke(main, ["metrics", "--markdown"]).stdout == page()


def test_a_column_or_a_protocol_is_told_by_its_name() -> None:
    said = CliRunner().invoke(main, ["metrics", "ar"])
    assert "-AFM = mean over i < T of a_Ti - a_ii" in said.stdout
    assert "Avg [95 %]" in CliRunner().invoke(main, ["metrics", "mcil"]).stdout
    assert CliRunner().invoke(main, ["metrics"]).stdout.count("from:") == len(COLUMNS)


@pytest.mark.parametrize("name", ["none of them", ""])
def test_an_unknown_name_is_one_line(name: str) -> None:
    said = CliRunner().invoke(main, ["metrics", name])
    assert said.exit_code == 2
    assert said.stderr.count("\n") == 1
    assert "seqsearch metrics lists them all" in said.stderr


def test_below_tables_stands_where_their_columns_are_explained() -> None:
    console = Console(file=io.StringIO(), width=120)
    console.print(told("mcil", "headline", "", (), ()))
    assert console.file.getvalue().endswith("Columns: seqsearch metrics mcil (docs/metrics.md).\n")
