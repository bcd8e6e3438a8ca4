"""Installed from a wheel, in an empty folder, without the checkout: the same commands, the same identities, shared results."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("pyproject.toml", "README.md", "LICENSE", "seqsearch", "actors", "protocols")
"""What a wheel is built of."""
JOB = (
    *("cldyb", "--methods", "simplecil,ranpac:M=64", "--pool", "glyphs:classes=24,train=4,reward=2,test=4,size=32"),
    *("--tasks", "3", "--classes-per-task", "2", "--candidates", "4", "--condensed", "2", "--clusters", "2"),
    *("--simulations", "2", "--score-seeds", "1", "--random-sequences", "5", "--seed", "0"),
)
OWN = """
from seqsearch.methods.simplecil import SimpleCIL

class Mine(SimpleCIL):
    pass
"""
IDENTITIES = """
import json
from pathlib import Path
import seqsearch
from seqsearch.core.grammar import parse_item
from seqsearch.core.identity import closure, module_file
from seqsearch.core.registry import names
from seqsearch.training.world import World

root = Path(seqsearch.__file__).parent
world = World("glyphs:classes=16,train=4,reward=2,test=2", 0, "", "")
found = {}
for name in names("method"):
    outside = [str(f) for f in closure([module_file(f"seqsearch.methods.{name}")]) if not f.is_relative_to(root)]
    assert not outside, (name, outside)
for name in ("simplecil", "ranpac", "er", "slca", "l2p", "ease"):
    found[name] = world.spec(parse_item(name, "method"), "glyph_vit").digest
print(json.dumps(found))
"""


def run(command: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """In a folder, with nothing of this test's environment that leads to the checkout."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")} | more
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=500)


def ok(command: list[str], folder: Path, **more: str) -> str:
    done = run(command, folder, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` of an environment like this one, hard-linked, with the wheel in place of the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    source, env = folder / "source", folder / "env"
    source.mkdir()
    for part in PARTS:
        target = source / part
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, target)
    build = "from setuptools import build_meta as b; import sys; print(b.build_wheel(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=source, check=True, capture_output=True)
    shutil.rmtree(source)
    [wheel] = folder.glob("*.whl")
    shutil.copytree(sys.prefix, env, symlinks=True, copy_function=_link)
    python = str(env / "bin" / "python")
    if uv := shutil.which("uv"):
        install = [uv, "pip", "install", "--python", python]
    else:
        install = [sys.executable, "-m", "pip", "--python", python, "install"]
    subprocess.run(
        [
            *install,
            "--no-deps",
            "--offline" if uv else "--no-index",
            "--reinstall" if uv else "--force-reinstall",
            str(wheel),
        ],
        check=True,
        capture_output=True,
    )
    return env / "bin"


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


@pytest.mark.long
def test_nothing_of_the_checkout_is_there(installed: Path, tmp_path: Path) -> None:
    where = "import seqsearch, actors, protocols; print(*(m.__file__ for m in (seqsearch, actors, protocols)))"
    for file in ok([str(installed / "python"), "-c", where], tmp_path).split():
        assert Path(file).is_relative_to(installed.parent)
        assert "site-packages" in file


@pytest.mark.long
def test_identities_are_those_of_the_checkout(installed: Path, tmp_path: Path) -> None:
    here = ok([sys.executable, "-c", IDENTITIES], ROOT)
    assert json.loads(here) == json.loads(ok([str(installed / "python"), "-c", IDENTITIES], tmp_path))


@pytest.mark.long
def test_a_newcomers_first_commands(installed: Path, tmp_path: Path) -> None:
    """The main job, the results of the checkout used again, a custom method; on Ray and in this process."""
    seqsearch = str(installed / "seqsearch")
    clone = tmp_path / "clone"
    ok([sys.executable, "-m", "protocols.cli", *JOB, "--workers", "0", "--quiet", "--out", str(clone)], ROOT)
    away = tmp_path / "away"
    away.mkdir()
    ok([seqsearch, *JOB, "--workers", "2", "--quiet", "--out", "mine"], away)
    said = [json.loads(ok([seqsearch, "show", str(r), "--json"], away)) for r in (clone, away / "mine")]
    assert [s["methods"] for s in said[:1]] == [s["methods"] for s in said[1:]]
    ok([seqsearch, "score", str(clone), "--methods", "simplecil", "--workers", "0", "--quiet", "--out", "scored"], away)
    stats = json.loads((away / "scored" / "stats.json").read_text())
    assert stats["trained"] == 0, "what the checkout has trained is not trained again"
    (away / "mine.py").write_text(OWN)
    ok([seqsearch, "score", str(clone), "--methods", "mine.py:Mine", "--workers", "0", "--quiet", "--out", "own"], away)
    assert json.loads((away / "own" / "stats.json").read_text())["trained"] > 0
    assert "Mine" in ok([seqsearch, "show", "own"], away)
