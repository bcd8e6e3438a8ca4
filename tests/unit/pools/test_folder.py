"""Folders of images as pools."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seqsearch.core.errors import UserError
from seqsearch.pools.base import Split, View
from seqsearch.pools.folder import build
from seqsearch.pools.open import build_pool
from tests.photos import write_digits, write_photos


def touch(path: Path, colour: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (9, 9), colour).save(path)


def test_classes_in_folders(tmp_path: Path) -> None:
    pool = build_pool(str(write_digits(tmp_path / "digits", 12)))
    assert [(c.name, c.group, c.count) for c in pool.classes] == [(f"digit {i}", "digits", 12) for i in range(10)]
    assert pool.where(13) == "digit 1/0001.png"
    [data] = pool.encoded(np.array([13]))
    assert data == (tmp_path / "digits" / "digit 1" / "0001.png").read_bytes()
    [image] = pool.images(np.array([13]), View(8))
    np.testing.assert_array_equal(image[0], np.asarray(Image.open(tmp_path / "digits/digit 1/0001.png")))
    assert pool.given is None


def test_groups_of_classes(tmp_path: Path) -> None:
    pool = build(str(write_photos(tmp_path / "photos", 4)))
    assert len(pool.classes) == 12
    assert {c.group for c in pool.classes} == {"china", "flower", "portrait"}
    assert [c.name for c in pool.classes[:4]] == [f"quadrant {i}" for i in range(4)]  # the same names in each group


def test_folders_named_after_splits_are_a_given_split(tmp_path: Path) -> None:
    for part, count in (("train", 5), ("val", 2), ("test", 3)):
        for name in ("cat", "dog"):
            for i in range(count):
                touch(tmp_path / part / name / f"{part}{i}.png")
    pool = build(str(tmp_path))
    assert [(c.name, c.group, c.count) for c in pool.classes] == [
        ("cat", tmp_path.name, 10),
        ("dog", tmp_path.name, 10),
    ]
    assert pool.given is not None
    assert pool.given.tolist() == [0] * 5 + [1] * 2 + [2] * 3 + [0] * 5 + [1] * 2 + [2] * 3
    assert [pool.where(int(r)) for r in Split(pool, 0).rows(0, "reward")] == ["val/cat/val0.png", "val/cat/val1.png"]
    assert build(str(tmp_path), split="random").given is None


@pytest.mark.parametrize("validation", ["val", "validation"])
def test_validation_is_the_test_part_where_there_is_no_test_folder(tmp_path: Path, validation: str) -> None:
    """As torchvision's ImageNet, whose test images have no labels."""
    for part, count in (("train", 5), (validation, 3)):
        for name in ("n01440764", "n01443537"):
            for i in range(count):
                touch(tmp_path / part / name / f"{part}{i}.png")
    (tmp_path / "names.txt").write_text("n01440764 tench\nn01443537 goldfish\n")
    pool = build_pool(f"{tmp_path}:split=given,names={tmp_path / 'names.txt'}")
    assert [(c.name, c.count) for c in pool.classes] == [("goldfish", 8), ("tench", 8)]
    split = Split(pool, 0)
    for label, folder in enumerate(("n01443537", "n01440764")):
        tested = [pool.where(int(r)) for r in split.rows(label, "test")]
        assert tested == [f"{validation}/{folder}/{validation}{i}.png" for i in range(3)]
        assert sum(split.counts(label).values()) == 8
    assert build_pool(f"{tmp_path}:split=random").given is None


def test_a_class_without_test_images_is_named(tmp_path: Path) -> None:
    for path in ("train/cat/1.png", "train/cat/2.png", "train/cat/3.png", "val/cat/4.png", "train/dog/1.png"):
        touch(tmp_path / path)
    split = Split(build(str(tmp_path)), 0)
    assert split.counts(0) == {"train": 1, "val": 1, "reward": 1, "test": 1}
    with pytest.raises(UserError, match=r"class 'dog' .* the predefined split leaves it without images"):
        split.check([0, 1])


def test_what_is_no_image_is_left_alone_and_counted(tmp_path: Path) -> None:
    touch(tmp_path / "a" / "1.PNG")
    touch(tmp_path / "a" / ".hidden.png")
    (tmp_path / "a" / "notes.txt").write_text("x")
    (tmp_path / ".git").mkdir()
    pool = build(str(tmp_path))
    assert [c.count for c in pool.classes] == [1]
    assert (pool.ignored, pool.ignored_count) == (("a/notes.txt",), 1)


