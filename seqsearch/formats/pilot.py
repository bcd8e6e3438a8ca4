"""PILOT; see `seqsearch.formats.lamda`."""

from __future__ import annotations

from seqsearch.formats.base import Toolbox
from seqsearch.formats.lamda import toolbox


def build() -> Toolbox:
    return toolbox("PILOT", "LAMDA-PILOT", "backbone_type")
