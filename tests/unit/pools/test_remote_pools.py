"""Pools on servers of S3 and of the Hugging Face hub: read in place, range by range, and refused in one line."""

from __future__ import annotations

import contextlib
import pickle
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from seqsearch.core.errors import UserError
from seqsearch.pools.base import View
from seqsearch.pools.open import build_pool, check_pool, located_pool, pool_texts
from seqsearch.storage import servers
from tests.servers import COMMIT, hub, s3, silent
from tests.unit.pools.test_parquet_index import folder, opened, own, said

KINDS = {"s3": "s3://bucket", "hf": "hf://datasets/somebody/fish"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two data sets, which the servers have as well."""
    monkeypatch.setenv("SEQSEARCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "root").mkdir()
    folder(tmp_path / "root" / "hub")
    own(tmp_path / "root" / "own.parquet", captioned=True, bound=True)
    return tmp_path / "root"


@contextlib.contextmanager
def served(kind: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with s3(monkeypatch, "bucket", root) if kind == "s3" else hub(monkeypatch, root):
        yield KINDS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_pool_on_a_server_is_the_one_on_the_disk(kind: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(kind, root, monkeypatch) as url:
        for name in ("hub", "hub/train-0.parquet", "own.parquet"):
            here, there = said(opened(root / name)), opened(f"{url}/{name}")
            assert there.name == f"{url}/{name}"
            assert said(there)[1:] == here[1:]
            assert said(opened(f"{url}/{name}"))[0] == there.digest  # by the index
            assert said(pickle.loads(pickle.dumps(there))) == said(there)
            # what we wrote is known by its images wherever it lies; of another file, the server says what it holds
            assert (there.digest == here[0]) == (name == "own.parquet")
        some = build_pool(f"{url}/hub:half=1,per_class=4")
        assert some.images(np.arange(8), View(8)).shape == (8, 3, 8, 8)


def test_images_are_read_singly_and_an_index_spares_all_else(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub(monkeypatch, root) as asked:
        url = f"{KINDS['hf']}/own.parquet"
        first = opened(url)
        asked.clear()
        pool = opened(url)
        assert not any("bytes=" in request for request in asked)
        asked.clear()
        [image] = pool.encoded(np.array([7]))
        assert len(asked) == 1
        low, high = map(int, re.findall(r"bytes=(\d+)-(\d+)", asked[0])[0])
        assert high - low + 1 == len(image) + 4
        assert f"/resolve/{COMMIT}/own.parquet" in asked[0]  # whatever is committed meanwhile
        assert pool.digest == first.digest
        # of a row group: its images in one request, whether for their headers or for themselves
        group = opened(f"{KINDS['hf']}/hub/train-0.parquet")
        asked.clear()
        group.encoded(np.arange(30))
        assert [bool(re.search(r"bytes=4-", a)) for a in asked] == [False, True]


def test_several_files_are_asked_at_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "shards").mkdir()
    for number in range(4):
        own(root / "shards" / f"{number}.parquet", captioned=False, bound=False, first=100 * number)
    together: list[threading.Barrier] = []
    with hub(monkeypatch, root, together=together):
        pool = opened(f"{KINDS['hf']}/shards")
        of_each = [next(r for r in range(96) if pool.where(r).startswith(f"{number}.")) for number in range(4)]
        expected = opened(root / "shards").encoded(np.array(of_each))
        together.append(threading.Barrier(4))  # nobody is answered before all have asked
        assert pool.encoded(np.array(of_each)) == expected


def test_what_changes_or_vanishes_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with s3(monkeypatch, "bucket", root) as system:
        pool = opened("s3://bucket/hub")
        with system.open_output_stream("bucket/hub/test-0.parquet") as out:
            out.write(b"x" * 3000)
        servers._s3.cache_clear()  # as in a worker that starts now
        with pytest.raises(
            UserError, match=r"'s3://bucket/hub/test-0\.parquet' was changed since it was opened: restore it"
        ):
            pool.encoded(np.arange(90))
        system.delete_file("bucket/hub/train-0.parquet")
        servers._s3.cache_clear()
        with pytest.raises(UserError, match=r"train-0\.parquet' does not exist on the server") as refused:
            pickle.loads(pickle.dumps(pool)).encoded(np.array([0]))
        assert "\n" not in str(refused.value)
        with pytest.raises(UserError, match=r"pool 's3://bucket/hub/test-0\.parquet' is no readable Parquet file"):
            build_pool("s3://bucket/hub")


NOT_THERE = {
    "s3://bucket/nothing": "'s3://bucket/nothing' does not exist on the server, or you may not see it",
    "s3://nobucket/x.parquet": "does not exist on the server",
    "s3://bucket/texts": "has no .parquet files",
}
REFUSED = {
    "s3://me:password@bucket/hub": "without keys or settings",
    "s3://me:pass/password@bucket/hub": "without keys or settings",
    "s3://bucket/hub?secret_key=password": "without keys or settings",
    "s3://": "write s3://BUCKET/FOLDER",
    "s3:/bucket/hub": "a URL has two slashes: write s3://",
    "hf:datasets/somebody/fish": "a URL has two slashes: write hf://",
    "S3://me:password@bucket/hub": "not from S3://: write s3://",
    "s3a://me:password@bucket/hub": "not from s3a://: write s3://",
    "gs://bucket/hub": "pools are read from s3:// and hf://, not from gs://: copy them",
    "hf://models/somebody/net": "write hf://datasets/USER/NAME/FOLDER",
    "hf://password@datasets/somebody/net": "write hf://datasets/USER/NAME/FOLDER",
    "hf://datasets/somebody": "write hf://datasets/USER/NAME/FOLDER",
    "s3://bucket/hub:colour=2": "no option 'colour'; it has path, split",
    "s3://bucket/hub:path=root/flat": "no option 'path'",
}


@pytest.mark.parametrize("text", REFUSED)
def test_bad_names_are_refused_before_a_server_is_asked(text: str) -> None:
    for look in (check_pool, build_pool):
        with pytest.raises(UserError) as refused:
            look(text)
        assert REFUSED[text] in str(refused.value)
        assert "\n" not in str(refused.value)
        assert "password" not in str(refused.value)


def test_what_is_not_there_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "texts").mkdir()
    (root / "texts" / "a.txt").write_text("no pool")
    with s3(monkeypatch, "bucket", root):
        for text, message in NOT_THERE.items():
            with pytest.raises(UserError) as refused:
                build_pool(text)
            assert message in str(refused.value)
            assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_with_the_name_of_a_file(kind: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(root / "spark.parquet")
    with served(kind, root, monkeypatch) as url:
        assert said(opened(f"{url}/spark.parquet"))[1:] == said(opened(root / "spark.parquet"))[1:]


def test_revisions_of_the_hub(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub(monkeypatch, root / "hub") as asked:
        whole = opened("hf://datasets/somebody/fish")
        assert {c.group for c in whole.classes} == {"fish"}  # and not the commit
        for revision in ("refs/convert/parquet", "refs%2Fconvert%2Fparquet", "main"):
            asked.clear()
            with contextlib.suppress(UserError):
                build_pool(f"hf://datasets/somebody/fish@{revision}/train-0.parquet")
            assert asked[0].split("/revision/")[1] == revision.replace("/", "%2F")


@pytest.mark.parametrize("endpoint", ["127.0.0.1:9000", "localhost", "http://me:password@host", "http://host/folder"])
def test_bad_endpoints_are_refused_before_anything_is_sent(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    servers._s3.cache_clear()
    with pytest.raises(UserError, match="AWS_ENDPOINT_URL is no address") as refused:
        build_pool("s3://bucket/hub")
    assert "password" not in str(refused.value)


def test_a_missing_data_set_of_the_hub(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub(monkeypatch, root):
        for name in ("datasets/somebody/else/x", "datasets/somebody/fish/nothing"):
            with pytest.raises(UserError, match=re.escape(f"'hf://{name}' ")) as refused:
                build_pool(f"hf://{name}")
            assert "\n" not in str(refused.value)


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "SILENCE_SECONDS", 1)
    monkeypatch.setattr(servers, "TRIES", 1)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    servers._s3.cache_clear()
    with silent() as endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        with pytest.raises(
            UserError, match=r"'s3://bucket/hub' cannot be read \(.*check the name, the network"
        ) as refused:
            build_pool("s3://bucket/hub")
    assert "\n" not in str(refused.value)
    servers._s3.cache_clear()


def test_names_are_checked_without_a_server_and_stay_as_they_are(tmp_path: Path) -> None:
    for text in (
        "s3://bucket/hub",
        "s3://bucket/hub:half=1,per_class=20",
        "hf://datasets/somebody/fish@v2/data:min_images=3",
    ):
        check_pool(text)
        assert located_pool(text, tmp_path) == text
    assert pool_texts("s3://bucket/a:half=1,hf://datasets/me/b,photos") == [
        "s3://bucket/a:half=1",
        "hf://datasets/me/b",
        "photos",
    ]
