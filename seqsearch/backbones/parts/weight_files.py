"""Files of weights that others published: which one is read, that it fits, and that it is the one that was read before."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from seqsearch.core.errors import UserError

if TYPE_CHECKING:
    import torch


def of_folder(folder: Path, names: Sequence[str], where: str) -> Path:
    """The first of these files that a folder has.

    Raises:
        UserError: it has none.
    """
    there = next((folder / name for name in names if (folder / name).is_file()), None)
    if there is None:
        raise UserError(f"{where}: there is neither {' nor '.join(names)} in {folder}")
    return there


def version(where: str, file: Path, beside: Sequence[str]) -> tuple[int, ...]:
    """Sizes and times of weights and of the files beside them: they distinguish files of one name.

    Raises:
        UserError: there are no weights.
    """
    try:
        found = [file.stat()]
    except (OSError, ValueError) as error:
        raise UserError(f"{where}: {file.name}: {getattr(error, 'strerror', error)}") from None
    for name in beside:
        with contextlib.suppress(OSError):
            found.append(file.with_name(name).stat())
    return tuple(number for state in found for number in (state.st_size, state.st_mtime_ns))


def check_weights(
    where: str, wanted: Mapping[str, tuple[int, ...]], found: Mapping[str, torch.Tensor], layers: tuple[str, ...]
) -> None:
    """Check that a file has the weights of a network.

    Args:
        where: whose they are, for error messages.
        wanted: shapes by the names of the file.
        found: the tensors of the file.
        layers: how names of layers begin: the file must have no further ones.

    Raises:
        UserError: weights of another architecture, or not finite.
    """
    import torch

    missing = sorted(wanted.keys() - found.keys())
    further = sorted(k for k in found.keys() - wanted.keys() if k.startswith(layers))
    shapes = sorted(k for k in wanted.keys() & found.keys() if tuple(found[k].shape) != wanted[k])
    kinds = (("missing", missing), ("of further layers", further), ("of another shape", shapes))
    if parts := [f"{len(names)} {what} (e.g. {names[0]})" for what, names in kinds if names]:
        raise UserError(f"{where}: weights of another architecture: {', '.join(parts)} of {len(wanted)} tensors")
    bad = next((k for k in wanted if not torch.isfinite(found[k].float()).all()), None)
    if bad is not None:
        raise UserError(f"{where}: {bad} is not finite")
