"""The docs of the methods say what the code says, and the code what the papers' tables say."""

from __future__ import annotations

import pytest

from protocols.report.method_pages import DOCS, comparison, pages
from protocols.report.methods import describe, method_table, methods_json
from seqsearch.core.registry import names

TABLE_3 = {
    "er": {"exemplar", "full"},
    "afec": {"full", "parameter"},
    "clser": {"exemplar", "full", "functional", "ensemble"},
    "dualprompt": {"parameter-efficient", "expansion"},
    "lae": {"parameter-efficient", "ensemble"},
    "hide_prompt": {"statistic", "parameter-efficient", "expansion", "ensemble"},
    "slca": {"statistic", "full"},
    "pgp": {"parameter-efficient", "orthogonality", "expansion"},
}
"""CLDyB Table 3, without RanPAC: it is there with full fine-tuning on the first task, which is not its authors' default."""


def test_pages_are_what_the_code_says() -> None:
    expected = pages()
    for path, text in expected.items():
        assert path.exists(), f"{path} is missing: run python -m protocols.report.method_pages"
        assert path.read_text() == text, f"{path} is out of date: run python -m protocols.report.method_pages"
    assert set((DOCS / "methods").glob("*.md")) <= expected.keys()


@pytest.mark.parametrize("name", names("method"))
def test_documentation_says_what_it_must(name: str) -> None:
    text = describe(name)["documentation"]
    assert text.count("\n\n") >= 2
    assert name in ("finetune", "joint") or '"' in text.split("\n\n")[1], (
        "the second paragraph is the paper's title in quotes"
    )
    for word in ("Trainable:", "Stored:"):
        assert word in text, f"{name} does not say what is {word.lower()}"


@pytest.mark.parametrize("name", [n for n in TABLE_3 if n in names("method")])
def test_design_is_that_of_the_papers_table(name: str) -> None:
    assert set(describe(name)["caps"]["design"]) == TABLE_3[name]


def test_tables_say_which_method_is_a_variant() -> None:
    assert {m["name"]: m["variant"] for m in methods_json() if m["variant"]} == {"pgp": "feature-space variant"}
    assert "| [pgp](methods/pgp.md) (feature-space variant) |" in comparison()
    assert "(feature-space variant)" in next(line for line in method_table().splitlines() if line.startswith("pgp "))
    for line in (DOCS / "methods.md").read_text().splitlines():
        assert "pgp" not in line.partition(" | ")[0] or "feature-space variant" in line
