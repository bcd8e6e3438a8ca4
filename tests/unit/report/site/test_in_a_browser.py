"""A site in a browser: nothing is wider than its window, nothing is asked for elsewhere, and axe-core finds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import seqsearch as ss
from protocols.report.site.entry import entry_of
from tests.programs import needs
from tests.unit.api.small import SMALL
from tests.unit.report.browser import chromium, opened
from tests.unit.report.site.made import Fields, changed, ended

LONG = "a_very_long_name_without_any_space_" * 6

pytestmark = [pytest.mark.long, needs("chromium")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two entries in a table, one of them with long names, and one in another table."""
    out = tmp_path_factory.mktemp("site")
    runs = [ss.cldyb(**SMALL, seed=seed, out=out / f"run{seed}").path for seed in (0, 1)]

    def rename(fields: Fields) -> None:
        fields["name"] = LONG
        for row in fields["rows"]:
            row["method"] = LONG + row["method"]

    theirs = changed(out / "theirs.json", entry_of(runs[0])[0], rename)
    ended("site", *runs, theirs, "--out", out / "site")
    return out / "site"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_are_whole_and_accessible(site: Path, tmp_path: Path, width: int, scheme: str) -> None:
    pages = {name: (site / f"{name}.html").read_text("utf-8") for name in ("index", "run0")}
    for name, said in opened(tmp_path, pages, width, scheme).items():
        assert (said["width"], said["dark"]) == (width, scheme == "dark"), name
        assert (said["beyond"], said["cut"], said["requests"]) == (0, [], []), name
        assert said["violations"] == [], name


def test_the_console_has_no_error(site: Path) -> None:
    done = chromium("light", "--enable-logging=stderr", "--dump-dom", f"file://{site}/index.html")
    assert "CONSOLE" not in done.stderr
    assert "Leaderboard" in done.stdout
