"""Prints the estimate of a training step's memory, and the peak of a real one in this process (bytes): METHOD BACKBONE BATCH."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import torch

from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Edge, StateKey
from seqsearch.training.memory import step_memory
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World


def of_process(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{name}:"))


def measured(method: str, backbone: str, batch: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as scratch:
        world = World(f"glyphs:classes=4,train={batch // 2},reward=1,test=1", 0, f"{scratch}/c", f"{scratch}/s")
        once = "epochs=1,first_epochs=1" if backbone.startswith("scratch:") else "epochs=1"
        spec = world.spec(parse_item(f"{method}@{backbone}:batch_size={batch},{once}", "method"), backbone)
        ids = world.class_ids(range(4))
        estimate = step_memory(world, spec, ids, 10**9)
        assert estimate is not None
        trainer = Trainer(world)
        Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
        before = of_process("VmRSS")
        result = trainer.train(Edge(StateKey(spec, 0, 0, (world.task(range(2)),)), "test"))
        assert result.status == "ok", result.message
        return {"estimate": estimate.total, "peak": of_process("VmHWM") - before}


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(measured(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
