"""``seqsearch import``: a class order of a toolbox as sequences that ``seqsearch score`` and ``edge --orders`` read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.typed import brief
from seqsearch.formats.json import written
from seqsearch.formats.reading import read_order
from seqsearch.pools.open import build_pool, located_pools, pool_texts
from seqsearch.pools.union import Union, class_names
from seqsearch.results.named import LONGEST
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside


def import_order(
    file: Path, form: str, names: tuple[str, ...], sizes: tuple[int, ...], out: Path, name: str
) -> dict[str, Any]:
    """Read ``file``, check it, and write ``out``.

    Args:
        form: of which toolbox it is.
        names: of the classes, by id.
        sizes: of the tasks, where the file does not say them.
        name: of the sequence, if there is one; empty: as the file calls it.

    Raises:
        UserError: see `read_order`; ``out`` is no .json, is there already, or cannot be written.
    """
    if out.suffix != ".json":
        raise UserError(f"--out {out}: must end in .json, which seqsearch score and edge --orders read")
    if os.path.lexists(out):
        raise UserError(f"--out {out} is there already: choose another name, or remove it")
    if len(set(names)) < len(names):
        raise UserError("--names: a name stands twice; classes are known by their names")
    sequences = read_order(at_home(file), form, names, sizes)
    called = {s.name: s.tasks for s in sequences}
    if name:
        if len(called) > 1:
            raise UserError(f"--name {brief(name)}: the file has {len(called)} sequences, which have names")
        if len(name) > LONGEST or "/" in name or not name.strip():
            raise UserError(f"--name {brief(name)}: a name has at most {LONGEST} characters, and no slash")
        called = {name: next(iter(called.values()))}
    with atomic_file(Inside(out.parent), out.name) as opened:
        opened.write(written(called).encode())
    return {"out": str(out), "sequences": {n: [len(t) for t in tasks] for n, tasks in called.items()}}


def pool_names(pool: str) -> tuple[str, ...]:
    """Names of a pool's classes, by class id.

    Raises:
        UserError: no such pool.
    """
    return class_names(Union([build_pool(text) for text in pool_texts(located_pools(pool, Path.cwd()))]))
