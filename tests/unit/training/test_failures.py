"""Whatever a method raises, and wherever, is its result; what ends the session ends it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
import torch

from seqsearch import methods
from seqsearch.core.deadline import Deadline, Struck, TimeIsUp
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Edge, Probe, StateKey, Task
from seqsearch.engine.journal import NAME, Journal
from seqsearch.training.failures import line_of
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

RAISING = """
import asyncio, sys
from dataclasses import dataclass
from seqsearch.methods.config import Config as BaseConfig, param
from seqsearch.methods.simplecil import build as SimpleCIL

class Own(BaseException):
    pass

class Mute(BaseException):
    def __str__(self):
        sys.exit(3)

ERRORS = {"own": Own("said"), "mute": Mute(), "generator": GeneratorExit("said"), "interrupt": KeyboardInterrupt("said"),
          "cancelled": asyncio.CancelledError("said"), "exit": SystemExit("said"), "stop": StopIteration("said")}

class Raising(SimpleCIL):
    @dataclass(frozen=True)
    class Config(BaseConfig):
        what: str = param("own", "what is raised")
        where: str = param("fit_task", "in which call")

    def __init__(self, context, config):
        super().__init__(context, config)
        self.raises("__init__")

    def raises(self, where):
        if self.config.where == where:
            raise ERRORS[self.config.what]

def raising(name):
    def call(self, *given):
        self.raises(name)
        return getattr(SimpleCIL, name)(self, *given)
    return call

for name in ("fit_task", "predict", "features", "counters", "state_dict", "load_state_dict", "memory_footprint", "exemplars",
             "feature_space", "classifiers"):
    setattr(Raising, name, raising(name))
"""


class Lab:
    """A trainer, and methods that raise."""

    def __init__(self, folder: Path) -> None:
        (folder / "raising.py").write_text(RAISING)
        self.folder = folder
        self.world = World("glyphs:classes=4,train=8,reward=4,test=4", 0, str(folder / "cache"), str(folder / "states"))
        self.trainer = Trainer(self.world)

    def key(self, what: str, where: str) -> StateKey:
        item = parse_item(f"{self.folder}/raising.py:Raising:what={what},where={where}", "method")
        return StateKey(self.world.spec(item, "glyph_vit"), 0, 0, (self.world.task([0, 1]),))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"))


@pytest.fixture
def handled() -> Iterator[None]:
    """Ctrl-C is handled, as it is in a session: then a KeyboardInterrupt is nobody's but the method's."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("what", ["own", "mute", "generator", "interrupt", "cancelled", "exit", "stop"])
def test_whatever_a_method_raises_is_its_result(lab: Lab, handled: None, what: str) -> None:
    result = lab.trainer.train(Edge(lab.key(what, "fit_task"), keep=False))
    assert result.status == "failed"
    kind = {
        "own": "Own",
        "mute": "Mute",
        "generator": "GeneratorExit",
        "interrupt": "KeyboardInterrupt",
        "cancelled": "CancelledError",
        "exit": "SystemExit",
        "stop": "StopIteration",
    }[what]
    assert result.message.startswith(f"{kind}: {'' if what == 'mute' else 'said'}")
    assert "(raising.py:" in result.message


@pytest.mark.parametrize(
    "where",
    [
        "__init__",
        "predict",
        "counters",
        "state_dict",
        "load_state_dict",
        "memory_footprint",
        "exemplars",
        "classifiers",
    ],
)
def test_wherever_it_is_raised(lab: Lab, where: str) -> None:
    result = lab.trainer.train(Edge(lab.key("own", where), keep=False))
    assert (result.status, result.message[:9]) == ("failed", "Own: said")


