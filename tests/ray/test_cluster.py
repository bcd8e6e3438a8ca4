"""Joining real clusters that ask for a token, and one that does not."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from actors.authentication import JoinableCluster, check_joinable
from protocols.cli.main import main
from seqsearch.core.errors import UserError
from tests.lines import messages

SMALL = [
    "--methods", "simplecil", "--pool", "glyphs:classes=24,train=4,reward=2,test=2", "--tasks", "2", "--classes-per-task", "2",
    "--candidates", "4", "--condensed", "2", "--clusters", "2", "--simulations", "2", "--score-seeds", "1",
    "--random-sequences", "0", "--quiet",
]  # fmt: skip


@dataclass
class Head:
    """A head node of our own, in a process group of its own."""

    process: subprocess.Popen[bytes]
    folder: Path

    @classmethod
    def start(cls, name: str, environment: dict[str, str]) -> Head:
        folder = Path(tempfile.mkdtemp(prefix=f"seqsearch-{name}-", dir="/tmp"))  # sockets need a short path
        flags = {
            "temp-dir": str(folder), "port": "0", "num-cpus": "1", "object-store-memory": "100000000",
            "include-dashboard": "false", "dashboard-agent-listen-port": "0", "node-ip-address": "127.0.0.1",
        }  # fmt: skip
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "ray.scripts.scripts",
                    "start",
                    "--head",
                    "--block",
                    "--disable-usage-stats",
                    *(f"--{k}={v}" for k, v in flags.items()),
                ],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return cls(process, folder)

    def address(self) -> str:
        """When it has one, it is up."""
        file, until = self.folder / "ray_current_cluster", time.monotonic() + 180
        while not (file.exists() and file.read_text()) and self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.1)
        assert file.exists(), (self.folder / "log").read_text()
        return file.read_text().strip()

    def stop(self) -> None:
        """End the processes of its group; ``ray stop`` would end those of others too."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(self.process.pid, number)
            time.sleep(0.5)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass
class Clusters:
    closed: str
    open: str
    token: str


@pytest.fixture(scope="module")
def clusters() -> Iterator[Clusters]:
    token = secrets.token_hex(32)
    others = {k: v for k, v in os.environ.items() if not k.startswith("RAY_AUTH_")}
    heads = [
        Head.start("closed", {**others, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}),
        Head.start("open", {**others, "RAY_AUTH_MODE": "disabled"}),
    ]
    try:
        yield Clusters(*(head.address() for head in heads), token)
    finally:
        for head in heads:
            head.stop()


@pytest.fixture(autouse=True)
def driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A user without token and settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)


def write_token(home: Path, token: str) -> None:
    (home / ".ray").mkdir()
    (home / ".ray" / "auth_token").write_text(token)
    (home / ".ray" / "auth_token").chmod(0o600)


def anywhere(host: str) -> bool:
    """For `check_joinable`: every machine is another one."""
    return True


def test_the_right_token_opens_the_door(clusters: Clusters, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_token(tmp_path, clusters.token)
    with pytest.raises(UserError, match=r"asks for a token: set RAY_AUTH_MODE=token to send that of ~/.ray/auth_token"):
        check_joinable(clusters.closed)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    assert check_joinable(clusters.closed, remote=anywhere) == JoinableCluster(clusters.closed, open=False)


def test_without_a_token_it_is_said_where_to_get_one(clusters: Clusters) -> None:
    with pytest.raises(UserError, match=rf"at {clusters.closed} asks for a token and there is none here: copy ~/.ray"):
        check_joinable(clusters.closed)


def test_a_wrong_token_is_named(clusters: Clusters, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "wrong").write_text(secrets.token_hex(32))
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "wrong"))
    with pytest.raises(UserError, match=rf"does not take the token of {tmp_path / 'wrong'}: replace it by ~/.ray"):
        check_joinable(clusters.closed)


@pytest.mark.parametrize("mode", ["token", "disabled"])
def test_an_open_cluster_elsewhere_is_refused_unless_allowed(
    clusters: Clusters, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", mode)
    monkeypatch.setenv("RAY_AUTH_TOKEN", clusters.token)
    monkeypatch.setenv("RAY_ADDRESS", clusters.open)
    with pytest.raises(UserError, match=rf"at {clusters.open} asks for no token.*--allow-unauthenticated"):
        check_joinable("auto", remote=anywhere)
    assert check_joinable("auto", allow_unauthenticated=True, remote=anywhere) == JoinableCluster(
        clusters.open, open=True
    )


def test_an_open_cluster_on_this_machine_is_joined(clusters: Clusters, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_joinable(clusters.open) == JoinableCluster(clusters.open, open=True)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    with pytest.raises(UserError, match=r"RAY_AUTH_MODE=token, but there is no token in .*: unset RAY_AUTH_MODE"):
        check_joinable(clusters.open)


@pytest.mark.long
def test_a_run_on_a_cluster_with_a_token(clusters: Clusters, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_token(tmp_path, clusters.token)
    run = tmp_path / "run"
    arguments = ["cldyb", *SMALL, "--address", clusters.closed, "--workers", "1"]
    refused = CliRunner().invoke(main, [*arguments, "--out", str(run)])
    assert refused.exit_code == 2
    assert messages(refused.stderr) == [
        f"seqsearch: the Ray cluster at {clusters.closed} asks for a token: set RAY_AUTH_MODE=token to send that of "
        "~/.ray/auth_token"
    ]
    assert not run.exists()
    monkeypatch.setenv("RAY_AUTH_MODE", "token")  # read once in a process
    subprocess.run([sys.executable, "-m", "protocols.cli", *arguments, "--out", str(run)], check=True, timeout=300)
    assert pq.read_table(run / "sequences.parquet").num_rows == 4
