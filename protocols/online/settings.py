"""Settings of the online protocol: flags, help, YAML keys and ``config.json`` alike.

Light on purpose: ``seqsearch --help`` imports this and nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from seqsearch.core import command_line
from seqsearch.core.errors import UserError
from seqsearch.core.settings import MethodSettings, setting
from seqsearch.core.text import did_you_mean

AUTO = "auto"
PRESETS = {"cglm": (64, 256), "cloc": (128, 16384)}
"""Batch and shift [samples] of the paper's data sets, by what ``--shift`` calls them."""
SAMPLERS = ("uniform", "fifo", "mixed")
MOST = 1 << 40
"""Samples of a stream, or of a shift."""
MOST_WINDOWS = 20


@dataclass(frozen=True)
class OnlineSettings(MethodSettings):
    """Settings of ``seqsearch online``."""

    protocol: ClassVar[str] = "online"

    methods: str = setting(
        "",
        "Learners, comma-separated: NAME or FILE.py:CLASS, then [@BACKBONE] and [:key=value,...].",
        names="learners",
        group="first",
    )
    stream: str = setting(
        "glyphs:samples=3000,ahead=200000",
        "STREAM: glyphs[:options], a file of seqsearch stream build, pool:POOL, or FILE.py:OBJECT.",
        names="stream",
        group="first",
    )
    batch: int = setting(64, "Samples revealed at a step (B).", minimum=1, maximum=1_000_000, group="what")
    shift: str = setting(
        AUTO,
        "Samples ahead at which near-future accuracy is measured (S), first the one that decides; multiples of --batch. auto: "
        "the smallest at which labels are not correlated; cglm, cloc: the paper's.",
        group="first",
    )
    budget: str = setting(
        "1",
        "Updates that a step grants: 1 is the paper's fast stream, 10 and 5 its slow ones; several: commas.",
        group="first",
    )
    samplers: str = setting(
        "",
        "What gradient learners train on: uniform, fifo, mixed, several with commas.  [default: what each learner names]",
        group="what",
    )
    seeds: int = setting(3, "Training seeds of learners that draw something.", minimum=1, maximum=1_000, group="first")
    windows: str = setting(
        "",
        "Lengths [samples] of windows within which the stream is shuffled, for a check that needs no shift; commas.",
        group="scoring",
    )
    search: float = setting(
        0.1,
        "Share of the stream, at its beginning, on which k and S are chosen.",
        minimum=0.0,
        maximum=0.99,
        group="what",
    )
    holdout: float = setting(
        0.05,
        "Share of the rest, in whole bursts, on which retention is measured.",
        minimum=0.0,
        maximum=0.9,
        group="what",
    )
    trace: bool = setting(False, "Measure retention at every checkpoint, too.", group="scoring")
    tolerance: float = setting(
        0.01,
        "Agreement beyond chance that is taken for none when S is chosen (kappa).",
        minimum=1e-6,
        maximum=0.5,
        group="scoring",
    )
    null: Literal["independence", "uniform", "majority"] = setting(
        "independence",
        "What a blind classifier is compared with: labels drawn independently; or the paper's readings of random.",
        group="scoring",
    )
    checkpoint_every: int = setting(
        0,
        "Steps between checkpoints; at most so many are repeated after a crash. 0: a fiftieth of the stream.",
        minimum=0,
        maximum=MOST,
        group="scoring",
    )
    seed: int = setting(0, "Study seed: holdout, shuffles, training noise.", minimum=0, maximum=2**63 - 1, group="what")

    def check(self) -> None:
        if not self.methods.strip():
            raise UserError(
                "--methods is missing: name one or more learners, e.g. --methods er,acm,ncm (docs/learners.md)"
            )
        super().check()
        if not self.stream.strip():
            raise UserError("--stream is missing: name one, e.g. --stream glyphs (see: seqsearch stream show)")
        if command_line.in_list(self.methods):
            raise UserError(
                "--methods: a command is given whole sequences of tasks, and here a stream is learned: leave it out"
            )
        if any(s % self.step_size for s in self.shifts):
            wrong = next(s for s in self.shifts if s % self.step_size)
            low, high = wrong // self.step_size * self.step_size, (wrong // self.step_size + 1) * self.step_size
            near = f"{low} or {high}" if low else str(high)
            raise UserError(f"--shift {wrong} is no multiple of --batch {self.step_size}: take {near}")
        if self.shift == AUTO and not self.search:
            raise UserError("--shift auto is chosen on the search part: leave --search 0 out, or name a shift")
        _ = self.budgets, self.drawn, self.shuffled

    @property
    def step_size(self) -> int:
        """Samples of a step."""
        return self.batch

    @property
    def shifts(self) -> tuple[int, ...]:
        """Shifts that were named [samples], the one that decides first; none if it is chosen.

        Raises:
            UserError: neither a name nor numbers.
        """
        if self.shift == AUTO:
            return ()
        if self.shift in PRESETS:
            return (PRESETS[self.shift][1],)
        if "0" in (named := [p.strip() for p in self.shift.split(",")]):
            rest = ",".join(p for p in named if p != "0") or f"{AUTO}, or samples ahead, e.g. {4 * self.step_size}"
            raise UserError(f"--shift {self.shift[:40]!r}: online accuracy (0) is always measured: write {rest[:80]}")
        few, many = 4 * self.step_size, 16 * self.step_size
        wanted = f"{AUTO}, {', '.join(PRESETS)}, or samples, e.g. {few} or {few},{many}"
        return _numbers("--shift", self.shift, wanted)

    @property
    def shuffled(self) -> tuple[int, ...]:
        """Windows, growing.

        Raises:
            UserError: no numbers of samples, or more than `MOST_WINDOWS`.
        """
        found = _numbers("--windows", self.windows, "samples, e.g. 256,1024,4096") if self.windows.strip() else ()
        if len(found) > MOST_WINDOWS:
            raise UserError(
                f"--windows has {len(found):,} lengths, each of which is trained on: give {MOST_WINDOWS} at most"
            )
        return tuple(sorted(found))

    @property
    def budgets(self) -> tuple[float, ...]:
        """Updates a step.

        Raises:
            UserError: not positive numbers, or one twice.
        """
        try:
            found = tuple(float(text) for text in self.budget.split(","))
        except ValueError:
            found = ()
        if len(set(found)) < len(found):
            raise UserError(f"--budget {self.budget[:40]!r}: one is there twice")
        if not found or not all(0 < b <= 10_000 for b in found):
            raise UserError(f"--budget {self.budget[:40]!r}: write updates a step, more than 0, e.g. 1 or 1,10")
        return found

    @property
    def drawn(self) -> tuple[str, ...]:
        """Samplers that were named; none: each learner's own."""
        found = tuple(filter(None, (text.strip() for text in self.samplers.split(","))))
        if wrong := next((s for s in found if s not in SAMPLERS), None):
            raise UserError(
                f"--samplers {wrong[:40]!r}: {did_you_mean(wrong, SAMPLERS)}there are {', '.join(SAMPLERS)}"
            )
        if len(set(found)) < len(found):
            raise UserError(f"--samplers {self.samplers[:40]!r}: one is named twice")
        return found


def _numbers(name: str, text: str, wanted: str) -> tuple[int, ...]:
    pieces = [p.strip() for p in text.split(",")]
    if not all(p.isascii() and p.isdecimal() and 1 <= int(p[:14]) <= MOST for p in pieces):
        raise UserError(f"{name} {text[:40]!r}: write {wanted}")
    if len(set(pieces)) < len(pieces):
        raise UserError(f"{name} {text[:40]!r}: a number is there twice")
    return tuple(int(p) for p in pieces)
