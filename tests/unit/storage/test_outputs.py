"""Folders that are written anew: files of an earlier call go, and nothing outside the folder is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seqsearch.storage.outputs import write_folder


def contents(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def written(folder: Path, *names: str) -> set[str]:
    index = json.dumps({"runs": [{"figures": [{"file": name} for name in names]}], "files": list(names)})
    write_folder(folder, "index.json", {**dict.fromkeys(names, b"x"), "index.json": index.encode()})
    return contents(folder)


def test_files_that_an_earlier_call_wrote_go(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert written(out, "a.pdf", "one/b.pdf") == {"a.pdf", "one/b.pdf", "index.json"}
    (out / "mine.txt").write_text("kept")
    (out / "entry").write_text("kept")
    (out / "index.json").write_text('{"files": ["a.pdf", "one/b.pdf", "mine.txt", "entry"]}')
    assert written(out, "a.pdf", "c.pdf") == {"a.pdf", "c.pdf", "mine.txt", "entry", "index.json"}


@pytest.mark.parametrize(
    "index",
    [
        '{"files": ["../outside.txt"]}',
        '{"files": ["/etc/x", ".", "..", "a/../../outside.txt"]}',
        "[[[",
        '{"files": 3}',
        '{"file": "link.txt"}',
    ],
)
def test_an_index_of_others_removes_nothing_outside(index: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "outside.txt").write_text("kept")
    (out / "link.txt").symlink_to(tmp_path / "outside.txt")
    (out / "index.json").write_text(index)
    assert {"a.pdf", "index.json"} <= written(out, "a.pdf")
    assert (tmp_path / "outside.txt").read_text() == "kept"
