"""Sparse files that somebody planted in a folder or store of states: they take no memory, and are as good as none."""

from __future__ import annotations

import io
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from pyarrow import fs

from seqsearch.states.folder import LARGEST, StateFolder
from seqsearch.states.shared import StateStore
from seqsearch.states.transfer import Offer
from seqsearch.storage.store import RemoteStore, Store, open_store

A, B = "a" * 32, "b" * 32
HUGE = 40 << 30


@pytest.fixture
def little_memory() -> Iterator[None]:
    """What this process has, and 2 GB more."""
    torch.zeros(1)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (2 << 30), hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def sparse(path: Path) -> None:
    os.truncate(path, HUGE)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A store with two states."""
    folder, path = StateFolder(tmp_path / "theirs"), tmp_path / "store"
    store = StateStore(str(path))
    for digest in (A, B):
        folder.write(digest, {"w": torch.randn(9)})
        store.push(folder, digest)
    store.flush()
    return path


def make_sparse(store: Path, what: str) -> None:
    """The manifest of state A, or its pack."""
    manifest = StateFolder(store).manifest(A)
    assert manifest is not None
    [pack] = manifest.packs
    sparse(store / f"{A}.json" if what == "manifest" else store / "packs" / f"{pack}.safetensors")


def store_at(path: Path, behind_a_url: bool) -> StateStore:
    store = StateStore(str(path))
    if behind_a_url:
        store._store = RemoteStore(fs.LocalFileSystem(), str(path))
    return store


@pytest.mark.parametrize("behind_a_url", [False, True])
@pytest.mark.parametrize("what", ["manifest", "pack"])
def test_a_store_with_a_sparse_file_serves_what_else_it_holds(
    shared: Path, tmp_path: Path, little_memory: None, what: str, behind_a_url: bool
) -> None:
    here = StateFolder(tmp_path / "here")
    make_sparse(shared, what)
    store = store_at(shared, behind_a_url)
    assert [store.fetch(d, Offer(), here) for d in (A, B)] == [None, "store"]
    assert set(store.evict(0)) == ({B} if what == "manifest" else {A, B})


@pytest.mark.parametrize("what", ["manifest", "pack"])
def test_a_folder_with_a_sparse_file_serves_what_else_it_holds(shared: Path, little_memory: None, what: str) -> None:
    folder = StateFolder(shared)
    make_sparse(shared, what)
    assert [folder.files(d) is None for d in (A, B)] == [True, False]
    assert [folder.read(d) is None for d in (A, B)] == [True, False]


@pytest.mark.parametrize("behind_a_url", [False, True])
def test_no_more_is_read_than_is_asked_for(tmp_path: Path, behind_a_url: bool) -> None:
    (tmp_path / "x").write_bytes(b"123456789")
    store: Store = RemoteStore(fs.LocalFileSystem(), str(tmp_path)) if behind_a_url else open_store(str(tmp_path), "-")
    assert store.read("x", 9) == b"123456789"
    with pytest.raises(OSError, match="it has more than"):
        store.read("x", 8)
    assert LARGEST == 256 << 20


def test_a_copy_behind_a_url_that_fails_leaves_nothing(tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError("the disk is broken")

    store = RemoteStore(fs.LocalFileSystem(), str(tmp_path))
    with pytest.raises(OSError, match="broken"):
        store.copy("x", Broken())
    assert list(tmp_path.iterdir()) == []
