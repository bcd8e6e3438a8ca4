"""Settings of ``seqsearch online``: what is understood, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocols.online.settings import OnlineSettings
from protocols.online.study import variants
from seqsearch.core.errors import UserError


def settings(**more) -> OnlineSettings:
    return OnlineSettings(**{"methods": "ncm", **more})


def test_what_is_understood():
    s = settings(shift="256, 1024", windows="512,128", budget="1,10", samplers="fifo, uniform", batch=64)
    assert s.shifts == (256, 1024)
    assert s.shuffled == (128, 512)
    assert s.budgets == (1.0, 10.0)
    assert s.drawn == ("fifo", "uniform")
    assert settings().shifts == ()
    assert settings(shift="cglm").shifts == (256,)
    assert settings(shift="cloc", batch=128).shifts == (16384,)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"shift": "100"}, "--shift 100 is no multiple of --batch 64: take 64 or 128"),
        ({"shift": "16"}, "--shift 16 is no multiple of --batch 64: take 64"),
        ({"shift": "0,64"}, "--shift '0,64': online accuracy (0) is always measured: write 64"),
        ({"shift": "0", "batch": 100}, "is always measured: write auto, or samples ahead, e.g. 400"),
        ({"shift": "soon", "batch": 100}, "or samples, e.g. 400 or 400,1600"),
        ({"shift": "soon"}, "--shift 'soon': write auto, cglm, cloc, or samples"),
        ({"shift": "0"}, "--shift '0'"),
        ({"shift": "64,64"}, "--shift '64,64'"),
        ({"shift": "²"}, "--shift"),
        ({"shift": "auto", "search": 0.0}, "chosen on the search part"),
        ({"windows": "10,x"}, "--windows '10,x'"),
        ({"budget": "0"}, "--budget '0'"),
        ({"budget": "-1"}, "--budget '-1'"),
        ({"budget": "nan"}, "--budget 'nan'"),
        ({"budget": "1,1"}, "--budget '1,1'"),
        ({"samplers": "newest"}, "--samplers 'newest': there are uniform, fifo, mixed"),
        ({"samplers": "fifo,fifo"}, "one is named twice"),
        ({"methods": ""}, "--methods is missing"),
        ({"methods": "cmd:true"}, "a command is given whole sequences"),
        ({"stream": " "}, "--stream is missing"),
        ({"batch": 0}, "--batch 0"),
        ({"search": 1.5}, "--search 1.5"),
    ],
)
def test_what_is_refused_in_one_line(wrong, says):
    with pytest.raises(UserError) as error:
        settings(**wrong)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_samplers_and_budgets_make_variants_of_learners_that_have_them(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from seqsearch.learners.ncm import NearestClassMean\n"
        "from seqsearch.methods.config import Config as Base, param\n"
        "class Mine(NearestClassMean):\n"
        "    @dataclass(frozen=True)\n"
        "    class Config(Base):\n"
        "        sampler: str = param('uniform', 'which', choices=('uniform', 'fifo'))\n"
        "        budget: float = param(1.0, 'updates a step')\n"
    )
    s = settings(methods="mine.py:Mine,ncm", samplers="fifo,mixed,uniform", budget="1,10")
    labels = [i.text for i in variants(s, tmp_path)]
    assert labels == [
        "mine.py:Mine:sampler=fifo",
        "mine.py:Mine:sampler=fifo,budget=10.0",
        "mine.py:Mine",
        "mine.py:Mine:budget=10.0",
        "ncm",
    ]
    given = settings(methods="mine.py:Mine:sampler=fifo", samplers="uniform", budget="5")
    assert [dict(i.params) for i in variants(given, tmp_path)] == [{"sampler": "fifo", "budget": 5.0}]


def test_two_learners_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(
            "from seqsearch.learners.ncm import NearestClassMean\nMine = NearestClassMean\n"
        )
    with pytest.raises(UserError, match="two learners would be called"):
        list(variants(settings(methods="a/mine.py:Mine,b/mine.py:Mine"), Path(tmp_path)))
