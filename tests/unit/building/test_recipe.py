"""Pools from recipes: what is missing is named with where to get it, counts stand beside the printed ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocols.evaluate.published.where import RECIPES
from seqsearch.building.recipe import read_recipe
from seqsearch.core.errors import UserError
from seqsearch.pools.open import build_pool
from tests.unit.building.made import run, write

RECIPE = """\
schema: seqsearch-pool-recipe/1
name: small
title: a test
min_images: 5
classes: 5
images: 40
sources:
  - {name: Rocks, path: rocks, where: "https://rocks.example", classes: 2, images: 12}
  - {name: Birds, path: birds, where: "https://birds.example", classes: 3, images: 21, note: put each into its folder}
  - {name: Ours, path: ours, where: nowhere, classes: 1, images: 7, published: false}
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(RECIPE)
    return path


def test_table_2_is_as_it_is_printed() -> None:
    recipe = read_recipe(RECIPES["cldyb"])
    assert len(recipe.sources) == 26
    assert len(recipe.public) == 22
    assert sum(s.classes for s in recipe.sources) == recipe.classes == 2403
    assert sum(s.images for s in recipe.sources) == recipe.images == 2_505_185
    assert (sum(s.classes for s in recipe.public), sum(s.images for s in recipe.public)) == (2043, 2_461_342)
    assert "2,043" in recipe.notes[0]
    assert recipe.min_images == 45


def test_what_is_there_is_built_and_counted(tmp_path: Path, recipe: Path) -> None:
    sources, out = tmp_path / "from", tmp_path / "pool.parquet"
    write(sources / "rocks", {"flint": 6, "chalk": 6})
    write(sources / "birds/sea", {"gull": 7, "auk": 4}, start=20)
    write(sources / "birds/land", {"jay": 7, "owl": 7}, start=40)
    ran = run("build", "--recipe", str(recipe), "--from", str(sources), str(out), "--json", "--workers", "1")
    assert ran.exit_code == 0, ran.output
    made = json.loads(ran.stdout)["recipe"]
    rocks = {"name": "Rocks", "classes": 2, "images": 12, "printed_classes": 2, "printed_images": 12, "agrees": True}
    birds = {"name": "Birds", "classes": 3, "images": 21, "printed_classes": 3, "printed_images": 21, "agrees": True}
    assert made["sources"] == [rocks, birds]
    assert (made["missing"], made["not_published"]) == ([], ["Ours"])
    assert {c.group for c in build_pool(str(out)).classes} == {"Rocks", "Birds/sea", "Birds/land"}


def test_what_is_missing_is_named_with_where_to_get_it(tmp_path: Path, recipe: Path) -> None:
    sources, out = write(tmp_path / "from/rocks", {"flint": 6, "chalk": 9}).parent, tmp_path / "pool.parquet"
    arguments = ("build", "--recipe", str(recipe), "--from", str(sources), str(out), "--workers", "1")
    ran = run(*arguments)
    assert ran.exit_code == 2
    assert "birds: get it from https://birds.example (put each into its folder)" in ran.stderr
    assert "1 of 2 sources of small are not in" in ran.stderr.splitlines()[-1]
    assert "nowhere" not in ran.output
    assert not out.exists()
    ran = run(*arguments, "--partial")
    assert ran.exit_code == 0, ran.output
    assert "Rocks: 2 classes, 15 images, printed 2 and 12" in ran.output
    assert "missing: Birds" in ran.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--recipe", "RECIPE", "o.parquet"], "--recipe and --from DIR go together"),
        (["--recipe", "RECIPE", "--from", ".", "src", "o.parquet"], "without SRC"),
        (["--partial", "src", "o.parquet"], "--partial is of both"),
        (["--recipe", "RECIPE", "--from", "/nowhere", "o.parquet"], "is no folder"),
        (["--recipe", "cldby", "--from", ".", "o.parquet"], "name one (cldyb)"),
        (["--recipe", "../x", "--from", ".", "o.parquet"], "name one (cldyb)"),
        (["o.parquet"], "name sources before OUT.parquet"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: Path, arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("build", *(str(recipe) if a == "RECIPE" else a for a in arguments))
    assert ran.exit_code == 2
    [line] = ran.stderr.splitlines()
    assert says in line


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("path: birds", "path: rocks", "two sources have the path"),
        ("name: Birds", "name: Rocks", "two sources have the name"),
        ("path: birds", "path: ../birds", "must lie below"),
        ("name: Birds", "name: a/b", "cannot be called"),
        ("classes: 3", "classes: -3", "classes and images must be from 1"),
        ("images: 12", "pictures: 12", "unknown key 'pictures'"),
        ("min_images: 5", "min_images: 0", "min_images from 1"),
        ("schema: seqsearch-pool-recipe/1", "schema: seqsearch-published/1", "must have `schema"),
    ],
)
def test_what_is_wrong_in_a_recipe_is_one_line(recipe: Path, old: str, new: str, says: str) -> None:
    recipe.write_text(RECIPE.replace(old, new, 1))
    with pytest.raises(UserError, match=says.replace("`", ".")):
        read_recipe(recipe)
