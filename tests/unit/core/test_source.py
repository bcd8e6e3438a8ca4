"""What source does, as text: layout, comments and docstrings do not count, all else does; alike in every version of Python."""

from __future__ import annotations

import ast
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.core.source import meaning

TRICKY = '''
"""A module."""
import a.b as c
from . import d

class E(c.F, metaclass=G): x: int = 1; y: 'str'

async def f(a, /, b: int = 1, *c, d=None, **e) -> "x":
    """What it does."""
    async with g() as h, i(): pass
    return f"a{b!r:>{c}.3f}" "b{c}" f"{d=}" u"\u0378\xe9", b"\\xff"

def g():
    match a:
        case {"k": [1, *_], **rest} if rest: return {**a, None: ..., 1j: -0.0, 10**30: lambda: (yield)}
        case E(x=1) | None: del a[1:, ::2]
    try: raise X from None
    except* (A, B) as e: pass
    finally: assert a, "b"
'''
"""One of each kind of node that versions of Python write differently, or might."""
RECORDED = "c9c1f72175a89ddf83a2134d6d33f5cc"


def test_alike_in_every_version_of_python() -> None:
    """The digest is recorded; Python 3.11, 3.12 and 3.13 agreed on it, and on every file of this project."""
    assert hashlib.sha256(meaning(ast.parse(TRICKY)).encode()).hexdigest()[:32] == RECORDED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 2"),
        ("x = 1", "x = 1.0"),
        ("x = 1", "x = True"),
        ("x = None", "x = ..."),
        ("x = 'a'", "x = b'a'"),
        ("x = f'a'", "x = 'a'"),
        ("x = f'{y}'", "x = f'{y!r}'"),
        ("x = f'{y}'", "x = f'{y:3}'"),
        ("x = {**a}", "x = {None: a}"),
        ("x[1:]", "x[:1]"),
        ("def f(a, b): pass", "def f(a, /, b): pass"),
        ("def f(a, b): pass", "def f(a, *, b): pass"),
        ("def f(): return", "def f(): return None"),
        ("from a import b", "from .a import b"),
        ("import a", "import a as b"),
        ("a; b", "b; a"),
        ("if a:\n  b\nc", "if a:\n  b\n  c"),
        ("a < b < c", "a < b and b < c"),
        ("x = 0.0", "x = -0.0"),
    ],
)
def test_other_code_has_another_meaning(one: str, other: str) -> None:
    assert meaning(ast.parse(one)) != meaning(ast.parse(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1 # a", "x=1"),
        ("'a'\nx = 1", "x = 1"),
        ("def f():\n  'a'\n  return 1", "def f(): return 1"),
        ("class A:\n  x: int\n  'a'", "class A:\n  x: int"),
        ("x = (1,\n2)", "x = 1, 2"),
        ("x = u'a'", "x = 'a'"),
        ("x = f'a' 'b{' f'{c}'", "x = f'ab{{{c}'"),
        ("x = 1_000", "x = 1000"),
    ],
)
def test_layout_comments_and_docstrings_have_none(one: str, other: str) -> None:
    assert meaning(ast.parse(one)) == meaning(ast.parse(other))


@given(st.text() | st.binary() | st.floats(allow_nan=False) | st.integers(), st.text() | st.floats(allow_nan=False))
def test_constants_differ_where_their_values_do(one: object, other: object) -> None:
    same = type(one) is type(other) and repr(one) == repr(other)
    trees = [ast.Module([ast.Assign([ast.Name("x")], ast.Constant(v))], []) for v in (one, other)]
    assert (meaning(trees[0]) == meaning(trees[1])) == same
