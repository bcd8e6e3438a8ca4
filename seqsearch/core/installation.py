"""The three packages of one installation, and the files that it ships: whether they are where this one is, and complete."""

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
OURS = ("seqsearch", "actors", "protocols")


def check_together() -> None:
    """
    Raises:
        UserError: Python finds a package of ours somewhere else than beside this one.
    """
    for name in OURS:
        spec = importlib.util.find_spec(name)
        if spec is None:
            raise UserError(f"{ROOT} has no {name}: install seqsearch again")
        if spec.origin is None:  # a folder without __init__.py: what it does not have is still found in ours
            continue
        found = Path(spec.origin)
        found = found.parent if found.name == "__init__.py" else found
        if not _is_same(found.parent, ROOT):
            raise UserError(
                f"Python finds {name} in {found}, not in {ROOT / name} where seqsearch needs it: rename {found.name}, start "
                "from another folder, or take its folder off PYTHONPATH"
            )


def warn_of_hidden() -> None:
    """Warn of folders of the user's that have code and the name of a package of ours, which hides them."""
    for entry in dict.fromkeys(sys.path):
        folder = Path(entry or ".").absolute() if entry or _has_cwd() else ROOT
        for other in others_in(folder):
            if folder != ROOT and _is_ours(other.stem):
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
    """Whether ``import`` takes ours."""
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None and _is_same(Path(spec.origin).parents[1], ROOT)


def _is_same(folder: Path, other: Path) -> bool:
    return folder.resolve() == other.resolve()
