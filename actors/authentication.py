"""Whether a Ray cluster may be joined: it asks for a token and takes ours, or it is on this machine.

Whoever reaches the ports of a Ray cluster that asks for no token can run code on it (CVE-2023-48022), and on what joins it.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from actors import handshake
from actors.token import DEFAULT_TOKEN
from seqsearch.core.errors import UserError

ASK_SECONDS = 60.0
"""Seconds without an answer after which an address is considered no Ray cluster."""


class JoinableCluster(NamedTuple):
    """A cluster that may be joined."""

    where: str
    """``HOST:PORT`` or ``ray://HOST:PORT``."""
    open: bool
    """It asks for no token."""


def is_remote(host: str) -> bool:
    """Whether a name or address leads to another machine. One that leads nowhere does."""
    try:
        found = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)
    except OSError:
        return True
    return not all(is_own(str(end[0]), _source(family, end)) for family, _, _, _, end in found)


def is_own(address: str, source: str | None) -> bool:
    """Whether an IP address is this machine's, ``source`` being the address it would send to it from.

    A machine talks to itself from the very address it talks to.
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return ip.is_loopback or ip.is_unspecified or address == source


def check_joinable(
    address: str, allow_unauthenticated: bool = False, remote: Callable[[str], bool] = is_remote
) -> JoinableCluster:
    """Check that the cluster at ``address`` may be joined.

    ``remote`` decides whether a host is another machine. The cluster is asked without a token first, so that one that
    needs none never receives a token before it is refused.

    Raises:
        UserError: there is no cluster; it is on another machine and asks for no token; or it does not take this
            process's token.
    """
    where = locate(address)
    if _lets_in(where, {"RAY_AUTH_MODE": "disabled"}):
        refuse_open(where, allow_unauthenticated, remote)
        if os.environ.get("RAY_AUTH_MODE", "").lower() == "token" and token_source() is None:
            raise UserError(
                f"RAY_AUTH_MODE=token, but there is no token in {DEFAULT_TOKEN}, and the Ray cluster at {where} asks "
                "for none: unset RAY_AUTH_MODE"
            )
        return JoinableCluster(where, open=True)
    source, mode = token_source(), _auth_mode(address)
    if source is None:
        raise UserError(
            f"the Ray cluster at {where} asks for a token and there is none here: copy {DEFAULT_TOKEN} of its head node to "
            "this machine and set RAY_AUTH_MODE=token (docs/cluster.md)"
        )
    if mode != "token":
        raise UserError(
            f"the Ray cluster at {where} asks for a token: set RAY_AUTH_MODE=token to send that of {source}"
        )
    if not _lets_in(where, {"RAY_AUTH_MODE": "token", **_token(os.environ)}):
        raise UserError(
            f"the Ray cluster at {where} does not take the token of {source}: replace it by {DEFAULT_TOKEN} of its head node"
        )
    return JoinableCluster(where, open=False)


def refuse_open(where: str, allowed: bool, remote: Callable[[str], bool] = is_remote) -> None:
    """To be called for a cluster that asks for no token.

    Raises:
        UserError: it is on another machine, and that was not allowed.
    """
    if remote(_host(where)) and not allowed:
        raise UserError(
            f"the Ray cluster at {where} asks for no token, so that whoever reaches its ports can run code on it: restart it "
            "with RAY_AUTH_MODE=token (docs/cluster.md), or pass --allow-unauthenticated if nobody else can reach it"
        )


def locate(address: str) -> str:
    """Where Ray goes for ``address``; ``auto`` is found as Ray finds it: RAY_ADDRESS, else what runs or was started last here.

    Raises:
        UserError: not an address, or nothing runs here.
    """
    from ray._private import services

    if address == "auto":
        address = os.environ.get("RAY_ADDRESS") or "auto"
    if address.startswith("ray://"):
        if importlib.util.find_spec("grpc") is None:
            raise UserError(
                f'{address} needs Ray\'s client: pip install "ray[client]", or run on a node of the cluster'
            )
        _host(address)
        return address
    if address != "auto":
        _host(address)
    services.find_gcs_addresses.cache_clear()
    try:
        return str(services.canonicalize_bootstrap_address(address))
    except (ConnectionError, ValueError) as error:
        raise _nobody(address, " ".join(str(error).split())) from None


def token_source() -> str | None:
    """Where Ray takes this process's token from, in Ray's order; None if there is none.

    Raises:
        UserError: RAY_AUTH_TOKEN_PATH names a file without a token: Ray would end this process.
    """
    if os.environ.get("RAY_AUTH_TOKEN"):
        return "RAY_AUTH_TOKEN"
    path = os.environ.get("RAY_AUTH_TOKEN_PATH")
    if path and not _text(Path(path)):
        raise UserError(f"RAY_AUTH_TOKEN_PATH: {path} holds no token or cannot be read: mend it, or unset the variable")
    return path or (str(DEFAULT_TOKEN) if _text(DEFAULT_TOKEN.expanduser()) else None)


def _auth_mode(address: str) -> str:
    """Ray sends its token by itself only to a cluster that it found on this machine."""
    found_here = address == "auto" and not os.environ.get("RAY_ADDRESS")
    return os.environ.get("RAY_AUTH_MODE", "token" if found_here else "disabled").lower()


def _token(environment: os._Environ[str]) -> dict[str, str]:
    return {k: v for k, v in environment.items() if k in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")}


def _lets_in(where: str, credentials: dict[str, str]) -> bool:
    """Whether the cluster answers a process with these ``RAY_AUTH_*`` settings and no others.

    Raises:
        UserError: nobody answers there.
    """
    others = {k: v for k, v in os.environ.items() if not k.startswith("RAY_AUTH_")}
    try:
        said = subprocess.run(
            [sys.executable, "-P", handshake.__file__, where],
            env={**others, **credentials},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise _nobody(where, "what listens there is not Ray, or does not answer") from None
    if said.returncode not in (handshake.LET_IN, handshake.TOKEN_REFUSED):
        raise _nobody(where, (said.stderr.strip().splitlines() or ["no answer"])[-1][:200])
    return said.returncode == handshake.LET_IN


def _nobody(address: str, reason: str) -> UserError:
    return UserError(
        f"no Ray cluster at {address!r}: {reason}; leave --address out to start Ray here, or run without: --workers 0"
    )


def _host(where: str) -> str:
    """Host of ``HOST:PORT`` or ``ray://HOST:PORT``.

    Raises:
        UserError: it is neither.
    """
    host, _, port = where.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()) or "/" in host:
        raise UserError(f"--address {where}: must be auto, HOST:PORT or ray://HOST:PORT (docs/cluster.md)")
    return host.strip("[]")


def _source(family: int, end: tuple[object, ...]) -> str | None:
    """Own address that datagrams to ``end`` would come from. Nothing is sent."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(end)
        except OSError:
            return None
        return str(probe.getsockname()[0])


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
