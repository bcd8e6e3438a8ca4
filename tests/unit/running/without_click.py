"""Every command below the command line.

Each run is estimated, begun, stopped, resumed, read and shown. The answer is JSON: of each command how its sessions ended, its
trainings at most, and whether the page and the printed summary have text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from actors.options import EngineOptions
from protocols.report.page import reporter
from protocols.report.terminal import render
from protocols.report.view import view_of
from protocols.running.launch import chosen, launching
from protocols.running.protocol import of_command, protocols
from protocols.running.runtime import Runtime
from seqsearch.core.deadline import Deadline

POOL = "glyphs:classes=12,train=6,reward=4,test=6"
METHODS = {"methods": "simplecil", "seed": 1}
TASKS = {"tasks": 2, "classes_per_task": 3}
PLAN = {"pool": POOL, "tasks": 3, "random_sequences": 4, "similarity": "names", "moves": 100, "budget": 0.0}


def commands(folder: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    """Settings and flags of a small run of each protocol, by its name, with the command that makes it."""
    search = {"candidates": 4, "condensed": 2, "clusters": 2, "simulations": 2, "random_sequences": 5, "score_seeds": 1}
    stream = "pool:glyphs:classes=4,train=12,reward=1,test=4"
    halves = {"tune_pool": f"{POOL},half=1", "pool": (f"{POOL},half=2",)}
    return {
        "cldyb": ("cldyb", {**METHODS, "pool": POOL, **TASKS, **search, "difficulty": "easy"}),
        "edge": ("edge", {**METHODS, **PLAN, "score_seeds": 2}),
        "edge-plan": ("edge", {**PLAN, "plan_only": True}),
        "gtep": ("gtep", {"methods": "er:epochs=1", **halves, **TASKS, "trials": "2", "orders": 1}),
        "online": ("online", {"methods": "er,ncm", "stream": stream, "batch": 4, "shift": "8", "seeds": 1}),
        "mcil": ("mcil", {**METHODS, "pool": POOL, "backbone": "glyph_vit", "experiences": 2, "orders": 2, "seeds": 1}),
        "score": ("score", {"source": str(folder / "cldyb"), "methods": "ranpac:M=16"}),
        "explain": ("explain", {"source": str(folder / "longer"), "draws": 3}),
        "duel": ("duel", {"methods": ("simplecil", "ranpac:M=16"), "pool": POOL, **TASKS, "sequences": 6}),
    }


def results_in(run: Path) -> Callable[[], float]:
    """A clock that ticks with every result that is journalled."""
    journal = run / "journal.jsonl"
    return lambda: float(journal.read_bytes().count(b"\n")) if journal.exists() else 0.0


def session(command: str, given: dict[str, Any], out: Path, results: float) -> bool:
    """Begin a run, or resume the one that is there, with time for so many results; whether it is finished."""
    resume = out if out.exists() else None
    asked = given if resume is None else {}
    with launching(chosen(of_command(command), asked, resume), asked, resume) as launch:
        launch.create(out)
        runtime = Runtime(EngineOptions(workers=0), quiet=True, deadline=Deadline(results, results_in(out)))
        return launch.run(runtime, write_report=reporter(launch.protocol)).finished


def cost(command: str, given: dict[str, Any]) -> float:
    """Hours at most."""
    with launching(chosen(of_command(command), given), given) as launch:
        return launch.cost(Runtime(EngineOptions(workers=0), quiet=True)).hours


def main(path: str) -> None:
    folder = Path(path)
    found: dict[str, dict[str, Any]] = {}
    longer = {**commands(folder)["cldyb"][1], "tasks": 3}
    session("cldyb", longer, folder / "longer", float("inf"))
    for name, (command, given) in commands(folder).items():
        out, protocol = folder / name, protocols()[name]
        hours = cost(command, given) if protocol.trains else 0.0
        ended = [session(command, given, out, n) for n in ((1, float("inf")) if protocol.trains else (float("inf"),))]
        found[name] = {"ended": ended, "hours": hours, "page": (out / "report.html").exists()}
        view = view_of(protocol, protocol.read(out))
        found[name]["json"] = view.to_json() != {}
        assert render(view, details=True) is not None
    print(json.dumps(found))
