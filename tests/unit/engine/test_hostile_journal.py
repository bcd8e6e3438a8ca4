"""A journal that somebody edited, or made up: one line that names file and line, nothing executed, no memory taken."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.engine.journal import Journal
from seqsearch.engine.journal_lines import LONGEST, understood, written
from tests.unit.engine.test_journal import edge, probe

NAN, INFINITY = float("nan"), float("inf")


def forged(kind: str = "edge", **changes: Any) -> bytes:
    """A line with a right checksum and wrong values."""
    values = dataclasses.asdict(edge("f")) if kind == "edge" else {"digest": "d", "sha": "0" * 32}
    return written({kind: {**values, **changes}})


def head(**changes: Any) -> bytes:
    """A line whose first classifier has wrong values."""
    first, *others = dataclasses.asdict(edge("f"))["classifiers"]
    return forged(classifiers=[{**first, **changes}, *others])


OTHERS = [{"name": "head", "correct": [[1, 1], [1, 1]], "masked": [[1, 1], [1, 1]], "images": ""}]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    made = Journal(tmp_path)
    made.add(edge("a"), probe("p"))
    made.add(edge("b"))
    made.close()
    return made.path


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1, exclude_max=True), to=st.integers(0, 255))
def test_any_byte_of_a_journal_that_was_changed_is_noticed(journal: Path, at: float, to: int) -> None:
    data = journal.read_bytes()
    where = int(at * len(data))
    changed = data[:where] + bytes([to]) + data[where + 1 :]
    journal.write_bytes(changed)
    if changed == data or where == len(data) - 1:  # the end of the last line was overwritten: it is torn
        again = Journal(journal.parent)
        again.close()
        assert again.replayed == (2 if changed == data else 1)
    else:
        with pytest.raises(UserError, match=rf"{journal}, line \d: not a line of a journal"):
            Journal(journal.parent)
    journal.write_bytes(data)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"edge":{}}\n', "no checksum"),
        (b"\x00\xff\xfe" * 9 + b"\n", "no checksum"),
        (b"\n", "no checksum"),
        (b"[" * 10**6 + b"\n", "no checksum"),
        (forged()[:-80] + b"\n", "no checksum"),
        (forged().replace(b"1.5", b"2.5"), "changed after it was written"),
        (written({"edge": [1]}), "neither a result nor a note"),
        (written({"edge": {}, "note": {}}), "neither a result nor a note"),
        (written({"other": {}}), "neither a result nor a note"),
        (forged(digest=3), "digest is 3"),
        (forged(status="perfect"), "status is 'perfect'"),
        (head(correct=[[3.5, 2], [1, 1]]), "classifiers is "),
        (head(correct="33"), "classifiers is "),
        (head(surprise=1), "classifiers is "),
        (forged(classifiers=[[1]]), "classifiers is "),
        (head(correct=[[99, 1], [1, 1]]), "more images right than were evaluated"),
        (head(masked=[[2, 2], [2, 3]]), "more images right than were evaluated"),
        (head(correct=[[2, 1]]), "a row of results that is not whole"),
        (head(correct=[[2, 1], [2]]), "a row of results that is not whole"),
        (head(correct=[[1, 1], [1, 1]]), "other images right than are counted"),
        (head(images="AAAA"), "bytes cannot hold"),
        (head(images="!"), "no base64 text"),
        (head(name="nme"), "without what was evaluated"),
        (forged(classifiers=[]), "without what was evaluated"),
        (forged(judged=[[0, 0], [2, 2]]), "nothing was evaluated of a group"),
        (forged(judged=[[-1, 5], [2, 2]]), "judged is "),
        (forged(classifiers=dataclasses.asdict(edge("f"))["classifiers"][:1] * 2), "two classifiers of one name"),
        (forged(train_seconds=NAN), "train_seconds is nan"),
        (forged(train_seconds=-1), "train_seconds is -1"),
        (forged(judge_seconds=INFINITY), "judge_seconds is inf"),
        (forged(peak_memory=10**30), "peak_memory is "),
        (forged(footprint=[["params", True]]), "footprint is "),
        (forged(surprise=1), "unknown field 'surprise'"),
        (written({"edge": {"digest": "x"}}), "no field 'state'"),
        (forged("probe", sha="../../../../etc/passwd"), "without the hash of its array"),
        (forged("probe", sha=None), "without the hash of its array"),
        (forged("probe", seconds="soon"), "seconds is 'soon'"),
        (written({"note": {"session": "end", "wall_seconds": "long"}}), "the end of a session without its time"),
        (written({"note": {"session": "end", "wall_seconds": 1.0, "starting_seconds": NAN}}), "without its time"),
        (
            written({"edge": {**dataclasses.asdict(edge("a")), "judged": [[3, 2], [2, 2]], "classifiers": OTHERS}}),
            "contradicts",
        ),
    ],
)
def test_a_line_that_cannot_be_is_named_and_says_why(journal: Path, line: bytes, says: str) -> None:
    lines = journal.read_bytes()
    journal.write_bytes(lines + line)
    with pytest.raises(UserError) as caught:
        Journal(journal.parent)
    assert f"{journal}, line 4: not a line of a journal" in str(caught.value)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 400
    assert journal.read_bytes() == lines + line  # nothing is lost by looking


def test_a_line_twice_counts_once(journal: Path) -> None:
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines, lines[0], lines[2]]))
    again = Journal(journal.parent)
    assert again.replayed == 2
    assert len(again.entries) == 3


def test_a_line_without_end_takes_no_memory(tmp_path: Path) -> None:
    with (tmp_path / "journal.jsonl").open("wb") as file:
        file.truncate(1 << 40)  # a hole: it takes no room on the disk
    with pytest.raises(UserError, match=r"line 1: not a line of a journal \(longer than"):
        Journal(tmp_path)
    assert (tmp_path / "journal.jsonl").stat().st_size == 1 << 40


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "dangling"])
def test_what_is_no_plain_file_is_no_journal(tmp_path: Path, kind: str) -> None:
    path, elsewhere = tmp_path / "journal.jsonl", tmp_path / "elsewhere"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(elsewhere)
        if kind == "link":
            elsewhere.write_text("a torn line, not ours")
    with pytest.raises(UserError, match=r"journal\.jsonl cannot be read \("):
        Journal(tmp_path)
    assert elsewhere.exists() == (kind == "link")
    assert kind != "link" or elsewhere.read_text() == "a torn line, not ours"


@pytest.mark.parametrize(
    "values",
    [{"footprint": (("params", -1),)}, {"footprint": (("params", 0.5),)}, {"footprint": (("params", np.int64(3)),)},
     {"train_seconds": NAN}, {"message": "m" * LONGEST}],
)  # fmt: skip
def test_nothing_is_written_that_could_not_be_resumed(tmp_path: Path, values: dict[str, Any]) -> None:
    made = Journal(tmp_path)
    with pytest.raises(UserError, match="cannot hold a result"):
        made.add(edge("a"), dataclasses.replace(edge("b"), **values))
    assert made.path.read_bytes() == b""


def test_notes_of_a_method_may_be_any_numbers() -> None:
    noted = dataclasses.replace(edge("a"), notes=(("loss", NAN), ("gain", -INFINITY)), counters=(("shift", NAN),))
    [(_, values)] = understood(written({"edge": dataclasses.asdict(noted)})).items()
    assert str(values["notes"]) == str(noted.notes)
    assert str(values["counters"]) == str(noted.counters)


@pytest.mark.parametrize(
    "header", ["{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }", "((((", "x" * 90]
)
def test_an_array_that_lies_about_itself_is_computed_again(tmp_path: Path, header: str) -> None:
    made = Journal(tmp_path)
    text = header.encode().ljust(117) + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"0000"
    _with_array(made, data)
    assert made.probe("p") is None


def test_an_array_of_objects_is_not_unpickled(tmp_path: Path) -> None:
    trap = tmp_path / "trap"

    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(trap),)

    made, file = Journal(tmp_path / "run"), tmp_path / "evil.npy"
    np.save(file, np.array([Evil()], dtype=object), allow_pickle=True)
    _with_array(made, file.read_bytes())
    assert made.probe("p") is None
    assert not trap.exists()


def _with_array(journal: Journal, data: bytes) -> None:
    """Answer ``p``, as somebody would journal it whose file this is."""
    sha = hashlib.blake2b(data, digest_size=16).hexdigest()
    (journal.folder / "arrays").mkdir()
    (journal.folder / "arrays" / f"{sha}.npy").write_bytes(data)
    journal._is_news(understood(written({"probe": {"digest": "p", "sha": sha}})))
