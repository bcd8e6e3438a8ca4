"""Where no shift can be chosen, each flag that the message names does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from protocols.online.settings import OnlineSettings
from protocols.online.study import prepare
from seqsearch.core.errors import UserError

POOL = "pool:glyphs:classes=40,train=1200,reward=1,test=1"


def shift(folder: Path, **values: object) -> int:
    return prepare(
        OnlineSettings(methods="majority", **values), folder, "cpu", folder
    ).shift  # a learner that reads labels


def test_the_default_stream_has_a_shift(tmp_path: Path) -> None:
    assert shift(tmp_path) == 64


@pytest.mark.parametrize("stream", ["glyphs:samples=4000", "glyphs:samples=150,classes=5", POOL])
def test_each_way_out_works(tmp_path: Path, stream: str) -> None:
    with pytest.raises(UserError) as refused:
        shift(tmp_path, stream=stream)
    ways = re.findall(r"--(\w+) (\S+)", str(refused.value).partition("; take ")[2])
    assert len(ways) == 2, refused.value
    for flag, value in ways:
        found = {"stream": stream, flag: float(value) if flag == "search" else value}
        assert shift(tmp_path, **found) > 0
