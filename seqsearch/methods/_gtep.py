"""What GTEP samples for prompt methods with a pre-trained network (its Table 5), as values for ``search``.

"Hyperparameters in Continual Learning: A Reality Check".
"""

from __future__ import annotations

from dataclasses import dataclass

from seqsearch.methods._training import Training
from seqsearch.methods.base import LogUniform, param

EPOCHS = (3, 5, 10, 15, 20, 25)
LR = (0.000875, 0.001375, 0.001875, 0.002375, 0.0025)
MILESTONES = (2, 3, 4)
LR_DECAY = (0.1, 0.3, 0.5)
BATCH_SIZE = (8, 16, 24, 48, 64, 128)
WEIGHT_DECAY = (0.0, 0.0001, 0.0005)
SCHEDULER = ("steplr", "cosine", "constant")
OPTIMIZER = ("sgd", "adam", "adamw")

POOL = (10, 15, 20, 25, 30)
"""L2P's prompts."""
TOKENS = (2, 4, 6, 8, 10)
"""Tokens of one of L2P's prompts."""
TOP_K = (2, 4, 6, 8, 10)
PULL = (0.1, 0.3, 0.5)
"""lambda of L2P and DualPrompt."""
PREFIX = (5, 10, 15, 20, 30)
"""Keys, and values, of a prompt of DualPrompt."""
COMPONENTS = (3, 5, 10, 20, 30)
"""CODA-Prompt's components of a task: GTEP's pools of 30 to 300 over its ten tasks."""
COMPONENT_LENGTH = (4, 8, 16, 24, 32)
ORTHOGONALITY = (0.2, 0.1, 0.01, 0.001, 0.0)

EMBEDDED_LR = LogUniform(0.001, 0.03)
"""With 16 images per class there are few steps, and the published rates move nothing."""


@dataclass(frozen=True)
class PromptTraining(Training):
    """How prompt methods train: Adam, without decay; methods name their own defaults by declaring a field again."""

    epochs: int = param(10, "passes over a task's images", minimum=1, search=EPOCHS, embedded=8)
    batch_size: int = param(32, "images per step", minimum=1, search=BATCH_SIZE)
    lr: float = param(
        0.001, "learning rate of prompts and head", minimum=0.0, search=LR, embedded=0.003, embedded_search=EMBEDDED_LR
    )
    weight_decay: float = param(
        0.0, "L2 penalty on what is trained (adamw: decoupled)", minimum=0.0, search=WEIGHT_DECAY
    )
    optimizer: str = param("adam", "how a step is made", choices=("sgd", "adam", "adamw"), search=OPTIMIZER)
    scheduler: str = param(
        "constant", "how the learning rate falls", choices=("cosine", "steplr", "constant"), search=SCHEDULER,
        embedded="cosine",
    )  # fmt: skip
    milestones: int = param(
        2, "drops n of scheduler=steplr, after 2i/(2n+1) of the steps, i = 1..n", minimum=1, search=MILESTONES
    )
    lr_decay: float = param(0.1, "factor of each drop of scheduler=steplr", minimum=0.0, maximum=1.0, search=LR_DECAY)
