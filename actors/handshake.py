"""Ask a Ray cluster to be let in, and exit: a program of its own, run by `actors.authentication`.

A process takes on one way of authenticating for good when it first calls Ray, and a refused call can end it. So each question is
asked by a process that lives for it alone: ``python -P handshake.py HOST:PORT`` or ``ray://HOST:PORT``.
"""

from __future__ import annotations

import socket
import sys

LET_IN = 0
NOBODY = 1
TOKEN_REFUSED = 3
PATIENCE = 10.0
"""Seconds until a machine that does not answer counts as not there."""


def handshake(where: str) -> int:
    """Exit status: `LET_IN`, `TOKEN_REFUSED`, or `NOBODY`, with the reason on stderr."""
    host, _, port = where.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except OSError as error:
        print(error.strerror or error, file=sys.stderr)
        return NOBODY
    return _client_server(where.removeprefix("ray://")) if where.startswith("ray://") else _control_service(where)


def _control_service(where: str) -> int:
    """A client of Ray's control service asks for the cluster's id while it is made."""
    from ray._raylet import GcsClient
    from ray.exceptions import AuthenticationError

    try:
        GcsClient(address=where)
    except AuthenticationError:
        return TOKEN_REFUSED
    return LET_IN


def _client_server(where: str) -> int:
    """The ping that Ray's client begins with."""
    import grpc
    from ray._private.grpc_utils import init_grpc_channel
    from ray.core.generated import ray_client_pb2, ray_client_pb2_grpc

    ping = ray_client_pb2.ClusterInfoRequest(type=ray_client_pb2.ClusterInfoType.PING)
    try:
        ray_client_pb2_grpc.RayletDriverStub(init_grpc_channel(where)).ClusterInfo(ping, timeout=PATIENCE)
    except grpc.RpcError as error:
        if error.code() is grpc.StatusCode.UNAUTHENTICATED:
            return TOKEN_REFUSED
        print(error.code().name, file=sys.stderr)
        return NOBODY
    return LET_IN


if __name__ == "__main__":
    sys.exit(handshake(sys.argv[1]))
