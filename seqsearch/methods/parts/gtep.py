"""Where GTEP samples hyperparameters, as values for ``search``: with a pre-trained network (its Table 5), from scratch (Table 4).

"Hyperparameters in Continual Learning: A Reality Check".
"""

from __future__ import annotations

MILESTONES = (2, 3, 4)
LR_DECAY = (0.1, 0.3, 0.5)
SCHEDULER = ("steplr", "cosine", "constant")
OPTIMIZER = ("sgd", "adam", "adamw")
BATCH_SIZE = (8, 16, 24, 48, 64, 128)
"""Printed for prompt methods and APER only, but the settings it found best name batches of RanPAC and EASE as well."""

# L2P, DualPrompt, CODA-Prompt
PROMPT_EPOCHS = (3, 5, 10, 15, 20, 25)
PROMPT_LR = (0.000875, 0.001375, 0.001875, 0.002375, 0.0025)
PROMPT_WEIGHT_DECAY = (0.0, 0.0001, 0.0005)
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

# APER, RanPAC, EASE
ADAPTER_EPOCHS = (5, 10, 15, 20, 25, 30)
ADAPTER_LR = (0.01, 0.02, 0.03, 0.04, 0.05)
ADAPTER_WEIGHT_DECAY = (0.0001, 0.0005, 0.001, 0.005)
FFN_NUM = (4, 8, 16, 32, 64)
"""Width of an adapter's bottleneck."""
PROJECTIONS = (5000, 10000, 15000, 20000)
"""M of RanPAC."""
ALPHA = (0.01, 0.05, 0.1, 0.15, 0.2)
"""Of EASE."""

# networks from scratch (its Table 4)
EPOCHS = (30, 70, 120, 160, 200)
LR = (0.05, 0.1, 0.15, 0.2, 0.3)
SCRATCH_BATCH_SIZE = (32, 64, 128, 256, 512)
WEIGHT_DECAY = (0.0001, 0.0005, 0.001, 0.005)
SCRATCH_SCHEDULER = ("steplr", "cosine")
TEMPERATURE = (0.5, 1.0, 1.5, 2.0, 2.5)
"""T of iCaRL, BiC, WA and FOSTER."""
DISTILLATION = (0.5, 1.0, 1.5, 2.0, 3.0)
"""lambda_kd of BiC, WA and FOSTER, lambda_fe of FOSTER, lambda_aux of iCaRL, PODNet, DER and MEMO."""
SPLIT_RATIO = (0.05, 0.1, 0.15, 0.2, 0.3)
"""Of BiC."""
BETA = (0.93, 0.95, 0.97, 0.99)
"""beta_1 and beta_2 of FOSTER."""
SPATIAL = (1.0, 3.0, 5.0, 7.0, 9.0)
"""lambda_c of PODNet. Not in Table 4: what its lists of original and best settings name."""
PROXIES = (10, 20, 30, 50, 100)
"""Of a class, of PODNet."""
TUNING_EPOCHS = (5, 10, 20, 30, 50)
"""Of PODNet's balanced fine-tuning."""
TUNING_LR = (0.001, 0.003, 0.005, 0.007, 0.01)
ENERGY_WEIGHT = (0.001, 0.005, 0.01, 0.02, 0.05)
LOGITS_ALIGNMENT = (1.1, 1.4, 1.7, 2.0, 2.3)
"""Both of BEEF."""
