"""Fetching a state or training it: whichever is cheaper, and what comes back is what was stored."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from seqsearch.core.errors import UserError
from seqsearch.states.folder import StateFolder
from seqsearch.states.shared import StateStore
from seqsearch.states.transfer import Link, Offer, ways
from seqsearch.storage.remote import open_remote
from seqsearch.storage.store import copied

CHAIN = ["1" * 32, "2" * 32, "3" * 32]


@dataclass
class Place:
    """A source that holds some states; one second for each byte."""

    holds: set[str]
    link: Link = field(default_factory=lambda: Link(bytes_per_second=1.0, latency=0.0))

    def may_have(self, digest: str, offer: Offer) -> bool:
        return digest in self.holds

    def fetch(self, digest: str, offer: Offer, folder: StateFolder) -> str | None:
        return "place"


def test_a_state_is_fetched_where_that_is_faster_than_its_training() -> None:
    place = Place(set(CHAIN))
    offers = {d: Offer(seconds=10, size=5) for d in CHAIN}
    assert [p for p, _ in ways(CHAIN, 0, offers, [place])] == [2, 1, 0]
    slow = {d: Offer(seconds=1, size=5) for d in CHAIN}
    assert ways(CHAIN, 0, slow, [place]) == []  # three trainings take 3 s, any of the states 5 s
    assert [p for p, _ in ways(CHAIN, 2, offers, [place])] == [2]
    assert ways(CHAIN, 3, offers, [place]) == []


def test_an_earlier_state_is_fetched_where_the_last_is_too_large() -> None:
    offers = {CHAIN[0]: Offer(10, 5), CHAIN[1]: Offer(10, 5), CHAIN[2]: Offer(10, 1000)}
    assert [p for p, _ in ways(CHAIN, 0, offers, [Place(set(CHAIN))])] == [1, 0]
    assert [p for p, _ in ways(CHAIN, 0, offers, [Place({CHAIN[0]})])] == [0]


def test_what_nobody_ever_trained_here_is_asked_for_first() -> None:
    assert Offer().seconds == math.inf
    assert [p for p, _ in ways(CHAIN, 0, {}, [Place(set(CHAIN))])] == [2, 1, 0]


def test_a_link_learns_its_speed() -> None:
    link = Link()
    for _ in range(30):
        link.saw(10 << 20, 1.0)
        link.saw(100, 0.5)
    assert link.seconds(10 << 20) == pytest.approx(1.5, rel=0.01)


def test_a_store_gives_back_what_was_pushed(tmp_path: Path) -> None:
    here, there = StateFolder(tmp_path / "here"), StateFolder(tmp_path / "there")
    store = StateStore((tmp_path / "store").as_uri())
    one = {"w": torch.randn(100)}
    manifest = here.write(CHAIN[0], one)
    here.write(CHAIN[1], {**one, "b": torch.ones(2)}, manifest)
    for digest in CHAIN[:2]:
        store.push(here, digest)
    store.push(here, CHAIN[2])  # not there (any more): no error
    store.flush()
    other = StateStore((tmp_path / "store").as_uri())
    assert other.fetch(CHAIN[1], Offer(), there) == "store"
    found = there.read(CHAIN[1])
    assert found is not None
    assert torch.equal(found[0]["b"], torch.ones(2))
    assert other.fetch(CHAIN[2], Offer(), there) is None


def test_a_torn_copy_in_the_store_is_as_good_as_none(tmp_path: Path) -> None:
    here, there = StateFolder(tmp_path / "here"), StateFolder(tmp_path / "there")
    store = StateStore((tmp_path / "store").as_uri())
    here.write(CHAIN[0], {"w": torch.randn(100)})
    store.push(here, CHAIN[0])
    store.flush()
    pack = next((tmp_path / "store" / "packs").iterdir())
    pack.write_bytes(pack.read_bytes()[:50])
    store.fetch(CHAIN[0], Offer(), there)
    assert there.read(CHAIN[0]) is None
    pack.unlink()
    assert store.fetch(CHAIN[0], Offer(), there) is None


def test_a_store_keeps_within_its_bytes_but_for_what_is_needed(tmp_path: Path) -> None:
    here, store = StateFolder(tmp_path / "here"), StateStore((tmp_path / "store").as_uri())
    for digest in CHAIN:
        here.write(digest, {"w": torch.randn(1000)})
        store.push(here, digest)
        store.flush()
    one = here.size() // 3
    assert store.evict(2 * one + 10, needed=[CHAIN[0]]) == [CHAIN[1]]
    there = StateFolder(tmp_path / "there")
    assert [store.fetch(d, Offer(), there) for d in CHAIN] == ["store", None, "store"]
    assert store.evict(10 * one) == []


@pytest.mark.parametrize("url", ["nonsense://x/y", "file:///proc/nowhere"])
def test_storage_that_is_none_is_said_in_one_line(url: str) -> None:
    with pytest.raises(UserError, match=r"--state-store .*; name a folder, or a URL"):
        StateStore(url)


def test_files_are_copied_to_folders_and_urls(tmp_path: Path) -> None:
    source = tmp_path / "a.parquet"
    source.write_bytes(b"x" * 100)
    for number, target in enumerate([str(tmp_path / "to me"), (tmp_path / "url").as_uri()]):
        copied([source], target, "--export")
        assert (tmp_path / ["to me", "url"][number] / "a.parquet").read_bytes() == b"x" * 100
    with pytest.raises(UserError, match=r"--export /proc/x"):
        open_remote("/proc/x", "--export")
