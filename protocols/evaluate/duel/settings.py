"""Settings of a duel: flags, help, YAML keys and ``config.json`` alike.

Light on purpose: ``seqsearch --help`` imports this and nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.settings import MOST_TASKS, StudySettings, check_trainings, growth_of, setting
from seqsearch.planners.settings import SearchSettings

FEWEST = 6
"""Random sequences without which no claim can be made: five of five are a p-value of 6 % (`distribution.paired.FEWEST_SIGNS`)."""
BATCH = 10
"""Sequences that ``--until`` adds at a time."""
SIDES = ("a", "b")
"""Of A and B, in the order of the methods."""
_HIDDEN: dict[str, Any] = {"minimum": None, "maximum": None, "hidden": True}


@dataclass(frozen=True)
class DuelSettings(SearchSettings, StudySettings):
    """Two methods, the random sequences that they are paired on, and the search for one that separates them."""

    protocol: ClassVar[str] = "duel"

    methods: str = field(default="", metadata={**_HIDDEN, "names": "methods", "argument": "[A] [B]"})
    """A and B, comma-separated: the two arguments of the command."""
    grow: tuple[str, ...] = field(default=(), metadata=_HIDDEN)
    """Of the run behind ``--on``."""
    on: str = setting(
        "",
        "RUN or file (.parquet, .json, .csv) whose sequences to pair the methods on, instead of new random ones.",
        names="run",
        group="what",
    )
    sequences: int = setting(
        50,
        "Random sequences, one training seed each; 6 are the fewest.",
        minimum=1,
        maximum=100_000,
        group="first",
    )
    fixed_first: bool = setting(False, "All random sequences begin with the same random task.", group="scoring")
    score_seeds: int = setting(
        5,
        "Fresh training seeds of the worst, the found and fixed sequences; an interval takes 3.",
        minimum=1,
        maximum=1000,
        group="scoring",
    )
    crossed_orders: int = setting(
        4,
        "Random sequences trained with the --score-seeds, too: they part training noise from order.",
        minimum=0,
        maximum=100_000,
        group="scoring",
    )
    until: Literal["none", "verdict"] = setting(
        "none",
        "verdict: add random sequences until one method is shown to be above the other on most of them.",
        group="scoring",
    )
    max_sequences: int = setting(
        200, "Random sequences with --until, at most.", minimum=1, maximum=100_000, group="scoring"
    )
    find: Literal["none", "a", "b", "both"] = setting(
        "none",
        "Search for the sequence that is worst for A beside B (a), for B beside A (b), or for one of each.",
        group="first",
    )
    sampler: Literal["greedy", "group-uniform", "uniform"] = setting(
        "uniform", "Where candidates of --find come from; greedy ones are hard for both methods.", group="search"
    )

    reward: Literal["paper", "forgetting", "gap-to-joint"] = setting(
        "paper", "Reward R: AFM - ALA (Eq. 3), AFM alone, or accuracy lost against joint training.", group="search"
    )

    def check(self) -> None:
        super().check()
        if len(parse_items(self.methods, "method")) != 2:
            raise UserError("a duel is between two methods: name A and B, e.g. seqsearch duel ranpac slca")
        if not self.on and self.sequences < FEWEST:
            raise UserError(
                f"--sequences {self.sequences}: at least {FEWEST} are needed, fewer show no difference at 5 % whatever comes out"
            )
        if self.until != "none" and self.max_sequences < self.sequences:
            raise UserError(f"--max-sequences {self.max_sequences} is less than --sequences {self.sequences}")
        if self.on and self.find != "none":
            raise UserError("--find searches the pool, --on brings its sequences: leave one of them out")
        self._check_products()

    def _check_products(self) -> None:
        """Raises UserError: what is trained would be without end."""
        each = {"--tasks": self.tasks, "methods": 2}
        check_trainings({"--sequences": self.most, **each})
        check_trainings({"--crossed-orders": self.crossed_orders, "--score-seeds": self.score_seeds, **each})
        ahead = {"--simulations": self.simulations, "--lookahead": self.lookahead}
        evaluated = ahead if self.lookahead else {"--condensed": min(self.condensed, self.simulations)}
        check_trainings({"--find": max(1, len(self.directions)), **evaluated, **each})

    def growth(self) -> list[tuple[int, str]]:
        """See `growth_of`."""
        return growth_of(self.grow, MOST_TASKS)

    @property
    def most(self) -> int:
        """Random sequences at most."""
        return self.max_sequences if self.until != "none" else self.sequences

    @property
    def directions(self) -> tuple[str, ...]:
        """Methods for which ``--find`` searches the worst sequence."""
        return {"none": (), "a": ("a",), "b": ("b",), "both": SIDES}[self.find]
