"""What a network is, entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from seqsearch.backbones.parts.fingerprint import SHORT, differs, fingerprint


class Net(nn.Linear):
    """With attributes that torch does not know as its own."""

    def __init__(self) -> None:
        super().__init__(2, 2)
        self.scale: Any = torch.ones(3)
        self.sizes, self.names = [7, 7], {"head": 1.0}
        self.pairs = ((1, torch.zeros(2)), (2, torch.zeros(2)))
        self.many = list(range(SHORT + 1))


def scales(net: Net) -> None:
    net.scale[1] = 2


def scales_elsewhere(net: Net) -> None:
    net.scale.numpy()[1] = 2


def narrows(net: Net) -> None:
    net.scale = net.scale[:2]


def resizes(net: Net) -> None:
    net.sizes[0] = 8


def renames(net: Net) -> None:
    net.names["head"] = 2.0


def within(net: Net) -> None:
    net.pairs[1][1][0] = 1


def grows(net: Net) -> None:
    net.many.append(1)


@pytest.mark.parametrize(
    ("change", "name"),
    [(scales, "scale"), (scales_elsewhere, "scale"), (narrows, "scale"), (resizes, "sizes"), (renames, "names"),
     (within, "pairs"), (grows, "many")],
)  # fmt: skip
def test_attributes_are_compared_by_what_is_in_them(change: Callable[[Net], None], name: str) -> None:
    inner = Net()
    net = nn.Sequential(inner)
    before = fingerprint(net)
    assert differs(before, fingerprint(net)) == ""
    change(inner)
    assert differs(before, fingerprint(net)) == f"0.{name}"
