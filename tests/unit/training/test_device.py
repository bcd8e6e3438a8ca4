"""A GPU as torch takes it: pretended here, since nothing is computed on it. `tests/gpu` has what is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from seqsearch.training.device import Device
from seqsearch.training.modes import ATTENTION, attention, deterministic
from seqsearch.training.process import settings
from tests.gpus import pretend
from tests.programs import counts_memory


@pytest.fixture(autouse=True)
def modes() -> Iterator[None]:
    before = [(setting, setting.read()) for setting in settings()]
    yield
    for setting, value in before:
        setting.write(value)


def test_a_gpu_has_a_number_and_computes_deterministically(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[tuple[float, int]] = []

    def as_torch_does(share: float, device: torch.device) -> None:
        shares.append((share, torch.cuda._utils._get_device_index(device)))  # raises where the device has no number

    pretend(monkeypatch, 2)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", as_torch_does)
    assert Device("cuda", 0.25).torch == torch.device("cuda:1")
    assert shares == [(0.25, 1)]
    assert deterministic() == (True, True)
    assert dict(zip(ATTENTION, attention(), strict=True)) == {kernel: kernel == "math_sdp" for kernel in ATTENTION}


def test_the_cpu_is_left_as_it_is() -> None:
    before = attention(), deterministic()
    assert Device("cpu").torch == torch.device("cpu")
    assert (attention(), deterministic()) == before


GROWS = """
import numpy as np
from seqsearch.training.device import Device

device, kept = Device("cpu", memory=256 << 20), []

def fits(megabytes):
    kept.clear()
    try:
        with device.limited():
            for _ in range(megabytes // 32):
                kept.append(np.ones(32 << 20, dtype=np.uint8))
        return True
    except MemoryError:
        return False

answers = [fits(128), fits(512)]
with device.alone():
    answers.append(fits(512))
answers += [fits(512), fits(128)]
kept.clear()
kept.append(np.ones(512 << 20, dtype=np.uint8))  # outside of jobs nothing is limited
print(answers)
"""


THREADS = """
import resource, threading
from seqsearch.core.memory import memory_limit, private_memory

before = resource.getrlimit(resource.RLIMIT_DATA)
entered, may_end = threading.Event(), threading.Event()

def first():
    with memory_limit(private_memory() + (1 << 30)):
        entered.set()
        may_end.wait()

thread = threading.Thread(target=first)
thread.start()
entered.wait()
with memory_limit(private_memory() + (2 << 30)):
    may_end.set()
    thread.join()
    inside = resource.getrlimit(resource.RLIMIT_DATA)
print(inside != before, resource.getrlimit(resource.RLIMIT_DATA) == before)
"""

MAPPED = """
import sys
import numpy as np
from seqsearch.training.device import Device

device = Device("cpu", memory=200 << 20)
mapped = np.memmap(sys.argv[1], dtype=np.uint8, mode="r")
total = int(mapped.sum(dtype=np.int64))
with device.limited():
    print(len(np.ones(100 << 20, dtype=np.uint8)) >> 20, total)
"""

DECODES = """
import io, sys
from PIL import Image
from seqsearch.core.memory import memory_limit, private_memory
from seqsearch.pools.base import View
from seqsearch.pools.parts.decode import BadImage, decode

buffer = io.BytesIO()
Image.new("RGB", (3000, 3000)).save(buffer, "JPEG")
decode(buffer.getvalue(), View(32))
with memory_limit(private_memory() + (1 << 20)):
    try:
        decode(buffer.getvalue(), View(32))
        print("decoded")
    except MemoryError:
        print("no memory")
"""


@counts_memory
def test_limits_of_threads_end_where_they_began() -> None:
    said = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, timeout=100, check=True)
    assert said.stdout == "True True\n"


@counts_memory
def test_mapped_files_are_no_part_of_the_memory_of_a_job(tmp_path: Path) -> None:
    path = tmp_path / "mapped"
    path.write_bytes(bytes(300 << 20))
    said = subprocess.run([sys.executable, "-c", MAPPED, path], capture_output=True, text=True, timeout=100, check=True)
    assert said.stdout == "100 0\n"


@counts_memory
def test_an_image_without_memory_to_decode_it_is_not_corrupt() -> None:
    said = subprocess.run([sys.executable, "-c", DECODES], capture_output=True, text=True, timeout=100, check=True)
    assert said.stdout == "no memory\n"


@counts_memory
def test_jobs_on_a_cpu_take_their_part_of_the_memory_and_all_of_it_alone() -> None:
    said = subprocess.run([sys.executable, "-c", GROWS], capture_output=True, text=True, timeout=100, check=True)
    assert said.stdout == "[True, False, True, False, True]\n"
