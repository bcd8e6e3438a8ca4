"""How often the gate of screening lets a fit pass: rewards that are pure noise, and rewards that follow what is known.

    python -m benchmarks.coverage.screening [--repeats 2000] [--write]

No training. What is known of a candidate is 5 normal figures, as of two methods; its reward is normal noise, or a weighted sum of
them plus noise, so that a quarter or half of its variance follows what is known. Each step has 8 evaluated candidates. A fit
passes if its leave-one-out predictions correlate with the rewards (> 0).
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from benchmarks.common.results import write_rows
from seqsearch.planners.screening import Step, predict

FEATURES, CANDIDATES = 5, 8
STEPS = (1, 2, 4, 8)
RULES: dict[str, tuple[float, float]] = {"pure noise": (0, 1), "a quarter": (1, 3**0.5), "half": (1, 1)}
"""Rewards by the share of their variance that follows what is known: factors of rule and noise."""


def passed(rule: str, steps: int, repeats: int) -> dict[str, Any]:
    """Share of fits that pass, with its Monte Carlo standard error."""
    rng = np.random.default_rng([list(RULES).index(rule), steps])
    signal, noise = RULES[rule]
    through = 0
    for _ in range(repeats):
        told = [_step(rng, signal, noise) for _ in range(steps)]
        found = predict(told, told[0].known)
        through += found is not None and found.agreement > 0
    share = through / repeats
    error = math.sqrt(share * (1 - share) / repeats)
    return {"reward": rule, "steps": steps, "judged": steps * CANDIDATES, "passed": share, "error": error}


def _step(rng: np.random.Generator, signal: float, noise: float) -> Step:
    known = rng.normal(size=(CANDIDATES, FEATURES))
    weights = np.ones(FEATURES) / math.sqrt(FEATURES)
    return Step(known, signal * (known @ weights) + noise * rng.normal(size=CANDIDATES))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/screening.json")
    a = parser.parse_args()
    rows = [passed(rule, steps, a.repeats) for rule in RULES for steps in STEPS]
    for r in rows:
        print(f"{r['reward']:12}{r['judged']:>4} evaluated: {100 * r['passed']:5.1f} % pass (± {100 * r['error']:.1f})")
    if a.write:
        write_rows("screening", {"repeats": a.repeats, "gate": rows})


if __name__ == "__main__":
    main()
