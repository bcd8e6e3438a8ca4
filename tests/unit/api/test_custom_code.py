"""Classes of notebook cells and modules as files of a run: what is written, and what is refused by name."""

from __future__ import annotations

import importlib
import linecache
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqsearch as ss
from protocols.api.custom_code import custom_code, is_installed
from protocols.api.given import Given
from protocols.running.protocol import of_command
from seqsearch.core.errors import UserError
from seqsearch.core.installation import ROOT
from tests.unit.api.small import SMALL

Run = Callable[[str], dict[str, Any]]
IMPORTS = """
import numpy as np
from dataclasses import dataclass
from seqsearch.methods.simplecil import build as Base
from seqsearch.methods.config import Config as BaseConfig, param
from math import pi
"""
MINE = """
class Mine(Base):
    \"\"\"Scores of SimpleCIL, turned round.\"\"\"

    @dataclass(frozen=True)
    class Config(BaseConfig):
        sign: float = param(-1.0, "what scores are multiplied by")

    def predict(self, batch):
        return self.config.sign * super().predict(batch)
"""


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a cell as IPython does: in ``__main__``, its lines kept under a name that is no file's."""
    main = types.ModuleType("__main__")
    main.__dict__["In"] = [""]
    monkeypatch.setitem(sys.modules, "__main__", main)

    def run(text: str) -> dict[str, Any]:
        name = f"<ipython-input-{len(main.__dict__['In'])}-{id(main)}>"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        main.__dict__["In"].append(text)
        exec(compile(text, name, "exec"), main.__dict__)
        return main.__dict__

    return run


def text_of(made: type, kind: str = "method") -> str:
    [(_, text)] = custom_code(made, kind).files
    return text


def test_a_class_has_its_imports_above_it_wherever_they_were_written(cell: Run) -> None:
    cell(IMPORTS)
    text = text_of(cell(f"%%time\nprint\n{MINE}".replace("%%time\n", ""))["Mine"])
    head, _, body = text.partition("class Mine")
    assert head.split("\n")[:4] == [
        "from dataclasses import dataclass",
        "from seqsearch.methods.config import Config as BaseConfig",
        "from seqsearch.methods.config import param",
        "from seqsearch.methods.simplecil import build as Base",
    ]
    assert "numpy" not in text
    assert "what scores are multiplied by" in body
    assert "print" not in text


def test_modules_constants_and_decorators_are_imports_too(cell: Run) -> None:
    cell(IMPORTS)
    names = cell("@dataclass\nclass Two(Base):\n    def scale(self):\n        return np.float64(2 * pi)\n")
    text = text_of(names["Two"])
    assert "import numpy as np\n" in text
    assert "from math import pi\n" in text
    assert "@dataclass\nclass Two(Base):" in text


def test_magics_of_a_cell_and_what_stands_beside_the_class_are_left_out(cell: Run) -> None:
    cell(IMPORTS)
    made = cell(f"{MINE}\nrun = 'a run is made here'\n")["Mine"]
    name = next(c for c in linecache.cache if c.startswith("<ipython-input-2"))
    linecache.cache[name] = (
        1,
        None,
        [f"{line}\n" for line in ["%matplotlib inline", *"".join(linecache.cache[name][2]).split("\n")]],
        name,
    )
    assert "matplotlib" not in text_of(made)
    assert "a run is made here" not in text_of(made)


