"""Own files import their neighbours, each folder for itself."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from seqsearch.core.errors import UserError
from seqsearch.core.identity import closure, code_digest
from seqsearch.core.registry import load

USES = {
    "import": "import helpers\nWIDTH = helpers.WIDTH",
    "from": "from helpers import WIDTH",
    "relative": "from . import helpers\nWIDTH = helpers.WIDTH",
    "relative from": "from .helpers import WIDTH",
    "in a function": "def _width():\n    import helpers\n    return helpers.WIDTH\nWIDTH = _width()",
    "through another": "import between\nWIDTH = between.helpers.WIDTH",
    "a folder": "import parts.inner as inner\nfrom parts import inner as same\nassert inner is same\nWIDTH = inner.WIDTH",
    "its folder": "import parts.inner\nWIDTH = parts.inner.WIDTH",
}


def folder(path: Path, text: str, width: int = 7) -> str:
    (path / "parts").mkdir(parents=True)
    (path / "mine.py").write_text(f"{text}\nclass Mine:\n    width = WIDTH\n")
    (path / "helpers.py").write_text(f"WIDTH = {width}\n")
    (path / "between.py").write_text("import helpers\n")
    (path / "parts" / "__init__.py").write_text("")
    (path / "parts" / "inner.py").write_text("from helpers import WIDTH\n")
    return f"{path / 'mine.py'}:Mine"


@pytest.mark.parametrize("text", USES.values(), ids=USES)
def test_a_file_imports_its_neighbours(tmp_path: Path, text: str) -> None:
    path, modules = list(sys.path), set(sys.modules)
    one, other = folder(tmp_path / "one", text, 7), folder(tmp_path / "other", text, 8)
    assert [load("method", one).width, load("pool", other).width] == [7, 8]  # two helpers.py do not mix
    assert sys.path == path
    assert not {"helpers", "between", "parts"} & (set(sys.modules) - modules)


@pytest.mark.parametrize("text", USES.values(), ids=USES)
def test_what_is_imported_is_part_of_the_identity(tmp_path: Path, text: str) -> None:
    folder(tmp_path / "own", text)
    mine = tmp_path / "own" / "mine.py"
    assert tmp_path / "own" / "helpers.py" in closure([mine])
    before = code_digest([mine])
    (tmp_path / "own" / "helpers.py").write_text("WIDTH = 9\n")
    assert code_digest([mine]) != before


def test_packages_around_and_inside_are_followed_as_they_run(tmp_path: Path) -> None:
    own = tmp_path / "own"
    load("method", folder(own, USES["its folder"]))
    assert own / "parts" / "__init__.py" in closure([own / "mine.py"])
    (tmp_path / "two").mkdir()
    item = folder(tmp_path / "two" / "own", USES["its folder"])
    (tmp_path / "two" / "own" / "__init__.py").write_text("raise ValueError('never run')\n")
    assert load("method", item).width == 7
    assert tmp_path / "two" / "own" / "helpers.py" in closure([tmp_path / "two" / "own" / "mine.py"])


@pytest.mark.parametrize(
    ("helpers", "says"),
    [
        ("WIDTH = 1\n\nraise KeyError('sizes')\n", "KeyError: 'sizes' (helpers.py:3); mend it"),
        ("import nowhere_to_be_found\n", "No module named 'nowhere_to_be_found' (helpers.py:1); mend it"),
        ("WIDTH = (\n", "SyntaxError: '(' was never closed (helpers.py, line 1)"),
        ("import queue\n", "'queue' is queue.py beside it and an installed module, too: rename queue.py"),
    ],
)
def test_a_neighbour_that_fails_is_named_in_one_line(tmp_path: Path, helpers: str, says: str) -> None:
    item = folder(tmp_path / "own", USES["import"])
    (tmp_path / "own" / "queue.py").write_text("")
    (tmp_path / "own" / "helpers.py").write_text(helpers)
    with pytest.raises(UserError) as refused:
        load("method", item)
    assert says in str(refused.value)
    assert "mine.py' does not load: " in str(refused.value)
    assert "\n" not in str(refused.value)
    (tmp_path / "own" / "helpers.py").write_text("WIDTH = 3\n")
    assert load("method", item).width == 3  # nothing of the failed attempt was kept


@pytest.mark.parametrize("text", ["WIDTH = __import__('helpers').WIDTH", "import linked\nWIDTH = linked.WIDTH"])
def test_what_the_identity_cannot_follow_is_refused(tmp_path: Path, text: str) -> None:
    item = folder(tmp_path / "own", text)
    (tmp_path / "elsewhere.py").write_text("WIDTH = 1\n")
    (tmp_path / "own" / "linked.py").symlink_to(tmp_path / "elsewhere.py")
    with pytest.raises(UserError, match=r"is a link, or imported otherwise than by an import statement"):
        load("method", item)


def test_a_file_named_as_what_it_imports_and_a_checkout_beside_it_mean_the_installed_ones(tmp_path: Path) -> None:
    (tmp_path / "seqsearch").mkdir()
    (tmp_path / "seqsearch" / "__init__.py").write_text("raise ValueError('not this one')")
    (tmp_path / "queue.py").write_text(
        "import queue\nfrom seqsearch.core import text\nclass Mine:\n    queue, text = queue, text\n"
    )
    mine = load("method", f"{tmp_path / 'queue.py'}:Mine")
    assert mine.queue is importlib.import_module("queue")
    assert mine.text is importlib.import_module("seqsearch.core.text")


def test_the_working_directory_does_not_decide(tmp_path: Path) -> None:
    item = folder(tmp_path / "own", USES["import"])
    (tmp_path / "helpers.py").write_text("WIDTH = 100\n")
    code = f"from seqsearch.core.registry import load; print(load('method', {item!r}).width)"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "7\n"
