"""Base of the settings of protocols. One record is the source of the flags, their help, the YAML keys and
``config.json``.

A protocol's settings derive from the records that it needs: `MethodSettings`, `PoolSettings`, `TaskSettings`. The
module is light on purpose: ``seqsearch --help`` imports it and nothing heavy.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from seqsearch.core.errors import UserError
from seqsearch.core.limits import out_of_bounds, product_text, wrong_text
from seqsearch.core.typed import brief, fits, in_words

MOST_TASKS = 10_000
MOST_IMAGES = 1_000_000
"""Images of a class."""
MOST_TRAININGS = 10_000_000
"""Of a study: ten days at ten a second."""


Names = Literal["", "methods", "learners", "backbone", "pools", "grown", "stream", "run"]
"""Kinds of names that a text may hold. Named items are checked before anything heavy is imported, and the shell
completes them. Methods and pools are separated by commas, ``grown`` is STEP:POOL, a ``run`` is named by its folder."""
Group = Literal["first", "what", "search", "scoring", "where", "output"]
HEADINGS: dict[Group, str] = {
    "first": "To begin with",
    "what": "What is studied",
    "search": "Search",
    "scoring": "Scoring",
    "where": "Where it runs",
    "output": "Output",
}
"""Headings under which the help lists flags, in its order."""
assert tuple(HEADINGS) == typing.get_args(Group)


def setting(
    default: Any,
    help: str,
    *,
    group: Group,
    minimum: float | None = None,
    maximum: float | None = None,
    names: Names = "",
    off: str = "",
) -> Any:
    """A flag: its default, its help (unit; the paper's symbol), its heading there, its bounds, both inclusive, and what it names.

    ``off``: a second name of ``--no-FLAG``, for a setting of true, false or null.

    Raises:
        TypeError: a number without bounds.
    """
    if isinstance(default, int | float) and not isinstance(default, bool) and None in (minimum, maximum):
        raise TypeError(f"a setting that is a number needs a minimum and a maximum: {help}")
    known = {"help": help, "minimum": minimum, "maximum": maximum, "names": names, "group": group, "off": off}
    return field(default=default, metadata=known)


@dataclass(frozen=True)
class Settings:
    """Checked when it is made. All settings together decide what a run finds; workers and addresses are no part of them.

    Raises:
        UserError: a value is out of bounds, or values contradict each other.
    """

    protocol: ClassVar[str]
    """Name of the protocol that they are for."""
    before: ClassVar[Mapping[str, Any]] = {}
    """Values of settings in runs that are older than these settings, where the default is another."""

    def __post_init__(self) -> None:
        check_fields(self)
        for f in dataclasses.fields(self):
            if isinstance(value := getattr(self, f.name), list):  # as JSON has it
                object.__setattr__(self, f.name, tuple(value))
        self.check()

    def check(self) -> None:
        """Check rules beyond the bounds of single values. Every part calls the check of the next.

        Raises:
            UserError: values contradict each other.
        """

    def changed_by_command(self, before: Mapping[str, Any]) -> frozenset[str]:
        """Names of settings in which a run may differ from what it had ``before``, as a command has changed them."""
        return frozenset()


def defaults(kind: type[Settings]) -> dict[str, Any]:
    """The defaults of settings, by name."""
    return {f.name: f.default for f in dataclasses.fields(kind)}


def check_fields(record: Any) -> None:
    """Check each field of a record against its type and its bounds.

    Raises:
        UserError: one is of another type or out of bounds.
    """
    kinds = typing.get_type_hints(type(record))
    for f in dataclasses.fields(record):
        value = getattr(record, f.name)  # from a file it may be anything
        texts = value if isinstance(value, list | tuple) else (value,)
        wrong = out_of_bounds(value, f.metadata.get("minimum"), f.metadata.get("maximum")) or next(
            (said for text in texts if isinstance(text, str) and (said := wrong_text(text))), ""
        )
        if not wrong and not fits(value, kinds[f.name]):
            wrong = f"must be {in_words(kinds[f.name])}"
        if wrong:
            raise UserError(f"{flag(f.name)} {brief(value)}: {wrong}")


def check_trainings(factors: dict[str, int]) -> None:
    """Raises UserError: a product of settings, by their names, asks for more trainings than `MOST_TRAININGS`."""
    if math.prod(factors.values()) > MOST_TRAININGS:
        raise UserError(
            f"{product_text(factors)} trainings: at most {MOST_TRAININGS:,} are possible, lower one of them"
        )


@dataclass(frozen=True)
class MethodSettings(Settings):
    """Settings of the methods to train and of their backbones."""

    for_example: ClassVar[str] = "ranpac,er"
    """Methods that an error message names."""

    methods: str = setting(
        "",
        "Methods, comma-separated: NAME or FILE.py:CLASS, then [@BACKBONE] and [:key=value,...]; or 'cmd:WORD ...'.",
        names="methods",
        group="first",
    )
    backbone: str = setting(
        "glyph_vit",
        "Backbone of methods that name none: glyph_vit, plain_vit, a timm model, or scratch:NAME (resnet32, resnet18, tiny).",
        names="backbone",
        group="first",
    )
    weights: tuple[str, ...] = setting(
        (), "BACKBONE=FILE: its weights (safetensors or state dict); repeatable.", group="what"
    )
    precision: Literal["float32", "bf16"] = setting(
        "float32", "Arithmetic of the backbones; bf16: bfloat16 autocast, faster on recent GPUs.", group="what"
    )
    augment: Literal["none", "published", "autoaugment"] = setting(
        "none",
        "Augmentation in training: as each method's source does; autoaugment: that of CIFAR-10 behind it.",
        group="what",
    )

    command_hours: float = setting(
        24.0,
        "Hours that a method by command (cmd:...) may take for one sequence.",
        minimum=1e-5,
        maximum=10_000,
        group="what",
    )
    command_writes: tuple[str, ...] = setting(
        (), "DIR that commands may write to beside their own folders, e.g. a cache; repeatable.", group="what"
    )

    def check(self) -> None:
        super().check()
        if not self.methods.strip():
            raise UserError(
                f"--methods is missing: name one or more, e.g. --methods {self.for_example} (see: seqsearch methods)"
            )
        self.weight_files()

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
class PoolSettings(Settings):
    """Settings of the pool of images, and the seed from which all random draws of a study begin."""

    pool: str = setting(
        "glyphs",
        "Pool of classes: glyphs, a folder of images, a .parquet file, then [:key=value,...]; several: commas.",
        names="pools",
        group="first",
    )
    exclude_groups: str = setting("", "Groups of classes to leave out, comma-separated.", group="what")
    seed: int = setting(
        0, "Study seed: split, drawn classes and tasks, training noise.", minimum=0, maximum=2**63 - 1, group="what"
    )

    def growth(self) -> list[tuple[int, str]]:
        """Step and pool item of classes that come later; none unless the protocol has such a thing."""
        return []

    def excluded_groups(self) -> set[str]:
        """Those of ``--exclude-groups``."""
        return {g.strip() for g in self.exclude_groups.split(",") if g.strip()}


@dataclass(frozen=True)
class StudySettings(PoolSettings, MethodSettings):
    """Settings of a study of methods on classes of a pool. Every `seqsearch.study.study.Study` is made from them."""

    @property
    def scenario(self) -> str:
        """Name of the scenario, which defines experiences and their evaluation (`seqsearch.training.scenario`)."""
        return "class_incremental"


@dataclass(frozen=True)
class TaskSettings(Settings):
    """A sequence of tasks; protocols that learn a stream have none."""

    tasks: int = setting(5, "Tasks in a sequence.", minimum=1, maximum=MOST_TASKS, group="first")


def growth_of(texts: Iterable[str], tasks: int) -> list[tuple[int, str]]:
    """Step and pool item of each ``--grow``, in order of steps.

    Raises:
        UserError: not STEP:POOL, or no step of ``tasks`` after the first.
    """
    found = []
    for text in texts:
        step, colon, pool = text.partition(":")
        if not (step.strip().isdecimal() and len(step) < 10 and colon and pool.strip()):
            raise UserError(f"--grow {text[:80]}: write STEP:POOL, e.g. --grow 3:more.parquet")
        if not 2 <= int(step) <= tasks:
            raise UserError(f"--grow {text}: the step must be from 2 to --tasks {tasks}")
        found.append((int(step), pool.strip()))
    return sorted(found, key=lambda pair: pair[0])


def flag(name: str) -> str:
    """The command-line flag of a field."""
    return "--" + name.replace("_", "-")
