"""Folder in which a command runs, and its contents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seqsearch.storage.inside import Inside

OUTPUT = "output.txt"


@dataclass(frozen=True)
class Places:
    """A command's folder, ``FOLDER/commands/ID``, and what is in it.

    Attributes:
        sequence: what it is given.
        unlabelled: images to be predicted; removed in the end.
        out: its working folder, where it writes.
        scratch: for its temporary files; removed in the end.
    """

    folder: Inside
    stays: bool
    """It is a run's, and not removed with a scratch folder."""

    @property
    def where_output(self) -> str:
        """Where its output is."""
        return f" ({self.folder.path / OUTPUT} has what it said)" if self.stays else ""

    @property
    def sequence(self) -> Inside:
        return self.folder.at("sequence")

    @property
    def unlabelled(self) -> Inside:
        return self.folder.at("images")

    @property
    def out(self) -> Inside:
        return self.folder.at("out")

    @property
    def scratch(self) -> Inside:
        return self.folder.at("tmp")


def places_of(states: Path, edge: str) -> Places:
    """Where a command runs: beside the folder of states of a run, or in it where that is a scratch folder."""
    of_run = states.name == "states"
    return Places(Inside(states.parent if of_run else states, ("commands", edge[:20])), of_run)
