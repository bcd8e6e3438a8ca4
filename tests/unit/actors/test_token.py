"""The token that lets into Ray clusters: readable by its user alone, before Ray reads it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from actors.token import keep_private
from seqsearch.core.errors import UserError


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / ".ray" / "auth_token"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.filterwarnings("error")
def test_a_token_is_made_private_and_stays(token: Path) -> None:
    before = os.umask(0)
    try:
        keep_private(create=False)
        assert not token.parent.exists()
        keep_private(create=True)
    finally:
        os.umask(before)
    made = token.read_text()
    assert (mode(token.parent), mode(token)) == (0o700, 0o600)
    assert len(bytes.fromhex(made)) == 32
    keep_private(create=True)
    assert token.read_text() == made
    assert sorted(p.name for p in token.parent.iterdir()) == ["auth_token"]


def test_ray_takes_it(token: Path) -> None:
    from ray._raylet import AuthenticationTokenLoader

    keep_private(create=True)
    loader = AuthenticationTokenLoader.instance()
    loader.reset_cache()
    try:
        assert loader.has_token(ignore_auth_mode=True)
        assert loader.get_raw_token(ignore_auth_mode=True) == token.read_text()
    finally:
        loader.reset_cache()


@pytest.mark.parametrize("create", [True, False])
def test_a_loose_one_is_mended_and_kept(token: Path, create: bool) -> None:
    token.parent.mkdir(mode=0o755)
    token.write_text("a" * 64)
    token.chmod(0o644)
    said = re.escape(f"{token} was readable by others: made private; if others use this machine, replace it")
    with pytest.warns(UserWarning, match=f"^{said}.*$"):  # one line
        keep_private(create)
    assert (mode(token), token.read_text()) == (0o600, "a" * 64)


def test_a_folder_that_others_write_to_is_mended(token: Path) -> None:
    token.parent.mkdir()
    token.parent.chmod(0o777)
    with pytest.warns(UserWarning, match="could be written by others: made private"):
        keep_private(create=True)
    assert (mode(token.parent), mode(token)) == (0o700, 0o600)


def test_an_empty_one_is_replaced(token: Path) -> None:
    token.parent.mkdir(mode=0o700)
    token.touch(mode=0o600)
    keep_private(create=True)
    assert len(token.read_text()) == 64


@pytest.mark.parametrize("create", [True, False])
def test_a_link_is_refused_and_what_it_leads_to_left_alone(token: Path, tmp_path: Path, create: bool) -> None:
    token.parent.mkdir(mode=0o700)
    (tmp_path / "elsewhere").write_text("b" * 64)
    (tmp_path / "elsewhere").chmod(0o644)
    token.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=r"auth_token, the token of Ray clusters, is a link: replace it"):
        keep_private(create)
    assert mode(tmp_path / "elsewhere") == 0o644


def test_a_folder_in_its_place_is_refused(token: Path) -> None:
    token.mkdir(parents=True)
    with pytest.raises(UserError, match=r"is no file of your own"):
        keep_private(create=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_somebody_elses_is_refused(token: Path) -> None:
    token.parent.mkdir(mode=0o700)
    token.write_text("c" * 64)
    os.chown(token, 12345, -1)
    with pytest.raises(UserError, match=r"is no file of your own"):
        keep_private(create=True)
    os.chown(token.parent, 12345, -1)
    with pytest.raises(UserError, match=r"where Ray's token lies, is not yours"):
        keep_private(create=True)


@pytest.mark.parametrize(("name", "value"), [("RAY_AUTH_TOKEN", "x"), ("RAY_AUTH_MODE", "disabled")])
def test_a_file_that_is_not_used_is_left_alone(
    token: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    keep_private(create=True)
    assert not token.parent.exists()


@pytest.mark.parametrize("value", ["", "tokens", " token", "on"])
def test_what_ray_would_take_for_disabled_is_refused(token: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", value)
    with pytest.raises(UserError, match="must be token or disabled: mend it, or unset it"):
        keep_private(create=True)
    assert not token.exists()


def test_without_a_token_a_line_says_who_may_come_in(token: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.warns(UserWarning, match="whoever reaches the ports of this Ray can run code as you"):
        keep_private(create=True)
