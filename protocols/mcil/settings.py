"""Settings of the MCIL protocol: flags, help, YAML keys and ``config.json`` alike.

Light on purpose: ``seqsearch --help`` imports this and nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from seqsearch.core import command_line
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.settings import StudySettings, check_trainings, setting

MOST_RUNS = 100_000
"""Of a method: beyond it training seeds would be those of given orders (`seqsearch.planners.replicates`)."""
MOST_CLASSES = 10_000_000
SCENARIOS = {"full": "class_incremental", "class-free": "class_free_texts", "none": "without_texts"}
"""The scenario of each value of ``--text-at-test``."""


@dataclass(frozen=True)
class McilSettings(StudySettings):
    """Settings of ``seqsearch mcil``."""

    protocol: ClassVar[str] = "mcil"
    for_example: ClassVar[str] = "mm_dp,simplecil"

    backbone: str = setting(
        "glyph_flava",
        "Backbone of methods that name none: glyph_flava (embedded), flava, or one that reads images alone.",
        names="backbone",
        group="first",
    )
    pool: str = setting(
        "glyphs:captions=first",
        "Pool of classes: glyphs (with captions), a .parquet file of pairs, a folder of images, then [:key=value,...].",
        names="pools",
        group="first",
    )
    experiences: int = setting(
        10,
        "Experiences (T) that the classes are cut into, larger ones first.",
        minimum=2,
        maximum=10_000,
        group="first",
    )
    classes: int = setting(
        0,
        "Classes in play, drawn from the pool by the seed; 0: all of it.",
        minimum=0,
        maximum=MOST_CLASSES,
        group="what",
    )
    seeds: int = setting(
        3,
        "Runs of each method, each with a class order and a training seed of its own; with --orders: of each order.",
        minimum=1,
        maximum=1000,
        group="first",
    )
    orders: int = setting(
        0,
        "Class orders, each with --seeds trainings: separates variance of orders from that of seeds; 0: one a run.",
        minimum=0,
        maximum=1000,
        group="first",
    )
    text_at_test: Literal["full", "class-free", "none"] = setting(
        "full",
        "Texts of test images: as they are; without the words that depend on the class; or an empty text for each.",
        group="scoring",
    )
    modalities: bool = setting(
        False,
        "Evaluate each state on images alone, texts alone and mismatched pairs, too: what each modality is worth.",
        group="scoring",
    )

    def check(self) -> None:
        super().check()
        if command_line.in_list(self.methods):
            raise UserError(
                "--methods: a command says how many images are right, not of which class, and balanced accuracy needs that: "
                "leave it out"
            )
        if self.modalities and self.text_at_test != "full":
            raise UserError(
                f"--text-at-test {self.text_at_test} --modalities: the ablation compares with texts as they are: leave one of "
                "them out"
            )
        runs = {"--orders": self.orders or 1, "--seeds": self.seeds}
        methods = len(parse_items(self.methods, "method"))
        check_trainings({**runs, "--experiences": self.experiences, "methods": methods})
        if (self.orders or 1) * self.seeds > MOST_RUNS:
            raise UserError(
                f"--orders {self.orders} times --seeds {self.seeds}: at most {MOST_RUNS:,} runs of a method"
            )

    @property
    def scenario(self) -> str:
        """With ``--modalities`` one that evaluates more, and one for each value of ``--text-at-test``."""
        return "modalities" if self.modalities else SCENARIOS[self.text_at_test]

    @property
    def plan(self) -> tuple[int, int]:
        """Class orders, and training seeds of each."""
        return (self.orders, self.seeds) if self.orders else (self.seeds, 1)
