"""Finds the labels of a run that are compared methods, and matches the same methods in two runs."""

from __future__ import annotations

from pathlib import Path

from seqsearch.core.errors import UserError
from seqsearch.results.run import RunResults

REFERENCES = ("mean", "bound")
"""Of a backbone, in ``identity.references``."""


def compared(run: Path, data: RunResults) -> tuple[str, ...]:
    """Labels without those that methods are only held against: references of ``score`` (one training each), and whatever was
    trained on nothing but all classes at once.

    Raises:
        UserError: what ``config.json`` says of references is not as it was written, or a label is empty.
    """
    identity = data.config.get("identity")
    said = identity if isinstance(identity, dict) else {}
    asked, references = said.get("methods"), said.get("references", {})
    pairs = list(references.values()) if isinstance(references, dict) else [None]
    named = [p.get(n) if isinstance(p, dict) else None for p in pairs for n in REFERENCES]
    if not all(isinstance(label, str) for label in named):
        raise UserError(f"{run}/config.json: identity.references is not as it was written: restore it")
    if "" in data.methods:
        raise UserError(f"run {run}: a method has an empty label: restore its files")
    kinds = {s.sequence_id: s.kind for s in data.sequences}
    evaluated = {method for name, method, _ in data.rollouts if kinds[name] != "joint"}
    held_against = set(named) | ({m for _, m, _ in data.rollouts} - evaluated)
    own = {m for s in data.sequences for m in s.method_ids} | set(asked if isinstance(asked, dict) else ())
    return tuple(m for m in data.methods if m in own or m not in held_against)


def unlike(a: RunResults, b: RunResults) -> tuple[str, ...]:
    """Labels in both runs that do not stand for the same method: its results there are of other code, parameters, backbone,
    weights, precision, versions or device. Results on held-out sequences are not asked: another pool feeds a method there."""
    first, second = _digests(a), _digests(b)
    return tuple(m for m in a.methods if m in first and m in second and first[m] != second[m])


def _digests(data: RunResults) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in data.rows:
        if row["kind"] != "heldout":
            found.setdefault(row["method_id"], set()).add(row["config_digest"])
    return found
