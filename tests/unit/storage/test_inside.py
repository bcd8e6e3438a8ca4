"""Nothing below a folder is followed out of it, by whatever way."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from seqsearch.core.errors import UserError
from seqsearch.storage.files import atomic_file, atomic_path
from seqsearch.storage.inside import Inside

ANY = re.compile(".*")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    (folder / "deep").mkdir(parents=True)
    for path in (folder / "file", folder / "deep" / "file"):
        path.write_bytes(b"theirs")
    return folder


def linked(tmp_path: Path, outside: Path) -> list[tuple[Inside, str]]:
    """Ways out: a file that is a link, one with a link to nothing, and one below folders of which any is a link."""
    root = tmp_path / "root"
    (root / "a" / "deep").mkdir(parents=True)
    (root / "file").symlink_to(outside / "file")
    (root / "new").symlink_to(outside / "new")
    (root / "up").symlink_to(outside)
    (root / "a" / "up").symlink_to(outside / "deep")
    here = Inside(root)
    return [
        (here, "file"),
        (here, "new"),
        (here.at("up"), "file"),
        (here.at("up", "deep"), "file"),
        (here.at("a", "up"), "file"),
    ]


def test_no_link_is_followed(tmp_path: Path, outside: Path) -> None:
    for folder, name in linked(tmp_path, outside):
        for flags in (os.O_RDONLY, os.O_RDWR | os.O_CREAT, os.O_WRONLY | os.O_APPEND | os.O_CREAT):
            with pytest.raises(OSError, match="it is a link") as caught:
                folder.open(name, flags)
            assert caught.value.errno == errno.ELOOP
            assert Path(caught.value.filename).is_symlink()
        with pytest.raises(OSError, match="it is a link"):
            folder.checked(name)
        with (
            pytest.raises(UserError, match=rf"^{tmp_path}/root/\S+ is a link: remove it$"),
            atomic_file(folder, name) as file,
        ):
            file.write(b"ours")
        assert not folder.has(name)
        assert name not in folder.names(ANY)
        folder.touch(name)
        folder.remove(name)
    assert sorted(p.name for p in outside.rglob("*")) == ["deep", "file", "file"]
    assert {p.read_bytes() for p in outside.rglob("file")} == {b"theirs"}


def test_the_folder_that_is_named_may_be_a_link_unless_it_is_ours(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "named").symlink_to(outside)
    assert Inside(tmp_path / "named").read("file", 10) == b"theirs"
    assert Inside(tmp_path / "named").at("deep").read("file", 10) == b"theirs"
    with atomic_path(tmp_path / "named" / "mine") as path:
        path.write_text("x")
    with pytest.raises(OSError, match="it is a link"):
        Inside.below(tmp_path / "named").read("file", 10)


@pytest.mark.parametrize("name", ["", ".", "..", "../outside/file", "/etc/passwd", "a\0b"])
def test_a_name_is_no_path(tmp_path: Path, outside: Path, name: str) -> None:
    here = Inside(tmp_path)
    with pytest.raises(OSError, match="no name of a file"):
        here.open(name)
    assert not here.has(name)
    assert not here.remove(name)


def test_what_is_written_in_place_has_one_name(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_bytes(b"theirs")
    os.link(tmp_path / "theirs", tmp_path / "ours")
    with pytest.raises(OSError, match="second name"):
        Inside(tmp_path).open("ours", os.O_RDWR)
    with pytest.raises(ValueError, match="ftruncate"):
        Inside(tmp_path).open("ours", os.O_RDWR | os.O_TRUNC)
    assert Inside(tmp_path).read("ours", 10) == b"theirs"  # reading harms nobody
    with atomic_path(tmp_path / "ours") as path:
        path.write_bytes(b"ours")
    assert (tmp_path / "theirs").read_bytes() == b"theirs"


def test_only_plain_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(OSError, match="no plain file"):
            Inside(tmp_path).open(name)
        assert not Inside(tmp_path).has(name)
    (tmp_path / "large").write_bytes(b"12")
    with pytest.raises(OSError, match="more than"):
        Inside(tmp_path).read("large", 1)
