"""Which trainings are compared: the settings of PyCIL, and what they are called here.

``public`` holds module constants and arguments of PyCIL alike (`tests.golden.parity_scratch.public.built`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.golden.parity.cases import Case
from tests.golden.parity_scratch.starts import EXPANDED, HIDDEN, MEMORY, PROJECTED, PROXIES, TASKS

FIRST, LATER, DROP = 5, 4, 3
"""Epochs of the first task and of later ones; after which the rate falls."""
SHORT = 3
"""Epochs of second stages: PODNet's tuning, FOSTER's compression, BEEF's fusion."""
DECAY, FIRST_DECAY = 2e-3, 5e-3
LATER_RATE, FIRST_RATE = 0.02, 0.05
BATCH = 28
"""No last batch of this size has a single image: it would join the one before here, and stand alone there."""

_PUBLIC: dict[str, Any] = {
    "init_epoch": FIRST, "init_lr": FIRST_RATE, "init_milestones": [DROP], "init_lr_decay": 0.1,
    "init_weight_decay": FIRST_DECAY, "epochs": LATER, "lrate": LATER_RATE, "milestones": [DROP], "lrate_decay": 0.5,
    "batch_size": BATCH, "weight_decay": DECAY,
}  # fmt: skip
_PARAMS: dict[str, Any] = {
    "epochs": LATER, "lr": LATER_RATE, "batch_size": BATCH, "weight_decay": DECAY, "scheduler": "steplr",
    "drop_epochs": str(DROP), "lr_decay": 0.5, "first_epochs": FIRST, "first_lr": FIRST_RATE,
    "first_weight_decay": FIRST_DECAY,
}  # fmt: skip
_GROWING: dict[str, Any] = {"init_epochs": FIRST, "lr": LATER_RATE}
"""FOSTER and BEEF have names of their own."""
_COSINE: dict[str, Any] = {"scheduler": "cosine", "drop_epochs": "none"}
_ALIKE: dict[str, Any] = {"first_epochs": LATER, "first_lr": LATER_RATE, "first_weight_decay": DECAY}
"""For methods whose public code trains the first task as the others."""


def _tuned(method: str, public: dict[str, Any], params: dict[str, Any]) -> Case:
    """A method without exemplars."""
    return Case(method, method, _PUBLIC | public, {**_PARAMS, "backbone_lr": LATER_RATE, **params}, TASKS)


def _rehearsal(method: str, public: dict[str, Any], params: dict[str, Any], module: str = "") -> Case:
    """A method with exemplars."""
    return Case(method, module or method, _PUBLIC | public, {**_PARAMS, "memory": MEMORY, **params}, TASKS)


