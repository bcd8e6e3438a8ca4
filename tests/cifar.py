"""Miniature CIFAR-10 and CIFAR-100 in the form of the published files: pickles that cPickle of Python 2 wrote by protocol 2."""

from __future__ import annotations

import struct
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

FINE = ["apple", "aquarium_fish", "bear", "crab", "orchid", "pear", "rose", "shark"]
COARSE = ["fish", "flowers", "fruit_and_vegetables", "large_carnivores", "non-insect_invertebrates"]
COARSE_OF = [2, 0, 3, 4, 1, 2, 1, 0]
TEN = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


class Python2:
    """Writes values as cPickle of Python 2 does."""

    def __init__(self) -> None:
        self._memo = 0

    def dumps(self, value: Any) -> bytes:
        return b"\x80\x02" + self._value(value) + b"."

    def _put(self) -> bytes:
        self._memo += 1
        return b"q" + bytes([self._memo]) if self._memo < 256 else b"r" + struct.pack("<i", self._memo)

    def _value(self, value: Any) -> bytes:
        if value is None:
            return b"N"
        if isinstance(value, bool):
            return b"\x88" if value else b"\x89"
        if isinstance(value, int):
            return b"K" + bytes([value]) if 0 <= value < 256 else b"J" + struct.pack("<i", value)
        if isinstance(value, str | bytes):
            data = value.encode() if isinstance(value, str) else value
            head = b"U" + bytes([len(data)]) if len(data) < 256 else b"T" + struct.pack("<i", len(data))
            return head + data + self._put()
        if isinstance(value, list):
            return b"]" + self._put() + b"(" + b"".join(map(self._value, value)) + b"e"
        if isinstance(value, tuple):
            inner = b"".join(map(self._value, value))
            return (
                inner + {2: b"\x86", 3: b"\x87"}[len(value)] if len(value) < 4 else b"(" + inner + b"t"
            ) + self._put()
        if isinstance(value, dict):
            head = b"}" + self._put() + b"("
            return head + b"".join(self._value(k) + self._value(v) for k, v in value.items()) + b"u"
        assert isinstance(value, np.ndarray)
        return self._array(value)

    def _array(self, value: np.ndarray[Any, Any]) -> bytes:
        made = b"cnumpy.core.multiarray\n_reconstruct\n" + self._put() + b"cnumpy\nndarray\n" + self._put()
        made += b"K\x00\x85" + self._put() + self._value("b") + b"\x87" + self._put() + b"R" + self._put()
        state = b"(K\x01" + self._value(value.shape) + self._kind(value.dtype) + self._value(False)
        return made + state + self._value(value.tobytes()) + b"t" + self._put() + b"b"

    def _kind(self, kind: np.dtype[Any]) -> bytes:
        made = b"cnumpy\ndtype\n" + self._put() + self._value(kind.str[1:])
        made += b"K\x00K\x01\x87" + self._put() + b"R" + self._put()
        return made + self._value((3, kind.str[0], None, None, None, -1, -1, 0)) + b"b"


def write_cifar100(root: Path, train: int = 6, test: int = 4) -> Path:
    """``root/cifar-100-python``: so many random images of each of eight classes."""
    folder, rng = root / "cifar-100-python", np.random.default_rng(0)
    folder.mkdir(parents=True)
    meta = {"fine_label_names": FINE, "coarse_label_names": COARSE}
    (folder / "meta").write_bytes(Python2().dumps(meta))
    for name, count in (("train", train), ("test", test)):
        labels = rng.permutation(np.repeat(np.arange(len(FINE)), count)).tolist()
        content = {
            "filenames": [f"{FINE[label]}_s_{i:06d}.png" for i, label in enumerate(labels)],
            "batch_label": f"{name}ing batch 1 of 1",
            "fine_labels": labels,
            "coarse_labels": [COARSE_OF[label] for label in labels],
            "data": rng.integers(0, 256, (len(labels), 3072), dtype=np.uint8),
        }
        (folder / name).write_bytes(Python2().dumps(content))
    (folder / "file.txt~").write_text("")
    return folder


def write_cifar10(root: Path, per_batch: int = 20) -> Path:
    """``root/cifar-10-batches-py``: five files of training images and one of test images."""
    folder, rng = root / "cifar-10-batches-py", np.random.default_rng(1)
    folder.mkdir(parents=True)
    meta = {"num_cases_per_batch": per_batch, "label_names": TEN, "num_vis": 3072}
    (folder / "batches.meta").write_bytes(Python2().dumps(meta))
    for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"):
        labels = rng.permutation(np.arange(per_batch) % 10).tolist()
        content = {
            "batch_label": name,
            "labels": labels,
            "data": rng.integers(0, 256, (per_batch, 3072), dtype=np.uint8),
            "filenames": [f"{TEN[label]}_{i}.png" for i, label in enumerate(labels)],
        }
        (folder / name).write_bytes(Python2().dumps(content))
    return folder


def packed(folder: Path, name: str) -> Path:
    """The folder as an archive beside it."""
    with tarfile.open(folder.parent / name, "w:gz") as archive:
        archive.add(folder, folder.name)
    return folder.parent / name
