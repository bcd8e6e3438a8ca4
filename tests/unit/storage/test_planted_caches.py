"""Caches and stores that somebody made with links in them: what the links lead to stays as it is."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from seqsearch.core.errors import UserError
from seqsearch.pools.parquet import build as parquet_pool
from seqsearch.states.folder import StateFolder
from seqsearch.states.shared import StateStore
from seqsearch.states.transfer import Offer
from seqsearch.storage.store import LocalStore, open_store
from tests.unit.features.test_store import store as features
from tests.unit.pools.test_parquet import hub
from tests.unit.running.baits import bait, look

A, B = "a" * 32, "b" * 32


@pytest.mark.parametrize("what", ["root", "folder", "locks", "shard"])
def test_a_cache_of_features_follows_no_link(tmp_path: Path, what: str) -> None:
    precious, cache = bait(tmp_path / "precious"), tmp_path / "cache"
    whole = features(tmp_path / "sound")
    rows = whole.rows(np.arange(3))
    made = features(cache)
    place = {
        "root": cache / "features",
        "folder": made.folder,
        "locks": made.folder / "locks",
        "shard": made.folder / "0-000000.npy",
    }[what]
    place.parent.mkdir(parents=True)
    target = precious
    if what == "shard":
        target = precious / "0-000000.npy"
        np.save(target, np.zeros_like(rows))
    place.symlink_to(target)
    before = look(precious)
    if what == "locks":  # a lock saves work, no more
        np.testing.assert_array_equal(made.rows(np.arange(3)), rows)
    else:
        with pytest.raises(UserError, match=rf"^{place} is a link: remove it$"):
            made.rows(np.arange(3))
    assert made.missing([0]) or what == "locks"
    assert look(precious) == before


def test_what_a_killed_process_left_of_a_shard_is_swept(tmp_path: Path) -> None:
    made = features(tmp_path)
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom seqsearch.storage.files import atomic_file\n"
        "from seqsearch.storage.inside import Inside\n"
        "with atomic_file(Inside(Path(sys.argv[1])), '0-000000.npy') as file:\n"
        "    file.write(b'x' * 99)\n    file.flush()\n    print('writing', flush=True)\n    time.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(made.folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        made.missing([0])
        assert len(list(made.folder.iterdir())) == 1
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    made.missing([0])
    assert list(made.folder.iterdir()) == []


def test_the_memory_of_pools_follows_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    precious, root = bait(tmp_path / "precious"), tmp_path / "cache"
    monkeypatch.setenv("SEQSEARCH_CACHE", str(root))
    path = hub(tmp_path / "x.parquet", 9)[0]
    root.mkdir()
    (root / "pools").symlink_to(precious)
    before = look(precious)
    digest = parquet_pool(str(path)).digest
    assert look(precious) == before
    (root / "pools").unlink()
    assert parquet_pool(str(path)).digest == digest
    assert sorted(p.suffix for p in (root / "pools").iterdir()) == [".json", ".npz"]


def refusal(act: Callable[[], object]) -> str:
    """The end of what an act is refused with; empty if it was done."""
    try:
        act()
    except UserError as error:
        return str(error)[-len("is a link: remove it") :]
    return ""


@pytest.mark.parametrize("name", ["packs", f"packs/{'0' * 32}.safetensors", f"{A}.json", ".."])
def test_a_folder_of_states_follows_no_link(tmp_path: Path, name: str) -> None:
    precious, states = bait(tmp_path / "precious"), tmp_path / "states"
    folder = StateFolder(states)
    if name == "..":
        states.symlink_to(precious)
    else:
        (states / name).parent.mkdir(parents=True)
        (states / name).symlink_to(precious if name == "packs" else precious / "precious.jsonl")
    before = look(precious)
    for act in (lambda: folder.write(A, {"w": torch.ones(9)}), lambda: folder.adopt(A, b"{}", {"0" * 32: b"x"})):
        assert refusal(act) in ("", "is a link: remove it")
    folder.remove([A, "e" * 32])
    folder.evict(0)
    folder.sweep(grace=0)
    assert folder.read("e" * 32) is None
    assert look(precious) == before


@pytest.mark.parametrize("name", ["packs", f"{A}.json"])
def test_a_store_in_a_folder_follows_no_link(tmp_path: Path, name: str) -> None:
    precious, here = bait(tmp_path / "precious"), StateFolder(tmp_path / "here")
    for digest in (A, B):
        here.write(digest, {"w": torch.randn(9)})
    store = StateStore((tmp_path / "store").as_uri())
    (tmp_path / "store" / name).symlink_to(precious if name == "packs" else precious / "precious.jsonl")
    before = look(precious)
    for digest in (A, B):
        store.push(here, digest)
    store.flush()
    store.evict(0)
    for digest in (A, B, "e" * 32):
        store.fetch(digest, Offer(), StateFolder(tmp_path / "there"))
    assert look(precious) == before
    assert isinstance(open_store(str(tmp_path / "store"), "--export"), LocalStore)


def test_a_shard_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    done: list[str] = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, real=real, name=name, **k: (done.append(name), real(*a, **k))[1])
    features(tmp_path).rows(np.arange(3))
    assert done == ["fsync", "replace", "fsync"]
