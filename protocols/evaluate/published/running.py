"""A published result, run: what it needs, its commands in processes of their own, what they answered."""

from __future__ import annotations

import csv
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.evaluate.published.figures import Figure, derived, from_answers
from protocols.evaluate.published.records import Data, Entry, Ledger
from seqsearch.core.errors import UserError
from seqsearch.storage.files import atomic_path

COSTED = ("cldyb", "edge", "score")
"""Commands that have ``--dry-run``."""
ROOT = Path(__file__).parents[3]

Say = Callable[[str], None]


class Failed(UserError):
    """A command of an entry ended with another exit ``code`` than 0, and has said why."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the command ended with exit code {code}; run the same again to go on")
        self.code = code


@dataclass(frozen=True)
class Places:
    """What stands for the placeholders of commands: folders of data and of results, and the printed table as CSV."""

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


def kept(entry: Entry) -> bool:
    """Whether its commands leave runs behind."""
    return any("{out}" in command for command in entry.commands)


def commands(entry: Entry, places: Places) -> list[str]:
    """Its commands, as they can be typed."""
    return [shlex.join(places.put(words)) for words in entry.words()]


def write_table(entry: Entry, path: Path) -> None:
    """The printed table as CSV, rows in the first column, without those that a command computes from the others."""
    computed = {row for r in entry.read for row, _ in r.rows}
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", *entry.columns])
        writer.writerows(r for r in entry.rows if r[0] not in computed)


def run(entry: Entry, places: Places, say: Say = lambda line: None) -> list[Figure]:
    """All commands one after the other, then our figures beside the printed ones.

    What a command answered is kept in ``places.out``; called again, finished commands are not run again, and one that was
    interrupted goes on where it was.

    Raises:
        Failed: a command did.
        UserError: it did not answer what is read from it.
    """
    if not entry.commands:
        return derived(entry)
    places.out.mkdir(parents=True, exist_ok=True)
    write_table(entry, places.table)
    answers = []
    for number, words in enumerate(entry.words(), 1):
        typed, record = shlex.join(words), places.out / f"answer-{number}.json"
        answer = _answered(record, typed)
        if answer is None:
            put = _resumed(words, places) or places.put(words)
            say(shlex.join(put))
            answer = answered(put)
            with atomic_path(record) as temporary:
                temporary.write_text(json.dumps({"command": typed, "answer": answer}) + "\n")
        answers.append(answer)
    return from_answers(entry, answers) + derived(entry)


def costs(entry: Entry, places: Places) -> list[tuple[str, dict[str, Any] | None]]:
    """Each command as it can be typed, and what its ``--dry-run`` answers; None where it has none, or waits for what an
    earlier command makes.

    Raises:
        Failed: a command refuses.
    """
    found: list[tuple[str, dict[str, Any] | None]] = []
    for words, typed in zip(entry.words(), commands(entry, places), strict=True):
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


def _answered(record: Path, typed: str) -> Any:
    """What the same command answered before; None: nothing."""
    try:
        said = json.loads(record.read_text())
    except (OSError, ValueError):
        return None
    return said.get("answer") if isinstance(said, dict) and said.get("command") == typed else None


def _resumed(words: Sequence[str], places: Places) -> list[str] | None:
    """The command that goes on with a run which an earlier call had begun; None: there is none."""
    if words[1] not in COSTED or "--out" not in words:
        return None
    folder = Path(places.put(words)[words.index("--out") + 1])
    if not (folder / "config.json").is_file():
        return None
    return [*words[:2], "--resume", str(folder), *(["--json"] if "--json" in words else [])]


def answered(words: Sequence[str]) -> Any:
    """What a command prints as JSON, run by the code that this is of; its progress and messages go to stderr.

    Raises:
        Failed: it ended otherwise than with exit code 0.
        UserError: it printed no JSON.
    """
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "protocols.cli", *words[1:]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})
    try:
        text, _ = process.communicate()
    except BaseException:  # it ends in order, and can be resumed
        process.send_signal(signal.SIGTERM)
        process.wait()
        raise
    if process.returncode:
        raise Failed(process.returncode)
    try:
        return json.loads(text)
    except ValueError:
        raise UserError(f"no JSON was printed by: {shlex.join(words)}") from None
