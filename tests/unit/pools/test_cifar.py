"""CIFAR-10 and CIFAR-100 as published, and files that only seem to be."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import shutil
import tarfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from seqsearch.core.errors import UserError
from seqsearch.pools.base import Split, View, row_offsets
from seqsearch.pools.cifar import build
from seqsearch.pools.open import build_pool, located_pool
from tests.cifar import COARSE, COARSE_OF, FINE, TEN, Python2, packed, write_cifar10, write_cifar100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_cifar100(tmp_path)


def theirs(folder: Path, name: str) -> dict[str, Any]:
    """As torchvision reads a file."""
    with open(folder / name, "rb") as file:
        found: dict[str, Any] = pickle.load(file, encoding="latin1")
    return found


def test_images_labels_and_split_are_those_that_torchvision_reads(folder: Path) -> None:
    pool = build_pool(str(folder))
    assert [(c.name, c.group, c.count) for c in pool.classes] == [
        (name, COARSE[group], 10) for name, group in zip(FINE, COARSE_OF, strict=True)
    ]
    train, test = theirs(folder, "train"), theirs(folder, "test")
    row = 0
    for label in range(len(FINE)):
        for part, content, code in (("train", train, 0), ("test", test, 2)):
            for at in np.flatnonzero(np.array(content["fine_labels"]) == label):
                [image] = pool.images(np.array([row]), View(32))
                np.testing.assert_array_equal(image, content["data"][at].reshape(3, 32, 32))
                assert pool.where(row) == f"{part}/{content['filenames'][at]}"
                assert pool.given is not None
                assert pool.given[row] == code
                row += 1
    assert row == row_offsets(pool.classes)[-1]
    assert Split(pool, 0).counts(3) == {"train": 3, "val": 1, "reward": 2, "test": 4}


def test_torchvision_reads_what_these_tests_write(folder: Path) -> None:
    from torchvision.datasets import CIFAR100

    class Unchecked(CIFAR100):  # whose digests are those of the published files
        train_list: ClassVar = [["train", None]]
        test_list: ClassVar = [["test", None]]
        meta: ClassVar = {"filename": "meta", "key": "fine_label_names", "md5": None}

    data = Unchecked(str(folder.parent), train=False)
    assert data.classes == FINE
    pool = build_pool(str(folder))
    assert pool.given is not None
    tested = np.flatnonzero(pool.given == 2)
    ours = pool.images(tested, View(32)).transpose(0, 2, 3, 1)
    assert {i.tobytes() for i in ours} == {i.tobytes() for i in data.data}


def test_an_archive_is_the_pool_of_its_folder(folder: Path) -> None:
    archive = packed(folder, "cifar-100-python.tar.gz")
    pool, again = build_pool(str(archive)), build_pool(str(folder))
    assert pool.digest == again.digest
    assert pool.where(17) == again.where(17)
    gzipped = archive.read_bytes()
    (folder.parent / "plain.tar").write_bytes(gzip.decompress(gzipped))
    assert build(str(folder.parent / "plain.tar")).digest == pool.digest
    assert len(build_pool(f"{archive}:half=first").classes) == 4


def test_a_path_may_be_called_like_a_kind_of_pool(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    for name in ("cifar", "parquet", "folder"):
        with pytest.raises(UserError, match=f"pool '{name}' does not exist"):
            build_pool(name)
        folder = folder.rename(name)
        assert len(build_pool(name).classes) == len(build_pool(f"{name}:min_images=2").classes) == 8
        assert located_pool(f"{name}:min_images=2", Path.cwd()) == f"{folder.absolute()}:min_images=2"


def test_cifar10(tmp_path: Path) -> None:
    folder = write_cifar10(tmp_path)
    pool = build_pool(str(folder))
    assert [(c.name, c.group, c.count) for c in pool.classes] == [(name, "cifar-10", 12) for name in TEN]
    assert pool.given is not None
    assert np.bincount(pool.given).tolist() == [100, 0, 20]
    third = theirs(folder, "data_batch_3")
    [at] = [i for i, name in enumerate(third["filenames"]) if i == 5 and name]
    rows = [r for r in range(120) if pool.where(r) == f"train/{third['filenames'][at]}"]
    found = {i.tobytes() for i in pool.images(np.array(rows), View(32))}
    assert third["data"][at].tobytes() in found
    assert build_pool(str(packed(folder, "cifar-10-python.tar.gz"))).digest == pool.digest


def test_options(folder: Path) -> None:
    assert build_pool(f"{folder}:split=random").given is None
    assert build_pool(f"{folder}:split=given").given is not None
    with pytest.raises(UserError, match="no class has 11 images or more"):
        build_pool(f"{folder}:min_images=11")
    with pytest.raises(UserError, match="no option 'names'; it has path, split, min_images"):
        build_pool(f"{folder}:names=x.txt")
    with pytest.raises(UserError, match="must be auto, given or random"):
        build_pool(f"{folder}:split=x.csv")


def test_other_images_are_another_pool_and_are_seen_where_a_pool_was_sent(folder: Path) -> None:
    pool = build(str(folder))
    sent = pickle.dumps(pool)
    assert len(sent) < 20_000  # of 245,760 bytes of pixels
    again = pickle.loads(sent)
    rows = np.array([79, 0, 3])
    np.testing.assert_array_equal(again.images(rows, View(16)), pool.images(rows, View(16)))
    late = pickle.loads(sent)
    content = theirs(folder, "test")
    content["data"][0, 0] ^= 1
    (folder / "test").write_bytes(Python2().dumps(content))
    with pytest.raises(UserError, match="was changed since it was opened: restore it, then resume"):
        late.images(rows, View(16))
    assert build(str(folder)).digest != pool.digest


def test_a_file_is_built_of_an_archive(folder: Path) -> None:
    archive, out = packed(folder, "cifar-100-python.tar.gz"), folder.parent / "cifar100.parquet"
    result = CliRunner().invoke(main, ["pool", "build", str(archive), str(out), "--workers", "1"])
    assert result.exit_code == 0, result.output
    built, pool = build_pool(str(out)), build_pool(str(folder))
    assert sorted((c.group, c.name, c.count) for c in pool.classes) == [
        (c.group, c.name, c.count) for c in built.classes
    ]
    assert built.given is not None
    own, other = (row_offsets(p.classes) for p in (pool, built))
    at = [c.name for c in built.classes].index("bear")
    np.testing.assert_array_equal(
        built.images(np.arange(other[at], other[at + 1]), View(32)), pool.images(np.arange(own[2], own[3]), View(32))
    )
    assert built.given[other[at] : other[at + 1]].tolist() == [0] * 6 + [2] * 4
    shown = CliRunner().invoke(main, ["pool", "show", str(folder)])
    assert "8 classes in 5 groups, 80 images" in shown.output


def test_an_archive_beside_another_source_is_called_without_its_endings(folder: Path) -> None:
    archive, out = packed(folder, "cifar-100-python.tar.gz"), folder.parent / "both.parquet"
    ten = packed(write_cifar10(folder.parent), "cifar-10-python.tar.gz")
    result = CliRunner().invoke(main, ["pool", "build", str(archive), str(ten), str(out), "--workers", "1"])
    assert result.exit_code == 0, result.output
    assert {c.group for c in build_pool(str(out)).classes} == {
        "cifar-10-python",
        *(f"cifar-100-python/{group}" for group in COARSE),
    }


# ------------------------------------------------------------------------------------------------ hostile files


class Evil:
    """What a pickle can do to who loads it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def hostile(trap: Path) -> dict[str, bytes]:
    """Pickles that call something, by name of what they do."""
    within = {"filenames": [], "fine_labels": [Evil(trap)], "data": 0}
    return {
        **{f"protocol {p}": pickle.dumps(Evil(trap), p) for p in range(6)},
        **{f"within {p}": pickle.dumps(within, p) for p in range(6)},
        "numpy's own": b"\x80\x02cnumpy\nload\nU\x01x\x85R.",
        "a member": b"\x80\x02cnumpy\nndarray.tofile\n.",
        "an instance": b"(U\x01xios\nmkdir\n.",
        "memory": b"\x80\x05\x96" + (1 << 40).to_bytes(8, "little") + b".",
        "memo": b"\x80\x02Nr\xff\xff\xff\x7f.",
        "extension": b"\x80\x02\x82\x01.",
        "many marks": b"\x80\x02" + b"(" * 100_000 + b".",
        "no pickle": b"\xff" * 100,
        "nothing": b"",
        "cut": Python2().dumps({"a": [1, 2, 3]})[:-4],
        "a list": Python2().dumps([1]),
    }


