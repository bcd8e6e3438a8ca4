"""What two small studies find, run by the real command line: ``python -m tests.golden.record`` writes ``studies.json``.

Their settings are in ``cldyb.yaml`` and ``edge.yaml``, every one of them given. Write the record anew only for a change that is
meant to change numbers, and say so in CHANGELOG.md.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import torch
import yaml
from click.testing import CliRunner

from protocols.cli.main import main
from seqsearch.training.device import pin_threads

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("studies.json")
COMMANDS = {
    name: f"seqsearch {name} --config tests/golden/{name}.yaml --workers 0 --gpus-per-worker 0 --json"
    for name in ("cldyb", "edge")
}
"""Behind each stands ``--out RUN``."""
DECIDING = ("torch", "numpy", "scipy", "sklearn", "numba", "timm", "faiss")
"""Packages whose versions may change the last bits."""


def settings(name: str) -> dict[str, Any]:
    """Of a study, as its file has them."""
    said: dict[str, Any] = yaml.safe_load((ROOT / f"tests/golden/{name}.yaml").read_text())
    return said


def here() -> dict[str, dict[str, str]]:
    """This device and the versions of packages: where both are as recorded, the last bit is."""
    device = {"machine": platform.machine(), "system": platform.system(), "processor": _processor()}
    capability = torch.backends.cpu.get_cpu_capability()
    versions = {name: str(import_module(name).__version__) for name in DECIDING}
    return {"device": {**device, "capability": capability}, "versions": versions}


def _processor() -> str:
    """Vendor, family and model where Linux tells them."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    said = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in reversed(lines))}
    known = [said[name] for name in ("vendor_id", "cpu family", "model") if name in said]
    return " ".join(known) or platform.processor()


def measured(name: str, folder: Path) -> dict[str, Any]:
    """Run a study in this process, its run folder within ``folder``, and read what it found.

    ``kinds``, ``sequences`` (class ids by task) and ``values`` (J by task; S) are by sequence; ``right`` (images, lower triangle:
    trained by judged task) and ``evaluated`` (images by task) by sequence, method, role and training seed; ``figures`` are what
    the summary says: value, or value, low and high.
    """
    run = folder / name
    arguments = COMMANDS[name].replace("tests/golden", str(Path(__file__).parent)).split()[1:]
    ended = CliRunner().invoke(main, [*arguments, "--out", str(run)], catch_exceptions=False)
    if ended.exit_code:
        raise RuntimeError(ended.stderr)
    found: dict[str, Any] = {"kinds": {}, "sequences": {}, "values": {}, "right": {}, "judged": {}, "figures": {}}
    for row in pq.read_table(run / "sequences.parquet").to_pylist():
        sequence = row["sequence_id"]
        found["kinds"][sequence] = row["kind"]
        if row["position"] == 0:
            found["sequences"].setdefault(sequence, []).append([])
            found["values"].setdefault(sequence, []).append(row["value"])
        found["sequences"][sequence][-1].append(row["class_id"])
    for row in pq.read_table(run / "results.parquet").to_pylist():
        rollout = f"{row['sequence_id']} {_short(row['method_id'])} {row['role']} {row['seed']}"
        if row["evaluated_step"] == 1:
            found["right"].setdefault(rollout, []).append([])
        found["right"][rollout][-1].append(row["correct"])
        found["judged"][rollout] = [row["n"]] * row["trained_step"]
    found["figures"] = _cldyb_figures(json.loads(ended.stdout)) if name == "cldyb" else _edge_figures(run)
    return found


def _cldyb_figures(summary: dict[str, Any]) -> dict[str, list[float | None]]:
    figures = {}
    for m in (*summary["methods"], summary["mean"]):
        for side in ("found", "random"):
            for name in ("acc", "ar", "ala", "worst"):
                figures[f"{_short(m['method'])} {side} {name}"] = [m[side][name]]
        drop = m["drop"]
        figures[f"{_short(m['method'])} drop"] = [drop["relative"][name] for name in ("value", "low", "high")]
    return figures


def _edge_figures(run: Path) -> dict[str, list[float | None]]:
    [plan] = json.loads((run / "plan.json").read_text())["plans"]
    figures = {"S of random sequences: mean, sd": [plan["mean"], plan["sd"]]}
    for side in ("hard", "easy"):
        for i, extreme in enumerate(plan[side]):
            figures[f"S of {side} {i}: value, bound"] = [extreme["value"], extreme["bound"]]
    for row in pq.read_table(run / "estimates.parquet").to_pylist():
        name = f"{_short(row['method_id'])} {row['about']} {row['figure']}"
        figures[name] = [row["value"], row["low"], row["high"]]
    return figures


def _short(method: str) -> str:
    """The name of a method without its parameters."""
    return method.partition(":")[0]


def text(value: Any, indent: str = "") -> str:
    """JSON with one line for whatever is no mapping."""
    if not isinstance(value, dict):
        return json.dumps(value, allow_nan=False)
    inner = ",\n".join(f"{indent} {json.dumps(k)}: {text(v, indent + ' ')}" for k, v in value.items())
    return f"{{\n{inner}\n{indent}}}"


def write() -> None:
    """The record, of this device."""
    pin_threads()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SEQSEARCH_CACHE"] = str(Path(folder) / "cache")
        found = {
            name: {"command": command, "settings": settings(name), **measured(name, Path(folder))}
            for name, command in COMMANDS.items()
        }
    FILE.write_text(text({**here(), "studies": found}) + "\n")


if __name__ == "__main__":
    write()
