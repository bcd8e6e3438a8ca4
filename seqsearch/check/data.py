"""``seqsearch check`` of a custom pool or stream: does it keep the contracts of ``docs/custom_data.md``? Nothing is trained.

A pool is read by the process of a run, by threads of it, and by workers on other machines, each of which makes the pool
again from its text. So a pool that changes between two readings gives results that nobody can repeat.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqsearch.check.finding import Finding
from seqsearch.core import command_line
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item
from seqsearch.core.installation import ROOT
from seqsearch.core.registry import load, made, user_code
from seqsearch.core.typed import brief
from seqsearch.pools.base import GIVEN, ClassInfo, Pool, Rows, Split, SplitSizes, View, is_captioned, row_offsets
from seqsearch.pools.open import build_pool, located_pool
from seqsearch.pools.parts.subset import OPTIONS
from seqsearch.streams.base import Stream
from seqsearch.streams.open import build_stream, located_stream
from seqsearch.streams.parts import parts_of

DataKind = Literal["pool", "stream"]
VIEWS = View(16), View(24, crop_pct=0.9, interpolation="bilinear")
"""How images are looked at: small, so that a check of large images is quick."""
Test = tuple[str, str, Callable[[], str]]
"""A contract, its condition, and the function that returns the break in words, or nothing."""
BASIC = "P1", "P3", "S1", "S3"
"""Contracts that those behind them build on."""
WARNS = ("P6",)
"""Contracts whose break is a warning: no run asks for such rows."""


def data_kind(item: Item) -> DataKind | None:
    """What a custom ``FILE.py:OBJECT`` is; None for a method, a learner, a command, and for whatever has a name of ours.

    A function is called once, because only its result says what it makes.

    Raises:
        UserError: the file does not load, or the function fails.
    """
    if ":" not in item.target or command_line.is_one(item.target):
        return None
    found = load("method", item.target)
    if any(hasattr(found, name) for name in ("fit_task", "learn", "Config")):
        return None
    if isinstance(found, type):
        if issubclass(found, Stream):
            return "stream"
        return "pool" if hasattr(found, "images") else None
    if not callable(found):
        return None
    said: DataKind = "stream" if "Stream" in str(inspect.signature(found).return_annotation) else "pool"
    result = made(said, replace(item, params=tuple(p for p in item.params if p[0] not in OPTIONS)), ())
    if isinstance(result, Stream):
        return "stream"
    return "pool" if hasattr(result, "images") else None


def data_findings(kind: DataKind, text: str) -> list[Finding]:
    """One finding for each contract.

    Raises:
        UserError: it cannot be made.
    """
    if kind == "pool":
        return _findings(_pool_tests(build_pool(text), located_pool(text, Path.cwd())))
    return _findings(_stream_tests(build_stream(text), located_stream(text, Path.cwd())))


def _findings(tests: list[Test]) -> list[Finding]:
    """Those behind a broken one of `BASIC` would only repeat its break, and are not tested."""
    found: list[Finding] = []
    basic = ""
    for contract, asks, wrong in tests:
        said = f"not tested: see {basic}" if basic else _said(wrong)
        found.append(Finding(contract, asks, said, tested=not basic, warns=contract in WARNS))
        if said and contract in BASIC:
            basic = basic or contract
    return found


def _said(wrong: Callable[[], str]) -> str:
    """The break in words, which may be an error that the custom code raises."""
    try:
        with user_code("it failed"):
            return wrong()
    except UserError as error:
        return str(error)


def _pool_tests(pool: Pool, text: str) -> list[Test]:
    tests: list[Test] = [
        ("P1", "its members have the types that a pool has", lambda: _form(pool)),
        ("P2", "each class has images for training, validation, reward and test", lambda: _parted(pool)),
        ("P3", "images() depends on the row alone", lambda: _by_row(pool)),
        ("P4", "another thread reads the same", lambda: _in_thread(pool)),
        ("P5", "made again in another process and folder, it is the same", lambda: _again("pool", text, pool)),
        ("P6", "rows that it does not have are refused", lambda: _outside(pool)),
    ]
    if is_captioned(pool):
        tests.append(("P7", "texts() gives one text per image, always the same", lambda: _texts(pool)))
    return tests


def _stream_tests(stream: Stream, text: str) -> list[Test]:
    pool = stream.pool
    tests: list[Test] = [
        ("S1", "its arrays and those of its pool have the types that a stream has", lambda: _stream_form(stream)),
        ("S2", "its pool holds each sample once, in the class of its label", lambda: _rows_of_samples(stream)),
        ("S3", "an image or a feature vector depends on its row alone", lambda: _by_row(pool)),
        ("S4", "another thread reads the same", lambda: _in_thread(pool)),
        ("S5", "made again in another process and folder, it is the same", lambda: _again("stream", text, stream)),
        ("S6", "it is long enough for search part, main part and holdout", lambda: _long_enough(stream)),
    ]
    return tests


def _form(pool: Pool) -> str:
    """P1."""
    wrong = _wrong_type(pool.name, str, "name") or _wrong_type(pool.digest, str, "digest")
    wrong = wrong or _wrong_type(pool.classes, tuple, "classes") or _wrong_type(pool.native_size, int, "native_size")
    wrong = wrong or _wrong_type(pool.split_sizes, SplitSizes, "split_sizes")
    if wrong:
        return wrong
    if not pool.digest:
        return "digest is empty: it must identify the images, e.g. digest_of(...) of their bytes"
    if not pool.classes:
        return "classes is empty: name at least one ClassInfo"
    for info in pool.classes:
        if not isinstance(info, ClassInfo) or not isinstance(info.count, int) or info.count < 0:
            return f"classes has {brief(info)}: must be ClassInfo(name, group, count), count a whole number from 0"
    names = [(c.group, c.name) for c in pool.classes]
    if double := next((n for n in names if names.count(n) > 1), None) if len(set(names)) < len(names) else None:
        return f"class {double[1]!r} of group {double[0]!r} is there twice: give each a name of its own"
    total = int(row_offsets(pool.classes)[-1])
    if pool.given is not None and not _is_array(pool.given, np.uint8, total, len(GIVEN)):
        return f"given must be None or a uint8 array [{total}] of 0 (train), 1 (reward) and 2 (test)"
    bound = getattr(pool, "bound", None)
    if bound is not None and not (
        isinstance(bound, np.ndarray) and bound.shape == (total,) and bound.dtype.kind in "iu"
    ):
        return f"bound must be an array [{total}] of whole numbers"
    return ""


def _wrong_type(value: object, kind: type, name: str) -> str:
    return "" if isinstance(value, kind) else f"{name} is {brief(value)}: must be of type {kind.__name__}"


def _is_array(array: object, kind: Any, length: int, below: int) -> bool:
    """Whether it is an array ``[length]`` of this kind with values from 0."""
    right = isinstance(array, np.ndarray) and array.dtype == kind and array.shape == (length,)
    return right and bool((np.asarray(array) < below).all())


def _parted(pool: Pool) -> str:
    """P2."""
    Split(pool, 0).check(range(len(pool.classes)))
    return ""


def _looked_at(pool: Pool) -> Rows:
    """A few rows, out of order and one of them twice."""
    total = int(row_offsets(pool.classes)[-1])
    return np.array([total - 1, total // 3, 0, total // 2, total // 3], dtype=np.int64)


def _read(pool: Any, rows: Rows, view: View = VIEWS[0]) -> NDArray[Any]:
    """Images, or the precomputed features of a stream without images; an empty array of one with neither."""
    if not hasattr(pool, "given_features"):
        return np.asarray(pool.images(rows, view))
    return np.asarray(pool.given_features(rows)) if pool.dim else np.empty((len(rows), 0), dtype=np.float32)


def _by_row(pool: Pool) -> str:
    """P3, S3."""
    rows = _looked_at(pool)
    for view in VIEWS:
        together = _read(pool, rows, view)
        if len(together) != len(rows):
            return f"{len(together)} come for {len(rows)} rows"
        if together.dtype.kind == "f" and not np.isfinite(together).all():
            return "features are not finite numbers"
        for place, row in enumerate(rows):
            if not np.array_equal(together[place], _read(pool, rows[place : place + 1], view)[0]):
                return f"row {row} differs when it is read alone: images of a row must not depend on other rows or on the order"
    return ""


def _in_thread(pool: Pool) -> str:
    """P4, S4. A pool that says so (``concurrent``) is read by several threads at once."""
    rows, several = _looked_at(pool), bool(getattr(pool, "concurrent", False))
    before = _read(pool, rows)
    with ThreadPoolExecutor(4 if several else 1) as threads:
        found = list(threads.map(lambda _: _read(pool, rows), range(8 if several else 1)))
    if all(np.array_equal(before, other) for other in found):
        return ""
    return "images differ: keep no position in an open file between calls" + " (concurrent is true)" * several


def _outside(pool: Pool) -> str:
    """P6."""
    total = int(row_offsets(pool.classes)[-1])
    for row in (-1, total):
        try:
            pool.images(np.array([row]), VIEWS[0])
        except Exception:
            continue
        return f"row {row} gives an image, and rows are 0 to {total - 1}: begin images() with checked_rows(rows, name, total)"
    return ""


def _texts(pool: Any) -> str:
    """P7."""
    rows = _looked_at(pool)
    texts = pool.texts(rows)
    if not isinstance(texts, list) or len(texts) != len(rows) or not all(isinstance(t, str) and t for t in texts):
        return f"texts() gives {brief(texts)} for {len(rows)} rows: must be a list of so many texts that are not empty"
    return "" if texts == pool.texts(rows) else "the same rows have other texts the second time"


def _stream_form(stream: Stream) -> str:
    """S1; what `seqsearch.streams.base.checked` asks for has been checked when it was made."""
    wrong = _wrong_type(stream.name, str, "name") or _wrong_type(stream.digest, str, "digest")
    wrong = wrong or _wrong_type(stream.classes, tuple, "classes")
    wrong = wrong or next((w for c in stream.classes if (w := _wrong_type(c, str, "a name in classes"))), "")
    for name in ("labels", "times", "rows"):
        array = getattr(stream, name)
        if not wrong and not (isinstance(array, np.ndarray) and array.dtype.kind in "iu" and array.ndim == 1):
            wrong = f"{name} must be an array [n] of whole numbers"
    for name, value in stream.known.items():
        if not wrong and not (isinstance(value, int | float) and math.isfinite(value)):
            wrong = f"known has {name}={brief(value)}: must be a finite number"
    return (
        wrong or ("" if stream.digest else "digest is empty: it must identify samples and images") or _form(stream.pool)
    )


def _rows_of_samples(stream: Stream) -> str:
    """S2."""
    offsets, total = row_offsets(stream.pool.classes), len(stream)
    names = tuple(c.name for c in stream.pool.classes)
    if names != stream.classes:
        return f"classes of the pool are {brief(names)}, those of the stream {brief(stream.classes)}: must be the same, in order"
    if offsets[-1] != total:
        return f"its pool has {offsets[-1]} images for {total} samples: must be one for each"
    rows = np.asarray(stream.rows)
    if rows.min() < 0 or rows.max() >= total or not (np.bincount(rows, minlength=total) == 1).all():
        return "rows must have each row of the pool once: rows = rows_of(by_class(labels)) of seqsearch.streams.rows"
    wrong = np.flatnonzero(np.searchsorted(offsets, rows, side="right") - 1 != stream.labels)
    if len(wrong):
        first = int(wrong[0])
        return f"sample {first} has label {stream.labels[first]}, and its row {rows[first]} lies in another class of the pool"
    return ""


def _long_enough(stream: Stream) -> str:
    """S6, with the shares that a run takes by default."""
    parts_of(stream, search=0.1, holdout=0.05, seed=0)
    return ""


def printed(kind: DataKind, text: str) -> Mapping[str, str]:
    """What must be the same wherever a pool or stream is made: by name, a digest.

    Raises:
        UserError: it cannot be made or read.
    """
    return _print(build_pool(text) if kind == "pool" else build_stream(text))


def _print(data: Pool | Stream) -> dict[str, str]:
    pool = data.pool if isinstance(data, Stream) else data
    found = {
        "digest": data.digest,
        "classes": digest_of([(c.name, c.group, c.count) for c in pool.classes]),
        "given": "" if data.given is None else digest_of(data.given.tobytes()),
        "images": digest_of(_read(pool, _looked_at(pool)).tobytes()),
    }
    if isinstance(data, Stream):
        found |= {name: digest_of(np.asarray(getattr(data, name)).tobytes()) for name in ("labels", "times", "rows")}
    return found


ADVICE = {
    "digest": "make it of the content, never of a time, a path, id() or hash()",
    "classes": "sort what a folder or a set gives",
    "images": "draw from a generator with a seed of its own",
}
"""What usually mends a member that differs between processes."""
ELSEWHERE = """
import json, sys
from seqsearch.check.data import printed
from seqsearch.core.errors import UserError
try:
    found = dict(printed(sys.argv[1], sys.argv[2]))
except UserError as error:
    sys.exit(str(error))
print("\\n" + json.dumps(found))
"""


def _again(kind: DataKind, text: str, data: Pool | Stream) -> str:
    """P5, S5: in an empty folder, with other hashes of texts. It is what each worker does."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", ELSEWHERE, kind, text],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "12345"},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return f"it cannot be made there ({said}): name files by their full paths, or from Path(__file__)"
    here, there = _print(data), json.loads(done.stdout.splitlines()[-1])
    names = [name for name, value in here.items() if there[name] != value]
    advice = next((f": {name}: {said}" for name, said in ADVICE.items() if name in names), "")
    return f"{' and '.join(names)} differ there{advice}" if names else ""
