"""Settings of the EDGE protocol: flags, help, YAML keys and ``config.json`` alike.

Light on purpose: ``seqsearch --help`` imports this and nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from protocols.edge.plan_settings import ExtremesSettings, numbers
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.settings import (
    MOST_IMAGES,
    StudySettings,
    check_trainings,
    setting,
)
from seqsearch.stats.sampling import parse_target

NAMED_ORDERS = ("greedy-dissimilar", "periphery-to-core")
"""Of ``--heuristics`` (`seqsearch.extremes.heuristics`)."""
FEWEST_ORDERS, FEWEST_SEEDS_OF_ORDERS = 20, 2
"""Orders and seeds that a bound of the spread over orders takes (`seqsearch.stats.robustness`)."""
DEFAULT_CROSSED = 4
WIDEST_MARGIN = 0.5
"""No standard deviation of numbers from 0 to 1 is larger."""
FEWEST_FITTED, FEWEST_SEEDS = 10, 5
"""Random sequences that a fit takes, and fresh seeds that an interval takes (`distribution.ridge`, `shared_seeds`)."""


@dataclass(frozen=True)
class EdgeSettings(ExtremesSettings, StudySettings):
    """Settings of ``seqsearch edge``."""

    protocol: ClassVar[str] = "edge"

    similarity: str = setting(
        "prototypes",
        "Where class similarity is from: prototypes, confusion, names (so --plan-only), or a FILE (.npy, .csv, .parquet).",
        group="first",
    )
    similarity_method: str = setting(
        "",
        "METHOD whose prototypes or confusion, on all classes at once; none: simplecil.",
        names="methods",
        group="search",
    )
    similarity_images: int = setting(
        20,
        "Training images per class behind a prototype, at most; 0: all.",
        minimum=0,
        maximum=MOST_IMAGES,
        group="search",
    )
    score_seeds: int = setting(
        3,
        "Training seeds of hard and easy sequences; random ones have one each, of their own. 2 or more, or --enumerate.",
        minimum=1,
        maximum=1000,
        group="scoring",
    )
    partition: Literal["free", "fixed"] = setting(
        "free",
        "Tasks: drawn anew for each sequence; or the same in all (of the first of --orders, or a draw), in another order.",
        group="what",
    )
    heuristics: str = setting(
        "",
        "Named orders to train besides, by theories of good orders: greedy-dissimilar, periphery-to-core; commas.",
        group="search",
    )
    crossed_orders: int = setting(
        DEFAULT_CROSSED,
        "Random sequences trained with the --score-seeds, too: they part training noise from order.",
        minimum=0,
        maximum=100_000,
        group="scoring",
    )
    robust_within: float = setting(
        0.0,
        "MARGIN (accuracy, 0 to 1): is the sd over orders, training noise removed, shown to be below it? 0: not asked.",
        minimum=0.0,
        maximum=1.0,
        group="scoring",
    )
    robust_baseline: str = setting(
        "",
        "With --robust-within: METHOD of --methods whose sd over orders that of the others is divided by.",
        group="scoring",
    )
    rs_seeds: str = setting(
        "0,42,1993", "Seeds of the orders of the RS protocol, one training each; empty: none.", group="scoring"
    )
    rs_draw: Literal["release", "toolbox"] = setting(
        "release", "How: default_rng, as the code released with EDGE; or np.random.seed, as toolboxes.", group="scoring"
    )
    orders: str = setting(
        "",
        "FILE of own class orders, or frozen:NAME: where are they among random ones? (.txt, .csv, .json, sequences.parquet)",
        group="scoring",
    )
    estimator: Literal["random", "paper"] = setting(
        "random",
        "Mean and sd from random sequences, extremes as bounds; or from hard, one random, easy (the paper).",
        group="scoring",
    )
    until: str = setting(
        "",
        "Add random sequences until e.g. mean:0.01 is known to that half-width, or q05 has an interval (59).",
        group="scoring",
    )
    max_sequences: int = setting(
        100, "Random sequences with --until, at most.", minimum=3, maximum=100_000, group="scoring"
    )
    enumerate: bool = setting(
        False, "Run every sequence: the truth, which estimates are then compared with.", group="scoring"
    )
    enumerate_limit: int = setting(
        2520, "Sequences that --enumerate runs, at most.", minimum=1, maximum=1_000_000, group="scoring"
    )
    encoders: str = setting(
        "",
        "With --enumerate: further similarities to compare (Table A4): encoders, prototypes, files; commas.",
        group="scoring",
    )
    fit: bool = setting(
        False,
        "Fit accuracy on the random sequences by their similarities; if that predicts, train the fit's extremes.",
        group="scoring",
    )
    fit_extremes: int = setting(
        3,
        "With --fit: hard, and easy, ones, and as many of the worst and best random ones trained again.",
        minimum=1,
        maximum=1000,
        group="scoring",
    )
    fit_seeds: int = setting(
        6, "With --fit: fresh training seeds of these.", minimum=FEWEST_SEEDS, maximum=1000, group="scoring"
    )
    bins: int = setting(10, "Bins of the Jensen-Shannon divergence.", minimum=2, maximum=10_000, group="scoring")

    def check(self) -> None:
        super().check()
        if self.score_seeds < 2 and not self.enumerate:
            raise UserError(
                "training noise cannot be estimated with --score-seeds 1: ask for 2 or more (1 with --enumerate)"
            )
        if self.until:
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
        self.named_orders()
        if self.fit:
            self._check_fit()
        if self.robust_within:
            self._check_robust()
        self._check_products()

    def _check_fit(self) -> None:
        """Raises UserError: there would be nothing to fit, or to compare with."""
        if self.partition == "fixed":
            raise UserError("--fit groups classes into tasks, and --partition fixed has its tasks: leave one out")
        if self.enumerate:
            raise UserError("--enumerate trains every sequence, and nothing is left to predict: leave --fit out")
        if self.random_sequences < max(FEWEST_FITTED, 2 * self.fit_extremes):
            raise UserError(
                f"--random-sequences {self.random_sequences}: --fit takes {FEWEST_FITTED} or more, and twice --fit-extremes "
                f"({self.fit_extremes})"
            )

    @property
    def crossed(self) -> int:
        """Random sequences that are trained with the scoring seeds, too: with ``--enumerate`` all, which costs nothing."""
        return self.random_sequences if self.enumerate else min(self.crossed_orders, self.random_sequences)

    def _check_robust(self) -> None:
        """Raises UserError: nothing could be said of the spread over orders, or the baseline is no method of the run."""
        if self.robust_within >= WIDEST_MARGIN:
            raise UserError(
                f"--robust-within {self.robust_within:g} is {100 * self.robust_within:g} percentage points, and no sd of "
                f"accuracies is larger than {100 * WIDEST_MARGIN:g}: for 1 percentage point give 0.01"
            )
        name = "--random-sequences" if self.enumerate else "--crossed-orders"
        orders = self.crossed
        if self.score_seeds < FEWEST_SEEDS_OF_ORDERS:
            raise UserError(
                f"--robust-within: one training seed for each order cannot separate training noise from the effect of order: "
                f"give --score-seeds {FEWEST_SEEDS_OF_ORDERS} or more"
            )
        if orders < FEWEST_ORDERS:
            raise UserError(
                f"--robust-within takes {FEWEST_ORDERS} or more random sequences with the same seeds, not {orders}: raise {name}"
                + (" and --random-sequences" if not self.enumerate and self.random_sequences < FEWEST_ORDERS else "")
            )
        methods = [item.text for item in parse_items(self.methods, "method")]
        if self.robust_baseline and self.robust_baseline not in methods:
            raise UserError(
                f"--robust-baseline {self.robust_baseline[:60]}: must be one of --methods, {', '.join(methods)}"
            )
        if self.robust_baseline and len(methods) < 2:
            raise UserError("--robust-baseline compares methods: give two or more in --methods")

    def _check_products(self) -> None:
        """Raises UserError: what is trained would be without end."""
        each = {"--tasks": self.tasks, "methods": len(parse_items(self.methods, "method"))}
        seeds = {"--score-seeds": self.score_seeds, **each}
        check_trainings({"--random-sequences": self.random_sequences, **each})
        check_trainings({"--crossed-orders": self.crossed_orders, **seeds})
        if self.crossed_orders > max(DEFAULT_CROSSED, self.random_sequences):
            raise UserError(
                f"--crossed-orders {self.crossed_orders}: there are {self.random_sequences} random sequences, raise "
                "--random-sequences"
            )
        check_trainings({"--extremes": self.extremes, "hard and easy": 2, **seeds})
        check_trainings({"--heuristics": len(self.named_orders()), **seeds})
        if self.until:
            check_trainings({"--max-sequences": self.max_sequences, **each})
        if self.fit:
            chosen = {"--fit-extremes": self.fit_extremes, "hard, easy, worst and best": 4}
            check_trainings({**chosen, "--fit-seeds": self.fit_seeds, **each})
        if self.enumerate:
            check_trainings({"--enumerate-limit": self.enumerate_limit, **seeds})

    def named_orders(self) -> tuple[str, ...]:
        """Of ``--heuristics``."""
        names = tuple(filter(None, map(str.strip, self.heuristics.split(","))))
        for name in names:
            if name not in NAMED_ORDERS:
                raise UserError(f"--heuristics {name[:60]!r}: unknown; there are {', '.join(NAMED_ORDERS)}")
        if len(set(names)) < len(names):
            raise UserError(f"--heuristics {self.heuristics[:80]}: name each order once")
        return names

    def drawn_seeds(self) -> tuple[int, ...]:
        """Of ``--rs-seeds``."""
        seeds = numbers(self, "rs_seeds", int, "whole numbers from 0 to 4294967295, e.g. 0,42,1993")
        if any(not 0 <= s < 2**32 for s in seeds) or len(set(seeds)) < len(seeds):
            raise UserError(f"--rs-seeds {self.rs_seeds}: must be different whole numbers from 0 to 4294967295")
        return tuple(int(s) for s in seeds)
