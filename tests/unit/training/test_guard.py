"""Methods beside each other: what one changes of what all share is noticed, put back, and its own failure (contract C10)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import faiss
import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits

from seqsearch.backbones.parts.code import Code
from seqsearch.core.errors import UserError
from seqsearch.core.types import Probe
from seqsearch.methods.data import Batch
from seqsearch.training.process import own_generators, restore_generators, settings
from tests.unit.training.offenders import NETWORK, PARTS, PROCESS, TAKEN, Lab

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"))


@pytest.fixture
def lab(common: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """The process as a worker has it, and afterwards as it was."""
    common.trainer.guard.last_changes = ""
    before = [s.read() for s in settings()]
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    threadpool_limits(1)
    monkeypatch.setenv("HOME", "/home/me")
    yield common
    for setting, value in zip(settings(), before, strict=True):
        setting.write(value)


@pytest.mark.parametrize("does", NETWORK)
def test_who_changes_the_shared_network_fails_and_nobody_else_does(lab: Lab, does: str) -> None:
    result = lab.train(lab.meddler(does))
    assert result.status == "failed"
    assert "shared network of backbone 'glyph_vit'" in result.message
    assert "self.context.fresh_backbone()" in result.message
    assert "\n" not in result.message
    assert "blocks.0.mlp.fc1.weight" in result.message or does not in NETWORK[:3]
    images = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    pristine = lab.trainer.world.backbone("glyph_vit").module()
    assert torch.equal(lab.network()(images), pristine(images)), "put back"
    assert "shared network" in lab.trainer.guard.last_changes
    assert lab.trainer.states.get(lab.meddler(does).digest) is None, "what it learned is not kept"


@pytest.mark.parametrize("does", PROCESS)
def test_who_changes_the_process_fails_and_it_is_put_back(lab: Lab, does: str) -> None:
    before, folder, home = [s.read() for s in settings()], os.getcwd(), os.environ["HOME"]
    result = lab.train(lab.meddler(does, "predict"))
    assert result.status == "failed"
    assert PROCESS[does] in result.message
    assert "put it back where you change it" in result.message
    assert [s.read() for s in settings()] == before
    assert (os.getcwd(), os.environ["HOME"]) == (folder, home)
    assert lab.train(lab.key("simplecil")).status == "ok"


@pytest.mark.parametrize("does", [*PROCESS, "network"])
def test_who_fails_fails_again(lab: Lab, does: str) -> None:
    """What an offender learned is not kept: it would be found, and the offence would not be done again."""
    for _ in range(2):
        assert lab.train(lab.meddler(does), keep=True).status == "failed"


ALARMED = """
import signal, sys, time
from pathlib import Path
from tests.unit.training.offenders import Lab
from seqsearch.methods.simplecil import SimpleCIL

class Rings(SimpleCIL):
    def fit_task(self, task):
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        time.sleep(20)
        return super().fit_task(task)

class Later(SimpleCIL):
    def fit_task(self, task):
        signal.alarm(3)
        return super().fit_task(task)

if __name__ == "__main__":
    lab = Lab(Path(sys.argv[1]))
    for method in (f"{__file__}:Rings", f"{__file__}:Later", "simplecil"):
        result = lab.train(lab.key(method))
        print(result.status, "|", result.message)
    time.sleep(4)
    print("here", signal.getsignal(signal.SIGALRM) is signal.SIG_DFL)
