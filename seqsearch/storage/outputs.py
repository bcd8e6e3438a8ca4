"""Checks of a file that is to be made, before any work is spent on it."""

from __future__ import annotations

from pathlib import Path

from seqsearch.core.errors import UserError


def check_output(out: Path, suffix: str, force: bool, hint: str = "") -> None:
    """
    Args:
        suffix: the ending that the name must have, with its dot.
        force: an existing file may be replaced.
        hint: follows the line on a wrong ending.

    Raises:
        UserError: ``out`` has another ending, is a folder, a link or an existing file, or its folder does not exist.
    """
    if out.suffix != suffix:
        raise UserError(f"{out} must end in {suffix}{hint}")
    if out.is_dir():
        raise UserError(f"{out} is a folder: name a file to be made, as in {out / out.name}")
    if out.is_symlink():
        raise UserError(f"{out} is a link: remove it, or choose another name")
    if out.exists() and not force:
        raise UserError(f"{out} is there already: choose another name, or replace it with --force")
    check_folder(out)


def check_folder(out: Path) -> None:
    """Raises UserError: the folder of ``out`` does not exist."""
    if not out.parent.is_dir():
        raise UserError(f"folder {out.parent} of {out} does not exist: make it first")
