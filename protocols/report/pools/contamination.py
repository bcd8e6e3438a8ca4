"""Contamination of a pool by pre-training: names of classes, equal images, near duplicates; for ``pool show`` and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from protocols.gtep.near_duplicates import near_duplicates_line
from seqsearch.core.text import counted, shown
from seqsearch.pools.base import ClassInfo, Pool
from seqsearch.study.contamination import SYNSETS, named_like, pretrained_on

if TYPE_CHECKING:
    from seqsearch.study.compared import Compared

EXAMPLES = 3
"""Classes that a line names."""


def contamination(classes: Sequence[ClassInfo]) -> dict[str, dict[str, str]]:
    """Classes named like one of ImageNet, by set: their names, and those of the class there."""
    return {label_set: named_like((c.name for c in classes), label_set) for label_set in SYNSETS}


def contamination_lines(found: Mapping[str, Mapping[str, str]], classes: int) -> list[str]:
    """The same as text, a line for each set."""
    return [
        f"{len(own)} of {counted(classes, 'class')} are named like a class of {label_set}{_examples(own)}"
        for label_set, own in found.items()
    ]


def _examples(own: Mapping[str, str]) -> str:
    few = ", ".join(shown(name) for name in list(own)[:EXAMPLES])
    return f": {few}{', ...' * (len(own) > EXAMPLES)}" if own else ""


def compared_lines(found: Compared, pool: str, others: str) -> list[str]:
    """Classes and images that a pool shares with ``others``, as text."""
    same, images = len(found.named), found.images
    lines = [
        f"{counted(same, 'class')} {'has' if same == 1 else 'have'} a name that {others} has, too{_examples(found.named)}",
        f"{counted(images, 'image')} {'is' if images == 1 else 'are'} in {others}, pixel for pixel",
    ]
    return [*lines, near_duplicates_line(found.near, others, pool)] if found.near else lines


def pretraining(config: Mapping[str, Any], pools: Sequence[Pool]) -> str:
    """The text of a report about names of classes; empty where no network of timm is used."""
    identity = config.get("identity")
    weights = identity.get("weights") if isinstance(identity, dict) else None
    sets = pretrained_on(weights) if isinstance(weights, dict) else ()
    classes = [c for pool in pools for c in pool.classes]
    if not sets or not classes:
        return ""
    found = contamination(classes)
    named = "; ".join(contamination_lines({s: found[s] for s in sets}, len(classes)))
    return (
        f"{named}. A network that was pre-trained on that set may know these classes. Names alone are compared; "
        "seqsearch pool show --against compares images."
    )
