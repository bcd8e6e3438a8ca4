"""A method by command: the folder that it is given, how it is run, and what comes back.

It learns all experiences of a prefix in one go, in a process of its own, and writes how it did after each. What it may not do:
write outside its folder (held by the kernel where that can), take for ever, answer anything but accuracies of these images.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from seqsearch.core.digests import seed_of
from seqsearch.core.outcomes import EdgeResult, Status
from seqsearch.core.text import cut, shown
from seqsearch.core.types import Edge, Task, Tasks
from seqsearch.methods.command import Command, CommandConfig
from seqsearch.methods.config import build_config
from seqsearch.pools.base import Rows
from seqsearch.pools.image_files import own_paths
from seqsearch.storage.files import atomic_file, cannot_write
from seqsearch.storage.inside import Inside
from seqsearch.training import confined
from seqsearch.training.command_answer import Answer, BadAnswer, read_answer
from seqsearch.training.sequence_folder import MANIFEST, SEQUENCE, manifest, record_of, write_sequence_folder
from seqsearch.training.world import World

OUTPUT, MATRIX = "output.txt", "accuracy.json"
KEPT = 1 << 20
"""Bytes of output that are kept, of its beginning and of its end."""
SIGNALS = range(129, 160)
"""Exit codes that stand for signals, as in a shell."""
LAST_WORDS = 5.0
"""Seconds for what a command that has ended left in its pipe."""
SMALL = 300
"""Characters of a message that a command's own words may take."""


class CommandFailed(Exception):
    """What a command did wrong: a result, not a crash."""

    def __init__(self, message: str, status: Status = "failed") -> None:
        super().__init__(message)
        self.status: Status = status


@dataclass(frozen=True)
class Places:
    """A command's folder, ``FOLDER/commands/ID``, and what is in it.

    Attributes:
        sequence: what it is given.
        out: its working folder, where it writes.
        scratch: for its temporary files; removed in the end.
    """

    folder: Inside
    stays: bool
    """It is a run's, and not removed with a scratch folder."""

    @property
    def told(self) -> str:
        """Where its output is."""
        return f" ({self.folder.path / OUTPUT} has what it said)" if self.stays else ""

    @property
    def sequence(self) -> Inside:
        return self.folder.at("sequence")

    @property
    def out(self) -> Inside:
        return self.folder.at("out")

    @property
    def scratch(self) -> Inside:
        return self.folder.at("tmp")


def run_command(world: World, edge: Edge, worker: str, space: Callable[[], str]) -> EdgeResult:
    """Run the command of an edge on all of its experiences; ``space`` names the frozen features that a search goes by instead.

    Raises:
        UserError: the disk is full, or a folder is reached through a link.
    """
    tasks = tuple(t for t in edge.key.prefix if isinstance(t, Task))
    begin = time.perf_counter()
    try:
        answer = _answered(world, edge, tasks)
    except CommandFailed as error:
        return EdgeResult(
            edge.digest, edge.key.digest, error.status, message=str(error), worker=worker,
            train_seconds=time.perf_counter() - begin,
        )  # fmt: skip
    return EdgeResult(
        edge.digest, edge.key.digest, "ok", answer.judged, (answer.head,), trained=(edge.key.digest,),
        train_seconds=time.perf_counter() - begin, worker=worker, steps=answer.steps,
        feature_space=space() if edge.judged == "reward" else "",
        notes=(("confined", float(confined.available() > 0)),),
    )  # fmt: skip


def places_of(states: Path, edge: str) -> Places:
    """Where a command runs: beside the folder of states of a run, or in it where that is a scratch folder."""
    of_run = states.name == "states"
    return Places(Inside(states.parent if of_run else states, ("commands", edge[:20])), of_run)


def _answered(world: World, edge: Edge, tasks: Tasks) -> Answer:
    key, config = edge.key, build_config(Command, dict(edge.key.method.params))
    assert isinstance(config, CommandConfig)
    places = places_of(Path(world.states), edge.digest)
    seed = seed_of("command", key.seed, key.replicate) & 0x7FFFFFFF  # as every library takes it
    given = _prepare(world, edge, tasks, places, seed)
    values = {"{sequence}": places.sequence.path, "{out}": places.out.path / MATRIX, "{seed}": seed}
    words = [_filled(word, {name: str(value) for name, value in values.items()}) for word in key.method.command]
    _run(words, places, config)
    if _bytes_of(places.sequence) != given:
        raise CommandFailed(
            f"it changed the folder that it was given ({places.sequence.path}): let it write to its own"
        )
    try:
        return read_answer(places.out, MATRIX, world, tasks, edge.judged)
    except BadAnswer as error:
        raise CommandFailed(f"{error}{places.told}") from None


