"""Cost of a study: an upper bound of its trainings, and the measured time of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from actors.options import EngineOptions
from protocols.running.memory import Needed, needed, too_little
from protocols.running.snapshot import Expected
from seqsearch.core.errors import RemoteTraceback, UserError
from seqsearch.core.notices import notice, warn
from seqsearch.core.text import counted
from seqsearch.core.types import Edge, EvaluationSplit, Prefix, StateKey, reported
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.methods.spec import capabilities_of
from seqsearch.study.study import Study

BESIDE = "; the start, planning, and frozen features that are not stored yet come on top"
"""Follows the time of trainings."""


@dataclass(frozen=True)
class Cost:
    """Upper bound of the cost of a study.

    Attributes:
        trained: its trainings, in words.
        hours: of all of them, with so many ``workers`` at a time.
        timed: how the hours were estimated, in words.
        figures: more numbers by name, for programs.
        notes: a line each, on further requirements and limits of the study.
        memory: of a worker; None where that is not estimated.
        worker: a noun for who works, if it is no Ray worker.
    """

    trained: str
    hours: float
    workers: int
    timed: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    memory: Needed | None = None
    worker: str = "worker"

    def to_json(self) -> dict[str, Any]:
        """All figures by name; ``memory_bytes`` is of a worker."""
        memory = {"memory_bytes": self.memory.bytes if self.memory else None}
        return {**self.figures, "hours": self.hours, "workers": self.workers, **memory}


def of_trainings(
    most: Expected,
    unit: UnitCosts,
    workers: int,
    trained: str = "",
    timed: str = "",
    notes: tuple[str, ...] = (),
    **figures: Any,
) -> Cost:
    """The cost of a study whose trainings all take as long.

    Args:
        trained: its trainings in words, if there is more to say of them than their number.
        timed: follows the time of one training.
    """
    times = f"{counted(most.rollouts, 'time')} a method is trained on a sequence"
    return Cost(
        trained or f"{counted(most.trainings, 'training')} at most ({times})",
        most.trainings * unit.seconds / 3600 / workers,
        workers,
        f"at {each(unit.seconds)} a training on this machine{timed}{BESIDE}",
        {"trainings": most.trainings, "rollouts": most.rollouts, "seconds_per_training": unit.seconds, **figures},
        notes,
        unit.memory,
    )


def each(seconds: float) -> str:
    """Seconds of one training, with two digits.

    >>> each(0.0126), each(0.0002)
    ('0.013 s', 'under 1 ms')
    """
    return "under 1 ms" if seconds < 0.001 else f"{seconds:.2g} s"


@dataclass(frozen=True)
class UnitCosts:
    """Measured costs of single trainings.

    Attributes:
        seconds: of one training, mean over methods.
        state_bytes: of one state, summed over methods.
        probe_seconds, probe_bytes: of the prototypes and kNN features of one step, summed over methods.
        image_seconds: to evaluate one image, summed over methods.
        commands: number of methods that are commands; each of them learns a sequence in one go.
        command_seconds: of a task of a command, mean over the commands.
        memory: of the method that needs most.
    """

    seconds: float = 0.0
    state_bytes: int = 0
    probe_seconds: float = 0.0
    probe_bytes: int = 0
    image_seconds: float = 0.0
    commands: int = 0
    command_seconds: float = 0.0
    memory: Needed | None = None


def unit_costs(study: Study, prefix: Prefix, evaluated: EvaluationSplit, scratch: Path, length: int) -> UnitCosts:
    """Learn one experience, and a second on top of it, once with each method: the second is what is timed; of a command both.

    ``length`` experiences are in a sequence, which are all evaluated again after each. On ``test`` they are learned as they are
    `reported`, which takes longest.

    Raises:
        UserError: a method fails on them.
    """
    memory = needed(study, user_modules=True)
    if memory and (said := too_little(memory, EngineOptions(workers=0), study.world.device != "cpu")):
        warn(said)
    trainer, settings = InlineEvaluator(study.world).trainer, study.settings
    seconds, by_command, image_seconds = list[float](), list[float](), 0.0
    for method in study.methods:
        notice(f"timing two tasks of {method.label} ...")
        edge = Edge(StateKey(method, settings.seed, 0, reported(prefix) if evaluated == "test" else prefix), evaluated)
        if not method.command:
            trainer.train(replace(edge, key=edge.key.after(1)))  # it also pays for loading
            if capabilities_of(method).input == "frozen":
                trainer.train(
                    edge
                )  # it pays for the frozen features of the second experience, which a run computes once
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
        _mean([*seconds, *by_command]),
        states,
        image_seconds=image_seconds,
        commands=len(by_command),
        command_seconds=_mean(by_command),
        memory=memory,
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
