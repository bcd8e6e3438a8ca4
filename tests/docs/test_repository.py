"""What hosts of repositories and packages show of the project: its addresses, its citation, its issue templates."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from protocols.cli.main import main

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FOLDER = ROOT / ".github/ISSUE_TEMPLATE"
TEMPLATES = sorted(FOLDER.glob("*.md"))
LONGEST_LABEL = 32
"""Characters of a label of an address, by the specification of core metadata."""


def test_addresses_are_those_of_papers_in_the_references() -> None:
    references = (ROOT / "protocols/report/references.bib").read_text()
    assert PROJECT["urls"]
    for label, address in PROJECT["urls"].items():
        assert len(label) <= LONGEST_LABEL
        number = address.removeprefix("https://arxiv.org/abs/")
        assert f"{{arXiv preprint arXiv:{number}}}" in references, address


def test_the_citation_is_of_this_version_and_licence() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited.keys() >= {"cff-version", "message", "title", "authors"}, "required by the format"
    assert str(cited["version"]) == PROJECT["version"]
    assert cited["license"] == PROJECT["license"]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: p.stem)
def test_a_template_has_a_name_a_sentence_and_commands_that_exist(path: Path) -> None:
    _, head, body = path.read_text().split("---\n", 2)
    assert yaml.safe_load(head).keys() == {"name", "about"}
    for command in re.findall(r"`seqsearch ([a-z]+)", body):
        assert CliRunner().invoke(main, [command, "--help"]).exit_code == 0, command
    for page in re.findall(r"[\w/]+\.md\b", body):
        assert (ROOT / page).is_file(), page


def test_there_are_templates_for_all_kinds_of_issues() -> None:
    assert [path.stem for path in TEMPLATES] == ["bug", "feature", "question"]
    assert yaml.safe_load((FOLDER / "config.yml").read_text()) == {"blank_issues_enabled": False}
