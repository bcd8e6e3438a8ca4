"""Methods that do what methods do on bad days, and trainers that die or forget at a chosen moment."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from seqsearch.states.blocks import Manifest, State
from seqsearch.states.cache import StateCache
from seqsearch.states.folder import StateFolder
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

BAD = """
import os, sys, time
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from seqsearch.methods.config import Config as BaseConfig, param
from seqsearch.methods.simplecil import build as SimpleCIL

kept = []

class Bad(SimpleCIL):
    @dataclass(frozen=True)
    class Config(BaseConfig):
        does: str = param("", "what it does wrong")
        on: str = param("odd", "always; odd: for about half of all tasks; once: until the flag file is there")
        flag: str = param("", "file that says that it was done, and by whom")

    def fit_task(self, task):
        bad = task.depth == 1 and (
            self.config.on == "always" or
            (int(task.train.indices[0]) % 2 if self.config.on == "odd" else not Path(self.config.flag).exists()))
        if bad:
            if self.config.flag:
                Path(self.config.flag).write_text(str(os.getpid()))
            getattr(self, self.config.does)()
        return super().fit_task(task)

    def raises(self):
        raise RuntimeError("on purpose")

    def hangs(self):
        time.sleep(3600)

    def naps(self):
        time.sleep(20)

    def exits(self):
        sys.exit(0)

    def vanishes(self):
        os._exit(0)

    def forks(self):
        if os.fork() == 0:
            return  # the child goes on as if it were the worker

    def meddles(self):
        self.context.frozen_backbone().blocks[0].norm1.weight.data += 1

    def balloons(self):
        kept.append(np.ones(3 << 30, dtype=np.uint8))

    def leaks(self):
        kept.append(np.ones(600 << 20, dtype=np.uint8))
"""
"""A method file. SimpleCIL, but for what its parameters say."""


def bad_method(folder: Path, does: str, on: str = "odd", flag: Path | None = None) -> str:
    """The item for ``--methods``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bad.py").write_text(BAD)
    return f"{folder}/bad.py:Bad:does={does},on={on}" + (f",flag={flag}" if flag else "")


class DiesWriting(StateFolder):
    """Kills its process in the middle of writing its fifth state, once for a folder."""

    written = 0

    def write(self, digest: str, state: State, parent: Manifest | None = None) -> Manifest:
        flag = self.path.parent / "died-writing"
        DiesWriting.written += 1
        if DiesWriting.written == 5 and not flag.exists():
            flag.touch()
            with atomic_file(Inside.below(self.path).at("packs"), f"{'0' * 32}.safetensors") as file:
                file.write(b"half")
                file.flush()
                os.kill(os.getpid(), signal.SIGKILL)
        return super().write(digest, state, parent)


def dies_writing(world: World, name: str) -> Trainer:
    """A worker that dies while it writes."""
    cache = StateCache(Path(world.states), clears=False)
    cache.disk = DiesWriting(Path(world.states))
    return Trainer(world, name, cache)


def forgetful(world: World, name: str) -> Trainer:
    """A worker that has no room for states in RAM: it reads every one from the disk."""
    return Trainer(world, name, StateCache(Path(world.states), ram_bytes=1, clears=False))


def on_an_actor(number: int) -> tuple[int, bool]:
    """Where it is called."""
    import ray

    return number, ray.get_runtime_context().get_actor_id() is not None


def dies_once(path: str) -> str:
    """Kills its worker if a file is there, which it removes."""
    if path and Path(path).exists():
        Path(path).unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return path
