"""Of ``seqsearch score``."""

from __future__ import annotations

from protocols.report import cldyb_joint
from protocols.report.column import CLDYB, NEITHER, OURS, PERCENT, POINTS, SHARE, UP, Column, Scale, Section

ACC = "1/T sum over i <= T of a_Ti, mean over sequences and the training seeds of each"
OWN = f"{OURS}, docs/score.md"
DROPS = "found and random sequences, training seeds and test images, as the notes say"
HARDER = "lower is better; higher: harder sequences"
TRANSFER, TASKS = "Transfer between methods", "Tasks"

JOINT = tuple(
    Column((c.title,), c.about, c.formula, Scale(c.scale.unit, c.scale.bounds), c.direction, c.source, c.over)
    for c in cldyb_joint.JOINT.columns[1:]
)

SECTION = Section(
    rows=("Method", "Searched with", "Sequence", "task"),
    columns=(
        Column(("found (searched)", "found (held out)"),
               "Acc on found sequences: those that were searched with the method, and those that were not; bold: this method may "
               "be the best (95 %)", ACC,
               PERCENT, UP, f"{CLDYB}, section 5.1; held out: section 5.2"),
        Column(("random", "hard", "easy", "given"), "Acc on sequences of this kind", ACC, PERCENT, UP,
               f"{CLDYB}, section 5.1"),
        Column(("held-out pool",), "Acc on random sequences of a pool that no search saw", ACC, PERCENT, UP,
               f"{CLDYB}, section 5.2 and Table 1"),
        Column(("drop (searched)", "drop (held out)"),
               "how much lower Acc is on these found sequences than on random ones; *: harder (easier) for this "
               "method by itself, adjusted p at most 0.05",
               "(Acc random - Acc found) / Acc random", SHARE, HARDER, f"{OURS}, docs/distribution.md", DROPS),
        *JOINT,
        Column(("bound, ...",),
               "Acc of joint training on all classes of the sequence at once, the best of three learners",
               "mean over tasks of its accuracy, as Acc", PERCENT, NEITHER, OWN),
        Column(("over NCM, ...",), "what Acc has more than the nearest class mean of frozen features",
               "Acc - Acc of simplecil", POINTS, UP, OWN),
        Column(("...",), "relative drop of the method on the sequences that were searched with the methods of the row",
               "(Acc random - Acc found) / Acc random", SHARE, HARDER, f"{OURS}, docs/distribution.md", DROPS,
               TRANSFER),
        Column(("...",), "final accuracy of the method on the task, mean over training seeds", "a_Ti", PERCENT, UP,
               f"{CLDYB}, section 2", table=TASKS),
        Column(("bound", "bound (...)"), "accuracy of joint training on the task", "", PERCENT, NEITHER, OWN,
               table=TASKS),
        Column(("NCM", "NCM (...)"), "accuracy of the nearest class mean of frozen features on the task", "", PERCENT,
               NEITHER, OWN, table=TASKS),
    ),
)  # fmt: skip
