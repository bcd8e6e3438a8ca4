"""Class orders of an MCIL study: sizes, draws, training seeds, and what cannot be cut."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from protocols.mcil.settings import McilSettings
from protocols.mcil.study import McilStudy, prepare
from seqsearch.building.pool import Options, build_parquet
from seqsearch.core.errors import UserError
from seqsearch.pools.open import build_pool


def study(tmp_path, **more) -> McilStudy:
    values = {"methods": "simplecil", "backbone": "glyph_vit", "pool": "glyphs:classes=40", "experiences": 6, **more}
    return prepare(McilSettings(**values), tmp_path, "cpu")


def test_sizes_differ_by_one_at_most_and_larger_ones_come_first(tmp_path):
    assert study(tmp_path, experiences=6).sizes == (7, 7, 7, 7, 6, 6)
    assert study(tmp_path, pool="glyphs:classes=102", experiences=10).sizes == (11, 11, *(10,) * 8)


def test_an_order_is_a_permutation_of_the_classes_in_play(tmp_path):
    s = study(tmp_path, classes=23)
    tasks = s.order(0)
    assert tuple(len(t.classes) for t in tasks) == s.sizes == (4, 4, 4, 4, 4, 3)
    flat = [c for t in tasks for c in t.classes]
    assert len(set(flat)) == 23
    assert set(flat) == set(s.view.class_ids)


def test_orders_and_seeds_are_those_of_the_study_seed(tmp_path):
    one, same = study(tmp_path, seeds=4), study(tmp_path, seeds=2, methods="ranpac")
    assert [one.order(k) for k in range(4)][:2] == [same.order(0), same.order(1)]
    assert len({one.order(k) for k in range(4)}) == 4
    assert one.order(0) != study(tmp_path, seed=1).order(0)


def test_no_two_runs_share_a_training_seed(tmp_path):
    for more in ({"seeds": 5}, {"seeds": 3, "orders": 4}):
        given = study(tmp_path, **more).given()
        seeds = [r for g in given for r in g.replicates]
        assert len(seeds) == len(set(seeds)) == 5 + 7 * ("orders" in more)
    assert [len(g.replicates) for g in given] == [3] * 4


def test_the_words_of_class_free_texts_are_a_part_of_the_identity(tmp_path):
    pairs = {"pool": "glyphs:classes=12,captions=first", "backbone": "glyph_flava"}
    s = study(tmp_path, **pairs, text_at_test="class-free")
    assert s.identity()["scenario"] == "class_free_texts"
    assert s.identity()["class_free_words"] == {"kept": len(s.class_free.kept), "of": s.class_free.of}
    assert 0 < len(s.class_free.kept) < s.class_free.of <= 78
    for texts in ("full", "none"):
        assert "class_free_words" not in study(tmp_path, **pairs, text_at_test=texts).identity()


SPEECHLESS = """
from tests.conformance.pairs import SmallFlava

class Speechless(SmallFlava):
    def tokenise(self, texts):
        if "" in texts:
            raise ValueError("say something")
        return super().tokenise(texts)

class Wordless(SmallFlava):
    def tokenise(self, texts):
        found = super().tokenise(texts)
        return {name: t[:, :0] for name, t in found.items()} if texts == [""] else found
"""


@pytest.mark.parametrize("texts", ["class-free", "none"])
@pytest.mark.parametrize(("name", "says"), [("Speechless", "ValueError: say something"), ("Wordless", "no token")])
def test_a_backbone_that_takes_no_empty_text_is_refused(tmp_path, texts, name, says):
    (tmp_path / "own.py").write_text(SPEECHLESS)
    asked = {"pool": "glyphs:classes=12,captions=first", "backbone": f"{tmp_path}/own.py:{name}"}
    assert study(tmp_path, **asked).class_free is None
    with pytest.raises(UserError) as error:
        study(tmp_path, **asked, text_at_test=texts)
    assert f"own.py:{name}' does not take an empty text: " in str(error.value)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_texts_of_which_nothing_would_be_left_are_refused(tmp_path):
    from PIL import Image

    for i in range(12):
        (folder := tmp_path / "pool" / f"class{i}").mkdir(parents=True)
        for j in range(6):
            Image.new("RGB", (8, 8), (20 * i, 8 * j, 0)).save(folder / f"{j}.png")
    options = Options(min_images=4)
    build_parquet([("pool", build_pool(str(tmp_path / "pool")))], tmp_path / "pool.parquet", options, workers=1)
    table = pq.read_table(tmp_path / "pool.parquet").replace_schema_metadata(None)
    said = pa.array([f"kind{i // 6}" for i in range(72)])
    pq.write_table(table.append_column("caption", said), tmp_path / "pairs.parquet")
    asked = {"pool": str(tmp_path / "pairs.parquet"), "backbone": "glyph_flava"}
    assert study(tmp_path, **asked, text_at_test="none").settings.text_at_test == "none"
    with pytest.raises(UserError, match=r"each of the 12 words in the texts of pool .* depends on the class"):
        study(tmp_path, **asked, text_at_test="class-free")


def test_another_scenario_is_another_identity(tmp_path):
    s = study(tmp_path)
    other = dataclasses.replace(s, world=dataclasses.replace(s.world, scenario="modalities"))
    assert s.identity()["scenario"] == "class_incremental"
    assert other.identity() != s.identity()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"experiences": 21}, "40 classes in 21 experiences leave one with fewer than two classes"),
        ({"classes": 41}, "--classes 41: pool 'glyphs:classes=40' has 40 classes in play"),
        ({"classes": 3, "experiences": 2}, "has 3 classes in play, and two experiences of two classes need 4"),
        ({"exclude_groups": "nothing"}, "no such group"),
        ({"modalities": True}, "--modalities: simplecil reads images alone (backbone 'glyph_vit')"),
        ({"text_at_test": "none"}, "--text-at-test none: simplecil reads images alone (backbone 'glyph_vit')"),
        ({"text_at_test": "class-free"}, "--text-at-test class-free: simplecil reads images alone"),
        (
            {"text_at_test": "none", "backbone": "glyph_flava"},
            "pool 'glyphs:classes=40' has images alone, and backbone 'glyph_flava' reads their texts, too",
        ),
        ({"methods": "nothing"}, "unknown method 'nothing'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path, more, says):
    with pytest.raises(UserError) as error:
        study(tmp_path, **more)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_pool_in_which_pairs_cannot_be_mismatched_is_refused(tmp_path):
    from PIL import Image

    for i, images in enumerate((30, 6, 6, 6)):  # of the test images one class has more than half
        (folder := tmp_path / "pool" / f"class{i}").mkdir(parents=True)
        for j in range(images):
            Image.new("RGB", (8, 8), (40 * i, 8 * j, 0)).save(folder / f"{j}.png")
    build_parquet(
        [("pool", build_pool(str(tmp_path / "pool")))], tmp_path / "pool.parquet", Options(min_images=4), workers=1
    )
    table = pq.read_table(tmp_path / "pool.parquet").replace_schema_metadata(None)
    pq.write_table(table.append_column("caption", pa.array(["a thing"] * len(table))), tmp_path / "pairs.parquet")
    asked = {"pool": str(tmp_path / "pairs.parquet"), "backbone": "glyph_flava", "experiences": 2}
    assert study(tmp_path, **asked).sizes == (2, 2)
    with pytest.raises(UserError, match="one class has 8 of 10 test pairs, so that not each can have a text"):
        study(tmp_path, **asked, modalities=True, orders=4)
