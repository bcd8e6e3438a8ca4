"""Folders of the user's named like our packages, and installations that are not complete."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from seqsearch.core.errors import UserError
from seqsearch.core.installation import OURS, ROOT, others_in, shipped
from seqsearch.core.registry import load
from tests.lines import messages


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """An installation: nothing but our packages in a folder."""
    (folder := tmp_path / "site").mkdir()
    for name in OURS:
        (folder / name).symlink_to(ROOT / name)
    return folder


def other(folder: Path, name: str, form: str) -> Path:
    """A package, a folder or a module of the user's."""
    folder.mkdir(exist_ok=True)
    if form == "module":
        (made := folder / f"{name}.py").write_text("MINE = 1\n")
        return made
    (made := folder / name).mkdir()
    (made / ("__init__.py" if form == "package" else "mine.py")).write_text("MINE = 1\n")
    return made


def python(folder: Path, site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("name", ["actors", "protocols"])
@pytest.mark.parametrize("form", ["package", "module"])
def test_a_package_of_the_users_that_python_finds_first_is_named_in_one_line(
    tmp_path: Path, site: Path, name: str, form: str
) -> None:
    theirs = other(tmp_path / "work", name, form)
    done = python(tmp_path / "work", site, "-m", "seqsearch", "--version")
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith(f"seqsearch: Python finds {name} in {theirs}, not in {site / name}")
    assert f"rename {theirs.name}, start from another folder" in line
    away = python(tmp_path / "work", site, "-P", "-m", "seqsearch", "--version")  # as the console script
    assert (away.returncode, away.stderr) == (0, "")


def test_so_it_is_where_protocols_is_ours_and_actors_is_not(tmp_path: Path, site: Path) -> None:
    theirs = other(tmp_path / "work", "actors", "package")
    done = python(tmp_path / "work", site, "-m", "protocols.cli", "--version")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert str(theirs) in done.stderr


def test_a_folder_that_ours_hides_is_named_in_a_warning_and_the_command_runs(tmp_path: Path, site: Path) -> None:
    theirs = other(tmp_path / "work", "protocols", "folder")
    done = python(tmp_path / "work", site, "-m", "seqsearch", "--version")
    assert done.returncode == 0
    assert f"protocols of seqsearch ({site / 'protocols'}) hides {theirs}" in done.stderr
    assert "hides" not in python(tmp_path / "work", site, "-P", "-m", "seqsearch", "--version").stderr
    (theirs / "mine.py").rename(theirs / "notes.txt")  # no code
    assert python(tmp_path / "work", site, "-c", "import seqsearch").stderr == ""


def test_importing_the_library_beside_a_package_that_wins_says_nothing(tmp_path: Path, site: Path) -> None:
    """It needs none of ours, and the user's own is what the user gets."""
    other(tmp_path / "work", "protocols", "package")
    done = python(tmp_path / "work", site, "-c", "import seqsearch.core.registry, protocols; print(protocols.MINE)")
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.mark.parametrize("form", ["package", "module", "folder"])
@pytest.mark.parametrize("text", ["import protocols", "from protocols import mine", "import protocols.mine"])
def test_an_own_file_that_means_its_neighbour_is_refused(tmp_path: Path, form: str, text: str) -> None:
    theirs = other(tmp_path, "protocols", form)
    (tmp_path / "own.py").write_text(f"{text}\nclass Mine:\n    pass\n")
    with pytest.raises(
        UserError, match=r"does not load: ImportError: 'protocols' is .* and .* of seqsearch, too: rename"
    ) as refused:
        load("method", f"{tmp_path / 'own.py'}:Mine")
    assert str(theirs) in str(refused.value)


def test_an_own_file_beside_such_a_folder_loads_if_it_imports_nothing_of_that_name(tmp_path: Path) -> None:
    other(tmp_path, "actors", "package")
    (tmp_path / "own.py").write_text("from seqsearch.methods import base\nclass Mine:\n    base = base\n")
    assert load("method", f"{tmp_path / 'own.py'}:Mine").base.__name__ == "seqsearch.methods.base"


def test_a_checkout_of_ours_is_nobody_elses(site: Path) -> None:
    assert list(others_in(site)) == list(others_in(ROOT)) == []


def test_a_module_that_ours_has_not_is_refused_with_the_place_of_ours() -> None:
    with pytest.raises(UserError, match=r"protocols is .* of seqsearch: give a folder of yours another name"):
        load("method", "protocols.nothing_of_ours:Mine")


def test_files_that_come_with_it_are_named_where_they_are_missing(tmp_path: Path) -> None:
    assert shipped(Path(__file__)) == Path(__file__)
    with pytest.raises(UserError, match=r"gone\.npz is missing, which comes with seqsearch: install seqsearch again"):
        shipped(tmp_path / "gone.npz")


STUDY = "--tasks 2 --classes-per-task 2 --pool glyphs:classes=12,train=6,reward=3,test=3 --workers 0"
GTEP = "--tune-pool glyphs:classes=8,half=1 --pool glyphs:classes=8,half=2 --tasks 2 --methods wa --workers 0"
LIGHT = (
    ("seqsearch/results/frozen_orders/cub200@1.json", "sequences show cub200-hard-10"),
    ("protocols/cli/templates/method.py", "new method mine"),
    ("protocols/cli/templates/gtep.yaml", "demo gtep --dry-run"),
)
HEAVY = (
    ("seqsearch/backbones/glyph_vit.safetensors", f"cldyb --methods simplecil --out run {STUDY}"),
    ("seqsearch/backbones/plain_vit.safetensors", "check simplecil --backbone plain_vit"),
    ("seqsearch/backbones/glyph_flava.safetensors", "mcil --methods mm_lb --out run --workers 0"),
    ("seqsearch/pools/glyphs_atlas.npz", f"cldyb --methods simplecil --out run {STUDY}"),
    ("seqsearch/pools/glyphs_atlas.npz", "online --methods ncm --dry-run --workers 0"),
    ("protocols/gtep/paper/settings.yaml", f"gtep --out run {GTEP} --params paper:imagenet100-10"),
    ("protocols/evaluate/published/published.yaml", "reproduce"),
)


@pytest.mark.parametrize(
    ("file", "command"), [*LIGHT, *(pytest.param(*case, marks=pytest.mark.long) for case in HEAVY)], ids=str
)
def test_an_installation_without_one_of_its_files_says_so_before_it_computes(
    tmp_path: Path, file: str, command: str
) -> None:
    for name in OURS:
        shutil.copytree(
            ROOT / name, tmp_path / "site" / name, copy_function=os.symlink, ignore=shutil.ignore_patterns("*.pyc")
        )
    (tmp_path / "site" / file).unlink(missing_ok=True)
    (tmp_path / "work").mkdir()
    done = python(tmp_path / "work", tmp_path / "site", "-P", "-m", "seqsearch", *command.split())
    assert done.returncode == 2, done.stderr
    assert file in done.stderr.splitlines()[-1]
    assert "install seqsearch again" in done.stderr
    assert not list((tmp_path / "work").iterdir())
    assert "Traceback" not in done.stderr
    assert len(messages(done.stderr)) == 1
