"""Chooses the device of a session.

It is the device that the run began with, or that of the results that the run uses. Otherwise it is the available
device.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from actors.options import DeviceName, EngineOptions
from protocols.running.protocol import Protocol
from protocols.running.runtime import Runtime
from protocols.running.unchanged import device_of
from seqsearch.core.errors import UserError
from seqsearch.core.text import copyable
from seqsearch.results.run import read_config

CALLED = {"auto": "any device", "cpu": "the CPU", "cuda": "a GPU"}
"""Devices in words."""


def on_device(
    runtime: Runtime,
    protocol: Protocol,
    settings: Any,
    directory: Path,
    run: Path | None = None,
    began_with: DeviceName | None = None,
    here: bool = False,
) -> Runtime:
    """The runtime with a device instead of ``auto``. Results of a CPU and of a GPU are never mixed: a run keeps the device that
    it ``began_with``, and one that takes over results of another run has the device of these.

    Args:
        run: that is begun or resumed; None where only its costs are asked for.
        here: some tasks are only timed, in this process.

    Raises:
        UserError: another device is asked for, or the device is not there.
    """
    from actors.devices import decided

    engine = runtime.engine
    if not protocol.trains:
        if engine.asked == "cuda":
            raise UserError("--device cuda: this run trains nothing: leave it out")
        return replace(runtime, engine=replace(engine, device="cpu"))
    if began_with is not None:
        engine = _kept(engine, began_with, f"run {run} began on {CALLED[began_with]}", "start a new run")
    elif (of := protocol.takes_over(settings, directory)) and (device := _device_of(of)):
        other = f"train all anew on its sequences: seqsearch score {copyable(of / 'sequences.parquet')}"
        engine = _kept(engine, device, f"the results of run {of} are of {CALLED[device]}", other)
    return replace(runtime, engine=decided(engine, here))


def _kept(engine: EngineOptions, device: DeviceName, why: str, other: str) -> EngineOptions:
    """The engine with this device.

    Raises:
        UserError: another one is asked for, or it is a GPU and this machine has none.
    """
    from seqsearch.training.device import gpus_here

    if engine.asked not in (None, device):
        flag = f"--device {engine.device}" if engine.device != "auto" else f"--gpus-per-worker {engine.gpus:g}"
        raise UserError(f"{flag}: {why}, and results of the two are never mixed: leave it out, or {other}")
    if device == "cuda" and engine.address is None and not gpus_here():
        raise UserError(f"{why}, and this machine has none that torch can use: go on where there is one, or {other}")
    return replace(engine, device=device)


def _device_of(run: Path) -> DeviceName | None:
    return device_of(read_config(run).get("identity"))
