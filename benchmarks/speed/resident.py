"""Memory of a worker over thousands of trainings, as a search does them: states that are extended are kept, leaves are not.

    python -m benchmarks.speed.resident [--trainings 5000] [--write]

The method is SimpleCIL with 4 MB of further state, as a small network has; of a move's 25 trainings one is extended, the others
are leaves, and what was extended is dropped at the next move. ``held`` is a cache of 2 GiB that holds leaves as well, as every
worker had until it was bounded; ``bounded`` is what workers have; ``filled`` is that of a worker with 512 MiB of free memory, and
all states are kept, those of the last three moves on disk: more than it has room for. Each runs in a process of its own.
"""

from __future__ import annotations

import argparse
import copy
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common.results import write_result
from seqsearch.core.memory import resident_memory
from seqsearch.states.blocks import State
from seqsearch.states.cache import StateCache

MOVE = 25
"""Trainings of a move."""
FREE = 512 << 20
"""Bytes of memory that the machine of ``filled`` has left."""
METHOD = """
import torch
from seqsearch.methods.simplecil import build as SimpleCIL

class Ballast(SimpleCIL):
    def state_dict(self):
        g = self.context.generator(f"ballast {self.n_seen}")
        return {**super().state_dict(), "ballast": torch.empty(1 << 20).uniform_(generator=g)}

    def load_state_dict(self, state):
        super().load_state_dict(state)
"""


class Held(StateCache):
    """Holds leaves, too."""

    def put(self, digest: str, state: State, *, keep: bool, parent: str | None = None) -> State:
        found = super().put(digest, state, keep=keep, parent=parent)
        if not keep:
            self._remember(digest, found, None)
            return copy.deepcopy(found)
        return found


def measured(cache: str, trainings: int, folder: str) -> dict[str, Any]:
    """Megabytes in use after every tenth of the trainings, in this process."""
    from seqsearch.core.grammar import parse_item
    from seqsearch.core.types import Edge, StateKey
    from seqsearch.training.cache_budget import cache_budget
    from seqsearch.training.device import pin_threads
    from seqsearch.training.trainer import Trainer
    from seqsearch.training.world import World

    pin_threads()
    (Path(folder) / "ballast.py").write_text(METHOD)
    world, caches = (
        World("glyphs:classes=400,train=6,reward=2,test=2", 0, f"{folder}/cache", f"{folder}/states"),
        cache_budget(free=FREE if cache == "filled" else None),
    )
    states = Held(Path(world.states), 2 << 30) if cache == "held" else StateCache(Path(world.states), caches.states)
    trainer, spec = (
        Trainer(world, cache=states, caches=caches),
        world.spec(parse_item(f"{folder}/ballast.py:Ballast", "method"), "glyph_vit"),
    )
    used, kept, start = {}, dict[int, list[str]](), time.perf_counter()
    for number in range(trainings):
        move, place = divmod(number, MOVE)
        first = world.task([move % 200, 200 + move // 200])
        key = StateKey(spec, 0, move, (first,) if place == 0 else (first, world.task([399 - place])))
        keep = place == 0 or cache == "filled"
        result = trainer.train(Edge(key, keep=keep))
        assert result.status == "ok", result.message
        if keep:
            kept.setdefault(move, []).append(key.digest)
        if place == MOVE - 1:
            trainer.states.cache.drop(kept.pop(move - 2 if cache == "filled" else move, []))
        if (number + 1) % max(1, trainings // 10) == 0:
            used[number + 1] = round(resident_memory() / 1e6, 1)
    seconds = (time.perf_counter() - start) / trainings
    return {
        "cache": cache,
        "room_mb": round((2 << 30 if cache == "held" else caches.states) / 1e6),
        "held_mb": round(trainer.states.cache._ram.currsize / 1e6),
        "seconds_each": seconds,
        "resident_mb": used,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainings", type=int, default=5000)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/resident.json")
    parser.add_argument("--cache", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.cache:
            print(json.dumps(measured(arguments.cache, arguments.trainings, folder)))
            return
    rows = []
    for cache in ("held", "bounded", "filled"):
        command = [
            sys.executable,
            "-m",
            "benchmarks.speed.resident",
            "--cache",
            cache,
            "--trainings",
            str(arguments.trainings),
        ]
        rows.append(json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout))
        used = " ".join(f"{n}: {mb:.0f} MB" for n, mb in rows[-1]["resident_mb"].items())
        print(
            f"{cache}, {1e3 * rows[-1]['seconds_each']:.1f} ms a training, room {rows[-1]['room_mb']} MB:",
            used,
            flush=True,
        )
    growth = [max(row["resident_mb"].values()) / next(iter(row["resident_mb"].values())) for row in rows]
    print("largest over first tenth:", ", ".join(f"{r['cache']} {g:.2f}" for r, g in zip(rows, growth, strict=True)))
    if arguments.write:
        write_result("resident", {"trainings": arguments.trainings, "caches": rows, "growth": growth})


if __name__ == "__main__":
    main()
