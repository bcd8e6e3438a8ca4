"""README.md and the pages of the protocols show what the demos printed, with the settings that the demos have now."""

from __future__ import annotations

import json

import pytest

from benchmarks.common.results import RESULTS
from benchmarks.search.demos import KEY_FIGURES, ROOT, marked, pages, with_output
from protocols.cli.demo import NAMES
from protocols.cli.new import template

KEPT = json.loads((RESULTS / "demos.json").read_text())["demos"]


def test_every_demo_was_measured() -> None:
    assert set(KEPT) == set(KEY_FIGURES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_demo_has_the_settings_that_were_measured(name: str) -> None:
    assert KEPT[name]["settings"] == template(name).read_text(), "run python -m benchmarks.search.demos --write"


@pytest.mark.parametrize("name", NAMES)
def test_pages_show_the_output_and_the_picture(name: str) -> None:
    assert (ROOT / "docs/pictures" / f"{name}.svg").is_file()
    for page, shown in pages(name, KEPT[name]["output"]).items():
        text = (ROOT / page).read_text()
        assert with_output(text, name, shown) == text
    assert KEPT[name]["summary"]["headline"] == KEPT[name]["output"][0]


def test_the_output_takes_the_place_between_its_comments() -> None:
    begin, end = marked("edge")
    assert with_output(f"a\n\n{begin}\nold\n{end}\n\nb", "edge", "new") == f"a\n\n{begin}\nnew\n{end}\n\nb"
    with pytest.raises(ValueError, match="no <!-- output of seqsearch demo gtep"):
        with_output("a", "gtep", "new")
