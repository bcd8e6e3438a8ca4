"""Values that a program gives: what cannot be meant is refused in a sentence that says what can be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqsearch as ss
from seqsearch.core.errors import UserError
from tests.unit.api.small import SMALL


class Something:
    """No method and no pool."""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"difficulty": "harder"}, "there is no difficulty 'harder'; did you mean hard"),
        ({"difficulty": 3}, "there is no difficulty 3; there are: hard, medium, easy"),
        ({"dry_run": True}, "no keyword 'dry_run'; call seqsearch.cost"),
        ({"resume": "runs/x"}, "no keyword 'resume'; call seqsearch.resume"),
        ({"no_clustering": True}, "write clustering=False"),
        ({"out": 5}, "out=5 must be a path"),
        ({"methods": b"simplecil"}, "method b'simplecil': give a name, a path or a class"),
        ({"methods": [None]}, "method None: give a name, a path or a class"),
        ({"methods": [Something()]}, "give a name, a path or a class, e.g. Something"),
        ({"pool": Something()}, "give a name, a path or a class, e.g. Something"),
        ({"pool": []}, "empty pool name in '': write NAME or NAME:key=value"),
        ({"methods": {"ranpac": {"M": [1, 2]}}}, "parameters are names with numbers, texts, True or False"),
        ({"methods": {"ranpac": {1: 2}}}, "parameters are names with numbers, texts, True or False"),
        ({"methods": {"ranpac": {"adapt": "a,b"}}}, "a text may not be empty, have a comma"),
        ({"methods": {"ranpac": {"adapt": ""}}}, "a text may not be empty, have a comma"),
        ({"methods": {"ranpac": 5}}, "its parameters must be a mapping"),
        ({"pool": {"glyphs": {"style": "12"}}}, "a text that reads as a number, or as true or false, would become one"),
        ({"pool": {"glyphs:classes=12": {"train": 8}}}, "its name has parameters already"),
        ({"seed": np.eye(2)}, "seed must be one value or a list, not an array of numpy"),
        ({"grow": [(1, "glyphs")]}, "must be a list of texts"),
        ({"weights": "x=y"}, "no method uses backbone 'x'"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        ss.cldyb(**{**SMALL, "out": tmp_path / "run", **given})
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_lists_may_be_nested(tmp_path: Path) -> None:
    run = ss.cldyb(**{**SMALL, "methods": [["simplecil", "ranpac:M=64"], ["ranpac:M=32"]], "out": tmp_path / "run"})
    assert run.settings["methods"] == "simplecil,ranpac:M=64,ranpac:M=32"


def test_none_stands_for_the_default(tmp_path: Path) -> None:
    run = ss.cldyb(**SMALL, seed=None, difficulty=None, clustering=None, out=tmp_path / "run")
    assert (run.settings["seed"], run.settings["temperature"], run.settings["clustering"]) == (0, 0.0, True)


@pytest.mark.parametrize("methods", ["simplecil", "er:epochs=1"])
@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (
            "np.zeros((len(rows), view.size, view.size, 3), np.uint8)",
            r"images\(\) returned uint8 \[\d+, 32, 32, 3\], must be",
        ),
        (
            "np.zeros((len(rows), 3, view.size, view.size))",
            r"returned float64 \[\d+, 3, 32, 32\], must be uint8 \[\d+, 3, 32",
        ),
    ],
)
def test_images_of_another_form_are_named_as_the_pools_fault(
    methods: str, returned: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "pool.py").write_text(
        "import numpy as np\nfrom seqsearch.pools.base import ClassInfo, SplitSizes\nclass Own:\n    name = digest = 'own'\n"
        "    native_size = 8\n    given = None\n    split_sizes = SplitSizes()\n    def __init__(self):\n"
        "        self.classes = tuple(ClassInfo(str(i), '', 16) for i in range(8))\n\n    def images(self, rows, view):\n"
        f"        return {returned}\n"
    )
    with pytest.raises(UserError, match=rf"pool 'own': .*{said}"):
        ss.cldyb(**{**SMALL, "methods": methods, "pool": f"{tmp_path}/pool.py:Own", "out": tmp_path / "run"})


OWN = """
from seqsearch.methods.simplecil import SimpleCIL

class Own(SimpleCIL):
    def predict(self, batch):
        return {} * super().predict(batch)
"""


def test_a_file_that_was_edited_is_read_anew(tmp_path: Path) -> None:
    """The process of a notebook lives long: the code that runs is the code whose digest is recorded."""
    file = tmp_path / "own.py"
    accuracy = []
    for sign in ("1", "-1"):
        file.write_text(OWN.format(sign))
        run = ss.cldyb(**{**SMALL, "methods": f"{file}:Own", "out": tmp_path / f"run{sign}"})
        accuracy.append(run.matrix("own.py:Own")[0, 0])
    assert accuracy[0] > 0.5 > accuracy[1]


LATE = """
from seqsearch.methods.simplecil import SimpleCIL

class Late(SimpleCIL):
    def predict(self, batch):
        from late_helper import sign
        return sign * super().predict(batch)
"""


def test_a_callback_may_call_while_files_are_in_use(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE)
    (tmp_path / "late_helper.py").write_text("sign = 1\n")
    small = {**SMALL, "methods": f"{tmp_path}/late.py:Late"}

    class Asks(ss.Callback):
        asked = False

        def on_start(self, run: ss.Run) -> None:
            self.asked = ss.cost("cldyb", **small).hours > 0

    callback = Asks()
    assert ss.cldyb(**small, callbacks=[callback], out=tmp_path / "run").status == "finished"
    assert callback.asked


def test_a_method_that_failed_is_mended_in_the_folder_of_the_run(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN.format("None"))
    with pytest.raises(UserError, match=r"own\.py:6\)\. Mend the method"):
        ss.cldyb(**{**SMALL, "methods": f"{file}:Own", "out": tmp_path / "run"})
    file.write_text(OWN.format("1"))
    assert ss.resume(tmp_path / "run", workers=0, quiet=True).status == "finished"
