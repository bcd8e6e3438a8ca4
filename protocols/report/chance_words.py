"""What is said of methods that are not told from chance, for the terminal and the report alike."""

from __future__ import annotations

from collections.abc import Sequence

from protocols.report.text import count, percent
from protocols.running.at_chance import AtChance
from seqsearch.distribution.chance import LEVEL
from seqsearch.distribution.interval import AGREE


def at_chance(found: Sequence[AtChance]) -> list[str]:
    """A note for each method and kind of sequences; what the test rests on is said once."""
    if not found:
        return []
    return [
        *map(_one, found),
        f"Chance: exact binomial tests of the images right after the last task, at {100 * LEVEL:.0f} % over all trainings of a "
        "method (Bonferroni), conditional on these trainings, for test images drawn independently. Not to be told from chance "
        "does not show that nothing is learned.",
    ]


def _one(a: AtChance) -> str:
    fewest, most = a.classes
    of = f"{fewest} to {most} classes" if most > fewest else count(most, "class")
    how = "no better than chance" if a.accuracy <= a.chance + AGREE else "not told from chance"
    said = f"{a.method}: {how} on {a.where} sequences ({percent(a.accuracy)} % of {of}; chance {percent(a.chance)} %)"
    images = count(a.test.images, "test image")
    if a.test.told_from is None:
        return f"{said}; {images} are too few to tell any accuracy from it."
    trainings = f"one of its {a.test.trainings} trainings" if a.test.trainings > 1 else "its one training"
    return f"{said}; {trainings} would be told from it with {percent(a.test.told_from)} % of {images} right."
