"""Of ``seqsearch cldyb``."""

from __future__ import annotations

from protocols.report.column import (
    CLDYB,
    COUNT,
    DOWN,
    NEITHER,
    OURS,
    PERCENT,
    POINTS,
    SHARE,
    UP,
    Column,
    Scale,
    Section,
    sizes,
)

DROP = f"{OURS}, docs/distribution.md"
RANDOM = ("random", "rand.")
"""As in a page, and as in a terminal."""
REWARD = Scale("accuracy", "any")

JOINT = (
    Column(
        ("Joint, found", "Joint, random"),
        "Acc of joint training: the method learns all classes of a sequence at once, with the same seeds",
        "mean over tasks of its accuracy, as Acc",
        PERCENT,
        UP,
        f"{OURS}, docs/cldyb.md",
    ),
    Column(
        ("Gap, found", "Gap, random"),
        "gap to joint training",
        "Acc of joint training - Acc",
        POINTS,
        DOWN,
        f"{OURS}, docs/cldyb.md",
    ),
    Column(
        ("Gap larger by [95 %]",),
        "how much larger the gap is on found than on random sequences",
        "gap found - gap random",
        POINTS,
        "higher: harder to learn continually",
        DROP,
        "the same as the relative drop",
    ),
)
"""Of joint training, in the tables of `score` as well."""

SECTION = Section(
    rows=("Method", "Search", "Task"),
    columns=(
        Column(("Acc",), "average accuracy: all tasks, after the last; bold (found): this method may be the best (95 %)",
               "1/T sum over i <= T of a_Ti", PERCENT, UP,
               f"{CLDYB}, section 5.1 (no equation)",
               below=("found", "own found", "held out", "searched", *RANDOM)),
        Column(("AR",), "average retention: what earlier tasks kept since they were learned; 0 for T = 1",
               "1/(T-1) sum over i < T of (a_Ti - a_ii) = -AFM", POINTS, UP,
               f"{CLDYB}, section 5.1, footnote 1: Eq. 2 with its sign turned",
               below=("found", *RANDOM)),
        Column(("AFM",), "average forgetting measure: what earlier tasks lost since they were learned; 0 for T = 1",
               "1/(T-1) sum over i < T of (a_ii - a_Ti)", POINTS, DOWN, f"{CLDYB}, Eq. 2", told_in="rewards"),
        Column(("ALA",), "average learning accuracy: each task right after it was learned",
               "1/T sum over i <= T of a_ii", PERCENT, UP, f"{CLDYB}, Eq. 1",
               below=("found", *RANDOM)),
        Column(("reward",), "how hard a step was (--reward paper)", "AFM - ALA", REWARD, "higher: harder tasks",
               f"{CLDYB}, Eq. 3", told_in="trace.parquet"),
        Column(("worst",), "lowest Acc of a found sequence, mean over its training seeds",
               "min over found sequences of Acc", PERCENT, UP, OURS,
               below=("found",)),
        Column(("Robust-ness",), "lowest Acc on the sequences found for any one of the methods (--separate)",
               "min over methods m of the mean Acc on the sequences found for m", PERCENT, UP,
               f"{OURS}; section 5.2 of {CLDYB} takes the mean over the method's own sequences, which is Acc (own "
               "found)"),
        Column(("Relative drop",), "how much lower Acc is on found than on random sequences; below 0: a rise; *: harder (easier) "
               "for this method by itself, adjusted p at most 0.05",
               "(Acc random - Acc found) / Acc random", SHARE, "lower is better; higher: harder sequences", DROP,
               "found and random sequences, training seeds and test images, as the caption says",
               below=("of Acc [95 %]", "- is a rise [95 %]")),
        Column(("Drop",), "the relative drop on the sequences that were searched with the method, not those held out",
               "(Acc random - Acc searched) / Acc random", SHARE, "lower is better; higher: harder sequences", DROP,
               below=("searched",)),
        *JOINT,
        *sizes(("Stored",), ("Size",), below=("MB",)),
        Column(("Candidates",), "candidates of the step that were judged by training", "", COUNT, NEITHER, OURS),
        Column(("J of each", "J from", "to", "chosen"),
               "values J of the candidates of a step: a dot each, the least, the greatest, and that of the one taken",
               "mean over simulations of the rewards of the candidate and of the tasks looked ahead to", REWARD,
               "higher: harder tasks", f"{CLDYB}, Eq. 7; rewards: Eq. 3"),
        Column(("Simulations",), "simulations of all candidates of the step", "", COUNT, NEITHER,
               f"{CLDYB}, section 3.3"),
        Column(("Failed",), "candidates that could not be judged", "", COUNT, NEITHER, OURS),
    ),
)  # fmt: skip
