"""Records of the ledger of published results."""

from __future__ import annotations

import dataclasses
import difflib
import shlex
from dataclasses import dataclass
from typing import Literal

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief

Status = Literal["reproduced", "compatible", "differs", "not run", "not possible yet"]
BESIDE = ("status", "loads", "rate", "extra", "hours", "hours_how", "needs", "notes")
"""Fields of an entry that say something of it, and change neither its run nor its printed figures."""
How = Literal["mean", "first minus last", "first minus mean", "sum of the rows above"]


@dataclass(frozen=True)
class Paper:
    """A paper, by the short name that entries use."""

    key: str
    title: str


@dataclass(frozen=True)
class Data:
    """A data set that commands read.

    Attributes:
        name: as entries name it.
        path: file or folder below the one that ``--data`` names.
        where: how to get it.
        licence: as its source says; empty: it says none.
        classes: how many there are, compared before anything is trained; 0: the command counts them.
        images: how many there are, compared too; 0: not known.
        may_differ: which of the two may be others, because the data set is not fixed by its name.
        groups: of its classes, in the file; none: one group.
        kind: what ``path`` is opened as; pairs are a pool whose images have texts.
    """

    name: str
    path: str
    where: str
    licence: str = ""
    classes: int = 0
    images: int = 0
    may_differ: tuple[Literal["classes", "images"], ...] = ()
    groups: tuple[str, ...] = ()
    kind: Literal["pool", "stream", "pairs"] = "pool"


@dataclass(frozen=True)
class Read:
    """Where our figures of a part of the table stand in what a command prints with ``--json``.

    Attributes:
        value: path, see `protocols.evaluate.published.figures.found`; ``{column}`` and ``{row}`` stand for what is said below,
            ``{data}`` for the folder of data. ``share of PATH above PATH`` (or above a number): see
            `protocols.evaluate.published.figures.share`.
        columns: (name, what stands for ``{column}``).
        rows: (name, what stands for ``{row}``); what is not named is not read.
        low: as ``value``, of the interval's lower end; empty: there is none.
        high: of its upper end.
        times: factor to the unit that is printed.
        command: number of the command, from 1; 0: the last.
    """

    value: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str], ...]
    low: str = ""
    high: str = ""
    times: float = 1.0
    command: int = 0


@dataclass(frozen=True)
class Derived:
    """Figures that follow from others of the same table.

    Attributes:
        column: what is computed, in every row; or, for a sum of rows, the column summed.
        how: of the columns ``of``; the sum is of the rows above ``row``.
        of: columns.
        row: of the sum.
    """

    column: str
    how: How
    of: tuple[str, ...] = ()
    row: str = ""


@dataclass(frozen=True)
class Load:
    """Training that an entry asks for, from which its hours follow.

    Attributes:
        of: what is trained.
        images: of one training; ``epochs`` of it; ``trainings``: how many.
    """

    of: str
    images: int
    epochs: float
    trainings: int

    @property
    def seen(self) -> float:
        """Images that go through the network."""
        return self.images * self.epochs * self.trainings


@dataclass(frozen=True)
class Entry:
    """A table, or what is said in a text, of a paper.

    Attributes:
        name: what ``seqsearch reproduce`` calls it.
        paper: a `Paper.key`.
        where: table, rows, columns.
        of: what the figures are of.
        status: what came of it here; ``not possible yet`` names in ``needs`` what is missing.
        columns: of the table, without that of the rows' names.
        rows: (name, figures as they are printed...).
        data: names of `Data`.
        weights: of the backbone, as timm calls them.
        preprocessing: of the images; ``augmentation``, ``order`` of the classes, ``seeds``: as the paper says, and as here.
        commands: in this order; ``{data}``, ``{out}`` and ``{table}`` are folders and the printed table as a CSV file.
        read: where our figures are; ``derive``: what is computed from the printed table itself.
        loads: what is trained; the hours of all commands follow from them, see `estimated`.
        rate: images a second that is assumed; ``extra``: share of those hours for what is not training.
        hours: measured, where nothing is trained; ``hours_how``: how either came about.
        needs: the command that is missing.
        margin: largest difference that counts as reproduced, see `protocols.evaluate.published.figures.Figure`.
        conditional: on what our intervals are conditional.
        notes: what a reader must know beside this.
    """

    name: str
    paper: str
    where: str
    of: str
    status: Status
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    data: tuple[str, ...] = ()
    weights: str = ""
    preprocessing: str = ""
    augmentation: str = ""
    order: str = ""
    seeds: str = ""
    commands: tuple[str, ...] = ()
    read: tuple[Read, ...] = ()
    derive: tuple[Derived, ...] = ()
    loads: tuple[Load, ...] = ()
    rate: float = 0.0
    extra: float = 0.0
    hours: float = 0.0
    hours_how: str = ""
    needs: str = ""
    margin: float = 1.0
    conditional: str = ""
    notes: str = ""

    def words(self) -> list[list[str]]:
        """The commands, each as its words, with placeholders."""
        return [shlex.split(command) for command in self.commands]

    @property
    def estimated(self) -> float:
        """Hours: of the loads at the rate, or as they were measured.

        >>> Entry("x", "p", "", "", "not run", (), (), loads=(Load("", 1000, 7.2, 200),), rate=800, extra=0.5).estimated
        0.75
        """
        return (1 + self.extra) * sum(load.seen for load in self.loads) / self.rate / 3600 if self.loads else self.hours

    @property
    def digest(self) -> str:
        """Of all that a run depends on, and of what it is compared with: every field but `BESIDE`."""
        return digest_of({k: v for k, v in dataclasses.asdict(self).items() if k not in BESIDE})


@dataclass(frozen=True)
class Ledger:
    """All of the file."""

    papers: tuple[Paper, ...]
    data: tuple[Data, ...]
    entries: tuple[Entry, ...]

    def entry(self, name: str) -> Entry:
        """
        Raises:
            UserError: there is none of this name; the nearest ones are named.
        """
        for e in self.entries:
            if e.name == name:
                return e
        names = [e.name for e in self.entries]
        near = difflib.get_close_matches(name, names, 3, 0.4) or names[:3]
        raise UserError(
            f"no published result is called {brief(name)}: did you mean {', '.join(near)}? (seqsearch reproduce)"
        )

    def paper(self, entry: Entry) -> str:
        """Title of its paper."""
        return next(p.title for p in self.papers if p.key == entry.paper)

    def needed(self, entry: Entry) -> list[Data]:
        """The data sets of an entry."""
        return [d for n in entry.data for d in self.data if d.name == n]
