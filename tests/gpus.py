"""A machine with GPUs, as torch would say: nothing is computed on them."""

from __future__ import annotations

import pytest
import torch


def pretend(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Torch says that this machine has so many GPUs."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: number > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: number)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "NVIDIA H100")
