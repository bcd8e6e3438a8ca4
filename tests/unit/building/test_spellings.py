"""Names of classes in other spellings and the other number, and names that users bring; and what is not found by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from protocols.cli.main import main
from seqsearch.building.leaks import leaking, read_synonyms, without_leaks
from seqsearch.building.number import plurals, singulars
from seqsearch.core.errors import UserError
from seqsearch.pools.base import ClassInfo
from seqsearch.pools.open import build_pool
from tests.docs.miniature import write_folder

FORMAT = "\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u202e\u180e"
WORDS = """
    goose/geese mouse/mice dormouse/dormice wolf/wolves fungus/fungi cactus/cacti cactus/cactuses child/children
    woman/women ox/oxen larva/larvae leaf/leaves knife/knives bacterium/bacteria crisis/crises vertex/vertices
    gateau/gateaux tooth/teeth foot/feet box/boxes church/churches tomato/tomatoes lily/lilies fly/flies
    person/people die/dice elf/elves dove/doves house/houses glove/gloves apple/apples bus/buses glass/glasses
    brownie/brownies olive/olives
"""
PAIRS = [(one, many) for one, many in (pair.split("/") for pair in WORDS.split())]


@pytest.mark.parametrize(("one", "many"), PAIRS)
def test_either_number_is_found_of_a_name_in_either(one: str, many: str) -> None:
    assert many in set(plurals(one))
    assert one in set(singulars(many))
    for name, said in ((one, many), (many, one), (f"wild {one}", f"Wild {many}"), (f"wild {many}", f"wild-{one}")):
        assert leaking([f"a {said}, resting", f"{said}'s nest"], name).all(), (name, said)


@pytest.mark.parametrize(
    ("name", "caption"),
    [
        ("albatross", "an alba\u00adtross"),
        ("albatross", "an\u200balbatross"),
        ("alba\u200btross", "an albatross"),
        ("black footed", "black\u200bfooted"),
        ("M\u00fcller", "herr Mueller"),
        ("M\u00fcller", "herr Muller"),
        ("Mueller", "herr M\u00fcller"),
        ("Mueller", "herr Mu\u0308ller"),
        ("M\u00d6WE", "eine Moewe"),
        ("Sm\u00f8rrebr\u00f8d", "smorrebrod"),
        ("Sm\u00f8rrebr\u00f8d", "smoerrebroed"),
        ("\u00c6sop", "aesop"),
        ("Stra\u00dfe", "STRASSE"),
        ("Pier\u00f3g \u0142\u00f3dzki", "pierog lodzki"),
        ("bird of paradise", "two birds of paradise"),
        ("birds of paradise", "a bird of paradise"),
    ],
)
def test_other_spellings_are_found(name: str, caption: str) -> None:
    assert leaking([caption, "grey"], name).tolist() == [True, False]


@pytest.mark.parametrize(
    ("name", "caption"),
    [
        ("shorts", "a short man"),
        ("news", "a new car"),
        ("tights", "a tight bend"),
        ("jeans", "jean is here"),
        ("lens", "len is here"),
        ("glass", "it gleams like gla"),
        ("bus", "bu"),
        ("fox", "an ox, foxen"),
        ("caves", "a cafe"),
        ("pot", "a poet"),
        ("poet", "a pot"),
        ("blue", "blu-ray"),
        ("iris", "an iri"),
        ("cat", "concatenated cattle"),
        ("M\u00fcller", "mue ller"),
        ("species", "special"),
    ],
)
def test_other_words_are_not_found(name: str, caption: str) -> None:
    assert not leaking([caption], name).any()


@given(st.sampled_from(PAIRS), st.data())
def test_format_characters_anywhere_hide_nothing(pair: tuple[str, str], data: st.DataObject) -> None:
    said = pair[1]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(said)))
        said = said[:at] + data.draw(st.sampled_from(FORMAT)) + said[at:]
    assert leaking([f"a {said} here", f"a {said.upper()}."], pair[0]).all()
    assert leaking([f"a {pair[1]}"], said).all()


@given(st.text("abcdefgilmnorstuvxy", min_size=4, max_size=9))
def test_a_plural_is_one_of_the_singular_again(word: str) -> None:
    regular = [p for p in plurals(word) if p == f"{word}s" and not p.endswith(("ss", "us", "is"))]
    assert all(word in set(singulars(p)) for p in regular)


def test_embedded_captions_lose_none() -> None:
    pool = build_pool("glyphs:captions=first,classes=40,train=3,reward=1,test=2")
    own: Any = pool
    texts = own.captions(np.arange(sum(c.count for c in pool.classes)))
    assert without_leaks(pool.classes, texts, "full")[1].captions == 0


CLASSES = (ClassInfo("Rock Dove", "birds", 2), ClassInfo("Owl", "birds", 1), ClassInfo("Owl", "toys", 1))


def test_synonyms_are_looked_for_as_names_are(tmp_path: Path) -> None:
    file = tmp_path / "names.json"
    file.write_text(json.dumps({"Rock Dove": ["feral pigeon"], "toys/Owl": ["plushie"]}))
    others = read_synonyms(file, CLASSES)
    texts = [["a rock dove", "two feral pigeons"], ["a pigeon"], ["a plushie"], ["a Plushie", "soft"]]
    kept, report = without_leaks(CLASSES, texts, "full", others)
    assert kept == [[], ["a pigeon"], ["a plushie"], ["soft"]]
    assert report.synonyms == 2
    assert without_leaks(CLASSES, texts, "head", others)[0] == [[], [], ["a plushie"], ["soft"]]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('{"Rok Dove": ["pigeon"]}', "there is no class 'Rok Dove'; did you mean Rock Dove?"),
        ('["pigeon"]', "holds no JSON object"),
        ('{"Owl": "hoot"}', "'Owl' has no list of names"),
        ('{"Owl": []}', "'Owl' has no list of names"),
        ('{"Owl": [3]}', "3 is no name"),
        ('{"Owl": ["17"]}', "'17' has no word to look for"),
        ('{"Owl": ["a\\nb"]}', "is no name"),
        ('{"Owl": ["a"], "Owl": ["b"]}', "cannot be read"),
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_files_of_synonyms_are_refused_in_a_line(said: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "names.json"
    file.write_text(said)
    with pytest.raises(UserError) as refused:
        read_synonyms(file, CLASSES)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    with pytest.raises(UserError, match="cannot be read"):
        read_synonyms(tmp_path / "none.json", CLASSES)


def test_the_command_takes_synonyms(tmp_path: Path) -> None:
    for name in ("owl", "wren"):
        write_folder(tmp_path / "birds", [name], images=4)
    rows = [
        {"image": f"{name}/{i:02d}.png", "texts": ["a hooter" if i else "a bird", "it sits"]}
        for name in ("owl", "wren")
        for i in range(4)
    ]
    texts, names = tmp_path / "texts.jsonl", tmp_path / "names.json"
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    names.write_text(json.dumps({"owl": ["hooters"]}))
    common = [
        "pool",
        "build",
        str(tmp_path / "birds"),
        "--captions",
        str(texts),
        "--min-images",
        "2",
        "--workers",
        "1",
        "--json",
    ]
    plain, filtered = tmp_path / "plain.parquet", tmp_path / "filtered.parquet"
    ran = CliRunner().invoke(main, [*common, str(plain)])
    assert ran.exit_code == 0, ran.output
    ran = CliRunner().invoke(main, [*common, str(filtered), "--synonyms", str(names)])
    assert ran.exit_code == 0, ran.output
    [found] = json.loads(ran.stdout)["captions"].values()
    assert (found["leaks"]["captions"], found["leaks"]["synonyms"]) == (3, 1)
    assert build_pool(str(plain)).digest != build_pool(str(filtered)).digest
    names.write_text(json.dumps({"owls": ["hooters"]}))
    for flags, message in (
        (["--synonyms", str(names)], "there is no class 'owls'; did you mean owl?"),
        (["--synonyms", str(names), "--leaks", "keep"], "--leaks keep looks for none"),
    ):
        ran = CliRunner().invoke(main, [*common, str(tmp_path / "no.parquet"), *flags])
        assert ran.exit_code == 2
        assert message in ran.stderr
        assert not (tmp_path / "no.parquet").exists()