"""


@pytest.mark.long
def test_an_alarm_is_the_failure_of_who_set_it(tmp_path: Path) -> None:
    """By default it would end the process, and the run with it. In a process of its own: the one of the tests has a timer."""
    (tmp_path / "own.py").write_text(ALARMED)
    command = [sys.executable, str(tmp_path / "own.py"), str(tmp_path)]
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    rings, later, other, here = ended.stdout.splitlines()
    assert rings.startswith("failed | Alarmed: signal.alarm went off, and the method does not handle it")
    assert later.startswith("failed | ")
    assert "signal.alarm" in later
    assert (other, here) == ("ok | ", "here True")


def test_a_part_of_an_offender_is_not_kept(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    for _ in range(2):
        result = lab.train(lab.key(f"{tmp_path}/parts.py:Parts"), keep=True)
        assert result.status == "failed"
        assert "torch.autocast" in result.message


@pytest.mark.parametrize("does", TAKEN)
def test_who_changes_a_network_that_was_not_given_to_it_fails_too(lab: Lab, tmp_path: Path, does: str) -> None:
    alone = Lab(tmp_path)
    assert alone.train(alone.key("simplecil")).status == "ok", "the network is built for its features"
    for _ in range(2):
        result = alone.train(alone.meddler(does), keep=True)
        assert result.status == "failed"
        assert "shared network of backbone 'glyph_vit' (blocks.0.mlp.fc1.weight)" in result.message
    images = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    assert torch.equal(alone.network()(images), alone.world.backbone("glyph_vit").module()(images)), "put back"


def test_a_batch_has_no_public_way_to_the_network() -> None:
    assert not [name for name in vars(Batch) | Batch.__dataclass_fields__ if "source" in name and name[0] != "_"]


@pytest.mark.parametrize("when", ["make", "fit", "predict"])
def test_a_victim_beside_an_offender_has_the_results_it_has_alone(lab: Lab, tmp_path: Path, when: str) -> None:
    alone = Lab(tmp_path)
    victim = f"l2p:epochs=1,lr=0.0{len(when)}"  # another each time: it is trained here and now
    expected = alone.train(alone.key(victim), keep=True)
    assert lab.train(lab.meddler("network", when)).status == "failed"
    found = lab.train(lab.key(victim), keep=True)
    assert found.trained
    assert (found.status, found.classifiers, found.notes) == ("ok", expected.classifiers, expected.notes)
    mine, theirs = lab.trainer.states.get(found.state), alone.trainer.states.get(found.state)
    assert mine is not None
    assert theirs is not None
    assert all(torch.equal(mine[n], v) if isinstance(v, torch.Tensor) else mine[n] == v for n, v in theirs.items())


def test_a_network_that_was_kept_from_an_earlier_job_is_looked_at_too(lab: Lab) -> None:
    assert lab.train(lab.meddler("keeps")).status == "ok"
    result = lab.train(lab.meddler("later"))
    assert result.status == "failed"
    assert "shared network" in result.message


def test_a_network_that_was_taken_is_looked_at_after_every_job(lab: Lab, tmp_path: Path) -> None:
    """Whoever took it may have given it to anybody, and write to it where torch does not count."""
    alone = Lab(tmp_path)
    assert alone.train(alone.meddler("takes")).status == "ok"
    taken = sys.modules[type(alone.trainer.fresh(alone.meddler("takes"))).__module__].KEPT[-1]
    (tmp_path / "other.py").write_text(
        "from seqsearch.methods.simplecil import build as SimpleCIL\n\nTAKEN = []\n\n"
        "class Other(SimpleCIL):\n    def predict(self, batch):\n"
        "        TAKEN[-1].blocks[0].mlp.fc1.weight.data[0, 0] += 1\n        return super().predict(batch)\n"
    )
    key = alone.key(f"{tmp_path}/other.py:Other")
    sys.modules[type(alone.trainer.fresh(key)).__module__].TAKEN.append(taken)
    result = alone.train(key)
    assert result.status == "failed"
    assert "shared network" in result.message


def test_python_classes_are_compared_after_jobs_that_were_given_no_network_too(lab: Lab, tmp_path: Path) -> None:
    assert lab.train(lab.key("l2p:epochs=1")).status == "ok"
    (tmp_path / "other.py").write_text(
        "import timm\nfrom seqsearch.methods.simplecil import build as SimpleCIL\n\n"
        "class Other(SimpleCIL):\n    def predict(self, batch):\n"
        "        timm.models.vision_transformer.Block.forward = lambda block, values: values\n"
        "        return super().predict(batch)\n"
    )
    result = lab.train(lab.key(f"{tmp_path}/other.py:Other"))
    assert result.status == "failed"
    assert "(Block.forward)" in result.message


def give(kind: type, name: str, answer: object) -> None:
    """A method of this name, as a user's code might."""
    setattr(kind, name, lambda self: answer)


