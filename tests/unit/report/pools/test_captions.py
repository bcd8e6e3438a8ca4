"""What ``seqsearch pool show`` says of captions."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from protocols.cli.main import main
from tests.unit.pools.test_captions import captioned


def test_show(tmp_path: Path) -> None:
    texts = [["one two", "\x1b[31mred"], ["four"], None, ["seven " * 60], ["nine"], ["ten", "eleven", "twelve"]]
    path = captioned(tmp_path / "x.parquet", texts, bound=["a", "b", "a", "b", "c", None])
    result = CliRunner().invoke(main, ["pool", "show", f"{path}:captions=concat"])
    assert result.exit_code == 0, result.output
    assert (
        "captions: 83.3% of 6 images looked at have some, 0 to 3 an image, 1 to 60 words, half of them 1 at most"
        in result.output
    )
    assert "all of an image, one after the other (captions=concat)" in result.output
    assert "    one two \\x1b[31mred\n" in result.output
    assert "its images are bound together to 4 sets, which drawn splits leave whole" in result.output
    assert "seven " * 20 not in result.output  # shortened
    record = json.loads(CliRunner().invoke(main, ["pool", "show", str(path), "--json"]).output)["pools"][0]
    assert record["captions"]["per_image"] == {"0": 1, "1": 3, "2": 1, "3": 1}
    assert (record["captions"]["policy"], record["captions"]["words"]) == ("first", [1, 1, 60])
    assert record["captions"]["examples"][0] == "one two"
    plain = json.loads(CliRunner().invoke(main, ["pool", "show", "glyphs:classes=3", "--json"]).output)["pools"][0]
    assert (plain["captions"], plain["bound_sets"]) == (None, None)
