"""What this machine has of what runs need: versions, devices, Ray, FAISS, disk, the hub, memory; and the command that helps."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import faiss
import numpy as np
import torch
from huggingface_hub import constants, get_token
from numpy.typing import NDArray

from actors.token import DEFAULT_TOKEN, keep_private
from protocols.running.memory import gigabytes
from seqsearch.backbones.parts.hub import reachable
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.identity import versions
from seqsearch.core.installation import ROOT
from seqsearch.core.types import StateKey
from seqsearch.storage.files import cache_root
from seqsearch.training.cache_budget import free_memory
from seqsearch.training.device import device_here, names_of_gpus
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

State = Literal["ok", "optional", "warning", "missing"]
EXTRAS = ("text", "optuna", "multimodal", "pictures", "tensorboard", "wandb", "trackio")
"""Optional dependencies of users."""
LEAST_DISK, LEAST_SHARED = 10 * 10**9, 10**9
"""Bytes below which a warning is due: of the cache and of the runs, and of the memory that Ray shares between workers."""
WORKER = 10**9
"""Bytes that a worker takes with the embedded backbone; larger networks take more."""


ALIKE, APART = 1e-3, 0.2
"""Most that frozen features may differ between devices, and accuracies of the small study of ``--gpu`` without a warning."""


@dataclass(frozen=True)
class Finding:
    """Something that was looked at.

    Attributes:
        state: ``missing`` keeps runs from working, ``warning`` may, ``optional`` is for one feature.
        fix: a command, or what to do; empty if nothing is to be done.
    """

    part: str
    state: State
    text: str
    fix: str = ""


def examine() -> Iterator[Finding]:
    """All findings, part by part; some take seconds."""
    for look in (_program, _libraries, _extras, _devices, _ray, _faiss, _disk, _hub, _memory):
        yield from look()


def _program() -> Iterator[Finding]:
    version, system = importlib.metadata.version("seqsearch"), f"{platform.system()} {platform.machine()}"
    yield Finding("program", "ok", f"seqsearch {version} in {ROOT}, Python {platform.python_version()} on {system}")


def _libraries() -> Iterator[Finding]:
    try:
        found = {**versions(), **{name: importlib.metadata.version(name) for name in ("ray", "pyarrow")}}
    except importlib.metadata.PackageNotFoundError as error:
        name = str(error.name)
        yield Finding("libraries", "missing", f"{name} is not installed", f"{sys.executable} -m pip install {name}")
        return
    yield Finding("libraries", "ok", ", ".join(f"{name} {v}" for name, v in found.items() if name != "seqsearch"))


def _extras() -> Iterator[Finding]:
    """Packages of extras that are not installed."""
    for requirement in importlib.metadata.requires("seqsearch") or ():
        wanted, _, condition = requirement.partition(";")
        extra = re.search(r"extra == ['\"](\w+)['\"]", condition)
        if extra is None or extra[1] not in EXTRAS or wanted.startswith("seqsearch["):
            continue
        name = re.split(r"[<>=!~ \[]", wanted)[0]
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            fix = f"{sys.executable} -m pip install '{wanted.strip()}'"
            yield Finding("extras", "optional", f"{name} of extra {extra[1]} is not installed", fix)


def _devices() -> Iterator[Finding]:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Finding("devices", "ok", f"{cpus} CPU cores")
    gpus = names_of_gpus()
    if gpus:
        yield Finding("devices", "ok", f"{', '.join(gpus)}, CUDA {torch.version.cuda}")
    elif shutil.which("nvidia-smi"):
        fix = "compare the driver of nvidia-smi with the CUDA of torch, and install a torch for this driver"
        yield Finding("devices", "warning", f"a GPU is here, but torch {torch.__version__} cannot use it", fix)
    else:
        yield Finding("devices", "ok", "no GPU: methods compute on the CPU")


def _ray() -> Iterator[Finding]:
    if address := os.environ.get("RAY_ADDRESS"):
        yield Finding(
            "ray", "warning", f"RAY_ADDRESS={address}: runs without --address use that cluster", "unset RAY_ADDRESS"
        )
    try:
        keep_private(create=False)
    except (UserError, OSError) as error:
        yield Finding("ray", "missing", str(error))
        return
    token = "there" if DEFAULT_TOKEN.expanduser().is_file() else "made when Ray first starts"
    yield Finding("ray", "ok", f"the token of this user's clusters is {token}")


def _faiss() -> Iterator[Finding]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 8)).astype(np.float32)
    index = faiss.IndexFlatIP(8)
    index.add(x)
    _, found = index.search(x, 1)
    nearest = (x @ x.T).argmax(axis=1)
    if (found[:, 0] == nearest).all():
        gpus = faiss.get_num_gpus() if hasattr(faiss, "get_num_gpus") else 0
        yield Finding("faiss", "ok", f"faiss {faiss.__version__} finds neighbours, and sees {gpus} GPUs")
    else:
        fix = f"{sys.executable} -m pip install --force-reinstall faiss-cpu"
        yield Finding("faiss", "missing", "faiss finds other neighbours than numpy", fix)


def _disk() -> Iterator[Finding]:
    places = (("cache of features", cache_root(), LEAST_DISK), ("runs", Path.cwd(), LEAST_DISK))
    for name, path, least in (*places, ("shared memory", Path("/dev/shm"), LEAST_SHARED)):
        there = next((p for p in (path, *path.parents) if p.exists()), None)
        if there is None:
            continue
        free, can = shutil.disk_usage(there).free, there.is_dir() and os.access(there, os.W_OK)
        text = f"{name}: {gigabytes(free)} free at {path}"
        if not can:
            yield Finding(
                "disk",
                "missing",
                f"{name}: {path} cannot be written",
                "make it a folder of yours, or set SEQSEARCH_CACHE" if path == cache_root() else f"chmod u+w {there}",
            )
        elif free < least:
            fix = (
                "docker run --shm-size=4g"
                if least == LEAST_SHARED
                else "free some space, or set SEQSEARCH_CACHE and --out"
            )
            yield Finding("disk", "warning", f"{text}, below {gigabytes(least)}", fix)
        else:
            yield Finding("disk", "ok", text)


def _hub() -> Iterator[Finding]:
    cache = f"weights come from {constants.HF_HUB_CACHE}"
    if constants.HF_HUB_OFFLINE:
        yield Finding("hub", "ok", f"HF_HUB_OFFLINE is set: {cache}")
    elif reachable():
        token = "a token is there" if get_token() else "no token, which gated weights need (hf auth login)"
        yield Finding("hub", "ok", f"{constants.ENDPOINT} answers, {token}")
    else:
        fix = "copy weights into its cache (HF_HUB_CACHE), or name files by --weights BACKBONE=FILE"
        yield Finding("hub", "warning", f"{constants.ENDPOINT} does not answer: {cache}", fix)


def _memory() -> Iterator[Finding]:
    free = free_memory()
    workers = os.cpu_count() or 1
    text = f"{gigabytes(free)} available, {gigabytes(free / workers)} for each of {workers} workers"
    if free < workers * WORKER:
        fix = f"--workers {max(1, free // WORKER)}"
        yield Finding("memory", "warning", f"{text}, below {gigabytes(WORKER)}", fix)
    else:
        yield Finding("memory", "ok", text)


# ------------------------------------------------------------------------------------------------ CPU and GPU


class _Trained(NamedTuple):
    accuracy: float
    seconds: float
    features: NDArray[np.float32]


def compared_devices() -> Iterator[Finding]:
    """A small study on the CPU and on the GPU: features of the frozen network, accuracy after two tasks, and time.

    Raises:
        UserError: torch can use no GPU.
    """
    gpu = device_here("cuda", "doctor --gpu")
    with tempfile.TemporaryDirectory() as scratch:
        on_cpu, on_gpu = (_trained(device, scratch) for device in ("cpu", gpu))
    difference = float(np.abs(on_cpu.features - on_gpu.features).max())
    state: State = "ok" if difference < ALIKE else "missing"
    yield Finding(
        "gpu", state, f"features differ from those of the CPU by at most {difference:.1e}, allowed is {ALIKE:.0e}"
    )
    apart = abs(on_cpu.accuracy - on_gpu.accuracy)
    both = (
        f"accuracy after two tasks: {100 * on_cpu.accuracy:.1f} % on the CPU, {100 * on_gpu.accuracy:.1f} % on the GPU"
    )
    yield Finding("gpu", "ok" if apart <= APART else "warning", both)
    yield Finding("gpu", "ok", f"training took {on_cpu.seconds:.1f} s on the CPU, {on_gpu.seconds:.1f} s on the GPU")


def _trained(device: str, scratch: str) -> _Trained:
    world = World("glyphs:classes=10", 0, scratch, scratch, device)
    spec = world.spec(parse_item("finetune:epochs=2", "method"), "glyph_vit")
    trainer, tasks = Trainer(world), (world.task(range(5)), world.task(range(5, 10)))
    key, begin = StateKey(spec, 0, 0, tasks), time.perf_counter()
    method = trainer.state(key, [], keep=False)
    seconds = time.perf_counter() - begin
    evaluated = trainer.scenario.evaluate(method, key, "test")
    right, images = sum(map(sum, evaluated.classifiers[0].correct)), sum(map(sum, evaluated.counts))
    rows, _ = world.rows(tasks[0].classes, "test")
    return _Trained(right / images, seconds, trainer.source(spec.backbone).frozen(rows).cpu().numpy())
