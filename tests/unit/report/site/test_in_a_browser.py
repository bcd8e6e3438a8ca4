"""A site in a browser: nothing is wider than its window, nothing is asked for elsewhere, and axe-core finds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import seqsearch as ss
from protocols.report.site.entry import entry_of
from tests.programs import needs
from tests.unit.api.small import SMALL
from tests.unit.report.browser import window
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
def test_pages_are_whole_and_accessible(site: Path, width: int, scheme: str) -> None:
    with window(width, scheme) as shown:
        for name in ("index", "run0"):
            page = site / f"{name}.html"
            shown.show(page)
            assert (shown.requests, shown.console) == ([page.as_uri()], []), name
            assert shown.measured() == {"width": width, "dark": scheme == "dark", "beyond": 0, "cut": []}, name
            assert shown.violations() == [], name
