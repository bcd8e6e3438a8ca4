"""``seqsearch pool fetch`` against a server on this machine."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from seqsearch.building.fetch import ARCHIVES
from seqsearch.pools.open import build_pool
from tests.cifar import packed, write_cifar100

FILE = "cifar-100-python.tar.gz"


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder. ``/short/`` breaks off, ``/moved/`` leads to the file, ``/away/`` to a file of this machine."""

    def log_message(self, *_: object) -> None:
        return

    def do_GET(self) -> None:
        first = self.path.split("/")[1]
        if first in ("moved", "away"):
            self.send_response(302)
            self.send_header("Location", f"/{FILE}" if first == "moved" else "file:///etc/passwd")
            self.end_headers()
        elif first == "short":
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            self.wfile.write(b"x" * 1000)
        else:
            super().do_GET()


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A miniature archive; its digest stands in the place of the published one."""
    (tmp_path / "page").mkdir()
    found = packed(write_cifar100(tmp_path / "page"), FILE)
    data = found.read_bytes()
    known = replace(ARCHIVES["cifar100"], md5=hashlib.md5(data).hexdigest(), size=len(data))
    monkeypatch.setitem(ARCHIVES, "cifar100", known)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "out").mkdir()
    return found


@pytest.fixture
def url(archive: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(archive.parent)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


def fetch(tmp_path: Path, url: str, *more: str) -> Result:
    return CliRunner().invoke(main, ["pool", "fetch", "cifar100", "--out", str(tmp_path / "out"), "--url", url, *more])


def refused(result: Result, said: str, tmp_path: Path) -> None:
    assert result.exit_code == 2, result.output
    [line] = result.stderr.splitlines()
    assert said in line
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("place", ["", "moved"])
def test_what_is_fetched_is_a_pool(archive: Path, url: str, tmp_path: Path, place: str) -> None:
    result = fetch(tmp_path, url + place)
    assert result.exit_code == 0, result.output
    out = tmp_path / "out" / FILE
    assert out.read_bytes() == archive.read_bytes()
    assert f"{out}: CIFAR-100, as published" in result.output
    assert f"seqsearch pool show {out}" in result.output
    assert len(build_pool(str(out)).classes) == 8


def test_what_is_there_is_not_fetched_again(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / FILE).write_bytes(archive.read_bytes())
    result = fetch(tmp_path, "http://127.0.0.1:1/", "--json")
    assert json.loads(result.stdout)["fetched"] is False
    assert "is there already" in fetch(tmp_path, "http://127.0.0.1:1/").output
    (tmp_path / "out" / FILE).write_bytes(b"another")
    result = fetch(tmp_path, "http://127.0.0.1:1/")
    assert result.exit_code == 2
    assert "is there and is not CIFAR-100 as published" in result.stderr
    assert (tmp_path / "out" / FILE).read_bytes() == b"another"


def test_another_file_leaves_nothing_behind(archive: Path, url: str, tmp_path: Path) -> None:
    data = archive.read_bytes()
    archive.write_bytes(data[:-1] + b"x")
    refused(fetch(tmp_path, url), "with the MD5 digest", tmp_path)
    archive.write_bytes(3 * data)
    refused(fetch(tmp_path, url), f"sends far more than CIFAR-100 has ({len(data)} bytes)", tmp_path)
    archive.unlink()
    refused(fetch(tmp_path, url), "cannot be had (404 File not found)", tmp_path)


def test_what_breaks_off_or_leads_away(url: str, tmp_path: Path) -> None:
    refused(fetch(tmp_path, url + "short"), "with the MD5 digest", tmp_path)
    refused(fetch(tmp_path, url + "away"), "cannot be had (302", tmp_path)


def test_no_network(archive: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        refused(fetch(tmp_path, f"http://127.0.0.1:{taken.getsockname()[1]}"), "cannot be reached (", tmp_path)
    refused(fetch(tmp_path, "file:///etc"), "must begin with https:// or http://", tmp_path)
    refused(fetch(tmp_path, "http://[x/"), "cannot be reached (Invalid IPv6 URL)", tmp_path)


def test_folders_and_names_that_are_not_there(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["pool", "fetch", "cifar10", "--out", str(tmp_path / "no")])
    assert result.exit_code == 2
    assert "no is no folder: make it first" in result.stderr
    result = CliRunner().invoke(main, ["pool", "fetch", "cifar"])
    assert result.exit_code == 2
    assert "did you mean cifar10" in result.output.replace("Did", "did")


def test_the_list_has_the_published_digests() -> None:
    said = json.loads(CliRunner().invoke(main, ["pool", "fetch", "--json"]).stdout)
    assert {a["file"]: a["md5"] for a in said} == {
        "cifar-10-python.tar.gz": "c58f30108f718f92721af3b95e74349a",
        "cifar-100-python.tar.gz": "eb9058c3a382ffc7106e4002c42a8d85",
    }
    shown = CliRunner().invoke(main, ["pool", "fetch"]).output
    assert "cifar100: CIFAR-100, 169 MB, https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz" in shown