def test_small_classes_are_left_out_on_request(tmp_path: Path) -> None:
    for i in range(4):
        touch(tmp_path / "many" / f"{i}.png")
    touch(tmp_path / "few" / "1.png")
    assert [c.name for c in build(str(tmp_path)).classes] == ["few", "many"]
    assert [c.name for c in build_pool(f"{tmp_path}:min_images=2").classes] == ["many"]
    with pytest.raises(UserError, match="no class has 5 images or more"):
        build(str(tmp_path), min_images=5)
    with pytest.raises(UserError, match=r"class 'few' .* has 1 image, too few"):
        Split(build(str(tmp_path)), 0).check([0])


def test_the_digest_is_of_paths_sizes_and_times_and_says_so(tmp_path: Path) -> None:
    touch(tmp_path / "one" / "a" / "1.png")
    before = build(str(tmp_path / "one")).digest
    assert before.startswith("files-")
    for copy in ("elsewhere/one", "another name"):
        shutil.copytree(tmp_path / "one", tmp_path / copy)
        assert build(str(tmp_path / copy)).digest == before
    touch(tmp_path / "another name" / "b" / "1.png")
    larger = build(str(tmp_path / "another name")).digest
    assert larger != before
    shutil.move(tmp_path / "another name" / "b", tmp_path / "another name" / "c")  # the same file in another class
    assert build(str(tmp_path / "another name")).digest not in (before, larger)
    os.utime(tmp_path / "one" / "a" / "1.png", ns=(1, 1))
    assert build(str(tmp_path / "one")).digest != before


def test_linked_folders_are_followed_and_loops_are_refused(tmp_path: Path) -> None:
    touch(tmp_path / "data" / "1.png")
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "linked").symlink_to(tmp_path / "data")
    assert [c.name for c in build(str(tmp_path / "pool"), links="anywhere").classes] == ["linked"]
    (tmp_path / "data" / "loop").symlink_to(tmp_path / "pool")
    with pytest.raises(UserError, match="links back to a folder above it"):
        build(str(tmp_path / "pool"), links="anywhere")


@pytest.mark.parametrize("name", ["linked", "cat/2.png", "cat/link to a link.png"])
def test_a_link_out_of_the_folder_is_followed_only_if_asked(tmp_path: Path, name: str) -> None:
    pool, secret = tmp_path / "pool", tmp_path / "pools" / "secret"  # a folder whose name begins like the pool's
    touch(pool / "cat" / "1.png")
    touch(secret / "1.png")
    (tmp_path / "step").symlink_to(secret)
    targets = {"linked": secret, "cat/2.png": secret / "1.png", "cat/link to a link.png": "../../step/1.png"}
    (pool / name).symlink_to(targets[name])
    with pytest.raises(
        UserError, match=r"is a link out of it, to .*secret.*:links=anywhere if you trust whoever made it"
    ):
        build(str(pool))
    assert sum(c.count for c in build(str(pool), links="anywhere").classes) == 2


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    touch(tmp_path / "pool" / "cat" / "1.png")
    (tmp_path / "pool" / "lion").symlink_to("cat")
    (tmp_path / "name").symlink_to(tmp_path / "pool")  # the pool itself may be named by a link
    assert [c.name for c in build(str(tmp_path / "name")).classes] == ["cat", "lion"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([], "has no images in root/class/image"),
        (["notes/readme.txt"], r"has no images in .* \(1 other files, e.g. notes/readme.txt\)"),
        (["1.png"], "has images directly in it, e.g. 1.png"),
        (["a/b/c/1.png"], "has images too deep, e.g. a/b/c/1.png"),
        (["a/b/c/d/1.png"], "has images too deep, e.g. a/b/c/d/1.png"),
        (["train/a/1.png", "test/a/1.png", "1.png"], "has images directly in it, e.g. 1.png"),
        (["train/1.png", "test/1.png"], "has images directly in a split, e.g. test/1.png"),
        (["train/a/1.png", "test/g/a/1.png"], "images at different depths"),
        (["a/1.png", "b/c/1.png"], r"images at different depths \(a/1.png and b/c/1.png\)"),
    ],
)
def test_folders_that_are_no_pool(tmp_path: Path, files: list[str], said: str) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        touch(tmp_path / file) if file.endswith(".png") else (tmp_path / file).write_text("x")
    with pytest.raises(UserError, match=said):
        build(str(tmp_path))


