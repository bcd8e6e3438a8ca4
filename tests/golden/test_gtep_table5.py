"""Search spaces are those of Table 5 of "Hyperparameters in Continual Learning: A Reality Check", defaults its "original"."""

from __future__ import annotations

from typing import Any

import pytest

from seqsearch.core.registry import load
from seqsearch.methods.config import build_config
from seqsearch.methods.sampling import search_space

PROMPTS = {
    "epochs": {3, 5, 10, 15, 20, 25},
    "lr": {0.000875, 0.001375, 0.001875, 0.002375, 0.0025},
    "weight_decay": {0, 0.0001, 0.0005},
}
ADAPTERS = {
    "epochs": {5, 10, 15, 20, 25, 30},
    "lr": {0.01, 0.02, 0.03, 0.04, 0.05},
    "weight_decay": {0.0001, 0.0005, 0.001, 0.005},
    "ffn_num": {4, 8, 16, 32, 64},
}
ALL = {
    "milestones": {2, 3, 4},
    "lr_decay": {0.1, 0.3, 0.5},
    "batch_size": {8, 16, 24, 48, 64, 128},
    "scheduler": {"steplr", "cosine", "constant"},
    "optimizer": {"sgd", "adam", "adamw"},
}
TABLE_5: dict[str, dict[str, set[Any]]] = {
    "l2p": {
        **PROMPTS, "size": {10, 15, 20, 25, 30}, "length": {2, 4, 6, 8, 10}, "top_k": {2, 4, 6, 8, 10},
        "pull": {0.1, 0.3, 0.5},
    },
    "dualprompt": {
        **PROMPTS, "pull": {0.1, 0.3, 0.5}, "g_length": {5, 10, 15, 20, 30}, "length": {5, 10, 15, 20, 30},
    },
    "coda_prompt": {
        **PROMPTS, "components": {3, 5, 10, 20, 30}, "length": {4, 8, 16, 24, 32}, "mu": {0.2, 0.1, 0.01, 0.001, 0},
    },
    "aper_adapter": ADAPTERS,
    "ranpac": {**ADAPTERS, "M": {5000, 10000, 15000, 20000}},
    "ease": {**ADAPTERS, "alpha": {0.01, 0.05, 0.1, 0.15, 0.2}},
}  # fmt: skip
"""Without DualPrompt's pool (each task has a prompt of its own, as many as there are) and RanPAC's dead "prompt token num";
CODA-Prompt's pools of 30 to 300 are over ten tasks."""

ORIGINAL: dict[str, dict[str, Any]] = {
    "l2p": {
        "epochs": 10, "lr": 0.001875, "batch_size": 32, "weight_decay": 0, "scheduler": "constant", "optimizer": "adam",
        "size": 10, "length": 5, "top_k": 5, "pull": 0.1,
    },
    "dualprompt": {
        "epochs": 10, "lr": 0.001, "batch_size": 24, "weight_decay": 0, "scheduler": "constant", "optimizer": "adam",
        "length": 5, "g_length": 5, "pull": 0.1,
    },
    "coda_prompt": {
        "epochs": 50, "lr": 0.001, "batch_size": 128, "weight_decay": 0, "scheduler": "cosine", "optimizer": "adam",
        "components": 10, "length": 8, "mu": 0,
    },
    "aper_adapter": {
        "epochs": 10, "lr": 0.05, "batch_size": 16, "weight_decay": 0.005, "scheduler": "constant", "optimizer": "sgd",
        "ffn_num": 100,
    },
    "ranpac": {
        "epochs": 10, "lr": 0.05, "batch_size": 16, "weight_decay": 0.005, "scheduler": "constant", "optimizer": "sgd",
        "ffn_num": 64, "M": 10000,
    },
    "ease": {
        "epochs": 20, "lr": 0.05, "batch_size": 16, "weight_decay": 0.005, "scheduler": "cosine", "optimizer": "sgd",
        "ffn_num": 64, "alpha": 0.1,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE_5)
def test_what_is_sampled(name: str) -> None:
    space = search_space(load("method", name), {})
    expected = {**ALL, **TABLE_5[name]}
    assert {n: set(values) for n, values in space.items() if n in expected} == expected
    assert set(space) - set(expected) <= {"adapt"}


@pytest.mark.parametrize("name", ORIGINAL)
def test_defaults(name: str) -> None:
    config = build_config(load("method", name), {}, "vit_base_patch16_224")
    assert {n: getattr(config, n) for n in ORIGINAL[name]} == ORIGINAL[name]