@pytest.mark.parametrize("kind", list(hostile(Path())))
@pytest.mark.parametrize("file", ["meta", "train"])
def test_nothing_in_a_file_is_called(folder: Path, kind: str, file: str) -> None:
    trap = folder.parent / "trap"
    (folder / file).write_bytes(hostile(trap)[kind])
    with pytest.raises(UserError, match=rf"{file} is no file of CIFAR \(") as caught:
        build(str(folder))
    assert "\n" not in str(caught.value)
    assert not trap.exists()


def test_a_hostile_file_in_an_archive(folder: Path) -> None:
    trap = folder.parent / "trap"
    (folder / "test").write_bytes(pickle.dumps(Evil(trap), 2))
    with pytest.raises(UserError, match=r"test is no file of CIFAR \(it asks for (posix|os)\.mkdir\)"):
        build(str(packed(folder, "x.tgz")))
    assert not trap.exists()


def wrong(**change: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    content = {
        "filenames": ["a.png"] * 8,
        "fine_labels": list(range(8)),
        "coarse_labels": list(COARSE_OF),
        "data": rng.integers(0, 256, (8, 3072), dtype=np.uint8),
    }
    return content | change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"data": np.zeros((8, 3072), np.int8)}, "'data' is of type b'i1', must be u1"),
        ({"data": np.zeros((8, 3072), np.float64)}, "'data' is of type b'f8', must be u1"),
        ({"data": np.zeros((8, 3071), np.uint8)}, r"'data' is no array \[n, 3072\]"),
        ({"data": np.zeros((8, 3, 1024), np.uint8)}, r"'data' is no array \[n, 3072\]"),
        ({"data": np.zeros((0, 3072), np.uint8)}, "'data' says 0 images and has 0 bytes"),
        ({"data": [1, 2]}, "'data' is no array"),
        ({"data": None}, "'data' is no array"),
        ({"fine_labels": list(range(7))}, "a number from 0 to 7 for each of 8 images in 'fine_labels'"),
        ({"fine_labels": [*range(7), 8]}, "a number from 0 to 7"),
        ({"fine_labels": [*range(7), -1]}, "a number from 0 to 7"),
        ({"fine_labels": [*range(7), "x"]}, "a number from 0 to 7"),
        ({"coarse_labels": [0] * 7 + [5]}, "a number from 0 to 4 for each of 8 images in 'coarse_labels'"),
        ({"coarse_labels": [0] * 8}, "images of class 'apple' in several groups"),
    ],
)
def test_contents_that_are_not_those_of_the_data_set(folder: Path, change: dict[str, Any], said: str) -> None:
    (folder / "test").write_bytes(Python2().dumps(wrong(**change)))
    with pytest.raises(UserError, match=said) as caught:
        build(str(folder))
    assert "\n" not in str(caught.value)


