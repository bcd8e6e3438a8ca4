"""Names of classes for folders that are named by an id."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seqsearch.core.errors import UserError
from seqsearch.pools.open import build_pool, located_pool


def write(root: Path, *paths: str) -> Path:
    for number, path in enumerate(paths):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (9, 9), number).save(root / path)
    return root


@pytest.fixture
def fish(tmp_path: Path) -> Path:
    """Two folders, whose names come in another order than their ids."""
    return write(tmp_path / "fish", "n01443537/a.png", "n01443537/b.png", "n01440764/c.png")


def pixels(pool: object, row: int) -> int:
    from seqsearch.pools.base import View

    return int(pool.images(np.array([row]), View(9))[0, 0, 0, 0])


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("names.txt", "\ufeffn01440764 tench, Tinca tinca \r\n\nn01443537\tgoldfish\nn99999999 another\n"),
        ("names.json", json.dumps({"n01443537": "goldfish", "n01440764": " tench, Tinca tinca"})),
    ],
)
def test_folders_get_the_names_of_a_file(fish: Path, file: str, text: str) -> None:
    (fish.parent / file).write_text(text)
    plain, pool = build_pool(str(fish)), build_pool(f"{fish}:names={fish.parent / file}")
    assert [(c.name, c.count) for c in plain.classes] == [("n01440764", 1), ("n01443537", 2)]
    assert [(c.name, c.group, c.count) for c in pool.classes] == [
        ("goldfish", "fish", 2),
        ("tench, Tinca tinca", "fish", 1),
    ]
    assert [pool.where(row) for row in range(3)] == ["n01443537/a.png", "n01443537/b.png", "n01440764/c.png"]
    assert [pixels(pool, row) for row in range(3)] == [0, 1, 2]
    assert pool.digest != plain.digest


def test_other_names_are_another_pool(fish: Path) -> None:
    digests = set()
    for number, name in enumerate(("tench", "tench", "wels")):
        file = fish.parent / f"{number}.txt"
        file.write_text(f"n01440764 {name}\nn01443537 goldfish\n")
        digests.add(build_pool(f"{fish}:names={file}").digest)
    assert len(digests) == 2


def test_one_name_may_stand_in_several_groups(tmp_path: Path) -> None:
    root = write(tmp_path / "x", "sketch/n1/a.png", "photo/n1/a.png", "photo/n2/a.png")
    (tmp_path / "names.txt").write_text("n1 owl\nn2 ant\n")
    pool = build_pool(f"{root}:names={tmp_path / 'names.txt'}")
    assert [(c.group, c.name) for c in pool.classes] == [("photo", "ant"), ("photo", "owl"), ("sketch", "owl")]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("n.txt", "n01440764 tench\n", "has no name for 1 folder, the first is 'n01443537': add a line"),
        ("n.txt", "n01440764 fish\nn01443537 fish\n", "gives folders 'n01440764' and 'n01443537' one name, 'fish'"),
        ("n.txt", "n01440764 a\nn01440764 b\n", "line 2 names folder 'n01440764' a second time"),
        ("n.txt", "n01440764\n", "line 1 is 'n01440764', must be a folder and its name"),
        ("n.txt", "\n", "names no folder"),
        ("n.txt", b"n01440764 \xff\n", "is no UTF-8"),
        ("n.json", '{"n01440764": 3}', "must hold an object of names by folder"),
        ("n.json", '{"a": "b", "a": "c"}', "is no JSON .a key stands twice"),
        ("n.json", "[1]", "must hold an object"),
        ("n.json", "{", "is no JSON"),
    ],
)
def test_files_that_are_refused(fish: Path, file: str, text: str | bytes, said: str) -> None:
    (fish.parent / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=said) as caught:
        build_pool(f"{fish}:names={fish.parent / file}")
    assert str(caught.value).startswith(f"pool '{fish}': names=")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(fish: Path) -> None:
    for name in ("nothing.txt", "fish"):
        with pytest.raises(UserError, match=rf"names=.*{name} cannot be read"):
            build_pool(f"{fish}:names={fish.parent / name}")


def test_workers_find_the_file_whatever_folder_they_run_in(fish: Path) -> None:
    (fish.parent / "n.txt").write_text("n01440764 tench\nn01443537 goldfish\n")
    text = located_pool("fish:min_images=2,names=n.txt,half_seed=0,half=first", fish.parent)
    assert text == f"{fish}:min_images=2,names={fish.parent / 'n.txt'},half_seed=0,half=first"
    assert located_pool("fish:split=random", fish.parent) == f"{fish}:split=random"
    with pytest.raises(UserError, match="has a comma, which separates options"):
        located_pool(f"{fish}:names=n.txt", fish.parent / "a,b")
