"""Which clusters are on other machines, and where this process's token comes from. Real clusters: tests/ray/test_cluster.py."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from actors.authentication import check_joinable, is_own, is_remote, locate, token_source
from seqsearch.core.errors import UserError


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("address", "source", "own"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.1.1", "127.0.0.1", True),
        ("::1", "::1", True),
        ("::ffff:127.0.0.1", None, True),
        ("0.0.0.0", None, True),
        ("10.0.0.5", "10.0.0.5", True),
        ("10.0.0.5", "10.0.0.6", False),
        ("10.0.0.5", None, False),
        ("fe80::1%eth0", "fe80::1%eth0", True),
        ("fe80::1%eth0", "fe80::2%eth0", False),
        ("2001:db8::1", "2001:db8::2", False),
    ],
)
def test_a_machine_talks_to_itself_from_the_address_it_talks_to(address: str, source: str | None, own: bool) -> None:
    assert is_own(address, source) is own


def test_names_and_addresses_of_this_machine_are_not_remote() -> None:
    assert not is_remote("localhost")
    assert not is_remote("127.0.0.1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("198.51.100.1", 9))  # reserved for documentation; nothing is sent
        assert not is_remote(probe.getsockname()[0])


@pytest.mark.parametrize("host", ["198.51.100.1", "2001:db8::1", "no-such-machine.invalid"])
def test_other_machines_are_remote(host: str) -> None:
    assert is_remote(host)


def test_the_token_is_found_in_the_order_of_ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert token_source() is None
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("abc\n")
    assert token_source() == "~/.ray/auth_token"
    (tmp_path / "mine").write_text("def")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "mine"))
    assert token_source() == str(tmp_path / "mine")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "ghi")
    assert token_source() == "RAY_AUTH_TOKEN"


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_token_file_without_a_token_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(path))
    with pytest.raises(UserError, match=f"RAY_AUTH_TOKEN_PATH: {path} holds no token"):
        token_source()


@pytest.mark.parametrize("address", ["cluster", "cluster:", ":6379", "http://127.0.0.1:8265", "a/b:1", "ray://cluster"])
def test_what_is_no_address_is_said(address: str) -> None:
    with pytest.raises(UserError, match=r"must be auto, HOST:PORT or ray://HOST:PORT|needs Ray's client"):
        locate(address)


def test_auto_is_what_ray_address_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "198.51.100.1:6379")
    assert locate("auto") == "198.51.100.1:6379"
    assert locate("198.51.100.2:6379") == "198.51.100.2:6379"


def test_a_port_where_nobody_listens_is_said_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=rf"no Ray cluster at '.*:{port}': .*refused; leave --address out"):
            check_joinable(f"127.0.0.1:{port}")
