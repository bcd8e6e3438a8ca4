"""Settings of protocols: one record each, one source for the flags, their help, the YAML keys and ``config.json``.

Light on purpose: ``seqsearch --help`` imports this and nothing heavy.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief, fits, in_words


def setting(default: Any, help: str, *, minimum: float | None = None, maximum: float | None = None) -> Any:
    """A flag: its default, its help (unit; the paper's symbol) and its bounds, both inclusive."""
    return field(default=default, metadata={"help": help, "minimum": minimum, "maximum": maximum})


@dataclass(frozen=True)
class StudySettings:
    """What all protocols ask for. All settings together decide what a run finds; workers and addresses are no part of them.

    Raises:
        UserError: a value is out of bounds, or values contradict each other.
    """

    protocol: ClassVar[str]
    """Name of the command, and of the module in ``protocols``."""

    methods: str = setting(
        "", "Methods, comma-separated: NAME or FILE.py:CLASS, then [@BACKBONE] and [:key=value,...]."
    )
    pool: str = setting(
        "glyphs",
        "Pool of classes: glyphs, a folder of images, a .parquet file, then [:key=value,...]; several: commas.",
    )
    exclude_groups: str = setting("", "Groups of classes to leave out, comma-separated.")
    backbone: str = setting("glyph_vit", "Backbone of methods that name none: glyph_vit or any timm model.")
    weights: tuple[str, ...] = setting((), "BACKBONE=FILE: its weights (safetensors or state dict); repeatable.")
    precision: Literal["float32", "bf16"] = setting(
        "float32", "Arithmetic of the backbones; bf16: bfloat16 autocast, faster on recent GPUs."
    )
    seed: int = setting(0, "Study seed: split, drawn classes and tasks, training noise.", minimum=0, maximum=2**63 - 1)
    tasks: int = setting(5, "Tasks in a sequence.", minimum=1)

    def __post_init__(self) -> None:
        kinds = typing.get_type_hints(type(self))
        for f in dataclasses.fields(self):
            value, low, high = getattr(self, f.name), f.metadata["minimum"], f.metadata["maximum"]
            number = isinstance(value, int | float)  # from a file it may be anything
            if number and ((low is not None and not value >= low) or (high is not None and not value <= high)):
                bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
                raise UserError(f"{flag(f.name)} {brief(value)}: must be {bounds}")
            if not fits(value, kinds[f.name]):
                raise UserError(f"{flag(f.name)} {brief(value)}: must be {in_words(kinds[f.name])}")
        for f in dataclasses.fields(self):
            if isinstance(value := getattr(self, f.name), list):  # as JSON has it
                object.__setattr__(self, f.name, tuple(value))
        self.check()

    def check(self) -> None:
        """What goes beyond the bounds of single values.

        Raises:
            UserError: values contradict each other.
        """
        if not self.methods.strip() and self.trains:
            raise UserError("--methods is missing: name one or more, e.g. --methods ranpac,er (see: seqsearch methods)")
        self.weight_files()

    @property
    def trains(self) -> bool:
        """Whether methods are trained at all."""
        return True

    def growth(self) -> list[tuple[int, str]]:
        """Step and pool item of classes that come later; none unless the protocol has such a thing."""
        return []

    def weight_files(self) -> dict[str, str]:
        """File of each backbone named in ``--weights``.

        Raises:
            UserError: not BACKBONE=FILE, or a backbone twice.
        """
        found: dict[str, str] = {}
        for text in self.weights:
            backbone, equals, file = (part.strip() for part in text.partition("="))
            if not (backbone and equals and file):
                raise UserError(f"--weights {text}: write BACKBONE=FILE, e.g. --weights resnet50=weights.safetensors")
            if backbone in found:
                raise UserError(f"--weights {text}: {backbone} has a file already")
            found[backbone] = file
        return found


@dataclass(frozen=True)
class CldybSettings(StudySettings):
    """Settings of `protocols.cldyb.run`."""

    protocol: ClassVar[str] = "cldyb"

    grow: tuple[str, ...] = setting((), "STEP:POOL: further classes, there from that task on; repeatable.")
    tasks: int = setting(5, "Tasks in a sequence (N; the paper: 10).", minimum=1)
    classes_per_task: int = setting(10, "Classes in a task (K; the paper: 20).", minimum=2)
    candidates: int = setting(64, "Tasks proposed at each step (B~).", minimum=1)
    condensed: int = setting(8, "Proposed tasks that are judged by training (B-).", minimum=1)
    clusters: int = setting(4, "Functional clusters the judged tasks are drawn from (C).", minimum=1)
    knn_k: int = setting(10, "Neighbours of the kNN classifier behind the clusters.", minimum=1)
    knn_temperature: float = setting(0.1, "T in its votes exp(cosine / T).", minimum=1e-3, maximum=1e3)
    knn_scope: Literal["task", "seen"] = setting(
        "task", "Its neighbours: the task's own classes, or all seen ones too."
    )
    knn_images: int = setting(50, "Images of a class and part behind its votes and its losses, at most.", minimum=1)
    raw_features: bool = setting(False, "Cluster kNN losses as they are (the paper), not standardised per method.")
    lookahead: int = setting(1, "Follow-up tasks trained after a candidate to judge it (L).", minimum=0)
    followups: Literal["feasible", "greedy", "condensed"] = setting(
        "feasible", "Follow-up tasks: any classes left (the paper), greedy ones, or other candidates."
    )
    simulations: int = setting(16, "Budget of a step in simulations; one is a rollout of every method.", minimum=1)
    allocation: Literal["uniform", "halving", "uct"] = setting("halving", "How the budget is spent on the candidates.")
    in_flight: int = setting(8, "Simulations under way at a time; decides the sequence, unlike --workers.", minimum=1)
    temperature: float = setting(0.0, "Eq. 8's tau in sd of J within a step; 0: the hardest, inf: any.", minimum=0.0)
    discount: float = setting(1.0, "Weight of each further step of a rollout (alpha).", minimum=0.0, maximum=1.0)
    reward: Literal["paper", "forgetting", "gap-to-joint"] = setting(
        "paper", "Reward R: AFM - ALA (Eq. 3), AFM alone, or accuracy lost against joint training."
    )
    reward_split: Literal["reward", "test"] = setting("reward", "Images the search is rewarded on (the paper: test).")
    seed_class: Literal["uniform", "near-past"] = setting(
        "uniform", "First class of a candidate: any, or near learned ones."
    )
    sampler: Literal["greedy", "group-uniform", "uniform"] = setting("greedy", "Where candidates come from (ablation).")
    clustering: bool = setting(True, "Condense candidates by functional clustering (ablation: --no-clustering).")
    selector: Literal["mcts", "similar-past", "random"] = setting("mcts", "How a candidate is chosen (ablation).")
    probe_images: int = setting(5, "Training images per class behind a prototype.", minimum=1)

    tune_tasks: int = setting(0, "Tune each method's hyperparameters on so many tasks first (the paper: 3).", minimum=0)
    tune_trials: int = setting(8, "Settings tried per method, its own defaults first.", minimum=2, maximum=10_000)
    tune_on: Literal["outside", "first"] = setting(
        "outside",
        "Classes to tune on: drawn and kept out of the run, or the first tasks of a search (the paper; circular).",
    )

    separate: bool = setting(False, "Search for each method alone instead of for all jointly.")
    searches: int = setting(1, "Independent searches.", minimum=1, maximum=1000)
    score_seeds: int = setting(3, "Fresh training seeds that each final sequence is scored with.", minimum=1)
    random_sequences: int = setting(5, "Random sequences to compare with, same first task: 5 or more, or 0.", minimum=0)
    extended_from: tuple[int, ...] = field(default=(), metadata={"minimum": None, "maximum": None, "hidden": True})
    """Lengths at which the run was finished before, ascending: ``seqsearch extend`` sets it, no flag does. Tasks of a stage were
    chosen without looking beyond its end."""

    def check(self) -> None:
        super().check()
        self.growth()
        if list(self.stages) != sorted({n for n in self.stages if n >= 1}):
            raise UserError(f"a run of {self.tasks} tasks cannot have been extended from {list(self.extended_from)}")
        if self.tune_on == "first" and self.tune_tasks > self.stages[0]:
            raise UserError(
                f"--tune-tasks {self.tune_tasks} --tune-on first: a sequence has {self.stages[0]} tasks only"
            )
        if math.isinf(self.discount):
            raise UserError("--discount must be finite")
        if self.random_sequences in range(1, 5):
            raise UserError(
                f"--random-sequences {self.random_sequences}: fewer than 5 give no usable interval; ask for 5 or more, or for 0"
            )

    @property
    def stages(self) -> tuple[int, ...]:
        """Lengths that the sequence was planned for, one after the other."""
        return (*self.extended_from, self.tasks)

    def lookahead_at(self, t: int) -> int:
        """Follow-up tasks behind a candidate for task ``t``: not beyond the end of its stage."""
        return min(self.lookahead, next(n for n in self.stages if n >= t) - t)

    def extended(self, tasks: int) -> CldybSettings:
        """The same with more tasks, the search going on where it had ended.

        Raises:
            UserError: not more.
        """
        if tasks <= self.tasks:
            raise UserError(f"--tasks {tasks}: the run has {self.tasks} tasks already, give a larger number")
        return dataclasses.replace(self, tasks=tasks, extended_from=self.stages)

    def growth(self) -> list[tuple[int, str]]:
        """Step and pool item of each ``--grow``, in order of steps.

        Raises:
            UserError: not STEP:POOL, or no step of this run after the first.
        """
        found = []
        for text in self.grow:
            step, colon, pool = text.partition(":")
            if not (step.strip().isdecimal() and len(step) < 10 and colon and pool.strip()):
                raise UserError(f"--grow {text[:80]}: write STEP:POOL, e.g. --grow 3:more.parquet")
            if not 2 <= int(step) <= self.tasks:
                raise UserError(f"--grow {text}: the step must be from 2 to --tasks {self.tasks}")
            found.append((int(step), pool.strip()))
        return sorted(found, key=lambda pair: pair[0])


def flag(name: str) -> str:
    """The command-line flag of a field."""
    return "--" + name.replace("_", "-")
