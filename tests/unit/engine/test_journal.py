"""The memory of a run: replay, torn lines, hand edits, altered arrays, a full disk."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqsearch.core.bits import packed
from seqsearch.core.errors import UserError
from seqsearch.core.outcomes import ClassifierCounts, EdgeResult, ProbeResult
from seqsearch.engine.journal import Journal

RIGHT = packed(np.array([1, 1, 1, 0, 0, 1, 0, 1], dtype=bool))
"""Which of eight images are right: 2 and 1 of the first task's classes, 1 and 1 of the second's."""


def edge(name: str, status: Any = "ok") -> EdgeResult:
    head = ClassifierCounts("head", ((2, 1), (1, 1)), ((2, 2), (2, 2)), RIGHT)
    other = ClassifierCounts("nme", ((0, 1), (1, 1)), ((0, 1), (2, 1)))
    return EdgeResult(
        name,
        f"state-{name}",
        status,
        ((2, 2), (2, 2)),
        (head, other),
        (("drift", -0.5),),
        (f"state-{name}",),
        "space",
        (("params", 8),),
        1.5,
        0.5,
    )


def probe(name: str) -> ProbeResult:
    return ProbeResult(name, np.arange(6, dtype=np.float32).reshape(2, 3), 0.25, (), "w")


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    first = Journal(tmp_path)
    first.add(edge("a"))
    first.add(probe("p"))
    first.note(session="begin")
    first.close()
    second = Journal(tmp_path)
    assert second.edge("a") == edge("a")
    again = second.probe("p")
    assert again is not None
    np.testing.assert_array_equal(again.values, probe("p").values)
    assert second.edge("b") is None
    assert second.probe("q") is None
    assert second.replayed == 1
    assert len(second.entries) == 3


def test_a_training_of_an_earlier_session_counts_once(tmp_path: Path) -> None:
    """A stored state was trained by an earlier session. Its training is counted again only if no line has it."""
    first = Journal(tmp_path)
    first.add(edge("a"))
    first.close()
    second = Journal(tmp_path)
    second.add(replace(edge("b"), earlier=("state-a", "state-lost")))
    found = second.edge("b")
    assert found is not None
    assert found.trained == ("state-lost", "state-b")
    assert second.trained == 3
    second.add(replace(edge("c"), trained=(), earlier=("state-lost",)))
    assert second.trained == 3


def test_a_torn_last_line_is_dropped_wherever_it_tears(tmp_path: Path) -> None:
    whole = Journal(tmp_path)
    whole.add(edge("a"))
    size = whole.path.stat().st_size
    whole.add(edge("b"))
    whole.close()
    data = whole.path.read_bytes()
    for cut in range(size, len(data)):
        whole.path.write_bytes(data[:cut])
        torn = Journal(tmp_path)
        assert torn.edge("a") == edge("a")
        assert torn.edge("b") is None
        torn.add(edge("c"))
        torn.close()
        assert Journal(tmp_path).edge("c") == edge("c")


@pytest.mark.parametrize(
    "line",
    ["not json", "[]", '{"edge": {}}', '{"edge": {"digest": "x", "surprise": 1}}', "3", '{"probe": {"digest": 1}}'],
)
def test_a_line_edited_by_hand_is_named(tmp_path: Path, line: str) -> None:
    journal = Journal(tmp_path)
    journal.add(edge("a"))
    journal.close()
    with journal.path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(UserError, match=r"journal\.jsonl, line 2: not a line of a journal"):
        Journal(tmp_path)


def test_an_altered_or_missing_array_is_computed_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add(probe("p"))
    array = next((tmp_path / "arrays").iterdir())
    array.write_bytes(array.read_bytes()[:-1] + b"x")
    assert journal.probe("p") is None
    array.unlink()
    assert journal.probe("p") is None


def test_failures_are_tried_again_and_divergence_is_not(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add(edge("failed", "failed"))
    journal.add(edge("oom", "oom"))
    journal.add(edge("diverged", "diverged"))
    journal.close()
    again = Journal(tmp_path)
    assert again.edge("failed") is None
    assert again.edge("oom") is None
    assert again.edge("diverged") is not None


FULL = """
import resource, signal, sys
from pathlib import Path
from tests.unit.engine.test_journal import edge
from seqsearch.core.errors import UserError
from seqsearch.engine.journal import Journal
import seqsearch.storage.files, errno

errno.ENOSPC = errno.EFBIG  # a file-size limit stands in for a full disk
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal(Path(sys.argv[1]))
journal.add(edge("a"))
size = journal.path.stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + int(sys.argv[2]), size + int(sys.argv[2])))
try:
    journal.add(edge("b"))
except UserError as error:
    print(error)
journal.close()
"""


@pytest.mark.parametrize("room", [0, 1, 40, 200])
def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path, room: int) -> None:
    said = subprocess.run([sys.executable, "-c", FULL, tmp_path, str(room)], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("the disk is full: could not write ")
    again = Journal(tmp_path)
    assert again.edge("a") == edge("a")
    assert again.edge("b") is None
    again.add(edge("b"))
    assert Journal(tmp_path).edge("b") == edge("b")