def test_bad_files_and_options_are_named(tmp_path: Path) -> None:
    touch(tmp_path / "a" / "1.png")
    (tmp_path / "a" / "2.png").write_bytes(b"")
    (tmp_path / "a" / "3.png").write_bytes(b"no image")
    pool = build(str(tmp_path))
    with pytest.raises(UserError, match=r"a/2.png is empty \(1 such\)"):
        pool.check()
    with pytest.raises(
        UserError, match=r"image a/3\.png is unusable: not an image of a known format: remove it, or make"
    ):
        pool.images(np.array([2]), View(8))
    (tmp_path / "a" / "1.png").unlink()
    with pytest.raises(UserError, match=r"a/1.png cannot be read any more \(No such file or directory\): restore it"):
        pool.images(np.array([0]), View(8))
    (tmp_path / "a" / "gone.png").symlink_to(tmp_path / "nowhere.png")
    with pytest.raises(UserError, match=r"a/gone.png cannot be read \(No such file"):
        build(str(tmp_path))
    with pytest.raises(UserError, match="split='half' must be auto, given or random"):
        build(str(tmp_path), split="half")
    with pytest.raises(UserError, match="min_images=0 must be a whole number"):
        build(str(tmp_path), min_images=0)
    with pytest.raises(UserError, match="is no folder"):
        build(str(tmp_path / "a" / "3.png"))


def test_a_folder_that_may_not_be_listed_is_not_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path / "a" / "1.png")
    touch(tmp_path / "b" / "1.png")
    real = os.scandir

    def scandir(path: Path) -> object:  # tests may run as root, who may read everything
        if Path(path).name == "b":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(UserError, match=r"/b cannot be listed \(Permission denied\)"):
        build(str(tmp_path))


def test_a_given_split_that_is_not_there(tmp_path: Path) -> None:
    touch(tmp_path / "a" / "1.png")
    with pytest.raises(UserError, match="has no split of its own"):
        build(str(tmp_path), split="given")


def test_folders_without_images_do_not_hide_a_split(tmp_path: Path) -> None:
    for part in ("train", "test"):
        touch(tmp_path / part / "a" / "1.png")
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations" / "all.json").write_text("{}")
    pool = build(str(tmp_path))
    assert [(c.name, c.count) for c in pool.classes] == [("a", 2)]
    assert pool.given is not None
    assert (pool.ignored, pool.given.tolist()) == (("annotations/all.json",), [0, 2])


def test_a_class_may_be_called_like_a_split(tmp_path: Path) -> None:
    for name in ("airplane", "train"):
        touch(tmp_path / name / "1.png")
    pool = build(str(tmp_path))
    assert [c.name for c in pool.classes] == ["airplane", "train"]
    assert pool.given is None


def test_links_to_themselves_and_pipes_do_not_stop_the_walk_unsaid(tmp_path: Path) -> None:
    touch(tmp_path / "a" / "1.png")
    os.mkfifo(tmp_path / "a" / "pipe.png")  # to open it would wait for ever
    pool = build(str(tmp_path))
    assert [c.count for c in pool.classes] == [1]
    assert pool.ignored == ("a/pipe.png",)
    (tmp_path / "b").symlink_to(tmp_path / "b")
    with pytest.raises(UserError, match=r": b cannot be read \(Too many levels of symbolic links\): remove it"):
        build(str(tmp_path))


def test_names_that_are_no_utf_8(tmp_path: Path) -> None:
    touch(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9/\xff.png")))
    pool = build(str(tmp_path))
    assert os.fsencode(pool.where(0)) == b"caf\xe9/\xff.png"
    again = pickle.loads(pickle.dumps(pool))
    assert again.encoded(np.array([0, 0])) == [(tmp_path / os.fsdecode(b"caf\xe9/\xff.png")).read_bytes()] * 2


def test_many_files_take_little_room(tmp_path: Path) -> None:
    number = 20_000
    for c in range(20):
        (tmp_path / f"class {c}").mkdir()
        for i in range(number // 20):
            (tmp_path / f"class {c}" / f"{i:06d}.png").touch()
    code = (
        "import pickle, sys, tracemalloc; from seqsearch.pools.folder import build\n"
        "build(sys.argv[1]); tracemalloc.start(); pool = build(sys.argv[1])\n"  # the first time imports
        "print(tracemalloc.get_traced_memory()[1], len(pickle.dumps(pool)))"
    )
    said = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, text=True, stdout=subprocess.PIPE)
    peak, pickled = map(int, said.stdout.split())
    assert peak / number < 160  # bytes; with an object per file it was 350
    assert pickled / number < 50


def test_a_misspelt_path_is_answered_with_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "birds.parquet").touch()
    for written, meant in (("photoz", "photos"), ("brids.parquet", "birds.parquet")):
        with pytest.raises(UserError, match=f"does not exist: did you mean {meant}\\? name a folder"):
            build_pool(str(tmp_path / written))