CASES: dict[str, Case] = {
    "finetune": _tuned("finetune", {"weight_decay": 0.0}, {"weight_decay": 0.0}),
    "lwf": _tuned("lwf", {"lamda": 3.0, "T": 2}, {"lamb": 3.0, "temperature": 2.0}),
    "ewc": _tuned("ewc", {"lamda": 40.0, "fishermax": 1e9}, {"lamb": 40.0}),
    "replay": _rehearsal("replay", {}, {}),
    "icarl": _rehearsal("icarl", {"T": 2}, {"temperature": 2.0, "classifier": "head"}),
    "wa": _rehearsal("wa", {"T": 2}, {"temperature": 2.0}),
    "bic": _rehearsal(
        "bic",
        {"split_ratio": 0.3, "T": 2, "lrate_decay": 0.1},
        {**_ALIKE, "lr_decay": 0.1, "split_ratio": 0.3, "temperature": 2.0, "form": "published"},
    ),
    "podnet": _rehearsal(
        "podnet",
        {
            "convnet_type": "cosine", "nb_proxy": PROXIES, "ft_epochs": SHORT, "ft_lrate": 0.01, "lambda_c_base": 5.0,
            "lambda_f_base": 1.0,
        },
        {
            **_COSINE, **_ALIKE, "proxies": PROXIES, "tuning_epochs": SHORT, "tuning_lr": 0.01, "spatial": 5.0, "flat": 1.0,
            "form": "published",
        },
    ),
    "der": _rehearsal("der", {}, {}),
    "foster": _rehearsal(
        "foster",
        {
            **_GROWING, "boosting_epochs": LATER, "compression_epochs": SHORT, "beta1": 0.96, "beta2": 0.97, "oofc": "ft",
            "is_teacher_wa": False, "is_student_wa": False, "lambda_okd": 1, "wa_value": 1, "T": 2,
        },
        {**_COSINE, "compression_epochs": SHORT, "beta1": 0.96, "beta2": 0.97, "lamb": 1.0, "temperature": 2.0},
    ),
    "beef": _rehearsal(
        "beef",
        {
            **_GROWING, "expansion_epochs": LATER, "fusion_epochs": SHORT, "logits_alignment": 1.7, "energy_weight": 0.01,
            "is_compress": False, "reduce_batch_size": False,
        },
        {
            **_COSINE, "fusion_epochs": SHORT, "fusion_lr": 0.05, "alignment": 1.7, "energy_weight": 0.01, "form": "published",
        },
        "beef_iso",
    ),
    "memo": _rehearsal(
        "memo",
        {
            "convnet_type": "parted", "train_base": True, "train_adaptive": False, "skip": False, "scheduler": "steplr",
            "alpha_aux": 1.0,
        },
        {"lamb": 1.0, "train_base": True},
    ),
    "tagfex": _rehearsal(
        "tagfex",
        {
            "init_interpolation_factor": 0.95, "infonce_temp": 0.2, "kd_temp": 2, "infonce_kd_temp": 0.25,
            "proj_hidden_dim": HIDDEN, "proj_output_dim": PROJECTED, "attn_num_heads": 4, "contrast_factor": 1,
            "trans_cls_factor": 1, "transfer_factor": 1, "aux_factor": 2, "contrast_kd_factor": 2,
        },
        {"hidden": HIDDEN, "projected": PROJECTED, "heads": 4, "temperature": 0.2, "distillation_temperature": 0.25},
    ),
}  # fmt: skip


_NETWORK: dict[str, Any] = {
    "epochs": FIRST,
    "lr": FIRST_RATE,
    "backbone_lr": FIRST_RATE,
    "batch_size": BATCH,
    "weight_decay": FIRST_DECAY,
}
"""The first task's training where it alone trains the network."""
_STEPS = {"type": "MultiStep", "init_lr": FIRST_RATE, "init_epochs": FIRST, "milestones": [100], "decay": 0.1}
_SET = {"buffer_size": EXPANDED, "gamma": 0.1, "init_weight_decay": FIRST_DECAY, "scheduler": _STEPS}
CASES |= {
    "acil": Case(
        "acil",
        "acil",
        {
            "memory_size": 0,
            "seed": 0,
            "init_cls": 0,
            "model_name": "acil",
            "init_batch_size": BATCH,
            "configurations": {"starts": _SET},
        },
        {**_NETWORK, "scheduler": "constant", "M": EXPANDED, "ridge": 0.1},
        TASKS,
    ),
    "fetril": Case(
        "fetril",
        "fetril",
        _PUBLIC | {"memory_size": 0, "init_epochs": FIRST, "lr": LATER_RATE},
        {**_NETWORK, "head_epochs": LATER, "head_lr": LATER_RATE, "head_decay": DECAY, "scheduler": "cosine"},
        TASKS,
    ),
}


def _varied(name: str, public: dict[str, Any], params: dict[str, Any]) -> Case:
    """A case with further settings."""
    case = CASES[name]
    return replace(case, public=case.public | public, params={**case.params, **params})


CASES |= {
    f"{name}, by class": _varied(
        name, {"fixed_memory": True, "memory_per_class": 7}, {"memory_of": "class", "memory": 7}
    )
    for name in ("replay", "podnet", "foster", "beef")
}
CASES["memo, held base"] = _varied("memo", {"train_base": False}, {"train_base": False})
DIFFERENT: dict[str, Case] = {
    "finetune, decay": _tuned("finetune", {}, {}),
    "replay, odd memory": replace(
        _rehearsal("replay", {"memory_size": MEMORY + 1}, {"memory": MEMORY + 1}), tasks=TASKS[:1]
    ),
}
"""Cases in which this package does otherwise on purpose; a test holds it to the difference."""
