"""Origin of the figures of a score run, read from its ``config.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.running.provenance import biases
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief


@dataclass(frozen=True)
class Origin:
    """Origin of the figures of a score run.

    Attributes:
        backbones: backbone of each method, by label.
        by_backbone: labels of the references (mean, bound), by backbone.
        taken_over: methods whose results are all from the source.
        known: rollouts that the source had, by label.
        named: methods that were asked for.
        remarks: remarks on labels and names, and biases of the sequences.
    """

    backbones: Mapping[str, str]
    by_backbone: Mapping[str, tuple[str, str]]
    taken_over: frozenset[str]
    known: Mapping[str, int]
    named: frozenset[str]
    remarks: tuple[str, ...]

    @property
    def references(self) -> set[str]:
        """Labels of references that nobody asked for as methods."""
        return {label for pair in self.by_backbone.values() for label in pair} - self.named

    @classmethod
    def of(cls, run: Path, config: Mapping[str, Any]) -> Origin:
        said = config.get("identity")
        try:
            assert isinstance(said, dict)
            taken = {str(m): str(b) for m, b in said["taken_over"].items()}
            own = {str(m): str(v["backbone"]) for m, v in said["methods"].items()}
            references = {str(b): (str(r["mean"]), str(r["bound"])) for b, r in said["references"].items()}
            known = {str(m): int(n) for m, n in said["known"].items()}
            remarks = [str(n) for n in (*said["remarks"], *biases(config))]
        except (AssertionError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise UserError(
                f"{run}/config.json: identity has no field that scores have ({brief(str(error))}): restore it"
            ) from None
        return cls({**taken, **own}, references, frozenset(taken), known, frozenset(own), tuple(remarks))
