"""``--look-alikes`` in a real run: what it says, that it changes nothing else, and files and names that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from protocols.gtep.near_duplicates import check_near_duplicates
from protocols.gtep.protocol import GTEP
from protocols.gtep.study import prepare
from protocols.report.gtep import view as gtep
from protocols.report.page import html
from seqsearch.core.errors import UserError
from seqsearch.storage.files import cache_root
from tests.unit.gtep.small import HALF, finished, results, rows, small


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished(tmp_path_factory.mktemp("alike") / "run", "simplecil", look_alikes="glyph_vit")


def test_pairs_are_named_and_nothing_else_changes(run: Path, tmp_path: Path) -> None:
    pairs = rows(run, "look_alikes")
    assert [r["number"] for r in pairs] == list(range(20))
    assert {(r["pool"], r["tuned_images"], r["judged_images"]) for r in pairs} == {(HALF.format(2), 144, 144)}
    distances = [r["distance"] for r in pairs]
    assert distances == sorted(distances)
    assert 0 < distances[0] < 1
    assert "look-alikes" in (run / "log.jsonl").read_text()
    plain = finished(tmp_path / "run", "simplecil")
    assert not (plain / "look_alikes.parquet").exists()
    assert results(plain) == results(run)


def test_they_are_shown(run: Path) -> None:
    view = gtep.view(GTEP.read(run).summary)
    first = rows(run, "look_alikes")[0]
    [closest] = [n for n in view.notes if n.code == "gtep.closest"]
    pair = f"{first['tuned_class']} [{first['tuned_row']}] and {first['judged_class']} [{first['judged_row']}]"
    assert pair in closest.text
    assert [t.title for t in view.all_tables()].count("Near duplicates") == 1
    assert "Near duplicates" in html(view, "")
    assert len(json.loads(json.dumps(view.to_json(), allow_nan=False))["look_alikes"]) == 20


@pytest.mark.parametrize(
    "damage",
    [
        {"pool": "x"},
        {"distance": float("nan")},
        {"distance": 2.5},
        {"near_images": -1},
        {"median_across": float("inf")},
    ],
)
def test_pairs_that_are_none_are_refused(run: Path, damage: dict[str, Any]) -> None:
    row = rows(run, "look_alikes")[0] | damage
    with pytest.raises(UserError, match="restore the file"):
        check_near_duplicates(run / "look_alikes.parquet", [row], [HALF.format(2)])


@pytest.mark.parametrize(
    ("name", "said"), [("scratch:tiny-16", "begins from scratch, its features say nothing"), ("no_such", "no_such")]
)
def test_a_backbone_that_says_nothing_is_refused(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said):
        prepare(small("simplecil", look_alikes=name), cache_root(), "cpu", tmp_path)
