"""PyCIL; see `seqsearch.formats.lamda`."""

from __future__ import annotations

from seqsearch.formats import lamda
from seqsearch.formats.base import Toolbox


def build() -> Toolbox:
    return Toolbox(
        "PyCIL",
        tried="not run in PyCIL itself: by its rule (data manager and trainer, read in 2026), in the tests of seqsearch",
        direction=lamda.DIRECTION,
        read=lamda.read,
        limits=lamda.LIMITS,
        usage=lamda.usage("PyCIL"),
        files=lambda order, images: lamda.files("pycil", order),
        marks=frozenset({"convnet_type"}),
        shared=lamda.KEYS,
        needs_all=True,
    )
