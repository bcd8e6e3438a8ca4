"""What a study says of its methods and of where they are trained: a part of the identity of its run."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from seqsearch.core.identity import versions
from seqsearch.core.types import MethodSpec
from seqsearch.training.world import World


def trained_with(world: World, methods: Sequence[MethodSpec], weights: Mapping[str, str]) -> dict[str, Any]:
    """What every study says of its methods and of where they are trained; ``weights``: tags by backbone."""
    return {
        "weights": dict(weights),
        "methods": described(methods),
        "device": f"{world.device} ({platform.machine()})",
        "precision": world.precision,
        "augment": world.augment,
        "threads": 1,
        "python": sys.version.split()[0],
        "versions": versions(texts=any(m.texts for m in methods)),
    }


def described(methods: Sequence[MethodSpec]) -> dict[str, Any]:
    """What the labels of methods stand for; a command has no backbone that is known."""
    return {
        m.label: {"digest": m.digest, "backbone": "" if m.command else m.backbone, "params": dict(m.params)}
        for m in methods
    }