def test_an_array_that_claims_more_than_it_has(folder: Path) -> None:
    data = Python2().dumps(wrong())
    claims = data.replace(b"K\x08J\x00\x0c\x00\x00\x86", b"J\x00\x00\x00\x7fJ\x00\x0c\x00\x00\x86")
    assert claims != data
    (folder / "test").write_bytes(claims)
    with pytest.raises(UserError, match="'data' says 2130706432 images and has 24576 bytes"):
        build(str(folder))


@pytest.mark.parametrize("names", [[*FINE[:7], FINE[0]], [*FINE[:7], " "], [], "names", [*FINE[:7], 3]])
def test_names_that_are_none(folder: Path, names: Any) -> None:
    (folder / "meta").write_bytes(Python2().dumps({"fine_label_names": names, "coarse_label_names": COARSE}))
    with pytest.raises(UserError, match="must have different names in 'fine_label_names'"):
        build(str(folder))


def test_archives_that_are_none(folder: Path) -> None:
    root = folder.parent
    whole = packed(folder, "whole.tar.gz").read_bytes()
    for name, content, said in (
        ("text.tar.gz", b"no archive", "cannot be read"),
        ("empty.tar.gz", b"", "cannot be read"),
        ("half.tar.gz", whole[: len(whole) // 2], "cannot be read"),
        ("damaged.tar.gz", whole[:500] + b"xxxx" + whole[504:], "cannot be read"),
    ):
        (root / name).write_bytes(content)
        with pytest.raises(UserError, match=said) as caught:
            build(str(root / name))
        assert "\n" not in str(caught.value)
    (folder / "train").unlink()
    with pytest.raises(UserError, match="is neither CIFAR-10 nor CIFAR-100"):
        build(str(packed(folder, "part.tar.gz")))


def test_members_that_are_links_or_come_twice(folder: Path) -> None:
    archive = folder.parent / "x.tar"
    with tarfile.open(archive, "w") as made:
        for name in ("meta", "train"):
            made.add(folder / name, f"x/{name}")
        link = tarfile.TarInfo("x/test")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
    with pytest.raises(UserError, match="is neither CIFAR-10 nor CIFAR-100"):
        build(str(archive))
    with tarfile.open(archive, "w") as made:
        made.add(folder / "meta", "x/meta")
        made.add(folder / "meta", "y/meta")
    with pytest.raises(UserError, match="meta is in it twice"):
        build(str(archive))


def test_an_archive_of_very_many_files(folder: Path) -> None:
    archive = folder.parent / "many.tar.gz"
    with tarfile.open(archive, "w:gz") as made:
        for number in range(1001):
            made.addfile(tarfile.TarInfo(f"x/{number}"))
    with pytest.raises(UserError, match="it has more than 1000 members"):
        build(str(archive))


def test_an_archive_that_unpacks_to_gigabytes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqsearch.pools.parts.cifar_files.MOST_BYTES", 1 << 20)
    for name in ("meta", "other"):
        archive = folder.parent / f"{name}.tar.gz"
        with tarfile.open(archive, "w:gz") as made:
            member = tarfile.TarInfo(f"x/{name}")
            member.size = 8 << 20
            made.addfile(member, io.BytesIO(bytes(8 << 20)))
        with pytest.raises(UserError, match=r"has more than 1 MB|far more than the data set"):
            build(str(archive))


def test_links_in_a_folder_are_not_followed(folder: Path) -> None:
    shutil.move(folder / "test", folder.parent / "elsewhere")
    (folder / "test").symlink_to(folder.parent / "elsewhere")
    with pytest.raises(UserError, match=r"neither|has no images"):
        build_pool(str(folder))