def _filled(word: str, values: dict[str, str]) -> str:
    return re.sub("|".join(map(re.escape, values)), lambda found: values[found[0]], word)


def _prepare(world: World, edge: Edge, tasks: Tasks, places: Places, seed: int) -> list[bytes]:
    """Make its folder anew, and write the sequence; the bytes of what was written."""
    try:
        Inside(places.folder.root, places.folder.parts[:-1]).make()
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(places.folder.path)  # what one that was killed has left
        for folder in (places.sequence, places.out, places.scratch):
            folder.make()
    except OSError as error:
        raise cannot_write(error, places.folder.path) from error
    files = world.image_files

    def paths(rows: Rows) -> Sequence[str]:
        if all(hasattr(p, "root") for p in world.images.parts):
            with contextlib.suppress(UnicodeEncodeError):  # a name that is no text cannot stand in a manifest
                own = own_paths(world.images, rows)
                "".join(own).encode()
                return own
        return [os.path.join(files.folder.path, path) for path in files.write(rows)]

    record = record_of(world, places.folder.parts[-1], tasks, seed)
    write_sequence_folder(places.sequence, record, manifest(world, tasks, paths, edge.judged))
    return _bytes_of(places.sequence)


def _bytes_of(folder: Inside) -> list[bytes]:
    found = []
    for name in (SEQUENCE, MANIFEST):
        try:
            found.append(folder.read(name, 1 << 30))
        except OSError:
            found.append(b"")
    return found


def _run(words: list[str], places: Places, config: CommandConfig) -> None:
    """Run it to its end.

    Raises:
        CommandFailed: it could not be started, ended with another code than 0, or took too long.
    """
    with _started(words, places, config.writes) as process:
        assert process.stdout is not None
        said = _Kept(process.stdout, places.folder)
        try:
            code = process.wait(config.hours * 3600)
        except subprocess.TimeoutExpired:
            why = f"took longer than --command-hours {config.hours:g}"
            raise CommandFailed(f"{why}{places.told}", "timeout") from None
        finally:
            _end(process)
            said.end()
    if code:
        how = f"ended by signal {code - 128}" if code in SIGNALS else f"exit code {code}"
        last = cut(shown(said.last_line()), SMALL)
        raise CommandFailed(f"{how}{f': {last}' if last else ''}{places.told}")


@contextlib.contextmanager
def _started(words: list[str], places: Places, writes: str) -> Iterator[subprocess.Popen[bytes]]:
    """The process, which is gone with all that it started when the block is left, however that is, or this process ends."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "SEQSEARCH_"))}
    environment = {"PYTHONHASHSEED": "0", **own, "TMPDIR": str(places.scratch.path)}
    folders = [str(places.out.path), str(places.scratch.path), *filter(None, writes.split(":"))]
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", confined.__file__, *folders, "--", *words], cwd=places.out.path, env=environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        _end(process)
        shutil.rmtree(places.scratch.path, ignore_errors=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Have it ended with all that it started, and wait till it is."""
    assert process.stdin is not None
    process.stdin.close()  # its watcher sees that
    process.wait()


class _Kept:
    """Copies what a process says into a file, its beginning and its end if it is much."""

    def __init__(self, pipe: IO[bytes], folder: Inside) -> None:
        self._pipe, self._folder = pipe, folder
        self._head, self._tail, self._left_out = bytearray(), deque[bytes](), 0
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def _copy(self) -> None:
        with contextlib.suppress(ValueError, OSError):  # closed while it was read
            while piece := os.read(self._pipe.fileno(), 1 << 16):
                if len(self._head) < KEPT:
                    self._head += piece
                    continue
                self._tail.append(piece)
                while sum(map(len, self._tail)) > KEPT:
                    self._left_out += len(self._tail.popleft())

    def end(self) -> None:
        """Write the file; who still holds the pipe is not waited for."""
        self._thread.join(LAST_WORDS)
        said = f"\n... {self._left_out} bytes left out ...\n".encode() if self._left_out else b""
        with atomic_file(self._folder, OUTPUT) as file:
            file.write(bytes(self._head) + said + b"".join(list(self._tail)))

    def last_line(self) -> str:
        lines = (bytes(self._head[-KEPT:]) + b"".join(list(self._tail))).decode(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