def test_an_edited_cell_gets_another_file(cell: Run, tmp_path: Path) -> None:
    cell(IMPORTS)
    first = custom_code(cell(MINE)["Mine"], "method")
    again = custom_code(cell(MINE)["Mine"], "method")
    edited = custom_code(cell(MINE.replace("-1.0", "-2.0"))["Mine"], "method")
    assert first == again
    assert first.target(tmp_path) != edited.target(tmp_path)
    for code in (first, edited):
        code.write(tmp_path)
    assert len(list(tmp_path.rglob("Mine.py"))) == 2
    assert edited.target(tmp_path).endswith("Mine.py:Mine")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rate = 3\nclass Bad(Base):\n    def f(self):\n        return rate\n", "uses 'rate', which is no import"),
        (
            "def help_me():\n    pass\nclass Bad(Base):\n    def f(self):\n        help_me()\n",
            "uses 'help_me', which is no import",
        ),
        (
            "class Other(Base):\n    pass\nclass Bad(Other):\n    def f(self):\n        pass\n",
            "uses 'Other', which is no import",
        ),
        ("class Bad(Base):\n    def f(self):\n        return absent\n", "uses 'absent', which is not defined"),
        (
            "def make():\n    class Bad(Base):\n        pass\n    return Bad\nBad = make()\n",
            "it is defined inside make",
        ),
        ("Bad = type('Bad', (Base,), {})\n", "its source is unknown"),
        (
            "def round(x):\n    return 1\nclass Bad(Base):\n    def f(self):\n        return round(2)\n",
            "uses 'round', which is no",
        ),
        (
            "class Bad(Base):\n    def f(self):\n        return 1\nBad.f = lambda self: 2\n",
            "has the code that",
        ),
        (
            "class Bad(Base):\n    sign = 1\n    def f(self):\n        return 1\nBad.sign = -1\n",
            "has the code that",
        ),
        (
            "class Bad(Base):\n    def f(self):\n        return 1\nBad.g = lambda self: 2\n",
            "has the code that",
        ),
        ("Bad = Base(1, 2) if False else 7\n", "is no class"),
    ],
)
def test_what_workers_would_not_have_is_refused_by_name(cell: Run, text: str, said: str) -> None:
    cell(IMPORTS)
    with pytest.raises(UserError) as refused:
        custom_code(cell(text)["Bad"], "method")
    assert said in str(refused.value)
    assert str(refused.value).startswith("method ")


def test_postponed_annotations_stay_postponed(cell: Run) -> None:
    cell(IMPORTS)
    made = cell(f"from __future__ import annotations\n{MINE}")["Mine"]
    assert text_of(made).startswith("from __future__ import annotations\n")


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("class Own(Base):\n    pass\n", "class Own(Base):\n    pass"),
        ("class Own(Base):\n    LIMIT = 3\n", "LIMIT = 3"),
        ("%%time\nclass Own(Base):\n    def f(self):\n        return 1\n", "return 1"),
        ("if True:\n    class Own(Base):\n        def f(self):\n            return 2\n", "class Own(Base):\n    def f"),
        (
            "class Own(Base):\n    def f(self):\n        class In:\n            a = 1\n            b = a\n",
            "b = a",
        ),
        (
            "from numpy import sum\nclass Own(Base):\n    def f(self):\n        return sum([1])\n",
            "from numpy import sum\n",
        ),
        (  # CPython compiles calls of modules otherwise where it has seen their import
            "import numpy as np\nclass Own(Base):\n    def f(self):\n        return np.stack([np.ones(1)])\n",
            "np.stack",
        ),
        (
            "class Own(Base):\n    @property\n    def p(self):\n        return 1\n    @p.setter\n    def p(self, v): 2\n",
            "setter",
        ),
        (
            "class Own(Base):\n    def f(self):\n        return [x for x in range(3)], (lambda y: y)(4), f'{self}'\n",
            "lambda",
        ),
        (
            "from seqsearch.methods.config import Config\nclass Own(Base):\n    @dataclass(frozen=True)\n"
            "    class Config(Config):\n        size: int = param(3, 'a size', minimum=1, maximum=9)\n",
            "import Config\n",
        ),
        ("class Own(Base):\n    a = 7\n    b = a\n    text = '''\n%s\n''' % a\n", "%s"),
        ("class Base(Base):\n    def f(self):\n        return super()\nOwn = Base\n", "import build as Base\n"),
    ],
)
def test_classes_of_all_forms_are_written(cell: Run, text: str, has: str) -> None:
    names = cell(IMPORTS)
    if text.startswith("%%"):  # IPython gives the cell to a magic, which compiles it under another name
        names["In"].append(text)
        exec(compile(text.partition("\n")[2], "<timed exec>", "exec"), names)
    else:
        names = cell(text)
    written = text_of(names["Own"])
    assert has in written
    compile(written, "own.py", "exec")


def test_of_two_classes_in_one_cell_the_one_that_is_given_is_written(cell: Run) -> None:
    cell(IMPORTS)
    names = cell(
        "class Own(Base):\n    def f(self):\n        return 1\nfirst = Own\n"
        "class Own(Base):\n    def f(self):\n        return 2\n"
    )
    assert "return 1" in text_of(names["first"])
    assert "return 2" in text_of(names["Own"])


