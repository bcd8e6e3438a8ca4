"""The code follows docs/architecture.md: every package has its sentence, computing never shows, nothing is too large."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOPS = ("seqsearch", "actors", "protocols", "tools")
SHOWING = ("report", "trackers", "cli", "api")
"""Packages of ``protocols`` that may print and draw."""
PAGE = (ROOT / "docs/architecture.md").read_text()


def files() -> list[Path]:
    return [p for top in TOPS for p in sorted((ROOT / top).rglob("*.py"))]


def imported(path: Path) -> Iterator[str]:
    """Modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{a.name}" for a in node.names)


def lines(node: ast.AST) -> int:
    return (node.end_lineno or 0) - node.lineno + 1 if isinstance(node, ast.stmt) else 0


def test_every_package_has_its_sentence_and_every_sentence_its_package() -> None:
    packages = {str(p.parent.relative_to(ROOT)) for p in files() if p.name != "__init__.py"}
    named = set(re.findall(r"`((?:seqsearch|actors|protocols|tools)(?:/\w+)*)`", PAGE))
    assert packages == named


def test_two_files_alone_name_modules_of_higher_layers() -> None:
    """The entry of the command line, and ``import seqsearch``. Imports proper are for the contracts in pyproject.toml."""
    upward = re.compile(r"(protocols|actors|tools)(\.\w+)+")
    found = {
        str(p.relative_to(ROOT))
        for p in files()
        if p.relative_to(ROOT).parts[0] == "seqsearch"
        for n in ast.walk(ast.parse(p.read_text()))
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and upward.fullmatch(n.value)
    }
    assert found == {"seqsearch/__init__.py", "seqsearch/__main__.py"}


def test_files_that_the_page_names_are_there() -> None:
    packages = {p.name for p in (ROOT / "seqsearch").iterdir() if p.is_dir()}
    named = [n for n in re.findall(r"`([\w/]+?)(?:\.py)?`", PAGE) if n.split("/")[0] in packages and "/" in n]
    assert len(named) > 10
    for name in named:
        assert (ROOT / "seqsearch" / name).is_dir() or (ROOT / "seqsearch" / f"{name}.py").is_file(), name


@pytest.mark.parametrize(
    "package", sorted(p.name for p in (ROOT / "protocols").iterdir() if p.name not in SHOWING and p.is_dir())
)
def test_computing_never_shows(package: str) -> None:
    """Every package of a protocol, also one that the contract in pyproject.toml does not name."""
    shows = ("click", "rich", "matplotlib", *(f"protocols.{s}" for s in SHOWING))
    for path in (ROOT / "protocols" / package).rglob("*.py"):
        bad = [m for m in imported(path) if any(m == s or m.startswith(s + ".") for s in shows)]
        assert not bad, f"{path.relative_to(ROOT)} imports {bad}"


def test_nothing_grows_too_large() -> None:
    long = [p.name for p in files() if len(p.read_text().splitlines()) > 400]
    assert long == ["schema.py"], "a file answers one question; this one lists every column of every file"
    for path in files():
        for node in ast.walk(ast.parse(path.read_text())):
            limit = {ast.FunctionDef: 60, ast.AsyncFunctionDef: 60, ast.ClassDef: 230}.get(type(node))
            assert limit is None or lines(node) <= limit, f"{path.relative_to(ROOT)}: {getattr(node, 'name', '')}"


DATA = (ast.Tuple, ast.List, ast.Set, ast.Dict)
RECORDS = ("Layout", "Column", "parametrize")


def is_data(node: ast.AST) -> bool:
    """A literal collection, or a call that declares a table."""
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return isinstance(node, DATA) or name in RECORDS


@pytest.mark.parametrize("top", [*TOPS, "benchmarks", "tests"])
def test_only_tables_of_data_are_laid_out_by_hand(top: str) -> None:
    for path in sorted((ROOT / top).rglob("*.py")):
        text = path.read_text()
        by_hand = {n for n, line in enumerate(text.splitlines(), 1) if line.endswith("# fmt: " + "skip")}
        if by_hand:
            nodes = list(ast.walk(ast.parse(text)))
            values = [n.value for n in nodes if isinstance(n, ast.Assign | ast.AnnAssign) and n.value is not None]
            decorators = [d for n in nodes if isinstance(n, ast.FunctionDef) for d in n.decorator_list]
            assert by_hand <= {n.end_lineno for n in (*values, *decorators) if is_data(n)}, path.relative_to(ROOT)
