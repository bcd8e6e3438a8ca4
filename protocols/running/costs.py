"""What any study costs: what a session does at most, and what one training takes, measured."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from actors.options import EngineOptions
from protocols.running.memory import Needed, needed, too_little
from seqsearch.core.errors import RemoteTraceback, UserError
from seqsearch.core.notices import notice
from seqsearch.core.text import shown
from seqsearch.core.types import Edge, JudgedPart, Prefix, StateKey, reported
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.study.study import Study


@dataclass(frozen=True)
class UnitCosts:
    """What was measured: ``seconds`` of one training (mean over methods), and of a task of the ``commands`` methods that are
    commands (mean over these, each of which learns a sequence in one go); summed over methods ``state_bytes`` of one state,
    ``image_seconds`` to judge one image, and ``probe_seconds`` and ``probe_bytes`` of one step's prototypes and kNN features.
    ``memory`` is of the method that takes most."""

    seconds: float = 0.0
    state_bytes: int = 0
    probe_seconds: float = 0.0
    probe_bytes: int = 0
    image_seconds: float = 0.0
    commands: int = 0
    command_seconds: float = 0.0
    memory: Needed | None = None


def unit_costs(study: Study, prefix: Prefix, judged: JudgedPart, scratch: Path, length: int) -> UnitCosts:
    """Learn one experience, and a second on top of it, once with each method: the second is what is timed; of a command both.

    ``length`` experiences are in a sequence, which are all judged again after each. On ``test`` they are learned as they are
    `reported`, which takes longest.

    Raises:
        UserError: a method fails on them.
    """
    memory = needed(study, own_files=True)
    if memory and (said := too_little(memory, EngineOptions(workers=0), study.world.device != "cpu")):
        print(shown(said), file=sys.stderr)
    trainer, settings = InlineEvaluator(study.world).trainer, study.settings
    seconds, by_command, image_seconds = list[float](), list[float](), 0.0
    for method in study.methods:
        notice(f"timing two tasks of {method.label} ...")
        edge = Edge(StateKey(method, settings.seed, 0, reported(prefix) if judged == "test" else prefix), judged)
        if not method.command:
            trainer.train(replace(edge, key=edge.key.after(1)))  # it also pays for loading and for frozen features
        result = trainer.train(edge)
        if result.status != "ok":
            line = f"method {method.label!r} {result.status} on its first tasks: {result.message}"
            raise UserError(line) from RemoteTraceback(result.traceback)
        if method.command:
            by_command.append(result.train_seconds / len(prefix))
            continue
        image_seconds += result.judge_seconds / sum(result.counts)
        seconds.append(result.train_seconds + result.judge_seconds * (length + 1) / 2 / len(prefix))
    states = sum(p.stat().st_size for p in scratch.rglob("*.safetensors")) // len(prefix)
    return UnitCosts(
        _mean([*seconds, *by_command]), states, image_seconds=image_seconds, commands=len(by_command),
        command_seconds=_mean(by_command), memory=memory,
    )  # fmt: skip


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