def test_a_class_may_gain_what_hides_nothing_and_hold_what_knows_no_single_answer() -> None:
    class Plain:
        values = np.zeros(2)

        def look(self) -> int:
            return 0

    class Derived(Plain):
        pass

    code = Code([Plain, Derived])
    Plain.values = np.ones(2)
    give(Plain, "__init__", None)
    give(Derived, "mine", None)
    assert code.changed() == []
    give(Derived, "look", 1)
    assert code.changed() == ["Derived.look"]
    code.restore()
    assert (Derived().look(), code.changed()) == (0, [])


def test_last_changes_are_those_of_the_last_job_alone(lab: Lab) -> None:
    lab.train(lab.meddler("threads", "predict"))
    first = lab.trainer.guard.last_changes
    lab.train(lab.meddler("threads", "predict"))
    assert lab.trainer.guard.last_changes == first
    assert lab.train(lab.key("simplecil")).status == "ok"
    assert lab.trainer.guard.last_changes == ""


def test_a_changed_network_computes_no_features_for_the_store(lab: Lab, tmp_path: Path) -> None:
    """Shards are for all later runs. The meddler changes the network, then reads features that nobody has computed yet."""
    alone = Lab(tmp_path)
    assert alone.train(alone.meddler("network")).status == "failed"
    assert not [p for p in tmp_path.rglob("*.npy") if p.parent.name != "locks"]


def test_a_probe_says_who_changed_what(lab: Lab) -> None:
    key = lab.meddler("mode", "features")
    probe = Probe("prototypes", key, f"state:{key.digest}", lab.world.class_ids([5, 6]), options=(("images", 2),))
    with pytest.raises(
        UserError, match=r"method '.*meddler.py.*' failed in features\(\): it changed what all jobs share"
    ):
        lab.trainer.probe(probe)
    assert not lab.network().training


def test_a_backbone_that_cannot_be_had_again_ends_the_run(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from seqsearch.backbones.glyph_vit import build as glyphs\n\n"
        "def build():\n    own = glyphs()\n    one = own.module()\n    own.module = lambda: one\n    return own\n"
    )
    alone = Lab(tmp_path)
    key = alone.key(f"{tmp_path}/meddler.py:Meddler@{tmp_path}/own.py:build:does=network,when=fit")
    with pytest.raises(UserError, match=r"cannot be had again: its module\(\) must give a fresh copy"):
        alone.train(key)


def test_new_variables_are_removed_and_generators_put_back_without_blame(lab: Lab) -> None:
    random.seed(1)
    np.random.seed(2)
    torch.manual_seed(3)
    before = random.getstate(), np.random.get_state()[1].tobytes(), torch.get_rng_state()
    for does in ("adds", "draws"):
        assert lab.train(lab.meddler(does)).status == "ok"
    assert "SEQSEARCH_TEST_NEW" not in os.environ
    assert before[:2] == (random.getstate(), np.random.get_state()[1].tobytes())
    assert torch.equal(before[2], torch.get_rng_state())
    assert lab.trainer.guard.last_changes == ""


def test_a_job_whose_end_was_interrupted_leaves_later_ones_as_they_are(lab: Lab) -> None:
    """What interrupts a job may do so before the generators are put back."""
    earlier = own_generators()
    try:
        np.random.seed(2)
        before = np.random.get_state()[1].tobytes()
        assert lab.train(lab.meddler("draws")).status == "ok"
        assert np.random.get_state()[1].tobytes() == before
    finally:
        restore_generators(earlier)


def test_what_draws_from_global_generators_is_a_function_of_its_key(lab: Lab, tmp_path: Path) -> None:
    first = lab.train(lab.meddler("draws"), keep=True)
    torch.rand(7)
    other = Lab(tmp_path, "elsewhere")
    other.train(other.key("simplecil"))
    again = other.train(other.meddler("draws"), keep=True)
    a, b = lab.trainer.states.get(first.state), other.trainer.states.get(again.state)
    assert a is not None
    assert b is not None
    assert torch.equal(a["prototypes"], b["prototypes"])


def test_what_is_remembered_is_not_the_memory_that_a_method_writes_to(lab: Lab) -> None:
    source, buffer = lab.trainer.source("glyph_vit"), torch.zeros(8, 2)
    rows = lab.world.split.rows(0, "train")
    seen = source.remembered("mine", rows, lambda batch: buffer[: len(batch)])
    buffer += 1
    seen += 5
    assert torch.equal(source.remembered("mine", rows, lambda batch: buffer), torch.zeros(len(rows), 2))
