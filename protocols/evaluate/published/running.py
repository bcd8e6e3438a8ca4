"""Runs an entry of the ledger: checks its inputs, runs its commands in processes of their own, reads their answers."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from protocols.evaluate.published.answers import answer_in, answered, made, write
from protocols.evaluate.published.dataset_on_disk import DatasetOnDisk
from protocols.evaluate.published.figures import Figure, derived, from_answers
from protocols.evaluate.published.records import Data, Entry, Ledger
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError

COSTED = ("cldyb", "edge", "gtep", "mcil", "online", "score")
"""Commands that have ``--dry-run``."""
KEY = re.compile(r"[0-9a-f]{16}")

Say = Callable[[str], None]


@dataclass(frozen=True)
class Places:
    """Values of the placeholders of commands: folders of data and of results, and the printed table as CSV.

    ``out`` belongs to one entry, one state of the data on disk, and one version (see `key`). Results in it can
    therefore be continued.
    """

    data: Path | None
    out: Path

    @property
    def table(self) -> Path:
        return self.out / "table.csv"

    def put(self, words: Sequence[str]) -> list[str]:
        """A command with its placeholders replaced."""
        data = self.data or Path("DATA")
        return [w.format(data=data, out=self.out, table=self.table) for w in words]


def check(ledger: Ledger, entry: Entry, data: Path | None) -> None:
    """
    Raises:
        UserError: it cannot be run: a command is not built, or data are not there; how to get them.
    """
    if entry.needs:
        raise UserError(f"{entry.name} is not possible yet: it needs {entry.needs}")
    gone = missing(ledger, entry, data)
    if not gone:
        return
    first, others = gone[0], ", ".join(d.path for d in gone[1:])
    place = f"{data / first.path} is not there" if data else f"it needs a folder --data DIR with {first.path} in it"
    raise UserError(
        f"{entry.name} was not run: {place}: {first.name}, {first.where}"
        + (f"; also missing: {others}" if others else "")
    )


def missing(ledger: Ledger, entry: Entry, data: Path | None) -> list[Data]:
    """Data sets of an entry that are not in the folder ``data``."""
    return [d for d in ledger.needed(entry) if data is None or not (data / d.path).exists()]


def key(entry: Entry, data: Path | None, there: Mapping[str, DatasetOnDisk]) -> str:
    """Name of the folder for runs of an entry: another one for another entry, place or content of data, or version."""
    place = str(data.resolve()) if data and entry.data else ""
    return digest_of(entry.digest, place, {n: d.digest for n, d in there.items()}, version("seqsearch"))[:16]


def unlike(places: Places) -> list[str]:
    """Folders of other keys beside that of ``places``."""
    try:
        names = os.listdir(places.out.parent)
    except OSError:
        return []
    return sorted(n for n in names if KEY.fullmatch(n) and n != places.out.name)


def kept(entry: Entry) -> bool:
    """Whether its commands leave runs behind."""
    return any("{out}" in command for command in entry.commands)


def commands(entry: Entry, places: Places) -> list[str]:
    """Its commands, as they can be typed."""
    return [shlex.join(places.put(words)) for words in entry.words()]


def table_of(entry: Entry) -> str:
    """The printed table as CSV, rows in the first column, without those that a command computes from the others."""
    computed, text = {row for r in entry.read for row, _ in r.rows}, io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["row", *entry.columns])
    writer.writerows(r for r in entry.rows if r[0] not in computed)
    return text.getvalue()


def run(entry: Entry, places: Places, say: Say = lambda line: None) -> list[Figure]:
    """All commands one after the other, then our figures beside the printed ones.

    What a command answered is kept in ``places.out``; called again, finished commands are not run again, which is said, and
    one that was interrupted goes on where it was, or begins again.

    Raises:
        Failed: a command did.
        UserError: it did not answer what is read from it, or ``places.out`` cannot be written.
    """
    if not entry.commands:
        return derived(entry)
    folder = made(places.out)
    if any("{table}" in command for command in entry.commands):
        write(folder, places.table.name, table_of(entry))
    answers = []
    for number, words in enumerate(entry.words(), 1):
        typed, record = shlex.join(places.put(words)), f"answer-{number}.json"
        answer = answer_in(folder, record, typed)
        if answer is None:
            put = _resumed(words, places) or _replacing(words, places) or places.put(words)
            say(f"running: {shlex.join(put)}")
            answer = answered([*put, "--progress"] if words[1] in COSTED else put)
            write(folder, record, json.dumps({"command": typed, "answer": answer}) + "\n")
        else:
            say(f"kept from {places.out}: {typed}")
        answers.append(answer)
    return from_answers(entry, answers, str(places.data)) + derived(entry)


def costs(entry: Entry, places: Places, meant: Places) -> list[tuple[str, dict[str, Any] | None]]:
    """Each command as a user types it, with the places ``meant``, and the answer of its ``--dry-run`` with ``places``.

    The answer is None if a command has no ``--dry-run`` or reads the results of an earlier one.

    Raises:
        Failed: a command refuses.
    """
    found: list[tuple[str, dict[str, Any] | None]] = []
    for words, typed in zip(entry.words(), commands(entry, meant), strict=True):
        ready = words[1] in COSTED and not waits(words)
        extra = [] if "--dry-run" in words else ["--dry-run"]
        found.append((typed, answered([*_without_out(places.put(words)), *extra]) if ready else None))
    return found


def waits(words: Sequence[str]) -> bool:
    """Whether a command reads what an earlier one of its entry wrote."""
    return any("{out}" in w and before != "--out" for before, w in zip(["", *words], words, strict=False))


def _without_out(words: Sequence[str]) -> list[str]:
    if "--out" not in words:
        return list(words)
    at = words.index("--out")
    return [*words[:at], *words[at + 2 :]]


def _resumed(words: Sequence[str], places: Places) -> list[str] | None:
    """The command that goes on with a run which an earlier call had begun; None: there is none."""
    if words[1] not in COSTED or "--out" not in words:
        return None
    folder = Path(places.put(words)[words.index("--out") + 1])
    if not (folder / "config.json").is_file():
        return None
    return [*words[:2], "--resume", str(folder), *(["--json"] if "--json" in words else [])]


def _replacing(words: Sequence[str], places: Places) -> list[str] | None:
    """A ``pool build`` whose file is there without its answer, being what an earlier call began; None: there is none."""
    made = [
        w for w in places.put(words) if w.endswith(".parquet") and Path(w).parent == places.out and Path(w).exists()
    ]
    return [*places.put(words), "--force"] if words[1:3] == ["pool", "build"] and made else None
