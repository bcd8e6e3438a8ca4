"""What each test of ``seqsearch check`` finds of methods that break a contract in a small thing, and after how many trainings."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from scipy.stats import binom

from protocols.cli.main import main
from seqsearch.check.comparisons import LEVEL, above_chance
from seqsearch.check.contracts import TESTS
from seqsearch.check.findings import bytes_of, differing
from seqsearch.check.run import method_findings
from seqsearch.check.subject import Subject
from seqsearch.check.watched import COMPARED, Trainings, planned
from seqsearch.core.grammar import parse_item
from seqsearch.methods.base import Caps
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.conformance.lab import EXAMPLE_REPLAY, SCRATCH, SMALL_POOL

METHOD = """
import numpy as np
import torch
from dataclasses import dataclass
from seqsearch.methods import config
from seqsearch.methods.base import Footprint
from seqsearch.methods.simplecil import build as SimpleCIL

class Mine(SimpleCIL):
{body}
"""
FIT = "    def fit_task(self, task):\n        r = super().fit_task(task)\n        {}\n        return r\n"
RATED = (
    "    @dataclass(frozen=True)\n    class Config(config.Config):\n"
    "        lr: float = config.param(1.0, 'rate', minimum=0.0, maximum=1e30)\n"
)
TRAINS = "    from dataclasses import replace\n    caps = replace(SimpleCIL.caps, trains_backbone=True)\n"
BROKEN = {
    "drawn": (FIT.format("np.random.rand()"), "C1 nothing is drawn", "the global generator of numpy"),
    "no generator": (FIT.format("self.prototypes += 1e-3 * task.seed"), "C1 each round", "asks for no generator"),
    "each task": (
        FIT.format("self.prototypes += 1e-3 * torch.rand(1, generator=self.context.generator('noise'))"), "C1 each round",
        "context.generator('noise') begins anew in each task, by mine.py:12",
    ),
    "each task, seeded": (
        FIT.format("self.prototypes += 1e-3 * torch.rand(1, generator=torch.Generator().manual_seed(3))"),
        "C1 each round", "begins anew in each task, by mine.py:12",
    ),
    "each task, globally seeded": (
        FIT.format("torch.manual_seed(3)\n        self.prototypes += 1e-3 * torch.rand(1)"), "C1 each round",
        "manual_seed(3) begins anew in each task, by mine.py:12",
    ),
    "exemplars": (
        "    def exemplars(self):\n        self.prototypes *= 1 + 1e-6\n        return super().exemplars()", "C2",
        "changed while it",
    ),
    "footprint": (
        "    def memory_footprint(self):\n        self.prototypes *= 1 + 1e-6\n        return super().memory_footprint()", "C2",
        "changed while it",
    ),
    "company": (
        "    def predict(self, batch):\n        s = super().predict(batch)\n        return s + 5e-4 * s.abs().max() / len(batch)",
        "C3", "scores change with the batch",
    ),
    "third": (
        "    kept = None\n" + FIT.format(
            "self.prototypes += 0 if self.kept is None else 1\n        self.kept = 1 if task.depth == 1 else self.kept"
        ),
        "C4 a restored", "differ after a third task",
    ),
    "space": (
        "    space = 'a'\n" + FIT.format("self.space = 'b'") + "    def feature_space(self):\n        return self.space",
        "C4 a restored", "another feature_space()",
    ),
    "final": (
        "    def state_dict(self):\n        self.last = getattr(self, 'last', torch.zeros(3))\n"
        "        return {**super().state_dict(), 'frozen.last': self.last}\n"
        "    def load_state_dict(self, state):\n"
        "        super().load_state_dict({n: v for n, v in state.items() if n[0] != 'f'})\n"
        "        self.last = state['frozen.last']\n" + FIT.format("self.state_dict()\n        self.last += 1"),
        "C6", "changed in a state that was saved",
    ),
    "rate": (RATED + TRAINS, "C8 a learning rate", "trainings with lr=1e+30 are said to be ok"),
    "order": (
        FIT.format("self.prototypes[task.columns] += 1e-2 * task.depth"), "C9 the order",
        "if tasks 1 to 3 come backwards, and its caps say order_invariant_after=0",
    ),
    "order of later tasks": (
        "    from dataclasses import replace\n    caps = replace(SimpleCIL.caps, order_invariant_after=1)\n"
        + FIT.format("self.prototypes[task.columns] += 1e-2 * task.depth"), "C9 the order", "if tasks 2 to 3 come backwards",
    ),
    "gradients": (
        "    def predict(self, batch):\n        return super().predict(batch) * torch.ones(1, requires_grad=True)",
        "C9 scores keep", "under torch.no_grad()",
    ),
}  # fmt: skip
"""What is done, which test finds it, and what is said of it."""
KEPT = {
    "constructor": "    def __init__(self, context, settings):\n        super().__init__(context, settings)\n"
    "        self.drawn = torch.rand(1, generator=context.generator('noise'))\n" + FIT.format("self.prototypes += self.drawn"),
    "asked again where images are looked at": "    def drawn(self):\n"
    "        return torch.rand(1, generator=self.context.generator('noise'))\n"
    "    def predict(self, batch):\n        return super().predict(batch) * (1 + self.drawn())\n"
    + FIT.format("self.prototypes += self.drawn()"),
    "of the task": FIT.format("self.prototypes += 1e-3 * torch.rand(1, generator=task.generator('noise'))"),
}  # fmt: skip

Made = Callable[..., Subject]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The subject of a method by its text; all of a backbone share a trainer."""
    folder = tmp_path_factory.mktemp("made")
    world = World(SMALL_POOL, 0, str(folder / "cache"), str(folder / "states"))
    trainer = Trainer(world)

    def subject(text: str, backbone: str = "glyph_vit", trainings: Trainings | None = None) -> Subject:
        return Subject(world, world.spec(parse_item(text, "method"), backbone), trainer, trainings)

    return subject