def test_names_for_type_checkers_alone_are_left_out(cell: Run) -> None:
    cell(IMPORTS)
    names = cell(
        "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch import Tensor\n"
        "class Own(Base):\n    def f(self, x: Tensor) -> Tensor:\n        y: Tensor = x\n        return y\n"
    )
    assert "import Tensor" not in text_of(names["Own"])


def test_local_modules_that_a_class_uses_come_along(cell: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package_of_test"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "inner.py").write_text("from package_of_test.deep import SIGN\n")
    (package / "deep.py").write_text("SIGN = -1.0\n")
    (tmp_path / "single_of_test.py").write_text("TWO = 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    cell(f"{IMPORTS}import package_of_test.inner as inner\n")
    made = cell(
        "class Own(Base):\n    def predict(self, batch):\n        from single_of_test import TWO\n"
        "        return inner.SIGN * TWO * super().predict(batch)\n"
    )["Own"]
    code = custom_code(made, "method")
    assert {str(p) for p, _ in code.files} == {
        *("Own.py", "single_of_test.py"),
        *(f"package_of_test/{n}.py" for n in ("__init__", "inner", "deep")),
    }
    (tmp_path / "single_of_test.py").write_text("TWO = 3\n")
    assert custom_code(made, "method").digest != code.digest
    run = ss.cldyb(**{**SMALL, "methods": [made, "simplecil"], "out": tmp_path / "run"})
    assert run.matrix(made)[0, 0] < 0.5


def test_a_class_of_a_module_brings_the_files_that_it_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "helping_of_test.py").write_text("SIGN = -1.0\n")
    (tmp_path / "mine_of_test.py").write_text(
        "from helping_of_test import SIGN\nfrom seqsearch.methods.simplecil import build as Base\n\n"
        "class Mine(Base):\n    def predict(self, batch):\n        return SIGN * super().predict(batch)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    code = custom_code(importlib.import_module("mine_of_test").Mine, "method")
    assert {str(path) for path, _ in code.files} == {"helping_of_test.py", "mine_of_test.py"}
    assert str(code.main) == "mine_of_test.py"


def test_files_beside_the_packages_of_a_clone_are_the_users() -> None:
    assert not is_installed(ROOT / "mine.py")
    assert not is_installed(ROOT / "docs" / "mine.py")
    assert is_installed(ROOT / "protocols" / "mine.py")


def test_links_below_the_folder_of_code_are_not_followed(cell: Run, tmp_path: Path) -> None:
    cell(IMPORTS)
    code = custom_code(cell(MINE)["Mine"], "method")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run" / "code").mkdir(parents=True)
    (tmp_path / "run" / "code" / code.digest).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError):
        code.write(tmp_path / "run")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_class_that_is_installed_is_named_as_it_is() -> None:
    from seqsearch.methods.ranpac import RanPAC

    code = custom_code(RanPAC, "method")
    assert (code.target(Path()), code.files) == ("seqsearch.methods.ranpac:RanPAC", ())


def test_a_cell_trains_moves_and_goes_on(cell: Run, tmp_path: Path) -> None:
    """The file is in the run: a folder that was moved is resumed and scored with it."""
    cell(IMPORTS)
    mine = cell(MINE)["Mine"]
    run = ss.cldyb(**{**SMALL, "methods": ["simplecil", {mine: {"sign": -3.0}}], "out": tmp_path / "run"})
    [label] = [m for m in run.df("results").method_id.unique() if "Mine" in m]
    assert label == "Mine.py:Mine:sign=-3.0"
    assert run.matrix(label)[0, 0] < 0.5 < run.matrix("simplecil")[0, 0]
    moved = ss.open(run.path.rename(tmp_path / "elsewhere"))
    assert str(tmp_path / "elsewhere") in moved.settings["methods"]
    (moved.path / "report.html").unlink()
    assert ss.resume(moved, workers=0, quiet=True).status == "finished"
    scored = ss.score(moved, methods=[mine], workers=0, quiet=True, out=tmp_path / "scored")
    assert any("Mine" in m for m in scored.df("results").method_id)


def test_a_class_that_was_edited_is_not_taken_for_the_one_before(cell: Run, tmp_path: Path) -> None:
    cell(IMPORTS)
    mine = cell(MINE)["Mine"]
    run = ss.cldyb(**{**SMALL, "methods": [mine], "out": tmp_path / "run"})
    before = run.matrix(mine)
    edited = cell(MINE.replace("self.config.sign", "-self.config.sign"))["Mine"]
    with pytest.raises(UserError, match=r"has other code of Mine, as it was before a change: name Mine\.py:Mine"):
        run.matrix(edited)
    again = ss.cldyb(**{**SMALL, "methods": [edited], "out": tmp_path / "again"})
    assert again.matrix(edited)[0, 0] > before[0, 0]


def test_a_refused_run_leaves_no_code(cell: Run, tmp_path: Path) -> None:
    cell(IMPORTS)
    mine = cell(MINE)["Mine"]
    with pytest.raises(UserError, match="size"):
        ss.cldyb(**{**SMALL, "methods": [{mine: {"size": 3}}], "out": tmp_path / "run"})
    with pytest.raises(UserError, match="--tasks"):
        ss.cldyb(**{**SMALL, "methods": [mine], "tasks": 0, "out": tmp_path / "run"})
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(UserError, match="is not empty and is never overwritten"):
        ss.cldyb(**{**SMALL, "methods": [mine], "out": tmp_path / "mine"})
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "code").symlink_to(tmp_path / "mine")
    with pytest.raises(UserError, match="is not empty and is never overwritten"):
        ss.cldyb(**{**SMALL, "methods": [mine], "out": tmp_path / "linked"})
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_two_classes_of_one_name_are_two_methods(cell: Run, tmp_path: Path) -> None:
    cell(IMPORTS)
    first = cell(MINE)["Mine"]
    second = cell(MINE.replace("-1.0", "-2.0"))["Mine"]
    code = Given("cldyb", of_command("cldyb"), {"methods": [first, second]})
    with pytest.raises(UserError, match="a run continues with the code that it began with"):
        Given("cldyb", of_command("cldyb"), {"methods": [first]}).settings(None)
    labels = [text.rpartition("/")[2] for text in code.settings(tmp_path)["methods"].split(",")]
    assert labels[0] == "Mine.py:Mine"
    assert labels[1].startswith("Mine_")


