"""What was found is pictured in every report that has images, and so is what it is compared with, in little of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from protocols.report import gallery
from tests.unit.report.cldyb.test_page import HOSTILE, Page, check_first_images
from tests.unit.report.report_pages import PAGES, RANDOM, written
from tests.unit.run_folders import RenamedPool, glyphs

POOL = glyphs()
TITLE = "Random sequences: the first 2 of 3"
REPORTS = Path(gallery.__file__).parent
PICTURED = sorted(
    path.parent.name
    for path in REPORTS.glob("*/view.py")
    if "protocols.report.gallery import" in path.read_text("utf-8")
)
"""Reports that show found sequences by images."""


def fold_of(page: str) -> str:
    folds = re.findall(r'<details class="drawn">(.*?)</details>', page, re.DOTALL)  # without "open"
    (fold,) = [f for f in folds if TITLE in f]  # beside those of a held-out pool
    return fold


def test_every_report_that_pictures_sequences_is_made_here() -> None:
    assert {"cldyb", "edge", "score", "explain", "duel"} <= set(PICTURED) <= set(PAGES)


@pytest.mark.parametrize("report", PICTURED)
def test_the_first_random_sequences_are_pictured_small_and_folded(report: str, tmp_path: Path) -> None:
    for page in written(report, tmp_path / report):
        images = [attrs for attrs, folds in Page(page).images if TITLE in folds]
        classes = [c for tasks in RANDOM[:2] for task in tasks for c in task]
        check_first_images(images, classes, within=12)  # in fewer colours
        fold = fold_of(page)
        assert re.findall(r"<h3>(.*?)</h3>", fold) == ["random-0", "random-1"]
        assert all(f"<span>{POOL.classes[c].name}</span> <i>{POOL.classes[c].group}</i>" in fold for c in classes)
        assert POOL.classes[RANDOM[2][1][0]].name not in fold, "a class of the third random sequence"


@pytest.mark.parametrize("report", PICTURED)
def test_names_of_classes_stay_text(report: str, tmp_path: Path) -> None:
    hostile: Any = RenamedPool(POOL, HOSTILE, HOSTILE + '"')
    for text in written(report, tmp_path / report, hostile):
        page = Page(text)
        assert HOSTILE in page.text
        assert not page.all("script")
        assert all("onerror" not in attrs for _, attrs in page.tags)
        assert all(attrs["src"].startswith("data:") for attrs in page.all("img"))