def mine(folder: Path, body: str) -> str:
    (folder / "mine.py").write_text(METHOD.format(body=body))
    return f"{folder}/mine.py:Mine"


def found(subject: Subject, asked: str) -> str:
    """By the one test whose contract and words begin with ``asked``."""
    (test,) = [test for test in TESTS if f"{test.contract} {test.asks}".startswith(asked)]
    return test.wrong(subject)


@pytest.mark.parametrize("how", BROKEN)
def test_a_small_break_is_found(tmp_path: Path, made: Made, how: str) -> None:
    body, asked, said = BROKEN[how]
    assert said in found(made(mine(tmp_path, body)), asked)


@pytest.mark.parametrize("how", KEPT)
def test_what_is_meant_to_be_drawn_again_is_no_break(tmp_path: Path, made: Made, how: str) -> None:
    assert found(made(mine(tmp_path, KEPT[how])), "C1 each round") == ""


def test_stored_rows_count_as_images(tmp_path: Path, made: Made) -> None:
    """Whatever a method keeps of them: by CLDyB B.3 the memory is that of 8-bit images."""
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\nimport importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('tiny', {EXAMPLE_REPLAY.split(':')[0]!r})\n"
        "tiny = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(tiny)\n"
        "from seqsearch.methods.base import Footprint\n"
        "class Mine(tiny.TinyReplay):\n    def memory_footprint(self):\n"
        "        return Footprint(params=4 * self.head.numel(), statistics=8 * len(self.rows), exemplar_images=0)\n"
    )
    subject = made(f"{tmp_path}/mine.py:Mine:epochs=1")
    said = found(subject, "C9 its footprint")
    assert "exemplar_images=0, and exemplars() names 28 images of 3072 bytes: say 86016" in said
    assert (bytes_of(subject.both()).rows, found(made(f"{EXAMPLE_REPLAY}:epochs=1"), "C9 its footprint")) == (28, "")


@pytest.mark.parametrize(
    ("text", "backbone"),
    [
        ("simplecil", "glyph_vit"),
        (f"{EXAMPLE_REPLAY}:epochs=1", "glyph_vit"),
        ("lwf:epochs=2", SCRATCH),
        ("ranpac:adapt=none", "glyph_vit"),
    ],
)
def test_as_many_trainings_are_done_as_are_planned(made: Made, text: str, backbone: str) -> None:
    told: list[tuple[float, range]] = []
    subject = made(text, backbone, Trainings(lambda seconds, more: told.append((seconds, more))))
    assert not [f for f in method_findings(subject) if f.wrong]
    ((seconds, more),) = told
    assert seconds > 0
    assert subject.trainings.done + COMPARED - 2 in more
    assert (
        subject.trainings.done + COMPARED - more.start
        == 2 + len(subject.survived or ()) * subject.both().caps.trains_backbone
    )


def test_the_page_says_how_many(made: Made) -> None:
    page = (Path(__file__).parents[3] / "docs" / "custom_method.md").read_text()
    (said,) = re.findall(r"it trains (\d+) times", page)
    assert int(said) == planned(made("simplecil").both().config, Caps(), False).start


@pytest.mark.long
def test_it_says_after_the_second_how_long_it_may_take(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["check", mine(tmp_path, "    pass")])
    assert result.exit_code == 0, result.output
    assert re.match(
        r"the second training took (\d+\.\d|less than 0\.1) s; 19 more follow and take \d+ s at this speed, without",
        result.stderr,
    )


@pytest.mark.parametrize("classes", [2, 6, 20])
@pytest.mark.parametrize("count", [10, 30, 100])
def test_the_rate_of_guesses_above_chance(count: int, classes: int) -> None:
    """By the probabilities of all counts that a guess can have; who is right three times as often is missed by few images
    alone."""
    right, chance = np.arange(count + 1), 1 / classes
    above = np.array([above_chance(int(r), count, chance) for r in right])
    of_guess = binom.pmf(right, count, chance)
    assert of_guess[above].sum() <= LEVEL
    by_deviations = right > count * chance + 2 * np.sqrt(count * chance * (1 - chance))
    if (count, classes) == (10, 20):
        assert of_guess[by_deviations].sum() > 0.08
    missed = binom.pmf(right, count, min(0.9, 3 * chance))[~above].sum()
    assert (missed < 0.1) == (count == 100 or (count == 30 and classes < 20))


def test_an_entry_that_only_one_of_two_states_has_is_a_difference() -> None:
    a, b = {"head": torch.zeros(2)}, {"head": torch.zeros(2), "steps": 3}
    assert differing(a, dict(a)) == ""
    assert differing(a, b) == differing(b, a) == "state_dict()['steps']"
