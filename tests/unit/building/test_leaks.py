"""Captions that name their class are found whatever their case, accents and punctuation, and nothing else is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.building.leaks import leaking, normalised, without_leaks
from seqsearch.pools.base import ClassInfo

WORD = st.text("abcdefghijklmnoprstuvwzéüñç", min_size=2, max_size=7)
NAMES = st.lists(WORD, min_size=1, max_size=4)
GLUE = st.sampled_from([" ", "_", "-", "  ", "/", ".", "'", " - ", "\u2019"])
OTHER = st.lists(st.text("0123456789,;!", min_size=1, max_size=4), max_size=4).map(" ".join)


@pytest.mark.parametrize(
    ("name", "caption", "full", "head"),
    [
        ("001.Black_footed_Albatross", "a black-footed albatross, resting", True, True),
        ("001.Black_footed_Albatross", "two Black  Footed ALBATROSSES!", True, True),
        ("001.Black_footed_Albatross", "an albatross with black feet", False, True),
        ("001.Black_footed_Albatross", "black footed", False, False),
        ("rose", "a pink flower that rose early; primroses", True, True),  # whole words cannot know better
        ("rose", "primrose, roseate and prose", False, False),
        ("tiger lily", "Tiger lilies in a row", True, True),
        ("canterbury bells", "the canterbury bells are blue", True, True),
        ("bird of paradise", "a bird of\tparadise", True, True),
        ("café marron", "CAFE MARRON with white petals", True, True),
        ("cafe marron", "Cafe\u0301 Marrón", True, True),
        ("Brewer's sparrow", "brewer\u2019s sparrow", True, True),
        ("Brewer's sparrow", "a brewer sparrow", True, True),
        ("Brewer_Blackbird", "a Brewer's blackbird", True, True),
        ("Brewer_Blackbird", "two brewers blackbirds", True, True),
        ("Brewer_Blackbird", "a brewer's big blackbird", False, True),
        ("Wendy's", "the bird's wings", False, False),  # the s of an apostrophe is no word
        ("Black_footed_Albatross", "blackfooted albatross's wings", True, True),
        ("Black_footed_Albatross", "blackfootedalbatrosses", True, True),  # head drops what full drops
        ("Black_footed", "black bird footed", False, True),
        ("blackfooted", "black footed", False, False),
        ("tiger lily", "tigerlilies", True, True),
        ("Gro\u00dfer Fuchs", "ein GROSSER Fuchs", True, True),
        ("Strasse", "die Stra\u00dfe, STRA\u1e9eE", True, True),
        ("Stra\u00dfe", "strasse", True, True),
        ("3series", "a 3series in blue", True, True),
        ("2CV", "a green cv", True, True),
        ("3series", "the series", True, True),  # with and without the number that is glued to it
        ("005", "it has 005 petals", False, False),
        ("class_00005", "class 00005", False, False),
        ("", "anything", False, False),
    ],
)
def test_what_leaks(name: str, caption: str, full: bool, head: bool) -> None:
    assert leaking([caption, "grey"], name).tolist() == [full, False]
    assert leaking([caption, "grey"], name, "head").tolist() == [head, False]
    assert not leaking([caption], name, "keep").any()


@given(
    NAMES,
    GLUE,
    GLUE,
    OTHER,
    OTHER,
    st.sampled_from(["", "s", "es"]),
    st.sampled_from(["", "001.", "12 "]),
    st.booleans(),
)
def test_a_name_is_found_however_it_is_written(
    words: list[str], one: str, other: str, before: str, after: str, plural: str, number: str, upper: bool
) -> None:
    name = number + one.join(words)
    caption = f"{before} {other.join(words)}{plural} {after}"
    assert leaking([caption.upper() if upper else caption], name).all()
    assert leaking([caption], name, "head").all()  # head drops all that full drops, and more


def variants(words: list[str]) -> set[str]:
    """All ways in which a name of these words is found: possessives, words as one, the last in the plural or its possessive."""
    gaps = ("", " ", "s", "s ", " s", " s ")
    numbers = {words[-1] + end for end in ("", "s", "es")} | {
        words[-1][:-1] + "ies" for _ in range(words[-1].endswith("y"))
    }
    last = {number + possessive for number in numbers for possessive in ("", "s", " s")}
    return {
        "".join(w + g for w, g in zip(words, between, strict=False)) + end
        for between in itertools.product(gaps, repeat=len(words) - 1)
        for end in last
    }


@given(st.data())
def test_what_holds_no_variant_of_the_words_in_a_row_stays(data: st.DataObject) -> None:
    words = data.draw(st.lists(st.sampled_from(["ab", "cd", "say", "bs", "esc"]), min_size=1, max_size=3))
    pieces = st.sampled_from([*words, "ab", "s", " s", "es", "'s", " ", "-", "x", words[-1][:-1] + "ies"])
    said = "".join(data.draw(st.lists(pieces, max_size=9)))
    there = f" {normalised([said]).to_pylist()[0]} "
    held = any(f" {v} " in there for v in variants(words))
    assert leaking([said], "_".join(words)).tolist() == [held]
    if held:
        assert leaking([said], "_".join(words), "head").all()


@given(st.lists(WORD, min_size=2, max_size=4), st.data())
def test_a_name_with_another_word_in_it_is_not_found(words: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(words) - 1))
    said = " ".join([*words[:place], data.draw(st.sampled_from(["x", "xq", "bird2"])), *words[place:]])
    assert not leaking([said, said + "s"], "_".join(words)).any()


@given(st.lists(WORD, min_size=1, max_size=3), st.data())
def test_the_possessive_and_words_as_one_are_found(words: list[str], data: st.DataObject) -> None:
    said = data.draw(st.sampled_from(sorted(variants([w.casefold() for w in words]))))
    said = said.replace("ss", data.draw(st.sampled_from(["ss", "\u00df"])))
    name = "_".join(words)
    assert leaking([f"one {said}, two", said.upper(), said.replace(" s", "\u2019s")], name).all()


@given(st.lists(st.sampled_from(["brewer", "'s", " ", "black", "bird", "blackbird", "s", "stra\u00dfe"]), max_size=12))
def test_to_filter_twice_is_to_filter_once(pieces: list[str]) -> None:
    said, classes = "".join(pieces), (ClassInfo("Brewer_Blackbird", "g", 1), ClassInfo("Strasse", "g", 1))
    for level in ("full", "head"):
        kept, _ = without_leaks(classes, [[said, "grey"], [said, "grey"]], level)
        assert without_leaks(classes, kept, level)[0] == kept
        assert all("grey" in texts for texts in kept)


@given(st.text(max_size=40))
def test_to_normalise_twice_is_to_normalise_once(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    once = normalised([text]).to_pylist()
    assert normalised(once).to_pylist() == once


CLASSES = (ClassInfo("001.Red_Fox", "g", 3), ClassInfo("Owl", "g", 2), ClassInfo("17", "g", 1))
TEXTS = [
    ["a red fox", "furry"],
    ["Red-foxes!", "two red fox"],
    [],
    ["an owl", "a fox", "owls"],
    ["red fox"],
    ["17 things"],
]


@given(st.permutations(range(6)), st.sampled_from(["full", "head", "keep"]))
def test_the_filter_is_idempotent_and_looks_at_each_class_alone(order: list[int], level: str) -> None:
    kept, report = without_leaks(CLASSES, TEXTS, level)
    again, nothing = without_leaks(CLASSES, kept, level)
    assert again == kept
    assert (nothing.captions, nothing.samples, nothing.classes) == (0, 0, [])
    assert without_leaks(CLASSES, TEXTS, level) == (kept, report)
    assert sum(map(len, TEXTS)) - sum(map(len, kept)) == report.captions == sum(c["captions"] for c in report.classes)
    swapped = (CLASSES[1], CLASSES[0], CLASSES[2])
    other, _ = without_leaks(swapped, [*TEXTS[3:5], *TEXTS[:3], TEXTS[5]], level)
    assert other == [*kept[3:5], *kept[:3], kept[5]]


def test_a_sample_is_dropped_when_no_caption_is_left() -> None:
    kept, report = without_leaks(CLASSES, TEXTS, "full")
    assert kept == [["furry"], [], [], ["a fox"], ["red fox"], ["17 things"]]
    assert (report.captions, report.of_captions, report.samples, report.of_samples) == (5, 9, 1, 5)
    assert report.nameless == ["17"]
    assert [(c["class"], c["captions"], c["samples"]) for c in report.classes] == [("001.Red_Fox", 3, 1), ("Owl", 2, 0)]
    assert report.classes[0]["examples"] == ["a red fox", "Red-foxes!", "two red fox"]
    head, _ = without_leaks(CLASSES, TEXTS, "head")
    assert head == kept  # the last word of these is not in other captions of theirs
    assert np.array_equal(leaking(["a fox"], "Red_Fox", "head"), [True])
