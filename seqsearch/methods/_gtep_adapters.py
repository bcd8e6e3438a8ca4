"""What GTEP samples for adapter methods on a pre-trained backbone: the lists that ``--tune-tasks`` draws from.

"Hyperparameters in Continual Learning: A Reality Check" (Generalizable Two-phase Evaluation Protocol), Table 5.
"""

from __future__ import annotations

EPOCHS = (5, 10, 15, 20, 25, 30)
RATES = (0.01, 0.02, 0.03, 0.04, 0.05)
MILESTONES = (2, 3, 4)
DECAYS = (0.1, 0.3, 0.5)
BATCHES = (8, 16, 24, 48, 64, 128)
"""Printed for APER and the prompt methods only, but the settings it found best name batches of RanPAC and EASE as well."""
WEIGHT_DECAYS = (1e-4, 5e-4, 1e-3, 5e-3)
SCHEDULERS = ("steplr", "cosine", "constant")
OPTIMIZERS = ("sgd", "adam", "adamw")
WIDTHS = (4, 8, 16, 32, 64)
"""Of an adapter's bottleneck ("FFN num")."""
PROJECTIONS = (5000, 10000, 15000, 20000)
"""M of RanPAC."""
ALPHAS = (0.01, 0.05, 0.1, 0.15, 0.2)
"""Alpha of EASE."""
