"""The headings of tables that the program writes by hand, found in its source.

They are put into something called ``headings`` or ``HEADINGS``. What is filled in when the program runs, as the name of a method,
is ``...``.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from protocols.report.metric_table import LAID_OUT

ROOT = Path(__file__).parents[3]
TOPS = ("protocols", "actors", "seqsearch")
FILLED = "..."
NAMES = ("headings", "HEADINGS")
SIGNS = (*NAMES, "add_column", "<th>", ":<", ":>", ":^")
"""What a file has in it that makes a table."""
SAME = ("tuple", "list", "zip", "enumerate")
"""Calls that hand on what they are given."""
Function = ast.FunctionDef | ast.Module


@dataclass(frozen=True)
class Heading:
    """One of a table, by the file that makes it; ``table``: its title, empty where it has none; ``below``: its second line."""

    file: Path
    table: str
    text: str
    below: str = ""


class Source:
    """A file that may make tables."""

    def __init__(self, path: Path) -> None:
        self.path, self.tree = path, ast.parse(path.read_text())
        self.functions = [n for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef)]

    def found(self) -> Iterator[Heading]:
        """Every heading of its tables."""
        for scope in (self.tree, *self.functions):
            made = [v for v in _put(scope, *NAMES) if not isinstance(v, ast.Dict)]
            yield from (_heading(self.path, "", t) for v in made for t in self.texts(v, scope))

    def texts(self, node: ast.expr, scope: Function, depth: int = 0) -> set[str]:
        """What an expression may be, or what is in it if it is a sequence."""
        if depth > 12:
            return {FILLED}

        def of(*nodes: ast.expr) -> set[str]:
            return set().union(*(self.texts(n, scope, depth + 1) for n in nodes))

        def one(node: ast.expr) -> set[str]:
            """Of a sequence: a pair is a heading in two lines, and an upper one that ends with a hyphen goes on in the lower."""
            match node:
                case ast.Tuple(elts=[upper, lower]):
                    return {a + b if a.endswith("-") else f"{a}\n{b}" for a in of(upper) for b in of(lower)}
            return of(node)

        match node:
            case ast.Constant(value=value):
                return {str(value)}
            case ast.JoinedStr(values=values):
                return {_joined(values)}
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return set().union(*(one(e) for e in elements))
            case ast.Starred(value=value) | ast.Subscript(value=value):
                return of(value)
            case ast.IfExp(body=body, orelse=orelse):
                return of(body, orelse)
            case ast.BinOp(left=left, right=right):
                return of(left, right)
            case ast.GeneratorExp(elt=element) | ast.ListComp(elt=element):
                return one(element)
            case ast.Dict(keys=[_, *_] as keys, values=values):
                return of(*values) if all(isinstance(k, ast.Constant) for k in keys) else {FILLED}
            case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in SAME:
                return of(first)
            case ast.Call(func=ast.Attribute(value=value, attr="values" | "keys")):
                return of(value)
            case ast.Name(id=name):
                return self.named(name, scope, depth)
        return {FILLED}

    def named(self, name: str, scope: Function, depth: int) -> set[str]:
        """What a name may be: all that is put into it, in its function, in its file, or where it is imported from."""
        for where in dict.fromkeys((scope, self.tree)):
            if values := _put(where, name):
                return set().union(*(self.texts(v, where, depth + 1) for v in values))
        for n in ast.walk(self.tree):
            if isinstance(n, ast.ImportFrom) and n.module and any((a.asname or a.name) == name for a in n.names):
                return _plain(getattr(importlib.import_module(n.module), name))
        return {FILLED}


def _heading(file: Path, table: str, text: str) -> Heading:
    upper, _, below = text.partition("\n")
    return Heading(file, table, upper, below)


def all_headings() -> list[Heading]:
    """Of all tables of the program."""
    return [heading for source in sources() for heading in source.found()]


@cache
def sources() -> list[Source]:
    """All files that may make one, but for those whose tables have their columns with them (`protocols.report.table`)."""
    there = (p for top in TOPS for p in sorted((ROOT / top).rglob("*.py")))
    paths = (
        p for p in there if p.parent.name != "report" or p.stem.partition("_")[0] not in {"table", "tables", *LAID_OUT}
    )
    return [Source(p) for p in paths if any(sign in p.read_text() for sign in SIGNS)]


def makers() -> Iterator[tuple[Path, ast.FunctionDef]]:
    """Functions that make a table, see `makes_rows`."""
    yield from ((source.path, f) for source in sources() for f in source.functions if makes_rows(f))


def mentions(node: ast.AST) -> set[str]:
    """Names, attributes and keywords in it."""
    said = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return said | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def makes_rows(node: ast.AST) -> bool:
    """Whether it adds titled columns to a table, writes a heading in HTML, or aligns cells of text."""
    for n in ast.walk(node):
        if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "add_column" and n.args:
            return True
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and "<th>" in n.value:
            return True
        if isinstance(n, ast.FormattedValue) and n.format_spec and _joined(n.format_spec.values)[:1] in ("<", ">", "^"):
            return True
    return False


def _own(scope: Function) -> Iterator[ast.AST]:
    """Nodes of a function, or of a file, without those of the functions in it."""
    todo: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, ast.FunctionDef):
            todo += ast.iter_child_nodes(node)


def _put(scope: Function, *names: str) -> list[ast.expr]:
    """All that is put into names: assigned, added, inserted, or taken in turn from a sequence."""
    found: list[ast.expr] = []
    for n in _own(scope):
        match n:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    found += _taken(target, value, names)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                found += _taken(target, value, names)
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                found += _taken(target, value, names)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "insert"), args=[*_, last]):
                found += [ast.List([last])] * (name in names)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="extend"), args=[last]):
                found += [last] * (name in names)
    return found


def _taken(target: ast.expr, value: ast.expr, names: tuple[str, ...]) -> list[ast.expr]:
    match target:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name), slice=ast.Slice()):
            return [value] * (name in names)
        case ast.Subscript(value=ast.Name(id=name)):
            return [ast.List([value])] * (name in names)
        case ast.Tuple(elts=targets) if isinstance(value, ast.Tuple) and len(value.elts) == len(targets):
            return [v for t, own in zip(targets, value.elts, strict=True) for v in _taken(t, own, names)]
        case ast.Tuple(elts=targets) if not isinstance(value, ast.Call):  # what that hands on is found where it is made
            return [ast.Constant(FILLED) for t in targets if isinstance(t, ast.Name) and t.id in names]
    return []


def _plain(value: Any) -> set[str]:
    """Of what was imported."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping) and all(isinstance(v, str) for v in value.values()):
        return set(value.values())
    return {str(v) for v in value} if isinstance(value, (tuple, list, Mapping)) else {FILLED}


def _joined(values: list[ast.expr]) -> str:
    parts = "".join(str(v.value) if isinstance(v, ast.Constant) else FILLED for v in values)
    return parts.replace(FILLED + FILLED, FILLED)
