"""Settings of extreme sequences, and of plans of these alone: flags, help, YAML keys and ``config.json`` alike.

Light on purpose: ``seqsearch --help`` imports this and nothing heavy.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from seqsearch.core.errors import UserError
from seqsearch.core.limits import product_text
from seqsearch.core.settings import (
    MOST_TASKS,
    PoolSettings,
    Settings,
    TaskSettings,
    setting,
)
from seqsearch.core.typed import brief

MOST_CLASSES = 10_000_000
MOST_MOVES = 100_000_000_000
"""Of annealing, in all restarts of all extremes of a direction."""
LONGEST_BUDGET = 30 * 86400.0
"""Seconds."""


@dataclass(frozen=True)
class ExtremesSettings(TaskSettings, PoolSettings):
    """Which class sequences are extreme: shares of classes, their similarity, the objective, the search for its extremes."""

    tasks: int = setting(
        5,
        "Tasks in a sequence (K); the classes in play are shared out among them.",
        minimum=1,
        maximum=MOST_TASKS,
        group="first",
    )
    classes: int | str = setting(
        0,
        "Classes in play, drawn from the pool by the seed, or first:N, its first ones (the paper's tables); 0: all of it.",
        minimum=0,
        maximum=MOST_CLASSES,
        group="what",
    )
    initial_classes: int = setting(
        0,
        "Classes in the first task, the others share the rest; 0: as many as others.",
        minimum=0,
        maximum=MOST_CLASSES,
        group="what",
    )
    similarity: str = setting(
        "names",
        "Where class similarity is from: names, prototypes, confusion, a FILE (.npy, .csv, .parquet), features:FILE.npy.",
        group="first",
    )
    encoder: str = setting(
        "",
        "Text encoder of class names: a sentence-transformers or CLIP model, or its folder; none: n-grams.",
        group="search",
    )
    template: str = setting("{}", "What is encoded for a class, e.g. 'a photo of a {}'.", group="search")
    objective: Literal["adjacent", "lags", "within", "typicality"] = setting(
        "adjacent",
        "What is extreme: similarity of neighbouring tasks (Eq. 5), also at lags, within tasks, typicality's slope.",
        group="search",
    )
    lags: str = setting(
        "1,0.5,0.25", "Weights of task pairs at distance 1, 2, ... for --objective lags.", group="search"
    )
    hard_end: Literal["auto", "low", "high"] = setting(
        "auto",
        "The end of the objective that is called hard; auto: low (the paper), but high for within.",
        group="search",
    )
    planner: Literal["auto", "anneal", "paper", "exact"] = setting(
        "auto",
        "Search for extremes: annealing, the paper's algorithms, or all sequences; auto: all in small cases, else annealing.",
        group="search",
    )
    moves: int = setting(
        0,
        "Moves of the annealing per direction; 0: as many as suit the size. Reproducible.",
        minimum=0,
        maximum=100_000_000,
        group="search",
    )
    budget: float = setting(
        0.0,
        "Seconds for the plan, at most half of them for bounds, instead of --moves. Not reproducible.",
        minimum=0.0,
        maximum=LONGEST_BUDGET,
        group="search",
    )
    restarts: int = setting(
        2,
        "Independent annealings per direction, on the workers; the best is taken.",
        minimum=1,
        maximum=10_000,
        group="search",
    )
    extremes: int = setting(1, "Diverse hard, and easy, sequences.", minimum=1, maximum=1000, group="search")
    diversity: float = setting(
        1.0,
        "How much less extreme what earlier ones are made of counts, in sd of similarity.",
        minimum=0.0,
        maximum=1e6,
        group="search",
    )
    bound: bool = setting(True, "Bounds that no sequence goes beyond, beside the extremes.", group="search")
    paper_linkage: Literal["complete", "average", "single"] = setting(
        "complete", "Linkage of --planner paper.", group="search"
    )
    paper_greedy: Literal["all", "latest"] = setting(
        "all", "Its next task: by all tasks chosen (Algorithms 1, 2) or by the latest (section 4.2).", group="search"
    )
    paper_easy: Literal["similarity", "printed"] = setting(
        "similarity", "Its Algorithm 2: with similarity, as is meant, or with I - D, as printed.", group="search"
    )
    paper_split: Literal["large", "small"] = setting(
        "large", "Clusters that it splits: large ones (appendix C.2) or small ones (section 4.2).", group="search"
    )
    paper_granularities: str = setting("", "Its numbers of clusters, e.g. 5,10,20; none: a range.", group="search")
    random_sequences: int = setting(
        39,
        "Random sequences (L); a verdict on one end takes 39, on both ends 19.",
        minimum=3,
        maximum=100_000,
        group="scoring",
    )

    def check(self) -> None:
        super().check()
        if self.moves * self.restarts * self.extremes > MOST_MOVES:
            asked = product_text({"--moves": self.moves, "--restarts": self.restarts, "--extremes": self.extremes})
            raise UserError(f"{asked} moves: at most {MOST_MOVES:,} are possible, lower one of them")
        if self.moves and self.budget:
            raise UserError("--moves and --budget both say how long to anneal: give one of them")
        if self.similarity.startswith("features:") and (self.planner in ("paper", "exact") or self.extremes > 1):
            raise UserError(
                f"--similarity {self.similarity[:80]}: --planner paper and exact, and --extremes 2 or more, need a matrix: "
                "give one, or leave them out"
            )
        if "{}" not in self.template:
            raise UserError(f"--template {self.template!r}: it must hold {{}}, where the class name goes")
        self.lag_weights()
        self.granularities()
        self.first_classes()

    def first_classes(self) -> int | None:
        """N of ``--classes first:N``; None where classes are drawn, or all are in play. Raises UserError: another text."""
        if isinstance(self.classes, int):
            return None
        found = re.fullmatch(r"\s*first\s*:\s*(\d{1,9})\s*", self.classes, re.ASCII)
        if not found or not 1 <= int(found[1]) <= MOST_CLASSES:
            raise UserError(
                f"--classes {brief(self.classes)}: write a number of classes to draw, or first:N for the first N of the pool"
            )
        return int(found[1])

    def hard_is(self) -> Literal["low", "high"]:
        """The end that is called hard: with ``auto`` that of tasks whose classes are hard to separate for ``within``."""
        if self.hard_end == "auto":
            return "high" if self.objective == "within" else "low"
        return self.hard_end

    def lag_weights(self) -> tuple[float, ...]:
        """Of ``--lags``."""
        weights = numbers(self, "lags", float, "weights, e.g. 1,0.5,0.25")
        if not weights or not all(map(math.isfinite, weights)) or not any(weights):
            raise UserError(f"--lags {self.lags}: must be finite weights, not all 0, e.g. 1,0.5,0.25")
        return tuple(weights)

    def granularities(self) -> tuple[int, ...]:
        """Of ``--paper-granularities``."""
        found = numbers(self, "paper_granularities", int, "numbers of clusters, e.g. 5,10,20")
        if any(g < 1 for g in found):
            raise UserError(f"--paper-granularities {self.paper_granularities}: must be numbers of clusters from 1")
        return tuple(int(g) for g in found)


@dataclass(frozen=True)
class EdgePlanSettings(ExtremesSettings):
    """Settings of ``seqsearch edge --plan-only``, which trains nothing."""

    protocol: ClassVar[str] = "edge-plan"


def numbers(settings: Settings, name: str, kind: type, wanted: str) -> list[float]:
    """The numbers, comma-separated, of a setting.

    Raises:
        UserError: they are not what is ``wanted``.
    """
    text = getattr(settings, name)
    try:
        return [kind(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise UserError(f"--{name.replace('_', '-')} {text[:80]}: must be {wanted}") from None
