"""A training that is killed goes on at the end of an epoch, in every bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Edge, StateKey
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.training import Descent, Group, batches, descend
from seqsearch.states.under_way import FOLDER
from seqsearch.training.checkpoints import Checkpoints
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.conformance.lab import FROM_SCRATCH, QUICK, SCRATCH, fitting, same

METHODS = [*FROM_SCRATCH, "finetune", "er", "ewc", "lwf", "joint"]


class Killed(BaseException):
    """Not an error of the method's."""


class Kept:
    """Keeps checkpoints in memory, and kills the training when the given number of them was left."""

    def __init__(self, kill_after: int) -> None:
        self.states: dict[str, dict[str, Any]] = {}
        self.left, self.kill_after = 0, kill_after

    def found(self, phase: str) -> dict[str, Any] | None:
        return self.states.get(phase)

    def leave(self, phase: str, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        self.states[phase] = {n: v.clone() for n, v in state().items()}
        self.left += 1
        if self.left == self.kill_after:
            raise Killed


def run(kept: Kept, optimizer: str) -> tuple[list[torch.Tensor], tuple[float, ...]]:
    """Five epochs of a network with batch statistics, with noise on its inputs."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)).eval()
    data, noise = torch.randn(17, 4), torch.Generator().manual_seed(1)
    labels = torch.arange(17) % 3

    def loss_of(positions: torch.Tensor) -> torch.Tensor:
        seen = data[positions] + 0.1 * torch.randn(len(positions), 4, generator=noise)
        return nn.functional.cross_entropy(network(seen), labels[positions])

    live = Live([network], [noise], kept)
    settings = Descent(5, 4, 1e-3, optimizer=optimizer)
    report = descend(
        [Group(list(network.parameters()), 0.1)], 17, settings, torch.Generator().manual_seed(2), loss_of, live=live
    )
    assert report.status == "ok"
    assert not network.training
    return [t.clone() for t in network.state_dict().values()], report.losses


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw"])
@pytest.mark.parametrize("epoch", [1, 3, 5])
def test_a_descent_goes_on_where_it_was_killed(optimizer: str, epoch: int) -> None:
    whole, losses = run(Kept(0), optimizer)
    kept = Kept(epoch)
    with pytest.raises(Killed):
        run(kept, optimizer)
    kept.kill_after = 0
    rest, again = run(kept, optimizer)
    assert kept.left == 5, "an epoch was trained again"
    assert again == losses
    assert all(torch.equal(a, b) for a, b in zip(whole, rest, strict=True))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("parameter.0", torch.zeros(3)),
        ("parameter.0", torch.full((8, 4), torch.nan)),
        ("losses", torch.zeros(99, dtype=torch.float64)),
        ("losses", torch.zeros(1, 1, dtype=torch.float64)),
        ("losses", "1.0"),
        ("generator.0", torch.zeros(7, dtype=torch.uint8)),
        ("generator.1", 3),
        ("global", torch.zeros(5056)),
        ("optimizer.0.momentum_buffer", torch.zeros(2)),
        ("optimizer.0.momentum_buffer", "moved"),
        ("optimizer.\u00b2.x", torch.zeros(2)),
        ("optimizer.99.momentum_buffer", torch.zeros(2)),
        ("other", torch.zeros(2)),
    ],
)
def test_what_does_not_fit_is_not_taken_up(name: str, value: Any) -> None:
    kept = Kept(2)
    with pytest.raises(Killed):
        run(kept, "sgd")
    kept.kill_after, kept.states["train"][name] = 0, value
    rest, _ = run(kept, "sgd")
    assert kept.left == 2 + 5, "it went on from there"
    whole, _ = run(Kept(0), "sgd")
    assert all(torch.equal(a, b) for a, b in zip(whole, rest, strict=True))


def test_a_phase_is_used_once_in_a_training(tmp_path: Path) -> None:
    trainer, key = made(tmp_path, "replay")
    checkpoints = Checkpoints(trainer.world, key)
    assert checkpoints.found("train") is None
    with pytest.raises(ValueError, match="phase 'train' twice"):
        checkpoints.found("train")


@pytest.mark.parametrize(("n", "sizes"), [(9, [4, 5]), (8, [4, 4]), (1, [2]), (5, [5]), (10, [4, 4, 2])])
def test_no_batch_of_one_image_where_statistics_are_learned(n: int, sizes: list[int]) -> None:
    assert [len(b) for b in batches(torch.arange(n), 4, True)] == sizes
    assert torch.cat(batches(torch.arange(n), 4, False)).tolist() == list(range(n))


# ------------------------------------------------------------------------------------------------ through the engine


def made(folder: Path, name: str) -> tuple[Trainer, StateKey]:
    world = World(
        "glyphs:classes=6,train=10,reward=2,test=4",
        0,
        str(folder / "cache"),
        str(folder / "states"),
        checkpoint_seconds=0,
    )
    quick = fitting({n: QUICK[n] for n in ("epochs", "first_epochs", "memory")}, name, SCRATCH)
    item = parse_item(f"{name}:" + ",".join(f"{n}={v}" for n, v in quick.items()), "method")
    return Trainer(world), StateKey(world.spec(item, SCRATCH), 0, 0, (world.task([0, 1]), world.task([2, 3, 4])))


@pytest.mark.long
@pytest.mark.parametrize("name", METHODS)
def test_every_method_from_scratch_goes_on(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the second, and again after the fourth checkpoint of its second task. In the middle of each phase all methods
    are interrupted in ``tests/conformance``."""
    from seqsearch.training import checkpoints

    whole, key = made(tmp_path / "whole", name)
    whole.train(Edge(key))
    killed, key = made(tmp_path / "killed", name)
    assert killed.train(Edge(key.after(1))).status == "ok"
    real, left = checkpoints.Checkpoints.leave, list[str]()

    def leave(self: Any, phase: str, *rest: Any, **more: Any) -> None:
        real(self, phase, *rest, **more)
        left.append(phase)
        if len(left) in (2, 4):
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints.Checkpoints, "leave", leave)
    for _ in range(3):
        trainer, key = made(tmp_path / "killed", name)
        try:
            result = trainer.train(Edge(key))
            break
        except KeyboardInterrupt:
            assert any((tmp_path / "killed" / "states" / FOLDER).rglob("*.json"))
    assert result.status == "ok", result.message
    states = [t.states.cache.get(key.digest) for t in (whole, trainer)]
    assert states[0] is not None
    assert states[1] is not None
    assert same(*states)
    assert not list((tmp_path / "killed" / "states" / FOLDER).rglob("*.*")), "left behind"


@pytest.mark.long
def test_after_kill_9(tmp_path: Path) -> None:
    whole, key = made(tmp_path / "whole", "replay")
    whole.train(Edge(key))
    script = textwrap.dedent(f"""
        from pathlib import Path
        from seqsearch.core.types import Edge
        from tests.unit.methods.test_checkpoint import made
        trainer, key = made(Path({str(tmp_path / "killed")!r}), "replay")
        trainer.train(Edge(key))
    """)
    root = Path(__file__).parents[3]
    process = subprocess.Popen([sys.executable, "-c", script], cwd=root, env={**os.environ, "PYTHONPATH": str(root)})
    left = tmp_path / "killed" / "states" / FOLDER
    until = time.monotonic() + 60
    while not list(left.rglob("*.json")) and time.monotonic() < until and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    trainer, key = made(tmp_path / "killed", "replay")
    assert trainer.train(Edge(key)).status == "ok"
    states = [t.states.cache.get(key.digest) for t in (whole, trainer)]
    assert states[0] is not None
    assert states[1] is not None
    assert same(*states)
