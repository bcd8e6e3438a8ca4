"""Which trainings are compared: the settings of the public code, and what they are called here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.golden.parity.starts import (
    ALIGNED,
    BOTTLENECK,
    COMPONENT,
    COMPONENTS,
    DRAWS,
    EVEN,
    POOL,
    PROJECTED,
    TASKS,
    TOKENS,
    TRAIN,
)


@dataclass(frozen=True)
class Case:
    """One method with one setting.

    Attributes:
        method: its name here.
        module: its file in the folder ``models`` of the public code, without ending.
        public: what the public code is told beside what all are told (`public.args_of`).
        params: the same in the words of this package.
        tasks: classes by task.
        stretch: factor on what CODA's components start from. While these are orthonormal the gradient of their penalty is
            rounding errors, and Adam makes whole steps of those.
    """

    method: str
    module: str
    public: dict[str, Any]
    params: dict[str, Any]
    tasks: tuple[tuple[int, ...], ...] = TASKS
    stretch: float = 1.0


ALL_AT_ONCE = 3 * TRAIN
"""A batch that holds any task: an epoch is a step, and schedules by epoch and by step are the same."""


def _adapters(
    optimizer: str, rate: float, epochs: int, batch: int, falling: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """APER and RanPAC: a schedule that falls to the initial rate stays constant; ``adam`` is AdamW there."""
    public = {
        "tuned_epoch": epochs, "init_lr": rate, "batch_size": batch, "weight_decay": 0.0005, "optimizer": optimizer,
        "min_lr": 0.0 if falling else rate, "ffn_num": BOTTLENECK, "backbone_type": "pretrained_vit_b16_224_adapter",
    }  # fmt: skip
    params = {
        "epochs": epochs, "lr": rate, "batch_size": batch, "weight_decay": 0.0005, "ffn_num": BOTTLENECK,
        "scheduler": "cosine" if falling else "constant", "optimizer": "adamw" if optimizer == "adam" else optimizer,
    }  # fmt: skip
    return public, params


def _ease(scheduler: str, batch: int, recalc: bool) -> Case:
    public = {
        "init_epochs": 4, "init_lr": 5.0, "later_epochs": 4, "later_lr": 5.0, "batch_size": batch, "weight_decay": 0.0005,
        "min_lr": 0, "optimizer": "sgd", "scheduler": scheduler, "ffn_num": BOTTLENECK, "use_diagonal": False,
        "recalc_sim": recalc, "alpha": 0.25, "use_init_ptm": False, "beta": 0, "use_old_data": False, "use_reweight": True,
        "moni_adam": False, "adapter_num": -1, "backbone_type": "vit_base_patch16_224_ease",
    }  # fmt: skip
    params = {
        "epochs": 4, "lr": 5.0, "batch_size": batch, "weight_decay": 0.0005, "scheduler": scheduler, "ffn_num": BOTTLENECK,
        "alpha": 0.25, "mix": "later" if recalc else "own",
    }  # fmt: skip
    return Case("ease", "ease", public, params)


_PROMPTS = {
    "tuned_epoch": 3, "weight_decay": 0, "min_lr": 1e-5, "optimizer": "adam", "scheduler": "constant", "reinit_optimizer": True,
    "pretrained": True, "drop": 0.0, "drop_path": 0.0,
}  # fmt: skip
_POOLED = _PROMPTS | {
    "get_original_backbone": True,
    "global_pool": "token",
    "freeze": ["blocks", "patch_embed", "cls_token", "norm", "pos_embed"],
    "prompt_pool": True,
    "size": POOL,
    "length": TOKENS,
    "prompt_key": True,
    "prompt_key_init": "uniform",
    "shared_prompt_key": False,
    "batchwise_prompt": True,
    "embedding_key": "cls",
    "pull_constraint": True,
    "pull_constraint_coeff": 0.1,
}
_TRAINING = {"epochs": 3, "batch_size": TRAIN, "optimizer": "adam", "scheduler": "constant", "weight_decay": 0.0}


def _coda(mu: float, stretch: float = 1.0) -> Case:
    public = {
        **_PROMPTS, "init_lr": 0.01, "batch_size": TRAIN, "prompt_param": [COMPONENTS * len(TASKS), COMPONENT, mu],
        "backbone_type": "vit_base_patch16_224_coda_prompt",
    }  # fmt: skip
    params = {**_TRAINING, "lr": 0.01, "components": COMPONENTS, "length": COMPONENT, "mu": mu}
    return Case("coda_prompt", "coda_prompt", public, params, stretch=stretch)


CASES: dict[str, Case] = {
    "simplecil": Case("simplecil", "simplecil", {"backbone_type": "pretrained_vit_b16_224"}, {}),
    "ranpac": Case(
        "ranpac",
        "ranpac",
        {**_adapters("sgd", 10.0, 3, TRAIN, False)[0], "use_RP": True, "M": PROJECTED},
        {**_adapters("sgd", 10.0, 3, TRAIN, False)[1], "adapt": "adapter", "M": PROJECTED},
    ),
    "aper": Case("aper_adapter", "adam_adapter", *_adapters("sgd", 10.0, 3, TRAIN, False)),
    "aper, one batch": Case("aper_adapter", "adam_adapter", *_adapters("adam", 0.1, 6, ALL_AT_ONCE, True)),
    "slca": Case(
        "slca",
        "slca",
        {
            "lrate": 0.05, "weight_decay": 5e-4, "batch_size": TRAIN, "lrate_decay": 0.1, "epochs": 10, "ca_epochs": ALIGNED,
            "ca_with_logit_norm": 0.1, "milestones": [9], "bcb_lrscale": 0.02, "backbone_type": "vit_base_patch16_224",
        },
        {
            "lr": 0.05, "weight_decay": 5e-4, "batch_size": TRAIN, "lr_decay": 0.1, "epochs": 10, "align_epochs": ALIGNED,
            "temperature": 0.1, "scheduler": "steplr", "backbone_lr": 0.001, "align_lr": 0.05, "draws": DRAWS,
        },
        EVEN,
    ),
    "l2p": Case(
        "l2p",
        "l2p",
        {
            **_POOLED, "init_lr": 0.01, "batch_size": TRAIN, "head_type": "prompt", "top_k": 2, "use_prompt_mask": False,
            "shared_prompt_pool": False, "backbone_type": "vit_base_patch16_224_l2p",
        },
        {
            **_TRAINING, "lr": 0.01, "size": POOL, "length": TOKENS, "top_k": 2, "pull": 0.1, "init": 1.0, "readout": "prompts",
            "reference_compat": True,
        },
    ),
    "dualprompt": Case(
        "dualprompt",
        "dualprompt",
        {
            **_POOLED, "init_lr": 0.01, "batch_size": TRAIN, "head_type": "token", "top_k": 1, "use_prompt_mask": True,
            "shared_prompt_pool": True, "use_g_prompt": True, "g_prompt_length": TOKENS, "g_prompt_layer_idx": [0, 1],
            "use_prefix_tune_for_g_prompt": True, "use_e_prompt": True, "e_prompt_layer_idx": [2, 3, 4],
            "use_prefix_tune_for_e_prompt": True, "same_key_value": False, "backbone_type": "vit_base_patch16_224_dualprompt",
        },
        {
            **_TRAINING, "lr": 0.01, "g_length": TOKENS, "length": TOKENS, "pull": 0.1, "init": 1.0, "copy_prompt": True,
            "size": POOL, "reference_compat": True,
        },
    ),
    "coda_prompt": _coda(0.0),
    "coda_prompt, orthogonal": _coda(0.1, 1.25),
    "ease": _ease("constant", TRAIN, recalc=True),
    "ease, one batch": _ease("cosine", ALL_AT_ONCE, recalc=True),
    "ease, own": _ease("constant", TRAIN, recalc=False),
}  # fmt: skip
