"""A class order of a toolbox as named sequences: the file is read, found out to be the toolbox's, and checked."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from seqsearch.core.errors import UserError
from seqsearch.core.text import shown
from seqsearch.core.typed import brief
from seqsearch.core.yaml_file import plain
from seqsearch.formats.base import Given, foreign, toolbox
from seqsearch.formats.numbers import check_counted, named, numbers_in
from seqsearch.results.named import NamedSequence, check_named
from seqsearch.storage.reading import content, parsed

LARGEST, LARGEST_YAML, DEEPEST = 64 << 20, 1 << 20, 20
"""Bytes of a file, and of YAML, which is slow to read; lists and mappings within each other in YAML."""


def read_order(path: Path, form: str, names: Sequence[str], sizes: tuple[int, ...] = ()) -> tuple[NamedSequence, ...]:
    """Sequences of a file of the toolbox ``form``, with classes out of ``names`` (by class id).

    Args:
        sizes: of the tasks, for files that do not say them.

    Raises:
        UserError: an unknown toolbox, a file that cannot be read, or is of another one; an order of wrong length or direction,
            with a class that is not there, or twice.
    """
    found, said = toolbox(form), _said(path, form)
    given = Given(path, said, len(names), sizes)
    foreign(given, form)
    reads = found.read(given)
    if twice := next((n for n, times in Counter(r.name for r in reads).items() if times > 1), None):
        raise UserError(f"{path}: sequence {brief(twice)} would come twice")
    for read in reads:
        check_counted(given, form, read, names)
    sequences = tuple(named(given, r, names) for r in reads)
    for sequence in sequences:
        check_named(path, sequence)
    return sequences


def _said(path: Path, form: str) -> Any:
    try:
        if form == "csv":
            return _rows(content(path, LARGEST).decode("utf-8-sig"))
        if path.suffix in (".yaml", ".yml"):
            return _yaml(content(path, LARGEST_YAML).decode("utf-8-sig"))
        text = content(path, LARGEST).decode("utf-8-sig")
        return parsed(text, unique=True) if text.lstrip()[:1] in ("[", "{") else _list(text)
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        said = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise UserError(f"{path}: cannot be read ({shown(said)[:200]}): give the file of the toolbox") from None


def _rows(text: str) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    return [{str(k).strip(): v for k, v in row.items() if isinstance(v, str)} for row in reader]


def _yaml(text: str) -> Any:
    try:
        return plain(text, DEEPEST)
    except yaml.YAMLError as error:
        raise ValueError(f"no YAML: {error}") from None


def _list(text: str) -> list[Any]:
    """Numbers, see `numbers_in`; names between commas or, if there are none, on lines."""
    if (numbers := numbers_in(text)) is not None:
        return numbers
    if "," in text:
        return [p.strip() for row in csv.reader(io.StringIO(text), skipinitialspace=True) for p in row if p.strip()]
    return [line.strip() for line in text.splitlines() if line.strip()]
