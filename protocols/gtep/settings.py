"""Settings of the GTEP protocol: flags, help, YAML keys and ``config.json`` alike.

Light on purpose: ``seqsearch --help`` imports this and nothing heavy.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Literal

from seqsearch.core import command_line
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.settings import MOST_TASKS, MethodSettings, StudySettings, check_trainings, setting
from seqsearch.core.typed import brief

AUTO, MOST_TRIALS = "auto", 10_000
TUNED, ORIGINAL, PRINTED = "tuned", "original", "paper:"
"""Values of ``--params`` other than a file.

They are settings chosen in the first phase, the published defaults, and lists printed in the paper.
"""
TRIALS, MOST_AUTO = "30", 60
"""Unless the user says how many settings are tried."""
OPTUNA_DRAWS = 10
"""Settings that Optuna's TPE draws before it makes use of scores."""
TOGETHER, FEWEST_AUTO = 5, 20
"""Settings that ``--trials auto`` tries between two looks at whether more are worth their while; how many it must be allowed."""


@dataclass(frozen=True)
class GtepSettings(MethodSettings):
    """Settings of ``seqsearch gtep``."""

    protocol: ClassVar[str] = "gtep"

    tune_pool: str = setting(
        "",
        "POOL to choose hyperparameters on (D^HT), e.g. photos/:half=1; several as one: commas.",
        names="pools",
        group="first",
    )
    pool: tuple[str, ...] = setting(
        (),
        "POOL to evaluate on (D^E), of other classes; repeatable; several as one: commas.",
        names="pools",
        group="first",
    )
    tasks: int = setting(10, "Tasks in a sequence.", minimum=2, maximum=MOST_TASKS, group="first")
    classes_per_task: int = setting(
        0, "Classes of a task; 0: all classes of a pool, shared equally.", minimum=0, maximum=1_000_000, group="what"
    )
    first_task: int = setting(
        0,
        "Classes of the first task; 0: as many as in the others. 50 of 100 with --tasks 6: the paper's '6 tasks'.",
        minimum=0,
        maximum=1_000_000,
        group="what",
    )
    trials: str = setting(
        TRIALS, "Settings of each method that are tried (R); auto: until more are not worth their while.", group="first"
    )
    max_trials: int = setting(
        MOST_AUTO, "With --trials auto: at most so many.", minimum=FEWEST_AUTO, maximum=MOST_TRIALS, group="search"
    )
    orders: int = setting(5, "Class orders that a setting is tried on (S).", minimum=1, maximum=10_000, group="search")
    eval_orders: int = setting(
        0,
        "Class orders that the chosen setting is evaluated on; 0: as --orders. Comparing methods needs 5 or more.",
        minimum=0,
        maximum=10_000,
        group="scoring",
    )
    params: str = setting(
        TUNED,
        "tuned; or none are tried, and all is evaluated with: original (the defaults here), paper:NAME (its lists: original, "
        "imagenet100-10, ...), or a FILE.",
        group="search",
    )
    searcher: Literal["random", "optuna"] = setting(
        "random",
        "Where settings come from: independent draws (the paper); or Optuna's TPE, ten draws and then five at a time.",
        group="search",
    )
    scheduler: Literal["fifo", "asha"] = setting(
        "fifo",
        "All settings learn all tasks (the paper); or ASHA, synchronous: the best third goes on at tasks 2, 6, 18, ...",
        group="search",
    )
    select: Literal["best", "one-se"] = setting(
        "best", "Best harmonic mean (the paper); or the least training within one standard error of it.", group="search"
    )
    conventional: bool = setting(
        False,
        "Also the conventional protocol: all settings tried, and chosen, on each --pool, and the original ones evaluated.",
        group="scoring",
    )
    originals: bool = setting(
        False,
        "Also evaluate the original settings (the defaults here): on each --pool and, as what was chosen, on further class "
        "orders of --tune-pool.",
        group="scoring",
    )
    space: Literal["paper", "code"] = setting(
        "paper",
        "Values that settings are drawn from: as the paper prints them; or as its public code has them where it has others "
        "(weight decay of icarl and wa, batches of beef).",
        group="search",
    )
    class_orders: Literal["drawn", "numpy"] = setting(
        "drawn",
        "Class orders: drawn by --seed; or those of PyCIL and PILOT, numpy.random.seed(0), (1), ..., the same to choose and to "
        "evaluate.",
        group="what",
    )
    allow_overlap: tuple[str, ...] = setting(
        (),
        "Class NAME that both phases may have, or all; repeatable. Else pools that share classes or images are refused.",
        group="what",
    )
    look_alikes: str = setting(
        "",
        "BACKBONE by whose frozen features images of both phases are compared: names the closest pairs, refuses nothing.",
        names="backbone",
        group="what",
    )
    seed: int = setting(
        0, "Study seed: splits, classes, orders, settings, training noise.", minimum=0, maximum=2**63 - 1, group="what"
    )

    def check(self) -> None:
        super().check()
        if not self.tune_pool.strip():
            raise UserError(
                "--tune-pool is missing: name the pool that hyperparameters are chosen on, e.g. photos/:half=1"
            )
        if not any(p.strip() for p in self.pool):
            raise UserError("--pool is missing: name one or more pools to evaluate on, e.g. --pool photos/:half=2")
        if (tuned := self.tune_pool.strip()) in (p.strip() for p in self.pool):
            raise UserError(
                f"--tune-pool and --pool are both {brief(tuned)}: the pools to evaluate on must have other classes: name "
                "other pools, or halves of one (half=1 and half=2): --tune-pool photos/:half=1 --pool photos/:half=2"
            )
        if command_line.in_list(self.methods):
            raise UserError(
                "--methods: a command has no hyperparameters that are known here: leave it out, or use seqsearch score"
            )
        self._check_trials()
        self._check_choice()
        each = {"--tasks": self.tasks, "methods": len(parse_items(self.methods, "method"))}
        check_trainings({"--trials": self.most_trials, "--orders": self.orders, **each})
        check_trainings({"--eval-orders": self.evaluated_orders, "--pool": len(self.pool), **each})
        if self.conventional:
            check_trainings(
                {"--trials": self.most_trials, "--eval-orders": self.evaluated_orders, "--pool": len(self.pool), **each}
            )

    def _check_trials(self) -> None:
        """Raises UserError: neither a number nor auto; a bound of auto without it."""
        if self.trials == AUTO:
            if self.searcher != "random" or self.scheduler != "fifo":
                raise UserError(
                    "--trials auto knows when to stop of independent settings that learn all tasks: leave "
                    "--searcher and --scheduler out"
                )
            return
        if self.max_trials != MOST_AUTO:
            raise UserError("--max-trials bounds --trials auto: give that, too, or leave it out")
        if not (self.trials.isascii() and self.trials.isdecimal() and 1 <= int(self.trials[:9]) <= MOST_TRIALS):
            raise UserError(f"--trials {self.trials[:40]!r}: must be a whole number from 1 to {MOST_TRIALS:,}, or auto")

    def _check_choice(self) -> None:
        """Raises UserError: something was given that would have no effect, or does not go together."""
        if self.params != TUNED:
            idle = {
                "--conventional": self.conventional,
                "--searcher": self.searcher != "random",
                "--scheduler": self.scheduler != "fifo",
                "--select": self.select != "best",
                "--space": self.space != "paper",
                "--trials": self.trials != TRIALS,
                "--max-trials": self.max_trials != MOST_AUTO,
            }
            for name, given in idle.items():
                if given:
                    raise UserError(
                        f"--params {self.params[:80]}: nothing is tried, {name} has no effect: leave it out"
                    )
        if self.scheduler == "asha" and self.searcher == "optuna":
            raise UserError(
                "--scheduler asha leaves settings early, which Optuna would take for their end: choose one of them"
            )
        if self.searcher == "optuna" and self.params == TUNED and self.most_trials <= OPTUNA_DRAWS:
            raise UserError(
                f"--searcher optuna draws its first {OPTUNA_DRAWS} settings at random, and --trials is {self.trials}: "
                "raise it, or leave --searcher out"
            )
        if self.scheduler == "asha" and self.tasks < 3:
            raise UserError(
                f"--scheduler asha looks first after task 2: with --tasks {self.tasks} it leaves nothing out"
            )
        if self.scheduler == "asha" and self.conventional:
            raise UserError("--conventional compares settings that have learned all tasks: leave --scheduler asha out")
        if self.orders < 2 and self.select == "one-se":
            raise UserError("--select one-se needs a standard error: --orders 2 or more")

    @property
    def most_trials(self) -> int:
        """Settings of a method at most; none if nothing is tried."""
        if self.params != TUNED:
            return 0
        return self.max_trials if self.trials == AUTO else int(self.trials)

    @property
    def evaluated_orders(self) -> int:
        """Class orders of the second phase."""
        return self.eval_orders or self.orders

    def in_one_world(self) -> StudySettings:
        """Return the settings of the world of both phases, which has all pools side by side."""
        own = {name: getattr(self, name) for name in (f.name for f in dataclasses.fields(MethodSettings))}
        return StudySettings(**own, pool=",".join([self.tune_pool, *self.pool]), seed=self.seed)


def evaluated_settings(s: GtepSettings, pools: int) -> int:
    """How many settings of a method are evaluated, on so many pools and on further orders of the one that was tuned on."""
    beside = s.conventional or s.originals
    return pools * (1 + beside + s.conventional) + beside + s.originals