@pytest.mark.parametrize(
    ("kind", "where"), [("prototypes", "features"), ("confusion", "predict"), ("prototypes", "__init__")]
)
@pytest.mark.parametrize("what", ["own", "exit", "generator"])
def test_in_a_probe_it_is_one_line(lab: Lab, kind: Literal["prototypes", "confusion"], where: str, what: str) -> None:
    key = lab.key(what, where)
    task = key.prefix[0]
    assert isinstance(task, Task)
    probe = Probe(kind, key, f"state:{key.digest}", task.classes, options=(("images", 2),))
    with pytest.raises(
        UserError, match=r"method '.*raising.py:Raising.*' failed in \w+\(\): \w+: said \(raising.py:\d+\)"
    ):
        lab.trainer.probe(probe)


def test_what_ends_the_session_ends_it(lab: Lab, handled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (TimeIsUp(), Struck()):
        monkeypatch.setattr(lab.trainer.scenario, "learn", _raiser(error))
        with pytest.raises(type(error)):
            lab.trainer.train(Edge(lab.key("own", "nowhere"), keep=False))
    monkeypatch.setattr(lab.trainer.scenario, "learn", _raiser(KeyboardInterrupt()))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # nobody handles Ctrl-C: this may be one
    with pytest.raises(KeyboardInterrupt):
        lab.trainer.train(Edge(lab.key("own", "nowhere"), keep=False))


INTERRUPTED = """
import time
from dataclasses import dataclass
from seqsearch.methods.config import Config as BaseConfig, param
from seqsearch.methods.simplecil import build as SimpleCIL

class Slow(SimpleCIL):
    @dataclass(frozen=True)
    class Config(BaseConfig):
        then: str = param("raise", "what becomes of an interrupt")
        where: str = param("fit_task", "in which call")

    def waits(self, where):
        if self.config.where != where:
            return
        try:
            time.sleep(100)
        except BaseException:
            if self.config.then == "raise":
                raise ValueError("broken") from None

    def fit_task(self, task):
        self.waits("fit_task")
        return super().fit_task(task)

    def predict(self, batch):
        self.waits("predict")
        return super().predict(batch)
"""


@pytest.mark.parametrize("where", ["fit_task", "predict"])
@pytest.mark.parametrize("then", ["raise", "go on"])
def test_what_a_method_makes_of_the_deadline_is_no_result(lab: Lab, tmp_path: Path, then: str, where: str) -> None:
    (tmp_path / "slow.py").write_text(INTERRUPTED)
    item = parse_item(f"{tmp_path}/slow.py:Slow:then={then},where={where}", "method")
    key = StateKey(lab.world.spec(item, "glyph_vit"), 0, 0, (lab.world.task([0, 1]),))
    results = []
    with pytest.raises(TimeIsUp), Deadline(0.5).interrupting():
        results.append(lab.trainer.train(Edge(key, keep=True)))
    assert not results or (then, where) == ("go on", "predict"), "that one nobody is told: the block raises"
    if where == "fit_task":
        assert lab.trainer.states.get(key.digest) is None, "half of a training"


def _raiser(error: BaseException) -> object:
    def learn(*_: object) -> None:
        raise error

    return learn


CALLS_TORCH = """
import torch
from torch.nn import functional
from beside import stack
from seqsearch.methods.simplecil import build as SimpleCIL

class Own(SimpleCIL):
    def predict(self, batch):
        return functional.cross_entropy(torch.ones(2, 3), torch.ones(1))

class Beside(SimpleCIL):
    def predict(self, batch):
        return stack()

class Inherited(SimpleCIL):
    def fit_task(self, task):
        self.prototypes = None
        return super().fit_task(task)
"""


@pytest.mark.parametrize(
    ("target", "place"), [("Own", "calls.py:9"), ("Beside", "beside.py:4"), ("Inherited", "calls.py:18")]
)
def test_the_line_is_the_last_one_of_the_users_own_files(lab: Lab, tmp_path: Path, target: str, place: str) -> None:
    (tmp_path / "calls.py").write_text(CALLS_TORCH)
    (tmp_path / "beside.py").write_text(
        "import torch\n\ndef stack():\n    return torch.stack([torch.ones(1), torch.ones(2)])\n"
    )
    item = parse_item(f"{tmp_path}/calls.py:{target}", "method")
    key = StateKey(lab.world.spec(item, "glyph_vit"), 0, 0, (lab.world.task([0, 1]),))
    result = lab.trainer.train(Edge(key, keep=False))
    assert result.status == "failed"
    assert result.message.endswith(f"({place})")
    assert result.traceback.startswith("Traceback (most recent call last):\n")
    assert f"{tmp_path}/{place.split(':')[0]}" in result.traceback


def test_of_an_installed_package_it_is_the_last_one_of_that_package(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package := tmp_path / "theirs_installed").mkdir()
    (package / "__init__.py").write_text("")
    (package / "beside.py").write_text("import torch\n\ndef stack():\n    return torch.stack([1])\n")
    (package / "calls.py").write_text(CALLS_TORCH.replace("from beside", "from theirs_installed.beside"))
    monkeypatch.syspath_prepend(tmp_path)
    item = parse_item("theirs_installed.calls:Beside", "method")
    key = StateKey(lab.world.spec(item, "glyph_vit"), 0, 0, (lab.world.task([0, 1]),))
    assert lab.trainer.train(Edge(key, keep=False)).message.endswith("(beside.py:4)")


ANSWERS = """
import numpy as np
import torch
from seqsearch.methods.simplecil import build as SimpleCIL

class Own(SimpleCIL):
    def {function}(self, *given):
        return {answer}
"""


@pytest.mark.parametrize(
    ("function", "answer", "says"),
    [
        ("predict", "torch.zeros(3)", "predict() returned (3,), must be a tensor of shape ("),
        ("predict", "np.zeros((4, 2))", "predict() returned ndarray of shape (4, 2), must be a tensor of shape ("),
        ("fit_task", "None", "fit_task() returned None, must be a FitReport"),
        ("state_dict", "[1]", "state_dict() returned list, must be a dict"),
        ("memory_footprint", "3", "memory_footprint() returned int, must be a Footprint"),
        ("exemplars", "3", "exemplars() returned int, must be an array of rows"),
        ("classifiers", "{}", "classifiers() returned dict, must be {'head': self.predict(batch), ...}"),
    ],
)
def test_a_wrong_answer_is_shown_at_the_function_that_gave_it(
    lab: Lab, tmp_path: Path, function: str, answer: str, says: str
) -> None:
    (tmp_path / "answers.py").write_text(ANSWERS.format(function=function, answer=answer))
    item = parse_item(f"{tmp_path}/answers.py:Own", "method")
    key = StateKey(lab.world.spec(item, "glyph_vit"), 0, 0, (lab.world.task([0, 1]),))
    result = lab.trainer.train(Edge(key, keep=False))
    assert result.message.startswith(says)
    assert result.message.endswith("(answers.py:7)")


def test_of_a_shipped_method_it_is_the_last_one_of_ours(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    key = StateKey(lab.world.spec(parse_item("simplecil", "method"), "glyph_vit"), 0, 0, (lab.world.task([0, 1]),))
    monkeypatch.setattr(torch.nn.functional, "normalize", lambda *_, **__: torch.stack([torch.ones(1), torch.ones(2)]))
    result = lab.trainer.train(Edge(key, keep=False))
    file, line = result.message.rpartition("(")[2].rstrip(")").split(":")
    [source] = Path(methods.__file__).parent.rglob(file)
    assert "normalize" in source.read_text().splitlines()[int(line) - 1]


def test_the_traceback_is_not_journalled(lab: Lab, tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add(result := lab.trainer.train(Edge(lab.key("own", "predict"), keep=False)))
    journal.close()
    assert "Traceback" in result.traceback
    assert "raceback" not in (tmp_path / NAME).read_text()


def test_a_deep_recursion_is_one_line() -> None:
    def deep() -> None:
        deep()

    with pytest.raises(RecursionError) as caught:
        deep()
    line = line_of(caught.value)
    assert line.startswith("RecursionError: maximum recursion depth exceeded")
    assert "\n" not in line
