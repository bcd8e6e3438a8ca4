"""Other names of classes that a user brings: ``{"rock dove": ["pigeon", "feral pigeon"]}`` as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqsearch.building.leaks import forms_of
from seqsearch.core.errors import UserError
from seqsearch.core.text import did_you_mean
from seqsearch.core.typed import brief
from seqsearch.pools.base import ClassInfo
from seqsearch.storage.reading import content, parsed

LARGEST = 16 << 20
"""Bytes of the file."""
LONGEST = 200
"""Characters of a name."""
LAYOUT = 'write {"class name": ["other name", ...], ...}'


def read_synonyms(path: Path, classes: Sequence[ClassInfo]) -> dict[tuple[str, str], list[str]]:
    """Other names by group and name of the class; the file names a class by its name, in whatever groups, or ``group/name``.

    Raises:
        UserError: no such file, another layout, a class that is not there, or a name that has no word.
    """
    try:
        said = parsed(content(path, LARGEST), unique=True)
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else " ".join(str(error).split())[:120]
        raise UserError(f"--synonyms {path} cannot be read ({why}): {LAYOUT}") from None
    if not isinstance(said, dict):
        raise UserError(f"--synonyms {path} holds no JSON object: {LAYOUT}")
    found: dict[tuple[str, str], list[str]] = {}
    for name, others in said.items():
        meant = [c for c in classes if name in (c.name, f"{c.group}/{c.name}")]
        if not meant:
            near = did_you_mean(name, sorted({c.name for c in classes}))
            raise UserError(f"--synonyms {path}: there is no class {brief(name)}; {near}{LAYOUT}")
        _check(path, name, others)
        for c in meant:
            found.setdefault((c.group, c.name), []).extend(others)
    return found


def _check(path: Path, name: str, others: Any) -> None:
    """Raises UserError: other names of a class are no list of names."""
    if not isinstance(others, list) or not others:
        raise UserError(f"--synonyms {path}: {brief(name)} has no list of names: {LAYOUT}")
    for other in others:
        if not isinstance(other, str) or len(other) > LONGEST or not other.isprintable():
            raise UserError(
                f"--synonyms {path}: {brief(name)}: {brief(other)} is no name of at most {LONGEST} characters"
            )
        if not forms_of([other])[0]:
            raise UserError(f"--synonyms {path}: {brief(name)}: {brief(other)} has no word to look for: leave it out")
