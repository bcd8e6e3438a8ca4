"""PILOT; see `seqsearch.formats.lamda`."""

from __future__ import annotations

from seqsearch.formats import lamda
from seqsearch.formats.base import Toolbox


def build() -> Toolbox:
    return Toolbox(
        "PILOT",
        tried="not run in PILOT itself: by its rule (data manager and trainer, read in 2026), in the tests of seqsearch",
        direction=lamda.DIRECTION,
        read=lamda.read,
        limits=lamda.LIMITS,
        usage=lamda.usage("LAMDA-PILOT"),
        files=lambda order, images: lamda.files("pilot", order),
        marks=frozenset({"backbone_type"}),
        shared=lamda.KEYS,
        needs_all=True,
    )
