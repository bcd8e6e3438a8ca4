"""The first method of docs/custom_method.md: it works, passes the check, and its bytes are counted as the page says."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from tests.docs.blocks import ROOT, blocks_of

PAGE = "docs/custom_method.md"
COUNTER = """

class Counts(NearestMean):
    def __init__(self, context, settings):
        super().__init__(context, settings)
        self.images, self.rows = 0, torch.zeros(500, dtype=torch.int64)

    def fit_task(self, task):
        self.images += len(task.train)
        return super().fit_task(task)

    def state_dict(self):
        return {**super().state_dict(), "images": self.images, "rows": self.rows}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.images, self.rows = state["images"], state["rows"]


class Floats(Counts):
    def __init__(self, context, settings):
        super().__init__(context, settings)
        self.rows = torch.zeros(5000)
"""


def first() -> str:
    """The block of the page."""
    [code] = [b.text for b in blocks_of(PAGE, (ROOT / PAGE).read_text()) if "class NearestMean" in b.text]
    return code


def test_it_comes_before_what_is_for_looking_up() -> None:
    page = (ROOT / PAGE).read_text()
    places = [page.index(p) for p in ("## The smallest method", "class NearestMean", "## Check a method", "## Members")]
    assert places == sorted(places)
    assert places[-1] < page.index("`param(default") < page.index("## Memory footprint")


@pytest.mark.parametrize(("name", "code"), [("NearestMean", 0), ("Counts", 0), ("Floats", 2)])
def test_it_passes_the_check_and_whole_numbers_count_no_bytes(name: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(first() + COUNTER)
    ended = CliRunner().invoke(main, ["check", f"{tmp_path / 'first.py'}:{name}"])
    assert ended.exit_code == code, ended.output
    assert ("memory_footprint" in ended.output) == bool(code)
