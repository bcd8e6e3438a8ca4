"""Settings of the EDGE protocol, and of its plans alone: flags, help, YAML keys and ``config.json`` alike.

Light on purpose: ``seqsearch --help`` imports this and nothing heavy.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from seqsearch.core.bounds import product_text
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.settings import (
    MOST_IMAGES,
    MOST_TASKS,
    PoolSettings,
    Settings,
    StudySettings,
    TaskSettings,
    check_trainings,
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
        5, "Tasks in a sequence (K); the classes in play are shared out among them.", minimum=1, maximum=MOST_TASKS
    )
    classes: int | str = setting(
        0, "Classes in play, drawn from the pool by the seed, or first:N, its first ones (the paper's tables); 0: all of it.",
        minimum=0, maximum=MOST_CLASSES,
    )  # fmt: skip
    initial_classes: int = setting(
        0, "Classes in the first task, the others share the rest; 0: as many as others.", minimum=0,
        maximum=MOST_CLASSES,
    )  # fmt: skip
    similarity: str = setting(
        "names", "Where class similarity is from: names, prototypes, confusion, or a FILE (.npy, .csv, .parquet)."
    )
    encoder: str = setting(
        "", "Text encoder of class names: a sentence-transformers or CLIP model, or its folder; none: n-grams."
    )
    template: str = setting("{}", "What is encoded for a class, e.g. 'a photo of a {}'.")
    objective: Literal["adjacent", "lags", "within", "typicality"] = setting(
        "adjacent",
        "What is extreme: similarity of neighbouring tasks (Eq. 5), also at lags, within tasks, typicality's slope.",
    )
    lags: str = setting("1,0.5,0.25", "Weights of task pairs at distance 1, 2, ... for --objective lags.")
    hard_end: Literal["auto", "low", "high"] = setting(
        "auto", "The end of the objective that is called hard; auto: low (the paper), but high for within."
    )
    planner: Literal["anneal", "paper", "exact"] = setting(
        "anneal", "Search for extremes: annealing, the paper's algorithms, or all sequences (small cases)."
    )
    moves: int = setting(
        0, "Moves of the annealing per direction; 0: as many as suit the size. Reproducible.", minimum=0,
        maximum=100_000_000,
    )  # fmt: skip
    budget: float = setting(
        0.0, "Seconds per direction instead of --moves. Not reproducible.", minimum=0.0, maximum=LONGEST_BUDGET
    )
    restarts: int = setting(
        2, "Independent annealings per direction, on the workers; the best is taken.", minimum=1, maximum=10_000
    )
    extremes: int = setting(1, "Diverse hard, and easy, sequences.", minimum=1, maximum=1000)
    diversity: float = setting(
        1.0, "How much less extreme what earlier ones are made of counts, in sd of similarity.", minimum=0.0,
        maximum=1e6,
    )  # fmt: skip
    bound: bool = setting(True, "Bounds that no sequence goes beyond, beside the extremes.")
    paper_linkage: Literal["complete", "average", "single"] = setting("complete", "Linkage of --planner paper.")
    paper_greedy: Literal["all", "latest"] = setting(
        "all", "Its next task: by all tasks chosen (Algorithms 1, 2) or by the latest (section 4.2)."
    )
    paper_easy: Literal["similarity", "printed"] = setting(
        "similarity", "Its Algorithm 2: with similarity, as is meant, or with I - D, as printed."
    )
    paper_split: Literal["large", "small"] = setting(
        "large", "Clusters that it splits: large ones (appendix C.2) or small ones (section 4.2)."
    )
    paper_granularities: str = setting("", "Its numbers of clusters, e.g. 5,10,20; none: a range.")
    random_sequences: int = setting(
        30, "Random sequences (L); the mean's interval takes 30, a verdict on hard and easy at 5 % takes 19.",
        minimum=3, maximum=100_000,
    )  # fmt: skip

    def check(self) -> None:
        super().check()
        if self.moves * self.restarts * self.extremes > MOST_MOVES:
            asked = product_text({"--moves": self.moves, "--restarts": self.restarts, "--extremes": self.extremes})
            raise UserError(f"{asked} moves: at most {MOST_MOVES:,} are possible, lower one of them")
        if self.moves and self.budget:
            raise UserError("--moves and --budget both say how long to anneal: give one of them")
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
        """The end that is called hard: with ``auto`` that of tasks whose classes are hard to tell apart for ``within``."""
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


@dataclass(frozen=True)
class EdgeSettings(ExtremesSettings, StudySettings):
    """Settings of ``seqsearch edge``."""

    protocol: ClassVar[str] = "edge"

    similarity: str = setting(
        "prototypes",
        "Where class similarity is from: prototypes, confusion, names (so --plan-only), or a FILE (.npy, .csv, .parquet).",
    )
    similarity_method: str = setting(
        "", "METHOD whose prototypes or confusion, on all classes at once; none: simplecil."
    )
    similarity_images: int = setting(
        20, "Training images per class behind a prototype, at most; 0: all.", minimum=0, maximum=MOST_IMAGES
    )
    score_seeds: int = setting(
        3,
        "Training seeds of hard and easy sequences; random ones have one each, of their own. 2 or more, or --enumerate.",
        minimum=1, maximum=1000,
    )  # fmt: skip
    crossed_orders: int = setting(
        4, "Random sequences trained with the --score-seeds, too: they part training noise from order.", minimum=0,
        maximum=100_000,
    )  # fmt: skip
    rs_seeds: str = setting("0,42,1993", "Seeds of the orders of the RS protocol, one training each; empty: none.")
    rs_draw: Literal["release", "toolbox"] = setting(
        "release", "How: default_rng, as the code released with EDGE; or np.random.seed, as toolboxes."
    )
    orders: str = setting("", "FILE of own class orders: how lucky were they? (.txt, .csv, .json, sequences.parquet)")
    estimator: Literal["random", "paper"] = setting(
        "random", "Mean and sd from random sequences, extremes as bounds; or from hard, one random, easy (the paper)."
    )
    until: str = setting(
        "", "Add random sequences until e.g. mean:0.01 is known to that half-width, or q05 can be told (59)."
    )
    max_sequences: int = setting(100, "Random sequences with --until, at most.", minimum=3, maximum=100_000)
    enumerate: bool = setting(False, "Run every sequence: the truth, which estimates are then compared with.")
    enumerate_limit: int = setting(2520, "Sequences that --enumerate runs, at most.", minimum=1, maximum=1_000_000)
    encoders: str = setting(
        "", "With --enumerate: further similarities to compare (Table A4): encoders, prototypes, files; commas."
    )
    bins: int = setting(10, "Bins of the Jensen-Shannon divergence.", minimum=2, maximum=10_000)

    def check(self) -> None:
        super().check()
        if self.score_seeds < 2 and not self.enumerate:
            raise UserError(
                "--score-seeds 1 cannot tell what training noise is: ask for 2 or more (1 with --enumerate)"
            )
        if self.until:
            from seqsearch.distribution.adaptive import parse_target

            parse_target(self.until)
        if self.until and self.enumerate:
            raise UserError("--enumerate runs every sequence: leave --until out")
        if self.encoders and not self.enumerate:
            raise UserError("--encoders compares estimates with the truth: add --enumerate")
        if self.until and self.max_sequences < self.random_sequences:
            raise UserError(
                f"--max-sequences {self.max_sequences} is less than --random-sequences {self.random_sequences}"
            )
        self.drawn_seeds()
        self._check_products()

    def _check_products(self) -> None:
        """Raises UserError: what is trained would be without end."""
        each = {"--tasks": self.tasks, "methods": len(parse_items(self.methods, "method"))}
        seeds = {"--score-seeds": self.score_seeds, **each}
        check_trainings({"--random-sequences": self.random_sequences, **each})
        check_trainings({"--crossed-orders": self.crossed_orders, **seeds})
        check_trainings({"--extremes": self.extremes, "hard and easy": 2, **seeds})
        if self.until:
            check_trainings({"--max-sequences": self.max_sequences, **each})
        if self.enumerate:
            check_trainings({"--enumerate-limit": self.enumerate_limit, **seeds})

    def drawn_seeds(self) -> tuple[int, ...]:
        """Of ``--rs-seeds``."""
        seeds = numbers(self, "rs_seeds", int, "whole numbers from 0 to 4294967295, e.g. 0,42,1993")
        if any(not 0 <= s < 2**32 for s in seeds) or len(set(seeds)) < len(seeds):
            raise UserError(f"--rs-seeds {self.rs_seeds}: must be different whole numbers from 0 to 4294967295")
        return tuple(int(s) for s in seeds)


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
