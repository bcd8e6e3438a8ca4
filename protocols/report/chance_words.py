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
        f"Chance: tests of the images right of each class after the last task, at {100 * LEVEL:.0f} % over all trainings of a "
        "method (Bonferroni), conditional on these trainings, for test images drawn independently. Not to be told from chance "
        "does not show that nothing is learned.",
    ]


def _one(a: AtChance) -> str:
    fewest, most = a.classes
    of = f"{fewest} to {most} classes" if most > fewest else count(most, "class")
    how = "is not above" if a.accuracy <= a.chance + AGREE else "is not told from"
    said = f"{a.method}: {a.figure} {percent(a.accuracy)} % {a.where} {how} chance ({percent(a.chance)} % for {of})"
    images, R = count(a.test.images, "test image"), a.test.trainings
    if a.test.best > LEVEL:
        return f"{said}: {images} are too few to tell any accuracy from it."
    if a.test.told_from is None or abs(a.chance - 1 / most) > AGREE:  # which images are right counts, not only how many
        over = f"the least of {R} trainings, times {R}" if R > 1 else "one training"
        return f"{said}: p = {a.test.p:.2f} ({over})."
    needed = f"{round(a.test.told_from * a.test.images)} of {images} ({percent(a.test.told_from)} %)"
    of_which = f"one of its {R} trainings" if R > 1 else "its one training"
    return f"{said}: for that, {of_which} would have to have {needed} right."
