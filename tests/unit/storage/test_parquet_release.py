"""A file that a thread of Arrow still holds is waited for: let go of while Python ends, it would take the process down."""

from __future__ import annotations

import threading
import time

import pytest

from seqsearch.storage import parquet_file


def test_a_held_file_is_waited_for() -> None:
    file, released = parquet_file._Unread(10), threading.Event()

    def hold(held: list[parquet_file._Unread]) -> None:
        time.sleep(0.1)
        released.set()
        held.clear()

    threading.Thread(target=hold, args=([file],)).start()
    parquet_file._await_release(file)
    assert released.is_set()


def test_it_is_not_waited_for_longer_than_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_file, "PATIENCE", 0.01)
    file = parquet_file._Unread(10)
    kept = [file]
    parquet_file._await_release(file)
    assert kept == [file]
