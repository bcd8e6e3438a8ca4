"""Settings of a search by training (`seqsearch.planners.mcts`), as a part of a protocol's settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from seqsearch.core.errors import UserError
from seqsearch.core.settings import MOST_IMAGES, MOST_TASKS, TaskSettings, setting

if TYPE_CHECKING:
    from seqsearch.stats.accuracy import RewardKind


@dataclass(frozen=True)
class SearchSettings(TaskSettings):
    """Steps, candidates, look-ahead and reward of a search; symbols are those of the CLDyB paper."""

    tasks: int = setting(5, "Tasks in a sequence (N; the paper: 10).", minimum=1, maximum=MOST_TASKS, group="first")
    classes_per_task: int = setting(
        10, "Classes in a task (K; the paper: 20).", minimum=2, maximum=100_000, group="first"
    )
    candidates: int = setting(64, "Tasks proposed at each step (B~).", minimum=1, maximum=100_000, group="search")
    condensed: int = setting(
        8, "Proposed tasks that are evaluated by training (B-).", minimum=1, maximum=10_000, group="search"
    )
    clusters: int = setting(
        4, "Functional clusters the evaluated tasks are drawn from (C).", minimum=1, maximum=10_000, group="search"
    )
    knn_k: int = setting(
        10, "Neighbours of the kNN classifier behind the clusters.", minimum=1, maximum=MOST_IMAGES, group="search"
    )
    knn_temperature: float = setting(0.1, "T in its votes exp(cosine / T).", minimum=1e-3, maximum=1e3, group="search")
    knn_scope: Literal["task", "seen"] = setting(
        "task", "Its neighbours: the task's own classes, or all seen ones too.", group="search"
    )
    knn_images: int = setting(
        50,
        "Images of a class and part behind its votes and its losses, at most.",
        minimum=1,
        maximum=MOST_IMAGES,
        group="search",
    )
    raw_features: bool = setting(
        False, "Cluster kNN losses as they are (the paper), not standardised per method.", group="search"
    )
    encoder: str = setting(
        "",
        "Backbone whose frozen features compare classes (prototypes, kNN), instead of each method's own features.",
        names="backbone",
        group="search",
    )
    lookahead: int = setting(
        1, "Follow-up tasks trained after a candidate to evaluate it (L).", minimum=0, maximum=1000, group="search"
    )
    followups: Literal["feasible", "greedy", "condensed"] = setting(
        "feasible", "Follow-up tasks: any classes left (the paper), greedy ones, or other candidates.", group="search"
    )
    simulations: int = setting(
        16,
        "Budget of a step in simulations; one is a rollout of every method.",
        minimum=1,
        maximum=1_000_000,
        group="search",
    )
    allocation: Literal["uniform", "halving", "uct"] = setting(
        "halving", "How the budget is spent on the candidates.", group="search"
    )
    in_flight: int = setting(
        8,
        "Simulations under way at a time; decides the sequence, unlike --workers.",
        minimum=1,
        maximum=100_000,
        group="search",
    )
    temperature: float = setting(
        0.0,
        "Eq. 8's tau in sd of J within a step; 0: the hardest, inf: any.",
        minimum=0.0,
        maximum=math.inf,
        group="search",
    )
    discount: float = setting(
        1.0, "Weight of each further step of a rollout (alpha).", minimum=0.0, maximum=1.0, group="search"
    )
    reward: Literal["paper", "forgetting", "gap-to-joint", "shuffled"] = setting(
        "paper",
        "Reward R: AFM - ALA (Eq. 3), AFM alone, or accuracy lost against joint training; shuffled: a placebo.",
        group="search",
    )
    reward_split: Literal["reward", "test"] = setting(
        "reward", "Images the search is rewarded on (the paper: test).", group="search"
    )
    seed_class: Literal["uniform", "near-past"] = setting(
        "uniform", "First class of a candidate: any, or near learned ones.", group="search"
    )
    sampler: Literal["greedy", "group-uniform", "uniform"] = setting(
        "greedy", "Where candidates come from (ablation).", group="search"
    )
    clustering: bool = setting(
        True, "Condense candidates by functional clustering (ablation: --no-clustering).", group="search"
    )
    selector: Literal["mcts", "similar-past", "random"] = setting(
        "mcts", "How a candidate is chosen (ablation).", group="search"
    )
    search_commands: bool = setting(
        False,
        "Let methods by command (cmd:...) take part in the search: each candidate trains them from scratch.",
        group="search",
    )
    screen_to: float = setting(
        1.0,
        "Train only this share of a step's candidates, by a fit to the search's own trace; 1: all.",
        minimum=0.01,
        maximum=1.0,
        group="search",
    )
    probe_images: int = setting(
        5, "Training images per class behind a prototype.", minimum=1, maximum=MOST_IMAGES, group="search"
    )
    extended_from: tuple[int, ...] = field(default=(), metadata={"minimum": None, "maximum": None, "hidden": True})
    """Lengths at which the run was finished before, ascending: ``seqsearch extend`` sets it, no flag does. Tasks of a stage were
    chosen without looking beyond its end."""

    def check(self) -> None:
        super().check()
        if list(self.stages) != sorted({n for n in self.stages if n >= 1}):
            raise UserError(f"a run of {self.tasks} tasks cannot have been extended from {list(self.extended_from)}")
        if self.screen_to < 1 and self.selector != "mcts":
            raise UserError(
                f"--screen-to {self.screen_to:g} --selector {self.selector}: no candidate is evaluated; leave one out"
            )

    def changed_by_command(self, before: Mapping[str, Any]) -> frozenset[str]:
        """See `Settings.changed_by_command`: ``seqsearch extend`` gives a run more tasks."""
        earlier = before.get("extended_from", [])
        extended = isinstance(earlier, list) and list(self.extended_from) == [*earlier, before.get("tasks")]
        return frozenset({"tasks", "extended_from"} if extended else ())

    @property
    def reward_kind(self) -> RewardKind:
        """The reward of a rollout: a placebo shuffles those of the paper."""
        return "paper" if self.reward == "shuffled" else self.reward

    @property
    def stages(self) -> tuple[int, ...]:
        """Lengths that the sequence was planned for, one after the other."""
        return (*self.extended_from, self.tasks)

    def lookahead_at(self, t: int) -> int:
        """Follow-up tasks behind a candidate for task ``t``: not beyond the end of its stage."""
        return min(self.lookahead, next(n for n in self.stages if n >= t) - t)
