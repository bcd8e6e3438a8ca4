"""What ``sequence.json`` says of a sequence of names, of which no images are at hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.text import nearest
from seqsearch.core.typed import brief
from seqsearch.results.named import NamedSequence
from seqsearch.training.sequence_folder import SCHEMA

OWN = "names of the exported sequences, in alphabetical order"


def class_list(sequences: Iterable[NamedSequence]) -> tuple[str, ...]:
    """All names of classes of some sequences, in alphabetical order."""
    return tuple(sorted({c for s in sequences for task in s.tasks for c in task}))


def record_of_names(sequence: NamedSequence, names: Sequence[str], called: str) -> dict[str, Any]:
    """As `seqsearch.training.sequence_folder.record_of`; ``class_id`` is the position among ``names``.

    Raises:
        UserError: a class is not among them.
    """
    ids = {name: i for i, name in enumerate(names)}
    flat = [c for task in sequence.tasks for c in task]
    if missing := next((c for c in flat if c not in ids), None):
        raise UserError(
            f"sequence {brief(sequence.name)}: {called} has no class {brief(missing)}{nearest(missing, names)}"
        )
    label = {c: at for at, c in enumerate(flat)}
    return {
        "schema": SCHEMA,
        "sequence_id": sequence.name,
        "seed": None,
        "pool": {"name": called, "digest": digest_of("names", list(names)), "classes": len(names)},
        "split_digest": None,
        "task_sizes": [len(task) for task in sequence.tasks],
        "tasks": [
            {"classes": [{"label": label[c], "class_id": ids[c], "name": c, "group": ""} for c in task]}
            for task in sequence.tasks
        ],
        "class_order": [ids[c] for c in flat],
    }
