"""The docs of the methods say what the code says, and the code what the papers' tables say."""

from __future__ import annotations

import itertools
import json

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from protocols.report.commands.methods import FACTS, GROUPS, describe, method_table, methods_json, parameters
from seqsearch.core.registry import names
from tools.method_facts import CODES, COSTS, ROOT, parity, text
from tools.method_pages import DOCS, comparison, pages

GOLDEN = ROOT / "tests" / "golden"
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
    for path, wanted in expected.items():
        assert path.exists(), f"{path} is missing: run python -m tools.method_pages"
        assert path.read_text() == wanted, f"{path} is out of date: run python -m tools.method_pages"
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


def test_facts_are_those_of_the_measurements_and_of_the_comparisons() -> None:
    assert FACTS.read_text() == text(), f"{FACTS} is out of date: run python -m tools.method_facts"
    measured = set(json.loads(COSTS.read_text())["methods"])
    assert measured == set(names("method")) - {"zero_shot"}, "run benchmarks.speed.costs --add"
    assert set(CODES) == {file.parent.name for file in GOLDEN.glob("parity*/agreement.json")}
    assert parity()["aper_adapter"] == "PILOT"
    assert f"Of the methods, {len(parity())} are compared with public code" in (ROOT / "README.md").read_text()


def test_the_list_has_every_method_once_in_its_group_by_year() -> None:
    lines = [line for line in method_table().splitlines() if line.startswith("  ")]
    rows = [line.split() for line in lines]
    listed = [row[0] for row in rows if row[0] != "method"]
    assert sorted(listed) == sorted(names("method"))
    groups = [row[0] == "method" for row in rows]
    assert sum(groups) == len(GROUPS)
    years = [("0" if row[1] == "-" else row[1], head) for row, head in zip(rows, groups, strict=True)]
    assert all(a <= b or head for (a, _), (b, head) in itertools.pairwise(years[1:]) if a != "year")
    by_name = {row[0]: line for row, line in zip(rows, lines, strict=True)}
    assert [word for word in ("2020", "feature maps, exemplars", "PyCIL") if word not in by_name["podnet"]] == []
    assert by_name["replay"].split()[1] == "-"
    assert by_name["mm_lb"].split()[2] == "texts"


def test_tables_say_which_method_is_a_variant() -> None:
    assert {m["name"]: m["variant"] for m in methods_json() if m["variant"]} == {"pgp": "feature-space variant"}
    assert "| [pgp](methods/pgp.md) (feature-space variant) |" in comparison()
    listed = next(line for line in method_table().splitlines() if line.startswith("  pgp "))
    assert "(feature-space variant)" in listed
    for line in [n for p in ("methods", "method_measurements") for n in (DOCS / f"{p}.md").read_text().splitlines()]:
        assert "pgp" not in line.partition(" | ")[0] or "feature-space variant" in line


@pytest.mark.parametrize(
    ("name", "heads"),
    [
        ("bic", ["embedded", "scratch:tiny"]), ("ewc", ["embedded", "scratch", "scratch:tiny"]), ("l2p", ["embedded"]),
    ],
)  # fmt: skip
def test_the_table_has_a_column_of_each_kind_of_networks_with_other_defaults(name: str, heads: list[str]) -> None:
    kinds = {"embedded": "embedded", "scratch": "scratch", "scratch:tiny": "tiny"}
    found = parameters(describe(name))
    assert found.headings == ("parameter", "default", *heads, "")
    for row, p in zip(found.rows, describe(name)["parameters"], strict=True):
        own = [p[kinds[head]] for head in heads]
        assert row[:2] == (p["name"], str(p["default"]))
        assert list(row[2:-1]) == ["" if value == p["default"] else str(value) for value in own]


def test_a_method_without_parameters_says_so() -> None:
    assert CliRunner().invoke(main, ["methods", "simplecil"]).stdout.endswith("\nParameters: none\n")


@pytest.mark.parametrize(
    ("name", "embedded"),
    [
        ("mm_lb", "glyph_flava"),
        ("l2p", "glyph_vit and plain_vit"),
        ("frozen_head", "glyph_vit, plain_vit and glyph_flava"),
    ],
)
def test_backbones_are_named_that_a_method_can_have(name: str, embedded: str) -> None:
    assert parameters(describe(name)).lead.startswith(f"embedded: on {embedded}")
    page = pages()[DOCS / "methods" / f"{name}.md"]
    assert f"| on {embedded} |" in page
    words = {
        "mm_lb": "those of image-text pairs: glyph_flava, flava",
        "l2p": "vision transformers of timm",
        "frozen_head": "any, also those of image-text pairs",
    }
    assert f"- backbones: {words[name]}\n" in page
    assert ("- reads images and their texts" in page) == (name == "mm_lb")


def test_the_table_says_for_which_networks_a_search_space_is() -> None:
    meanings = {str(row[0]): str(row[-1]) for row in parameters(describe("bic")).rows}
    assert meanings["lr"].endswith("0.3 [embedded: 0.001, 0.005, 0.02; scratch:tiny: 0.01, 0.02, 0.05]")
    assert meanings["batch_size"].endswith("512 [embedded, scratch:tiny: 8, 16, 32]")
