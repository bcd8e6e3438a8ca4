"""Public names: their types, their docstrings, and examples that run."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

import seqsearch as ss
from tools.api_stubs import COMMANDS, STUB, written

DOCUMENTED = sorted(set(ss.__all__) - {"Interrupted", "TrainingResult", "UserError"})
"""Names that a user calls; the others come out of calls."""


def object_of(name: str) -> object:
    from protocols.api import listings

    return getattr(listings, name) if name in ("methods", "pools") else getattr(ss, name)


def test_the_stub_is_what_the_settings_say() -> None:
    assert STUB.read_text() == written(), "write it again: python -m tools.api_stubs"


@pytest.mark.parametrize("name", ss.__all__)
def test_every_name_is_documented(name: str) -> None:
    said = inspect.getdoc(object_of(name)) or ""
    assert len(said) > 40
    assert name not in DOCUMENTED or "Example:" in said
    assert name in ("Callback", "Interrupted", "TrainingResult", "UserError") or "Raises:" in said


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_function_explains_each_keyword(name: str) -> None:
    function = getattr(ss, name)
    keywords = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    explained = re.findall(r"^        (\w+): \S", function.__doc__.split("Keywords, with")[1], re.MULTILINE)
    assert len(keywords) > 20
    assert sorted(explained) == sorted(keywords)


def test_public_members_of_a_run_are_documented() -> None:
    for name in (n for n in dir(ss.Run) if not n.startswith("_")):
        assert inspect.getdoc(getattr(ss.Run, name)), name


@pytest.mark.long
@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_example_of_a_name_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [*examples] = doctest.DocTestFinder(recurse=False).find(object_of(name), name, globs={})
    assert sum(len(e.examples) for e in examples) > 1
    for example in examples:
        assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example).failed == 0


def test_packages_of_the_same_name_stay_packages() -> None:
    import seqsearch.methods.config as config
    import seqsearch.pools

    assert "ranpac" in {m["name"] for m in ss.methods()}
    assert ss.methods("RanPAC")["name"] == "ranpac"
    assert "glyphs" in {p["name"] for p in seqsearch.pools()}
    assert ss.methods.config is config
