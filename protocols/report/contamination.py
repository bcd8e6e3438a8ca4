"""What pre-training may have shown of a pool: names of classes, equal images, near duplicates; for ``pool show`` and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from protocols.gtep.alike import alike_line
from seqsearch.core.text import counted, shown
from seqsearch.pools.base import ClassInfo, Pool
from seqsearch.pools.union import Union
from seqsearch.study.contamination import SYNSETS, named_like, pretrained_on

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


def compared(pools: Union, others: Union, backbone: str, weights: str | None, device: str) -> dict[str, Any]:
    """What a pool has in common with the images of another: pairs of classes of one name, equal images, near duplicates.

    Args:
        backbone: whose features near duplicates are found by; empty: they are not looked for.
        weights: file of its weights.
        device: where it computes.

    Raises:
        UserError: an image cannot be read, or the backbone cannot be had.
    """
    from seqsearch.study.overlap import overlaps

    found = overlaps(others, pools, range(len(others.classes)), range(len(pools.classes)))
    named = {s.judged: s.tuned for s in found.shared if s.called}
    return {
        "pool": others.name, "same_name": named, "equal_images": found.images,
        "near_duplicates": _near(pools, others, backbone, weights, device) if backbone else None,
    }  # fmt: skip


def _near(pools: Union, others: Union, name: str, weights: str | None, device: str) -> str:
    import torch

    from seqsearch.backbones.open import build_backbone
    from seqsearch.features.store import UnionFeatures
    from seqsearch.storage.files import cache_root
    from seqsearch.study.look_alikes import look_alikes
    from seqsearch.training.device import device_here

    both, here = Union([*others.parts, *pools.parts]), device_here(device)
    built = build_backbone(name, {name: weights} if weights else None)
    features = UnionFeatures(cache_root(), both, built, torch.device(here))
    first = len(others.classes)
    found = look_alikes(both, features.rows, range(first), range(first, len(both.classes)), here)
    return f"{alike_line(found, others.name, pools.name)}. By features of {built.tag}."


def compared_lines(found: Mapping[str, Any]) -> list[str]:
    """The same as text."""
    there, same = found["pool"], found["same_name"]
    lines = [
        f"{counted(len(same), 'class')} {'has' if len(same) == 1 else 'have'} a name that {there} has, too{_examples(same)}",
        f"{counted(found['equal_images'], 'image')} {'is' if found['equal_images'] == 1 else 'are'} in {there}, pixel for pixel",
    ]
    return [*lines, found["near_duplicates"]] if found["near_duplicates"] else lines


def note(config: Mapping[str, Any], pools: Sequence[Pool]) -> str:
    """A paragraph of a report on the names of classes, as HTML; empty where no network of timm is used."""
    identity = config.get("identity")
    weights = identity.get("weights") if isinstance(identity, dict) else None
    sets = pretrained_on(weights) if isinstance(weights, dict) else ()
    classes = [c for pool in pools for c in pool.classes]
    if not sets or not classes:
        return ""
    found = contamination(classes)
    said = "; ".join(contamination_lines({s: found[s] for s in sets}, len(classes)))
    return (
        f"<h2>Pre-training</h2>\n<p>{escape(said)}. A network that was pre-trained on that set may know these classes. Names "
        "alone are compared; seqsearch pool show --against compares images.</p>"
    )
