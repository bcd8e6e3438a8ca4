"""Settings of the CLDyB protocol: flags, help, YAML keys and ``config.json`` alike.

Light on purpose: ``seqsearch --help`` imports this and nothing heavy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_items
from seqsearch.core.settings import StudySettings, check_trainings, flag, growth_of, setting
from seqsearch.planners.settings import SearchSettings

JOINT = "Train methods on all classes of each sequence at once, too: all, or none; default: those in closed form."
"""Help of ``--joint``."""


@dataclass(frozen=True)
class CldybSettings(SearchSettings, StudySettings):
    """Settings of a CLDyB study: classes, search, hyperparameter tuning before it, and scoring after it."""

    protocol: ClassVar[str] = "cldyb"
    before: ClassVar[Mapping[str, Any]] = {"joint": False}

    grow: tuple[str, ...] = setting(
        (), "STEP:POOL: further classes, there from that task on; repeatable.", names="grown", group="what"
    )

    tune_tasks: int = setting(
        0,
        "Tune each method's hyperparameters on so many tasks first (the paper: 3).",
        minimum=0,
        maximum=1000,
        group="search",
    )
    tune_trials: int = setting(
        8, "Settings tried per method, its own defaults first.", minimum=2, maximum=10_000, group="search"
    )
    tune_on: Literal["outside", "first"] = setting(
        "outside",
        "Classes to tune on: drawn and kept out of the run, or the first tasks of a search (the paper; circular).",
        group="search",
    )

    surrogate: str = setting(
        "",
        "Methods to search with instead, e.g. cheaper ones; --methods are scored on what is found. Written as --methods.",
        names="methods",
        group="search",
    )
    separate: bool = setting(False, "Search for each method alone instead of for all jointly.", group="search")
    leave_one_out: bool = setting(
        False,
        "Search for all methods but one, leaving out each in turn; each is evaluated on what was found without it.",
        group="search",
    )
    searches: int = setting(1, "Independent searches.", minimum=1, maximum=1000, group="search")
    score_seeds: int = setting(
        3, "Fresh training seeds that each final sequence is scored with.", minimum=1, maximum=1000, group="scoring"
    )
    random_sequences: int = setting(
        19,
        "Random sequences to compare with, one training each; 19 allow a verdict on one search: 5 or more, or 0.",
        minimum=0,
        maximum=100_000,
        group="scoring",
    )
    baseline: Literal["uniform", "within-group", "greedy"] = setting(
        "uniform",
        "Random sequences: tasks of the whole pool, tasks within one group each, or a random choice of the search's candidates.",
        group="scoring",
    )

    joint: bool | None = setting(None, JOINT, group="scoring", off="--no-bound")

    def check(self) -> None:
        super().check()
        self.growth()
        if self.tune_on == "first" and self.tune_tasks > self.stages[0]:
            raise UserError(
                f"--tune-tasks {self.tune_tasks} --tune-on first: a sequence has {self.stages[0]} tasks only"
            )
        if self.random_sequences in range(1, 5):
            raise UserError(
                f"--random-sequences {self.random_sequences}: fewer than 5 give no usable interval; ask for 5 or more, or for 0"
            )
        self._check_groups()
        self._check_baseline()
        self._check_products()

    def _check_groups(self) -> None:
        """Raises UserError: who is searched for is said twice, or makes no sense."""
        methods, surrogates = ({i.text for i in items} for items in (self.items(), self.surrogate_items()))
        if self.separate and self.leave_one_out:
            raise UserError(
                "--separate --leave-one-out: searches are for one method each, or for all but one: give one of them"
            )
        for name in ("separate", "leave_one_out"):
            if surrogates and getattr(self, name):
                raise UserError(
                    f"--surrogate {self.surrogate} {flag(name)}: surrogates search for all methods together: give one of the two"
                )
        if self.leave_one_out and len(methods) < 3:
            raise UserError(
                f"--leave-one-out: name 3 or more --methods, not {len(methods)}, so that two are left to search for"
            )
        if surrogates == methods:
            raise UserError(f"--surrogate {self.surrogate}: these are --methods: leave --surrogate out")

    def _check_baseline(self) -> None:
        """Raises UserError: greedy random sequences of a search without greedy candidates, or of several searches that differ."""
        if self.baseline != "greedy":
            return
        if self.sampler != "greedy":
            raise UserError(
                f"--baseline greedy --sampler {self.sampler}: the candidates of this search are not greedy: leave one of them out"
            )
        for name in ("separate", "leave_one_out"):
            if getattr(self, name):
                raise UserError(
                    f"--baseline greedy {flag(name)}: each group of methods has greedy candidates of its own, the baseline has "
                    "one set: leave one of them out"
                )

    def items(self) -> list[Item]:
        """Those of ``--methods``."""
        return parse_items(self.methods, "method")

    def surrogate_items(self) -> list[Item]:
        """Those of ``--surrogate``; none if it is not given."""
        return parse_items(self.surrogate, "method") if self.surrogate.strip() else []

    @property
    def searched(self) -> tuple[int, int]:
        """Groups of methods that are searched for, each with as many ``--searches``, and the methods of all groups together."""
        n, surrogates = len(self.items()), len(self.surrogate_items())
        if self.leave_one_out:
            return n, n * (n - 1)
        return (n, n) if self.separate else (1, surrogates or n)

    def _check_products(self) -> None:
        """Raises UserError: a search, the scoring or the tuning would be without end."""
        groups, members = self.searched
        methods = {"methods": len(self.items())}
        tasks = {"--tasks": self.tasks, **methods}
        ahead = {"--simulations": self.simulations, "--lookahead": self.lookahead}
        evaluated = ahead if self.lookahead else {"--condensed": min(self.condensed, self.simulations)}
        check_trainings({"--searches": self.searches, **evaluated, "--tasks": self.tasks, "methods": members})
        check_trainings({"--random-sequences": self.random_sequences, **tasks})
        if self.baseline == "greedy":
            check_trainings({"--random-sequences": self.random_sequences, "--tasks": self.tasks, "methods": members})
        found = {"--searches": self.searches, **({"groups of methods": groups} if groups > 1 else {})}
        check_trainings({**found, "--score-seeds": self.score_seeds, **tasks})
        check_trainings({"--tune-trials": self.tune_trials, "--tune-tasks": self.tune_tasks, **methods})

    def extended(self, tasks: int) -> CldybSettings:
        """The same with more tasks, the search going on where it had ended.

        Raises:
            UserError: not more.
        """
        if tasks <= self.tasks:
            raise UserError(f"--tasks {tasks}: the run has {self.tasks} tasks already, give a larger number")
        return dataclasses.replace(self, tasks=tasks, extended_from=self.stages)

    def growth(self) -> list[tuple[int, str]]:
        """See `growth_of`."""
        return growth_of(self.grow, self.tasks)
