"""Subsets of a pool: halves of its classes, and so many images of each; of all kinds of pools, under paths of any name."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from protocols.cli.pool import pool as pool_command
from seqsearch.backbones.open import build_backbone
from seqsearch.building.pool import _readable
from seqsearch.building.writing import TemporaryCopy
from seqsearch.core.errors import UserError
from seqsearch.features.store import FeatureStore
from seqsearch.pools.base import PARTS, ClassInfo, Split, View, row_offsets
from seqsearch.pools.open import build_pool, located_pool, located_pools, pool_texts
from seqsearch.pools.parts.prints import fingerprints
from seqsearch.pools.parts.subset import Subset, halves, limited
from seqsearch.training.world import World
from tests.photos import write_digits, write_hub_layout
from tests.recording import recording

GLYPHS = "glyphs:train=6,reward=3,test=3,classes=9"
CLASSES = st.lists(st.tuples(st.text(max_size=5), st.sampled_from("ab")), min_size=2, max_size=30, unique=True)


@given(CLASSES, st.integers(0, 2**63 - 1))
def test_halves_are_disjoint_cover_the_pool_and_are_equal(named: list[tuple[str, str]], seed: int) -> None:
    classes = tuple(ClassInfo(name, group, 4) for name, group in named)
    first, second = halves(classes, seed)
    assert sorted([*first, *second]) == list(range(len(classes)))
    assert len(first) - len(second) == len(classes) % 2
    # whatever the order in which a pool has them, and however many images
    turned = tuple(ClassInfo(c.name, c.group, 7) for c in reversed(classes))
    again, _ = halves(turned, seed)
    assert {turned[i].name + turned[i].group for i in again} == {classes[i].name + classes[i].group for i in first}


def test_seeds_draw_other_halves_and_each_class_is_in_either() -> None:
    classes = tuple(ClassInfo(f"class {i}", "group", 4) for i in range(20))
    drawn = np.zeros(20)
    for seed in range(200):
        drawn[halves(classes, seed)[0]] += 1
    assert drawn.sum() == 200 * 10
    assert 65 < drawn.min() <= drawn.max() < 135  # five standard deviations of 100 +- 7.1


def test_a_half_has_the_images_names_and_parts_of_the_pool() -> None:
    whole = build_pool(GLYPHS)
    one, two = (build_pool(f"{GLYPHS},half={h}") for h in (1, 2))
    assert (one.name, len(one.classes), len(two.classes)) == (f"{GLYPHS},half=1", 5, 4)
    assert {c.name for c in one.classes} | {c.name for c in two.classes} == {c.name for c in whole.classes}
    assert len({one.digest, two.digest, whole.digest}) == 3
    offsets, view = row_offsets(whole.classes), View(16)
    for half in (one, two):
        own = row_offsets(half.classes)
        for at, c in enumerate(half.classes):
            index = whole.classes.index(c)
            for part in PARTS:
                rows, there = Split(half, 3).rows(at, part), Split(whole, 3).rows(index, part)
                np.testing.assert_array_equal(rows - own[at], there - offsets[index])
                np.testing.assert_array_equal(half.images(rows, view), whole.images(there, view))


def test_halves_by_order_are_the_first_and_the_last_classes() -> None:
    whole = build_pool(GLYPHS)
    first, last = (build_pool(f"{GLYPHS},half={h}") for h in ("first", "last"))
    assert (first.name, last.name) == (f"{GLYPHS},half=first", f"{GLYPHS},half=last")
    assert (first.classes, last.classes) == (whole.classes[:5], whole.classes[5:])
    assert len({first.digest, last.digest, build_pool(f"{GLYPHS},half=1").digest}) == 3


def test_half_seed_is_of_the_identity_and_of_the_name() -> None:
    other = build_pool(f"{GLYPHS},half=1,half_seed=4")
    assert other.name.endswith("half=1,half_seed=4")
    assert other.digest not in {build_pool(f"{GLYPHS},half={h}").digest for h in (1, 2)}
    assert build_pool(f"{GLYPHS},half=1,half_seed=0").name == build_pool(f"{GLYPHS},half=1").name
    # other images of the same classes, and the other kind of pool, are cut alike
    assert build_pool(f"{GLYPHS},seed=8,half=2").classes == build_pool(f"{GLYPHS},half=2").classes


def test_a_folder_and_a_parquet_file_have_the_same_halves(tmp_path: Path) -> None:
    root = write_digits(tmp_path / "digits", 6)
    files = sorted(root.rglob("*.png"), reverse=True)
    labels, names = [9 - int(f.parent.name[-1]) for f in files], [f"digit {i}" for i in range(9, -1, -1)]
    path = write_hub_layout(tmp_path / "other name.parquet", [f.read_bytes() for f in files], labels, names)
    shutil.move(root, renamed := tmp_path / "renamed")
    for half in (1, 2):
        folder, parquet = build_pool(f"{renamed}:half={half}"), build_pool(f"{path}:half={half}")
        assert {c.name for c in folder.classes} == {c.name for c in parquet.classes}
        assert folder.digest.startswith("files-")
        assert not parquet.digest.startswith("files-")


def test_so_many_images_of_each_class(tmp_path: Path) -> None:
    root = write_digits(tmp_path / "digits", 9)
    for file in sorted((root / "digit 3").iterdir())[5:]:
        file.unlink()
    whole, few = build_pool(str(root)), build_pool(f"{root}:per_class=6")
    assert few.name == f"{root}:per_class=6"
    assert [c.count for c in few.classes] == [5 if c.name == "digit 3" else 6 for c in whole.classes]
    rows = np.arange(sum(c.count for c in few.classes))
    np.testing.assert_array_equal(few.images(rows, View(8)), whole.images(few.base_rows(rows), View(8)))
    assert (np.diff(few.base_rows(rows)) > 0).all()
    assert few.digest not in (whole.digest, build_pool(f"{root}:per_class=5").digest)
    assert build_pool(f"{root}:per_class=9").classes == whole.classes
    # half of the classes, each with those images
    half = build_pool(f"{root}:per_class=6,half=2")
    assert half.name == f"{root}:half=2,per_class=6"
    paths = {few.where(r) for r in rows if few.where(r).split("/")[0] in {c.name for c in half.classes}}
    assert {half.where(r) for r in range(sum(c.count for c in half.classes))} == paths


@given(st.integers(4, 40), st.lists(st.integers(0, 2), min_size=4, max_size=60))
def test_parts_of_a_split_keep_their_share_of_the_images_of_a_class(most: int, parts: list[int]) -> None:
    base = build_pool(GLYPHS)
    base.classes = (ClassInfo("one", "g", len(parts)),)
    base.given = np.array(parts, dtype=np.uint8)
    few = limited(base, most)
    kept, there = np.bincount(few.given, minlength=3), np.bincount(parts, minlength=3)
    assert kept.sum() == min(most, len(parts))
    assert ((kept > 0) == (there > 0)).all()
    assert (abs(kept - there * min(1, most / len(parts))) <= 3).all()
    if there[0] >= (2 if there[1] else 3) and there[2]:  # the whole pool can be split, and so can this
        Split(base, 0).check([0])
        Split(few, 0).check([0])


def test_fingerprints_of_a_subset_are_those_of_the_pool(tmp_path: Path) -> None:
    root = write_digits(tmp_path / "digits", 6)
    whole, few = build_pool(str(root)), build_pool(f"{root}:half=1,per_class=4")
    known = np.concatenate(fingerprints(whole, range(10), tmp_path))
    base = np.arange(sum(c.count for c in few.classes))
    inner = few.base
    assert isinstance(inner, Subset)
    expected = known[inner.base_rows(few.base_rows(base))]
    np.testing.assert_array_equal(np.concatenate(fingerprints(few, range(5), tmp_path)), expected)


def test_what_a_pool_has_beside_the_protocol(tmp_path: Path) -> None:
    root = write_digits(tmp_path / "digits", 6)
    (root / "notes.txt").write_text("no image")
    whole, half = build_pool(str(root)), build_pool(f"{root}:half=2")
    row = 7
    at = int(half.base_rows(np.array([row]))[0])
    assert half.where(row) == whole.where(at) == f"{half.classes[1].name}/0001.png"
    assert half.encoded(np.array([row])) == whole.encoded(np.array([at]))
    assert (half.root, half.ignored, half.ignored_count, half.concurrent) == (root, ("notes.txt",), 1, True)
    assert not hasattr(half, "texts")
    assert not hasattr(build_pool(f"{GLYPHS},half=1"), "encoded")
    (root / whole.where(at)).write_bytes(b"")
    with pytest.raises(UserError, match="is empty"):
        build_pool(f"{root}:half=2").check()


def test_texts_and_a_given_split_go_with_the_images(tmp_path: Path) -> None:
    (tmp_path / "told.py").write_text(
        "import numpy as np\n"
        "from seqsearch.pools.base import ClassInfo, SplitSizes\n"
        "class Told:\n"
        f"    name, digest, native_size = {str(tmp_path / 'told.py:Told')!r}, 'told', 12\n"
        "    classes, split_sizes = [ClassInfo(str(i), 'g', 4 + i) for i in range(5)], SplitSizes()\n"
        "    given = np.array([r % 3 for r in range(30)], dtype=np.uint8)\n"
        "    def images(self, rows, view):\n"
        "        return np.stack([np.full((3, view.size, view.size), r, dtype=np.uint8) for r in rows])\n"
        "    def texts(self, rows):\n"
        "        return [f'text {r}' for r in rows]\n"
    )
    for half in (1, 2):
        pool = build_pool(f"{tmp_path}/told.py:Told:half={half}")
        rows = np.arange(sum(c.count for c in pool.classes))[::-1]
        base = pool.images(rows, View(4))[:, 0, 0, 0].tolist()
        assert pool.texts(rows) == [f"text {r}" for r in base]
        assert pool.given is not None
        assert pool.given[rows].tolist() == [r % 3 for r in base]
        world = World(f"{tmp_path}/told.py:Told:half={half}", 0, "", "")
        assert tmp_path / "told.py" in world._feeding()  # a state is of the code of the pool, too


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{GLYPHS},half=3", "half=3 must be 1 or 2, or first or last"),
        (f"{GLYPHS},half=1.5", "half=1.5 must be 1 or 2"),
        (f"{GLYPHS},half=true", "half=True must be 1 or 2"),
        (f"{GLYPHS},half=third", "half='third' must be 1 or 2"),
        (f"{GLYPHS},half=first,half_seed=1", "half_seed belongs to half=1 or half=2"),
        (f"{GLYPHS},half=1,half_seed=-1", "half_seed=-1 must be a whole number"),
        (f"{GLYPHS},half=1,half_seed=1e3", "half_seed=1000.0 must be a whole number"),
        (f"{GLYPHS},half_seed=1", "half_seed belongs to half=1 or half=2"),
        ("glyphs:classes=1,half=1", "has 1 class, too few for two halves"),
        (f"{GLYPHS},half=1,half=2", "gives a parameter twice"),
        ("nowhere:half=1", "pool 'nowhere' does not exist"),
        (f"{GLYPHS},per_class=3", "per_class=3 must be a whole number from 4"),
        (f"{GLYPHS},per_class=true", "per_class=True must be a whole number"),
        (f"{GLYPHS},per_class=2.5", "per_class=2.5 must be a whole number"),
    ],
)
def test_bad_subsets_are_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as refused:
        build_pool(text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["a:b", "a,b", "a:b=c", "a:b=c,d=e", "half=1", "with space", "pool:half=2"])
def test_paths_of_any_name_have_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    write_digits(tmp_path / name, 4)
    monkeypatch.chdir(tmp_path)
    for given_as in (name, str(tmp_path / name)):
        text = f"{given_as}:half=1,half_seed=2"
        assert pool_texts(text) == [text]
        pool = build_pool(text)
        assert len(pool.classes) == 5
        assert build_pool(pool.name).digest == pool.digest
    where = located_pool(f"{name}:half=1", tmp_path)
    monkeypatch.chdir("/")
    assert where == f"{tmp_path / name}:half=1"
    assert len(build_pool(where).classes) == 5


def test_halves_item_by_item_in_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_digits(tmp_path / "digits", 4)
    monkeypatch.chdir(tmp_path)
    text = located_pools(f"digits:half=1,half_seed=2,{GLYPHS},half=2,digits:half=2,half_seed=2", tmp_path)
    world = World(text, 0, str(tmp_path / "cache"), str(tmp_path / "states"), grow=((2, f"{GLYPHS},half=1"),))
    assert [len(p.classes) for p in world.images.parts] == [5, 4, 5, 5]
    assert world.arrivals == (1, 1, 1, 2)
    with pytest.raises(UserError, match="are the same: name it once"):
        _ = World(f"{GLYPHS},half=1,glyphs:half=1,classes=9,train=6,reward=3,test=3", 0, "", "").images


def test_shown_by_the_command(tmp_path: Path) -> None:
    result = CliRunner().invoke(pool_command, ["show", f"{write_digits(tmp_path / 'digits', 8)}:half=1", "--json"])
    assert result.exit_code == 0, result.output
    said = json.loads(result.output)
    assert (said["classes"], said["images"], said["parts"]["test"]) == (5, 40, 10)
    assert said["pools"][0]["identified_by"].startswith("path, size and time")


def test_a_compressed_file_and_an_own_pool_are_built_from_their_halves(tmp_path: Path) -> None:
    files = sorted(write_digits(tmp_path / "digits", 5).rglob("*.png"))
    labels = [int(f.parent.name[-1]) for f in files]
    names = [f"digit {i}" for i in range(10)]
    source = write_hub_layout(
        tmp_path / "in.parquet", [f.read_bytes() for f in files], labels, names, compression="zstd"
    )
    assert not build_pool(str(source)).verbatim  # it is copied first, and the half reads from the copy
    with contextlib.ExitStack() as stack:
        copied = _readable(build_pool(f"{source}:half=2"), tmp_path / "x.parquet", stack, lambda *_: None)
        assert isinstance(copied.base, TemporaryCopy)
        assert copied.encoded(np.arange(25)) == build_pool(f"{source}:half=2").encoded(np.arange(25))
    own = recording(tmp_path / "log", classes=6, train=3, reward=1, test=1, half=2)
    out = tmp_path / "out.parquet"
    given_as = [f"digits={source}:half=1", f"own={own}", str(out)]
    result = CliRunner().invoke(pool_command, ["build", *given_as, "--min-images", "4", "--workers", "1"])
    assert result.exit_code == 0, result.output
    half, built = build_pool(f"{source}:half=1"), build_pool(str(out))
    assert [c.name for c in built.classes if c.group == "digits"] == [c.name for c in half.classes]
    assert sum(c.group != "digits" for c in built.classes) == 3
    found = pq.read_table(out).filter(pa.compute.equal(pq.read_table(out)["group"], "digits"))["image"].to_pylist()
    assert [i["bytes"] for i in found] == half.encoded(np.arange(25))


def test_frozen_features_of_a_half_are_those_of_the_pool(tmp_path: Path) -> None:
    backbone, device = build_backbone("glyph_vit"), torch.device("cpu")
    whole, half = build_pool(GLYPHS), build_pool(f"{GLYPHS},half=2")
    rows = np.array([0, 13, 47, 20])
    found = FeatureStore(tmp_path, half, backbone, device).rows(rows)
    same = FeatureStore(tmp_path, whole, backbone, device).rows(half.base_rows(rows))
    np.testing.assert_allclose(found, same, rtol=1e-4, atol=1e-5)
    assert len(list((tmp_path / "features").iterdir())) == 2
