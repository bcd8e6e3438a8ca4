"""The pages of commands and of Python names are those of the help texts and docstrings."""

from __future__ import annotations

from pathlib import Path

import pytest

import seqsearch
from protocols.cli.main import main
from tools.reference_pages import pages

PAGES = pages()


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_the_page_is_what_the_code_says(path: Path) -> None:
    assert path.read_text() == PAGES[path], "run python -m tools.reference_pages"


def test_every_command_and_every_public_name_has_its_section() -> None:
    commands, api = (
        next(text for path, text in PAGES.items() if path.stem == stem) for stem in ("command_line", "api")
    )
    assert all(f"\n## seqsearch {name}\n" in commands for name in main.commands)
    assert "\n### seqsearch pool build\n" in commands
    assert commands.count("`--score-seeds INTEGER`") >= 1
    assert all(f"\n## ss.{name}" in api for name in seqsearch.__all__)
    assert "- `UserError`: no such method, sequence or seed" in api