POOL_CELL = """
class Noise:
    \"\"\"Random images in a colour of their class.\"\"\"

    def __init__(self):
        self.name, self.native_size, self.given = "noise", 8, None
        self.split_sizes = SplitSizes()
        self.classes = tuple(ClassInfo(f"c{i}", "all", 16) for i in range(8))
        self.digest = "noise-of-test"

    def images(self, rows, view):
        found = [np.random.default_rng(int(r)).integers(0, 60, (3, view.size, view.size)) + 20 * (int(r) // 16) for r in rows]
        return np.array(found, dtype=np.uint8)
"""


def test_a_learner_and_a_stream_of_a_cell_are_played(cell: Run, tmp_path: Path) -> None:
    cell(
        "import torch\nfrom seqsearch.learners.ncm import build as Base\nfrom seqsearch.streams.glyphs import build as Glyphs\n"
    )
    learner = cell("class Twice(Base):\n    def predict(self, batch):\n        return super().predict(batch)\n")[
        "Twice"
    ]
    stream = cell("class Short:\n    def __new__(cls):\n        return Glyphs(samples=600, classes=5, burst=4)\n")[
        "Short"
    ]
    run = ss.online(methods=[learner], stream=stream, shift=16, batch=8, workers=0, quiet=True, out=tmp_path / "run")
    assert run.status == "finished"
    assert "Twice.py:Twice" in set(run.df("figures").method_id)
    assert "Short.py:Short" in run.settings["stream"]
    for wants_tasks in (ss.score, ss.explain):
        with pytest.raises(UserError, match="is of seqsearch online and has no task sequences"):
            wants_tasks(run, workers=0)


def test_a_pool_of_a_cell_is_searched(cell: Run, tmp_path: Path) -> None:
    cell("import numpy as np\nfrom seqsearch.pools.base import ClassInfo, SplitSizes\n")
    noise = cell(POOL_CELL)["Noise"]
    run = ss.cldyb(**{**SMALL, "pool": noise, "out": tmp_path / "run"})
    assert run.status == "finished"
    assert "code/" in run.settings["pool"]
    with pytest.raises(UserError, match="code of its own"):
        run.split("train", task=0)
    images = run.split("train", task=0, pool=noise)
    assert images[0][0].shape == (3, 32, 32)  # as glyph_vit sees them
    assert len(run.split(["train", "val"], np.int64(0), sequence=0, pool=[{noise: {}}])) > len(images)
