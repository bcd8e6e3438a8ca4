"""Digests of code: they change exactly when a file changes that is imported."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from seqsearch.core import identity
from seqsearch.core.grammar import parse_item
from seqsearch.core.identity import closure, code_digest, module_file, source_files, versions
from seqsearch.core.registry import load
from seqsearch.training.world import World

POOL = "glyphs:classes=16,train=4,reward=2,test=2"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package to be changed, which identities are then taken of."""
    shutil.copytree(identity.ROOT / "seqsearch", tmp_path / "seqsearch", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(identity, "ROOT", tmp_path)
    own = identity.source_files
    home = Path(identity.__file__).parents[2]

    def here(made: object) -> list[Path]:
        return [tmp_path / f.relative_to(home) if f.is_relative_to(home / "seqsearch") else f for f in own(made)]

    for user in ("seqsearch.methods.spec", "seqsearch.training.world"):
        monkeypatch.setattr(f"{user}.source_files", here)
    return tmp_path / "seqsearch"


def digest(method: str, backbone: str = "glyph_vit") -> str:
    return World(POOL, 0, "", "").spec(parse_item(method, "method"), backbone).digest


FEEDS_ER = [
    "methods/er.py",
    "methods/base.py",
    "methods/data.py",
    "methods/parts/head.py",
    "training/trainer.py",
    "training/context.py",
    "training/scenario.py",
    "training/scenarios/class_incremental.py",
    "features/extraction.py",
    "features/store.py",
    "pools/loader.py",
    "backbones/glyph_vit.py",
    "backbones/parts/embedded.py",
    "backbones/parts/glyph_stem.py",
    "pools/glyphs.py",
    "pools/parts/glyph_render.py",
    "pools/parts/glyph_draws.py",
    "states/blocks.py",
    "core/digests.py",
]
NO_PART = [
    "methods/ranpac.py",
    "methods/parts/ridge.py",
    "methods/parts/fisher.py",
    "methods/sampling.py",
    "backbones/timm_model.py",
    "backbones/plain_vit.py",
    "pools/folder.py",
    "pools/parts/verbatim.py",
    "planners/mcts.py",
    "engine/search.py",
    "engine/journal.py",
    "results/tables.py",
    "study/study.py",
    "building/pool.py",
    "extremes/anneal.py",
    "stats/distribution.py",
    "stats/drop.py",
    "similarity/names.py",
]


def test_a_method_is_what_it_and_what_feeds_it_import_no_more_and_no_less(package: Path) -> None:
    """Every file of the package that can be changed is: whoever is listed as a part changes ER's digest, nobody else does."""
    before = digest("er")
    parts = {str(f.relative_to(package)) for f in closure([package / "methods/er.py", *map(module_file, _feeding())])}
    assert set(FEEDS_ER) <= parts
    assert not set(NO_PART) & parts
    for name in (*FEEDS_ER, *NO_PART):
        file = package / name
        content = file.read_bytes()
        file.write_bytes(content + b"changed = True\n")
        assert (digest("er") != before) == (name in FEEDS_ER), name
        file.write_bytes(content)
    (package / "methods" / "parts" / "brand_new.py").write_text("VALUE = 1\n")
    (package / "methods" / "another.py").write_text("def build():\n    pass\n")
    assert digest("er") == before, "a new helper, a new method: nothing that ER rests on"


def _feeding() -> list[str]:
    return [
        "seqsearch.training.trainer",
        "seqsearch.training.context",
        "seqsearch.training.scenarios.class_incremental",
        "seqsearch.pools.glyphs",
        "seqsearch.backbones.glyph_vit",
    ]


def test_methods_differ_by_what_they_import(package: Path) -> None:
    er, ranpac = digest("er"), digest("ranpac")
    assert er != ranpac
    file = package / "methods" / "parts" / "ridge.py"
    file.write_text(file.read_text() + "changed = True\n")
    assert digest("er") == er
    assert digest("ranpac") != ranpac


def test_an_own_methods_place_does_not_count_and_its_neighbours_do(tmp_path: Path) -> None:
    own = "from helper import RATE\nfrom seqsearch.methods.er import ExperienceReplay\n\n"
    own += "class Mine(ExperienceReplay):\n    pass\n"
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(own + "changed = True\n" * (name == "c"))
        (tmp_path / name / "helper.py").write_text("RATE = 1\n")
    a, b, c = (code_digest([tmp_path / n / "mine.py"]) for n in "abc")
    assert a == b != c
    (tmp_path / "b" / "helper.py").write_text("RATE = 2\n")
    assert code_digest([tmp_path / "b" / "mine.py"]) != b
    assert module_file("seqsearch.methods.er") in closure([tmp_path / "a" / "mine.py"])


def test_imports_are_followed_as_they_run(tmp_path: Path) -> None:
    inside = tmp_path / "own"
    inside.mkdir()
    for name in ("__init__", "late", "typed", "near", "deep"):
        (inside / f"{name}.py").write_text("")
    (inside / "near.py").write_text("from . import deep\n")
    (inside / "main.py").write_text(
        "from typing import TYPE_CHECKING\nfrom .near import x\nif TYPE_CHECKING:\n    import own.typed\n"
        "def f():\n    import own.late\n"
    )
    assert {f.stem for f in closure([inside / "main.py"])} == {"main", "near", "deep", "late", "__init__"}


def test_identities_do_not_follow_libraries_that_are_installed_beside(package: Path) -> None:
    """As in ``site-packages``: a method imports torch, which lies in the folder of the package then."""
    er = digest("er")
    torch = package.parent / "torch"
    torch.mkdir()
    (torch / "__init__.py").write_text("from torch import nn\n")
    (torch / "nn.py").write_text("")
    for name in os.listdir(package / "methods"):
        if name.endswith(".py"):
            assert all(f.is_relative_to(package) for f in closure([package / "methods" / name])), name
    (package / "methods/er.py").touch()
    assert digest("er") == er


def test_an_installed_method_of_a_user_is_what_its_own_package_has(tmp_path: Path) -> None:
    library = tmp_path / "lib"
    for folder in ("mylib/parts", "torch", "torch-2.0.dist-info"):
        (library / folder).mkdir(parents=True)
    for name in ("mylib/__init__", "mylib/parts/__init__", "mylib/parts/rates", "torch/__init__", "other"):
        (library / f"{name}.py").write_text("")
    method = library / "mylib" / "mine.py"
    method.write_text("import other\nimport torch\nfrom mylib.parts import rates\n")
    names = {str(f.relative_to(library)) for f in closure([method])}
    assert names == {"mylib/__init__.py", "mylib/mine.py", "mylib/parts/__init__.py", "mylib/parts/rates.py"}
    single = library / "single.py"
    single.write_text("import other, torch, mylib.mine\n")
    assert closure([single]) == (single,)


def test_comments_and_docstrings_do_not_count(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text(
        '"""A page."""\nRATE = .1\n"""Of learning."""\ndef f(x):\n    """Doubles."""\n    return "a" "b" * x\n'
    )
    other.write_text(
        'RATE = 0.10  # as in the paper\n\n\ndef f(\n    x,\n):\n    """Twice."""\n    return ("ab" * x)\n'
    )
    assert code_digest([one]) == code_digest([other])
    other.write_text('RATE = 0.2\ndef f(x):\n    return "ab" * x\n')
    assert code_digest([one]) != code_digest([other])


def test_what_has_no_source_file_has_none(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("class Mine:\n    pass\n")
    assert source_files(load("pool", f"{tmp_path}/m.py:Mine")) == [tmp_path / "m.py"]


def test_versions_name_every_library_that_augments_or_trains() -> None:
    """AutoAugment is by torchvision."""
    assert {"torch", "torchvision", "timm", "numpy"} <= set(versions())
    assert all(version[0].isdigit() for version in versions().values())
