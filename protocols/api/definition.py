"""The statement that defines a class, found in the text of a cell or a script."""

from __future__ import annotations

import ast
import contextlib
import inspect
import symtable
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Definition:
    """A class statement.

    Attributes:
        name: of the class.
        text: of the statement, decorators included, without indentation.
        postponed: annotations are not evaluated there (``from __future__ import annotations``).
        imports: statements of the same source: Python compiles ``np.stack(x)`` otherwise where it has seen the import of ``np``.
    """

    name: str
    text: str
    postponed: bool
    imports: str = ""

    @cached_property
    def statement(self) -> ast.ClassDef:
        found = ast.parse(self.text).body[0]
        assert isinstance(found, ast.ClassDef)
        return found

    def makes(self, made: type) -> bool:
        """Whether a class still is what the statement makes: the code of its functions, and the constants in its body."""
        # a notebook compiles each statement by itself, a script is compiled as a whole
        codes = [
            c for text in (self.text, f"{self.imports}\n{self.text}") for c in _inner(self._compiled(text), self.name)
        ]
        named = {c.co_name for c in codes}
        for node in self.statement.body:
            if isinstance(node, ast.FunctionDef):
                own = code_of(vars(made).get(node.name))
                if own is not None and not any(_same(c, own) for c in codes if c.co_name == node.name):
                    return False
            elif isinstance(node, ast.Assign):
                value = _constant(node.value)
                for target in (t.id for t in node.targets if isinstance(t, ast.Name)):
                    named.add(target)
                    if value is not _constant and vars(made).get(target) != value:
                        return False
        later = (n for n, v in vars(made).items() if isinstance(v, types.FunctionType) and n not in named)
        return all(name.startswith("__") for name in later)

    @property
    def names(self) -> set[str]:
        """Names that it looks up outside of itself."""
        strict = _free(ast.unparse(_without_annotations(self.statement)))
        bases = {
            n.id
            for b in (*self.statement.bases, *self.statement.decorator_list)
            for n in ast.walk(b)
            if isinstance(n, ast.Name)
        }
        found = (strict - {self.name}) | ({self.name} & bases) | self.optional
        return {name for name in found if not name.startswith("__")}

    @cached_property
    def optional(self) -> set[str]:
        """Names that it may look up outside: those in annotations alone, which Python may never evaluate, and those that the body
        of a class defines as well."""
        strict = _free(ast.unparse(_without_annotations(self.statement)))
        return (_free(self.text) | _free(self.text, perhaps=True)) - strict - {self.name}

    @property
    def imported(self) -> list[str]:
        """Modules that its functions import by themselves."""
        found = []
        for node in ast.walk(self.statement):
            if isinstance(node, ast.Import):
                found += [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.append(node.module)
        return found

    def _compiled(self, text: str) -> types.CodeType:
        return compile(("from __future__ import annotations\n" if self.postponed else "") + text, "", "exec")


def definitions(name: str, source: str) -> Iterator[Definition]:
    """Statements in a source that define a class of this name, the last first; not those in functions or other classes."""
    tree, lines = _parsed(source)
    postponed = any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body)
    imported = [n for n in _outer(tree.body) if isinstance(n, ast.Import | ast.ImportFrom)]
    imports = "\n".join(ast.unparse(n) for n in imported if getattr(n, "module", "") != "__future__")
    for node in reversed([n for n in _outer(tree.body) if isinstance(n, ast.ClassDef) and n.name == name]):
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        text = textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno]))
        yield Definition(name, text, postponed, imports)


def imported_as(source: str, name: str) -> tuple[str, str] | None:
    """The module and the name there that ``from MODULE import NAME as name`` in a source takes."""
    for node in ast.walk(_parsed(source)[0]):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return node.module, alias.name
    return None


def _parsed(source: str) -> tuple[ast.Module, list[str]]:
    """A cell or a script, and its lines. Where it is no Python, lines that begin as magics do are blank; nothing where it is none
    then either."""
    lines = source.splitlines()
    for attempt in (lines, ["" if line.lstrip().startswith(("%", "!")) else line for line in lines]):
        with contextlib.suppress(SyntaxError, ValueError):
            return ast.parse("\n".join(attempt)), attempt
    return ast.Module([], []), []


def _outer(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module, those below ``if``, ``try`` and ``with`` included."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            parts = [node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])]
            parts += [h.body for h in getattr(node, "handlers", [])]
            for part in parts:
                yield from _outer(part)


def _inner(code: types.CodeType, name: str) -> list[types.CodeType]:
    """Code of the functions in a class at the top of compiled code."""
    of_class = next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
    return [c for c in of_class.co_consts if isinstance(c, types.CodeType)]


def code_of(value: Any) -> types.CodeType | None:
    """The code of a function of a class, without what decorators have put around it; None: it is none."""
    function = getattr(value, "__func__", getattr(value, "fget", value))
    function = inspect.unwrap(function) if callable(function) else function
    return function.__code__ if isinstance(function, types.FunctionType) else None


def _same(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether two functions do the same."""
    if (one.co_code, one.co_names, one.co_varnames) != (other.co_code, other.co_names, other.co_varnames):
        return False
    if len(one.co_consts) != len(other.co_consts):
        return False
    return all(
        _same(a, b) if isinstance(a, types.CodeType) and isinstance(b, types.CodeType) else repr(a) == repr(b)
        for a, b in zip(one.co_consts, other.co_consts, strict=True)
    )


def _constant(node: ast.expr) -> Any:
    """The value of a literal; this function itself if it is none."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _constant


def _free(text: str, perhaps: bool = False) -> set[str]:
    """Names that code looks up and does not define; ``perhaps``: those that the body of a class defines, and may have looked up
    before, as in ``class Config(Config)``."""
    found: set[str] = set()

    def visit(table: symtable.SymbolTable) -> None:
        top, of_class = table.get_type() == "module", table.get_type() == "class"
        for symbol in table.get_symbols():
            outside = symbol.is_global() or (top and not symbol.is_assigned())
            inside = of_class and symbol.is_assigned() and not symbol.is_global()
            if symbol.is_referenced() and (inside if perhaps else outside):
                found.add(symbol.get_name())
        for child in table.get_children():
            visit(child)

    visit(symtable.symtable(text, "class", "exec"))
    return found


class _Annotations(ast.NodeTransformer):
    """Takes annotations away."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        return ast.copy_location(ast.Assign([node.target], node.value), node)


def _without_annotations(node: ast.ClassDef) -> ast.Module:
    copy = ast.parse(ast.unparse(node))
    _Annotations().visit(copy)
    return ast.fix_missing_locations(copy)
