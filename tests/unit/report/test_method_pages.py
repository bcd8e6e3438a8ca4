"""The docs of the methods say what the code says, and the code what the papers' tables say."""

from __future__ import annotations

import pytest

from protocols.report.method_pages import DOCS, comparison, pages
from protocols.report.methods import describe, method_table, method_text, methods_json
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
    assert name in ("finetune", "joint", "frozen_head") or '"' in text.split("\n\n")[1], (
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


def columns(name: str) -> tuple[list[str], dict[str, list[str]]]:
    """Headings of the table in a method's text, and what stands under each of them, by parameter."""
    lines = method_text(name).partition("\nParameters")[2].splitlines()[1:]
    heads = lines[0].split()
    at = [lines[0].index(f" {head}") + 1 for head in heads]
    ends = [*at[1:], at[-1] + max(len(line[at[-1] :].split(" ")[0]) for line in lines)]
    return heads, {
        line[at[0] :].split()[0]: [line[a:b].strip() for a, b in zip(at, ends, strict=True)] for line in lines[1:]
    }


@pytest.mark.parametrize(
    ("name", "heads"),
    [
        ("bic", ["embedded", "scratch:tiny"]), ("ewc", ["embedded", "scratch", "scratch:tiny"]), ("l2p", ["embedded"]),
        ("simplecil", None),
    ],
)  # fmt: skip
def test_the_text_has_a_column_of_each_kind_of_networks_with_other_defaults(name: str, heads: list[str] | None) -> None:
    if heads is None:
        assert method_text(name).endswith("\nParameters: none")
        return
    kinds = {"embedded": "embedded", "scratch": "scratch", "scratch:tiny": "tiny"}
    found, rows = columns(name)
    assert found == ["parameter", "default", *heads]
    parameters = describe(name)["parameters"]
    assert list(rows) == [p["name"] for p in parameters]
    for p in parameters:
        own = [p[kinds[head]] for head in heads]
        assert rows[p["name"]][2:] == ["" if value == p["default"] else str(value) for value in own]


@pytest.mark.parametrize(
    ("name", "embedded"),
    [
        ("mm_lb", "glyph_flava"),
        ("l2p", "glyph_vit and plain_vit"),
        ("frozen_head", "glyph_vit, plain_vit and glyph_flava"),
    ],
)
def test_backbones_are_named_that_a_method_can_have(name: str, embedded: str) -> None:
    assert f"(embedded: on {embedded};" in method_text(name)
    page = pages()[DOCS / "methods" / f"{name}.md"]
    assert f"| on {embedded} |" in page
    words = {
        "mm_lb": "those of image-text pairs: glyph_flava, flava",
        "l2p": "vision transformers of timm",
        "frozen_head": "any, also those of image-text pairs",
    }
    assert f"- backbones: {words[name]}\n" in page
    assert ("- reads images and their texts" in page) == (name == "mm_lb")


def test_the_text_says_for_which_networks_a_search_space_is() -> None:
    line = next(line for line in method_text("bic").splitlines() if line.startswith("    lr "))
    assert line.endswith("0.3 [embedded: 0.001, 0.005, 0.02; scratch:tiny: 0.01, 0.02, 0.05]")
    line = next(line for line in method_text("bic").splitlines() if line.startswith("    batch_size "))
    assert line.endswith("512 [embedded, scratch:tiny: 8, 16, 32]")
