"""Which trainings with low-rank changes are compared: the settings of LibContinual, and what they are called here."""

from __future__ import annotations

from typing import Any

from tests.golden.parity.cases import Case
from tests.golden.parity.starts import TASKS, TRAIN
from tests.golden.parity_lora.starts import RANK


def _inflora(lamb: float, lame: float) -> Case:
    public = {"lr": 0.01, "lora_rank": RANK, "epochs": 4, "lamb": lamb, "lame": lame}
    params: dict[str, Any] = {
        "lr": 0.01,
        "rank": RANK,
        "epochs": 4,
        "batch_size": TRAIN,
        "scheduler": "constant",
        "threshold": lamb,
        "final_threshold": lame,
        "tasks": len(TASKS),
    }
    return Case("inflora", "InfLoRA_opt", public, params)


def _sdlora(magnitude: float) -> Case:
    public = {
        "lr": 0.05,
        "lora_rank": RANK,
        "epochs": 4,
        "init_mag": magnitude,
        "rank_reduction": [False, 4, 8, 8, 6],
        "knowledge_dist": [False, 9e-4],
    }
    params = {"lr": 0.05, "rank": RANK, "epochs": 4, "batch_size": TRAIN, "magnitude": magnitude}
    return Case("sdlora", "sd_lora", public, params)


CASES: dict[str, Case] = {
    "inflora": _inflora(0.8, 0.9),
    "inflora, complements": _inflora(0.85, 1.0),
    "sdlora": _sdlora(1.0),
    "sdlora, smaller magnitudes": _sdlora(0.8),
}
