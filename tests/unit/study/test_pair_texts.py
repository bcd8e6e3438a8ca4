"""A text that is too long for a backbone is refused with its pool and image, and cut where the backbone has that option."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from seqsearch.backbones.base import ReadsTexts
from seqsearch.backbones.open import build_backbone
from seqsearch.core.errors import UserError
from seqsearch.methods.config import default_of
from seqsearch.methods.mm_dp import DualPromptPairs
from seqsearch.pools.open import build_pool
from seqsearch.study.pair_texts import check_texts
from tests.conformance.lab import PAIRS
from tests.conformance.pairs import CaptionedGlyphs
from tests.unit.pools.test_captions import captioned

LONG = "feather " * 200


def refused(backbone: str, pool: object) -> str:
    with pytest.raises(UserError) as caught:
        check_texts([build_backbone("glyph_vit"), build_backbone(backbone)], [pool])
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_pool_and_image_are_named(tmp_path: Path) -> None:
    path = captioned(tmp_path / "x.parquet", [["one"], ["two"], ["a", LONG], ["four"], ["five"], ["six"]])
    check_texts([build_backbone("glyph_flava")], [build_pool(str(path))])  # the first texts are short
    for policy in ("concat", "random"):
        pool = build_pool(f"{path}:captions={policy}")
        said = refused("glyph_flava", pool)
        assert said.startswith(
            f"pool {pool.name!r}: x.parquet, row 2: backbone 'glyph_flava' takes texts of at most 192 tokens"
        )
        assert said.endswith("shorten it, or cut texts (glyph_flava:cut=192)")
        check_texts([build_backbone("glyph_flava:cut=192")], [pool])
    small = refused(PAIRS, build_pool(f"{path}:captions=random"))
    assert small.endswith("('" + LONG[:60] + "'): shorten it")  # it has no option to cut


def test_a_pool_without_files_names_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = CaptionedGlyphs()
    monkeypatch.setattr(pool, "texts", lambda rows: [LONG if row == 7 else "short" for row in rows.tolist()])
    assert re.match(r"pool 'captioned': image 7: backbone 'glyph_flava' takes", refused("glyph_flava", pool))


def test_glyph_flava_cuts() -> None:
    whole, cut = build_backbone("glyph_flava"), build_backbone("glyph_flava:cut=8")
    texts = ["one two", LONG]
    assert isinstance(whole, ReadsTexts)
    assert isinstance(cut, ReadsTexts)
    ids = cut.tokenise(texts)["input_ids"]
    assert ids.shape == (2, 8)
    assert np.array_equal(ids[:1], whole.tokenise(texts[:1])["input_ids"])
    assert ids[1, -1] == ids[0, 3] == 2  # its end stays
    assert whole.digest != cut.digest
    assert whole.name == "glyph_flava"
    field = next(
        f for f in DualPromptPairs.Config.__dataclass_fields__.values() if f.metadata.get("embedded") is not None
    )
    assert default_of(field, "glyph_flava:cut=8") == default_of(field, "glyph_flava")
    for wrong, said in (("3", "cut=3 must be 0, or a whole"), ("x", "cut="), ("193", "is more than the 192 tokens")):
        with pytest.raises(UserError, match=said):
            build_backbone(f"glyph_flava:cut={wrong}")
