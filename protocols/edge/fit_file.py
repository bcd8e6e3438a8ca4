"""``fit.json``: the fits of a run with ``--fit``, and the sequences that were found by them; read again on resume."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from protocols.edge.fit import Fit
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.typed import built, fits
from seqsearch.results.schema import FITS
from seqsearch.storage.files import write_json
from seqsearch.storage.reading import json_object

LARGEST = 1 << 28
"""Bytes of ``fit.json``."""


def write_fits(path: Path, digest: str, made: Sequence[Fit]) -> None:
    """``digest``: of what they were made from (`protocols.edge.fit.fit_digest`)."""
    said = {"digest": digest, "fits": [asdict(f) for f in made]}
    write_json(path, {**said, "checksum": _checksum(said)})


def read_fits(folder: Path) -> tuple[str, tuple[Fit, ...]]:
    """What the fits were made from, and the fits; nothing if there is no such file, or nothing in it.

    Raises:
        UserError: it is damaged.
    """
    path = folder / FITS
    if not os.path.lexists(path) or not path.lstat().st_size:
        return "", ()
    said = json_object(path, most=LARGEST)
    told = {name: said.get(name) for name in ("digest", "fits")}
    if said.get("checksum") != _checksum(told) or not fits(told["fits"], tuple[Fit, ...]):
        raise UserError(f"{path} is not as it was written: remove it to have it fitted again")
    return str(told["digest"]), built(told["fits"], tuple[Fit, ...])


def _checksum(said: dict[str, Any]) -> str:
    return digest_of("fit file", json.loads(json.dumps(said)))
