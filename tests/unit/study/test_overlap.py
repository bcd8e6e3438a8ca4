"""What two pools share is found whatever it is called and wherever it lies, and refused unless it is allowed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.pools.base import ClassInfo, Pool, Rows, SplitSizes, View
from seqsearch.pools.open import build_pool
from seqsearch.pools.union import Union
from seqsearch.study.overlap import MANY, Overlap, overlaps, refused, tenths
from seqsearch.study.same_name import wordnet
from tests.photos import write_digits, write_hub_layout


class Flat:
    """A pool whose images are of one colour, which its class and number give."""

    native_size, split_sizes, given = 4, SplitSizes(), None

    def __init__(self, name: str, classes: Sequence[tuple[str, str]], colours: Sequence[int]) -> None:
        self.name, self.digest = name, f"{name} {classes} {colours}"
        self.classes = tuple(ClassInfo(own, group, len(colours) // len(classes)) for group, own in classes)
        self._colours = np.array(colours)

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        shape = (len(rows), 3, view.size, view.size)
        return np.broadcast_to(self._colours[rows].astype(np.uint8)[:, None, None, None], shape).copy()


def named(*names: str, begin: int = 0) -> Flat:
    """Two images a class, none of which another ``begin`` has."""
    return Flat(f"from {begin}", [("g", n) for n in names], list(range(begin, begin + 2 * len(names))))


def found(tune: Pool | Union, evaluated: Pool | Union, cache: Path) -> Overlap:
    return overlaps(tune, evaluated, range(len(tune.classes)), range(len(evaluated.classes)), cache)


def pairs(overlap: Overlap) -> list[tuple[str, str, str, int]]:
    return [(s.tuned, s.evaluated, s.called, s.images) for s in overlap.shared]


def test_halves_of_a_pool_share_nothing(tmp_path: Path) -> None:
    root = write_digits(tmp_path / "digits", 5)
    one, two = (build_pool(f"{root}:half={h}") for h in (1, 2))
    overlap = found(one, two, tmp_path / "cache")
    assert (overlap.shared, overlap.images, overlap.evaluated_indices) == ((), 0, ())
    refused(overlap, [])
    refused(overlap, ["all"])


@pytest.mark.long
def test_no_two_glyphs_are_taken_for_one(tmp_path: Path) -> None:
    for seed in range(20):
        one, two = (build_pool(f"glyphs:train=2,reward=1,test=1,half={h},half_seed={seed}") for h in (1, 2))
        assert found(one, two, tmp_path).shared == ()


@pytest.mark.parametrize(
    ("tuned", "evaluated", "called"),
    [
        ("hot_dog", "Hot dog", "name"),
        ("hot-dog", "hot  dog", "name"),
        ("hotdog", "Hot_Dogs", "alias"),
        ("n01498041", "stingray", "alias"),
        ("Stingrays", "n01498041", "alias"),
        ("001.Black_footed_Albatross", "black-footed albatross", "alias"),
        ("letter e", "letter es", ""),
        ("digit 1", "digit 11", ""),
        ("3 of clubs", "4 of clubs", "alias"),  # alone on each side: what is left of both is the same
        ("n02077923", "n02071294", ""),
        ("+", "++", ""),
        ("", "", "name"),
    ],
)
def test_names(tmp_path: Path, tuned: str, evaluated: str, called: str) -> None:
    overlap = found(named(tuned, "zebra"), named("quartz", evaluated, begin=50), tmp_path)
    assert pairs(overlap) == ([(tuned, evaluated, called, 0)] if called else [])
    assert overlap.evaluated_indices == ((1,) if called else ())


def test_what_is_left_of_several_names_stands_for_none(tmp_path: Path) -> None:
    overlap = found(named("3 of clubs", "5 of clubs"), named("4 of clubs", "6 of clubs", begin=50), tmp_path)
    assert pairs(overlap) == []


def test_several_classes_of_one_pool_that_are_called_alike_hide_nothing(tmp_path: Path) -> None:
    overlap = found(named("stingray", "n01498041", "1.Sting-Ray"), named("sting ray", begin=50), tmp_path)
    assert pairs(overlap) == [("stingray", "sting ray", "alias", 0), ("n01498041", "sting ray", "alias", 0)]
    turned = found(named("sting ray"), named("stingray", "n01498041", begin=50), tmp_path)
    assert turned.evaluated_indices == (0, 1)
    many = ["".join(c + "-" * (i >> n & 1) for n, c in enumerate("abcdefghijkl")) for i in range(4096)]
    both = found(named(*many), named(*many[::-1], begin=9000), tmp_path)
    assert len({s.evaluated_index for s in both.shared if s.called}) == 4096


def test_another_word_for_a_class_counts_unless_another_class_is_called_so(tmp_path: Path) -> None:
    name, first, word = "n01531178", "goldfinch", "Carduelis carduelis"
    assert pairs(found(named(name), named(word, begin=50), tmp_path)) == [(name, word, "alias", 0)]
    beside = pairs(found(named(name, word), named(word, begin=50), tmp_path))
    assert beside == [(word, word, "name", 0)]
    assert pairs(found(named(name, word), named(first, begin=50), tmp_path)) == [(name, first, "alias", 0)]
    # harmonica reads "harmonica, ..., harp, ...", and a harp is another class, whether it is here or not
    harmonica = next(c for c in wordnet() if c.reads.startswith("harmonica"))
    assert "harp" in harmonica.reads.split(", ")
    assert pairs(found(named(harmonica.name), named("harp", begin=50), tmp_path)) == []


def test_images_under_other_names_and_in_other_files(tmp_path: Path) -> None:
    root = write_digits(tmp_path / "digits", 6)
    files = sorted(root.rglob("*.png"))
    labels = [int(f.parent.name[-1]) for f in files if f.parent.name < "digit 3"]
    images = [f.read_bytes() for f in files][: len(labels)]
    (tmp_path / "other" / "sketch").mkdir(parents=True)
    for number, file in enumerate(files[-9:]):
        shutil.copy(file, tmp_path / "other" / "sketch" / f"{number}.png")
    parquet = write_hub_layout(tmp_path / "p.parquet", images, labels, ["zero", "one", "two"])
    evaluated = Union([build_pool(str(parquet)), build_pool(str(tmp_path / "other"))])
    overlap = found(build_pool(str(root)), evaluated, tmp_path / "cache")
    assert pairs(overlap) == [
        ("digit 0", "zero", "", 6),
        ("digit 1", "one", "", 6),
        ("digit 2", "two", "", 6),
        ("digit 8", "sketch", "", 3),
        ("digit 9", "sketch", "", 6),
    ]
    assert (overlap.images, overlap.evaluated_indices) == (27, (0, 1, 2, 3))
    # classes that are not in play do not count
    fewer = overlaps(build_pool(str(root)), evaluated, [1, 9], [0, 1], tmp_path / "cache")
    assert (pairs(fewer), fewer.images) == ([("digit 1", "one", "", 6)], 6)


def test_a_pool_with_itself_names_every_class_once_and_ends(tmp_path: Path) -> None:
    pool = build_pool("glyphs:classes=40,train=2,reward=1,test=1")
    overlap = found(pool, pool, tmp_path)
    assert [(s.tuned_index, s.evaluated_index, s.images) for s in overlap.shared] == [(i, i, 4) for i in range(40)]
    assert overlap.images == 160
    same = Flat("blank", [("g", f"class {i}") for i in range(2000)], [7] * 4000)
    other = Flat("white", [("g", f"kind {i}") for i in range(2000)], [7] * 4000)
    blank = found(same, other, tmp_path)
    assert (len(blank.shared), blank.images) == (3999, 1)
    assert len(blank.evaluated_indices) == 2000


def test_classes_of_one_name_in_several_groups(tmp_path: Path) -> None:
    tune = Flat("a", [("birds", "crane"), ("tools", "crane")], [1, 2, 3, 4])
    evaluated = Flat("b", [("x", "Crane"), ("y", "rope")], [11, 12, 13, 14])
    overlap = found(tune, evaluated, tmp_path)
    assert pairs(overlap) == [("birds/crane", "Crane", "name", 0), ("tools/crane", "Crane", "name", 0)]
    refused(overlap, ["crane"])
    with pytest.raises(UserError, match="tools/crane"):
        refused(overlap, ["birds/crane"])


def test_refused_unless_allowed(tmp_path: Path) -> None:
    overlap = found(named("hot_dog", "n01498041", "zebra", "cup"), named("Hot dog", "stingray", "x", begin=6), tmp_path)
    assert pairs(overlap) == [
        ("hot_dog", "Hot dog", "name", 0),
        ("cup", "Hot dog", "", 2),
        ("n01498041", "stingray", "alias", 0),
    ]
    said = (
        r"^pools 'from 0' \(to tune on\) and 'from 6' \(to evaluate on\) share 2 classes: 'hot_dog' = 'Hot dog', 'cup' = "
        r"'Hot dog' \(2 images\), 'n01498041' = 'stingray', and 2 images are in both: take others, or allow it with "
        r"--allow-overlap NAME \(repeatable\), or --allow-overlap all$"
    )
    with pytest.raises(UserError, match=said):
        refused(overlap, [])
    with pytest.raises(UserError, match=r"share 1 class: 'n01498041' = 'stingray': take others"):
        refused(overlap, ["hot-dog"])
    with pytest.raises(
        UserError, match="--allow-overlap 'zebra': the pools share no class of that name; they share 'hot_dog'"
    ):
        refused(overlap, ["zebra", "all"])
    with pytest.raises(UserError, match="'hot_dog' = 'Hot dog'"):
        refused(overlap, ["cup", "STINGRAY"])
    for allowed in (["hot dog", "N01498041"], ["all"], ["all", "cup"]):
        refused(overlap, allowed)
    nothing = found(named("a"), named("b", begin=50), tmp_path)
    with pytest.raises(UserError, match="they share nothing"):
        refused(nothing, ["a"])


def test_names_of_others_show_in_one_line(tmp_path: Path) -> None:
    hostile = "a\nb\x1b[31m\u202e" + "x" * 5000
    names = [hostile, *(f"class {i}" for i in range(30))]
    tune, evaluated = (
        Flat("t\x07", [("g", n) for n in names], range(62)),
        Flat("j", [("g", n) for n in names], range(62)),
    )
    with pytest.raises(UserError) as error:
        refused(found(tune, evaluated, tmp_path), [])
    said = str(error.value)
    assert said.isprintable()
    assert len(said) < 600
    assert r"'a\nb\x1b[31m\u202exxx" in said
    assert "and 26 more" in said


def test_one_is_one(tmp_path: Path) -> None:
    one = found(Flat("a", [("g", "x")], [1]), Flat("b", [("g", "y")], [1]), tmp_path)
    with pytest.raises(UserError, match=r"share 1 class: 'x' = 'y' \(1 image\), and 1 image is in both: take others"):
        refused(one, [])


def test_it_is_told_how_far_a_look_at_many_images_is(tmp_path: Path) -> None:
    said: list[str] = []
    observe = tenths(said.append)
    for total in (MANY, 10 * MANY, 20 * MANY):
        for done in range(64, total + 64, 64):
            observe(min(done, total), total)
    assert len(said) == 2 * 11
    assert said[0] == "looking whether pools share images: 64 of 200,000 images of a pool looked at"
    assert said[10] == "looking whether pools share images: 200,000 of 200,000 images of a pool looked at"
    tenths(None)(64, 10 * MANY)
    small: list[str] = []
    pool = build_pool("glyphs:classes=4,train=2,reward=1,test=1")
    overlaps(pool, pool, range(4), range(4), tmp_path, tenths(small.append))
    assert small == []
