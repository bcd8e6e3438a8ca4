"""A method that is a command: its identity, and what a search may ask of it without running it.

Who learns is the command (`seqsearch.training.command`). A search that looks for candidates by features is answered with those of
the frozen backbone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from seqsearch.core import command_line
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item
from seqsearch.core.identity import code_digest
from seqsearch.core.types import MethodSpec
from seqsearch.methods.base import Caps, FitReport, Footprint, Method
from seqsearch.methods.config import Config, param

if TYPE_CHECKING:
    import torch

    from seqsearch.methods.data import Batch, TaskData

LARGEST = 16 << 20
"""Bytes of a file in the command whose content is a part of its identity; of a larger one, size and time are."""


def command_spec(item: Item, backbone: str, device: str) -> MethodSpec:
    """A method that is a command.

    Its identity: its words, and in place of files what is in them; of a Python file also all that it imports from files beside
    it. What else it reads, and libraries, are not seen.

    Raises:
        UserError: a file cannot be read, or is no Python although it says so.
    """
    words = command_line.words(item.target)
    said = [_content(Path(word)) if word.startswith("/") else word for word in words]
    digest = digest_of("command", said, device)
    return MethodSpec(item.text, item.target, backbone, tuple(item.params), digest, command=words)


def _content(path: Path) -> str:
    if not path.is_file():
        return str(path)
    try:
        if path.suffix == ".py":
            return code_digest([path])
        found = path.stat()
        if found.st_size > LARGEST:
            return f"{path.name} {found.st_size} {found.st_mtime_ns}"
        return digest_of("file", path.read_bytes().hex())
    except (OSError, SyntaxError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise UserError(f"{path}, which a command names, cannot be read ({said}): mend it") from None


@dataclass(frozen=True)
class CommandConfig(Config):
    """Limits of a command: its hours and the folders that it may write to. They are no part of its identity."""

    hours: float = param(24.0, "Hours for one sequence.", minimum=1e-5, maximum=10_000)
    writes: str = param("", "Folders that it may write to beside its own, separated by colons.")


class Command(Method):
    """Stands for a command where a search asks for features; it neither learns nor predicts."""

    Config: ClassVar[type[Config]] = CommandConfig
    caps = Caps(trains_backbone=False)

    def fit_task(self, task: TaskData) -> FitReport:
        return FitReport()

    def predict(self, batch: Batch) -> NoReturn:
        raise UserError(
            "a method by command cannot be asked for scores of its own: use another similarity than its confusion"
        )

    def features(self, batch: Batch) -> torch.Tensor:
        return batch.frozen

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """There is none."""

    def memory_footprint(self) -> Footprint:
        return Footprint()


def refuse(spec: MethodSpec, flag: str) -> None:
    """Raises UserError: the method is a command, which has no features or scores that could be asked for."""
    if spec.command:
        raise UserError(
            f"{flag} {spec.label}: a command has neither features nor scores here: name a method of the package"
        )


def commands(methods: Sequence[MethodSpec]) -> list[str]:
    """Labels of the methods that are commands."""
    return [m.label for m in methods if m.command]
