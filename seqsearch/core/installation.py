"""Checks an installation: that its three packages lie beside each other, and that the files that it ships exist."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from seqsearch.core.errors import UserError

ROOT = Path(__file__).parents[2]
"""The folder of the installation, in which this package lies."""
OURS = ("seqsearch", "actors", "protocols")


def check_together() -> None:
    """Check that Python finds all our packages beside this one.

    Raises:
        UserError: it finds one somewhere else, or not at all.
    """
    for name in OURS:
        spec = importlib.util.find_spec(name)
        if spec is None:
            raise UserError(f"{ROOT} has no {name}: install seqsearch again")
        if spec.origin is None:  # a folder without __init__.py does not hide our package: its modules are still found
            continue
        found = Path(spec.origin)
        found = found.parent if found.name == "__init__.py" else found
        if not _is_same(found.parent, ROOT):
            raise UserError(
                f"Python finds {name} in {found}, not in {ROOT / name} where seqsearch needs it: rename {found.name}, start "
                "from another folder, or take its folder off PYTHONPATH"
            )


def warn_of_hidden() -> None:
    """Warn of the user's files and folders with code that have the name of one of our packages, so that our package hides
    them."""
    for entry in dict.fromkeys(sys.path):
        folder = Path(entry or ".").absolute() if entry or _has_cwd() else ROOT
        if folder == ROOT:
            continue
        for other in others_in(folder):
            if _is_ours(other.stem):
                warnings.warn(
                    f"{other.stem} of seqsearch ({ROOT / other.stem}) hides {other}: rename {other.name} to import it",
                    stacklevel=3,
                )


def others_in(folder: Path) -> Iterator[Path]:
    """Files and folders with code that have the name of `actors` or `protocols` and belong to no installation of seqsearch."""
    if all(os.path.isfile(folder / name / "__init__.py") for name in OURS):
        return
    for name in OURS[1:]:
        if os.path.isfile(folder / f"{name}.py"):
            yield folder / f"{name}.py"
        elif os.path.isdir(folder / name) and _has_code(folder / name):
            yield folder / name


def shipped(path: Path) -> Path:
    """A file that every installation has.

    Raises:
        UserError: this one does not have it.
    """
    if not path.is_file():
        raise UserError(f"{path} is missing, which comes with seqsearch: install seqsearch again")
    return path


def _has_cwd() -> bool:
    with contextlib.suppress(OSError):  # it was removed
        return bool(os.getcwd())
    return False


def _has_code(folder: Path) -> bool:
    with contextlib.suppress(OSError):  # nobody may look into it
        return any(name.endswith(".py") for name in os.listdir(folder))
    return False


def _is_ours(name: str) -> bool:
    """Whether ``import`` of this name finds our package."""
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None and _is_same(Path(spec.origin).parents[1], ROOT)


def _is_same(folder: Path, other: Path) -> bool:
    return folder.resolve() == other.resolve()
