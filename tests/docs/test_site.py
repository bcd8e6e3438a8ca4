"""The site of the documentation: every page has its place in it, its links hold, and README.md stays short."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text())


def listed(nav: object) -> list[str]:
    """Pages of a part of the navigation, in its order."""
    if isinstance(nav, str):
        return [nav]
    parts = nav if isinstance(nav, list) else list(nav.values()) if isinstance(nav, dict) else []
    return [page for part in parts for page in listed(part)]


def test_every_page_but_those_of_single_methods_is_in_the_navigation_once() -> None:
    pages = [str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed(CONFIG["nav"])) == sorted(p for p in pages if not p.startswith("methods/"))


def test_the_readme_is_short_and_shows_one_picture() -> None:
    text = (ROOT / "README.md").read_text()
    lines = text.splitlines()
    assert len(lines) <= 130
    assert [line for line in lines if len(line) > 110] == []
    [picture] = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert (ROOT / picture).is_file()


def test_links_of_the_readme_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (ROOT / "README.md").read_text())
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).is_file()] == []


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """In a copy, since it is written beside its configuration. A link or an anchor that leads nowhere is a warning."""
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    command = [Path(sys.executable).with_name("zensical"), "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    front = (tmp_path / "site" / "index.html").read_text()
    assert "hard for given continual-learning methods" in " ".join(front.split())
    assert (tmp_path / "site" / "tutorials" / "first_run.html").is_file()
