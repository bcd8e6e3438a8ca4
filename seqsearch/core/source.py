"""Canonical text of Python source: its syntax tree without comments, docstrings and layout, the same on Python 3.11 to
3.13."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

WITHOUT_EFFECT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
"""Fields of nodes that change nothing of what a program does."""


def meaning(tree: ast.AST) -> str:
    """The canonical text of a syntax tree.

    `ast.dump` and `ast.unparse` serve no identity: they write a tree differently in each version of Python. Strings that stand
    as statements (docstrings, also of attributes) are left out, and so are fields that are empty, as later versions add some.
    """
    out: list[str] = []
    _write(tree, out.append)
    return "".join(out)


def _write(value: Any, put: Callable[[str], None]) -> None:
    if isinstance(value, ast.AST):
        put(f"{type(value).__name__}(")
        for name in value._fields:
            inner = _kept(value, name, getattr(value, name, None))
            if name not in WITHOUT_EFFECT and (inner not in (None, []) or isinstance(value, ast.Constant)):
                put(f"{name}=")
                _write(inner, put)
                put(",")
        put(")")
    elif isinstance(value, list):
        put("[")
        for inner in value:
            _write(inner, put)
            put(",")
        put("]")
    else:
        put(ascii(value))  # `repr` asks the Unicode tables of this Python which characters it may print


def _kept(node: ast.AST, name: str, value: Any) -> Any:
    if isinstance(node, ast.JoinedStr) and name == "values":
        return list(_joined(value))
    if isinstance(value, list):
        return [inner for inner in value if not _is_text(inner)]
    return value


def _is_text(node: Any) -> bool:
    """A string that stands as a statement."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _joined(parts: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """The parts of an f-string, its runs of plain text as one each: Python versions cut them differently."""
    for plain, run in groupby(parts, lambda part: isinstance(part, ast.Constant)):
        if not plain:
            yield from run
        elif text := "".join(str(part.value) for part in run if isinstance(part, ast.Constant)):
            yield ast.Constant(text)
