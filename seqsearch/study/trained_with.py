"""Identity of a study's methods and of the machine that trains them, a part of the identity of its run."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from seqsearch.core.identity import versions
from seqsearch.core.types import MethodSpec
from seqsearch.training.world import World


def trained_with(world: World, methods: Sequence[MethodSpec], weights: Mapping[str, str]) -> dict[str, Any]:
    """Return the identity of a study's methods and of the device and software that train them; ``weights``: tags by
    backbone."""
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
    """Map the labels of methods to their identities. A command has no known backbone."""
    return {
        m.label: {"digest": m.digest, "backbone": "" if m.command else m.backbone, "params": dict(m.params)}
        for m in methods
    }
