"""What the checks of custom methods and learners share: a finding, and whether two states are the same."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from seqsearch.core.errors import UserError
from seqsearch.training.failures import line_of


class Crashed(UserError):
    """What is checked fails where any contract asks for no more than it does in a run: none can be tested then."""

    def __init__(self, name: str, error: BaseException, target: str) -> None:
        super().__init__(f"{name} failed: {line_of(error, target)}; mend it: no contract can be tested")


@dataclass(frozen=True)
class Finding:
    """One contract: what it asks, and what is wrong (empty if nothing is); ``tested`` is False if that could not be found out;
    ``warns`` if what is wrong breaks nothing."""

    contract: str
    asks: str
    wrong: str
    tested: bool = True
    warns: bool = False


def disturbed(seed: int) -> None:
    """Put the global generators, which no learner may use, into some state."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return torch.equal(a, b)
    return bool(a == b) or (isinstance(a, float) and isinstance(b, float) and a != a and b != b)


def differing(a: dict[str, Any], b: dict[str, Any]) -> str:
    """The first entries that are not the same bits, in words; empty if all are."""
    names = sorted(set(a) ^ set(b))
    for n in sorted(set(a) & set(b)):
        if not _same(a[n], b[n]):
            names.append(n)
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(f"state_dict()[{n.removeprefix('learner.')!r}]" for n in names[:2]) + more
