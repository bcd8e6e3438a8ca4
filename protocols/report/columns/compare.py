"""Of ``seqsearch compare``."""

from __future__ import annotations

from protocols.report.column import (
    CLDYB,
    CORRELATION,
    COUNT,
    NEITHER,
    OURS,
    P_VALUE,
    PERCENT,
    POINTS,
    UP,
    Column,
    Scale,
    Section,
)

OWN = f"{OURS}, docs/compare.md"
TABLE, AGREEMENT = "Accuracy by method", "Agreement with"
STUDIES, PARTS = "Over studies", "From study to study"
FIGURES, CHANGES, GROUPS = "Runs by figure", "Minus ...", "Reward by group of classes"
TABLES = f"{CLDYB}, section 5.2, below Tables 1 and 4"

SECTION = Section(
    rows=("Method", "Column", "Run", "Group", "Sequences", "Part"),
    columns=(
        Column(("...",),
               "final accuracy of a method in this run or benchmark, with its interval, cut at 0 and 100; below it "
               "SRCC and KRCC with the reference column", "1/T sum over i <= T of a_Ti; of --table as given", PERCENT,
               UP, f"{CLDYB}, section 5.1", "sequences, training seeds and test images, as said below", TABLE),
        Column(("SRCC",), "Spearman's rank correlation of a column with the reference, over methods",
               "correlation of ranks, ties at their mean", CORRELATION, "higher: they rank alike", TABLES,
               table=AGREEMENT),
        Column(("KRCC",), "Kendall's rank correlation, likewise", "tau-b", CORRELATION, "higher: they rank alike",
               TABLES, table=AGREEMENT),
        Column(("p",), "two-sided p-value of the correlation before it; nothing is corrected for several",
               "share of all orders of the methods that correlate as strongly, up to 9 methods", P_VALUE, NEITHER, OWN,
               table=AGREEMENT),
        Column(("p is of",), "whether p is of all orders, or approximate", "", Scale("-", "-"), NEITHER, OWN,
               table=AGREEMENT),
        Column(("Acc",), "final accuracy, mean over sequences and training seeds", "1/T sum over i <= T of a_Ti",
               PERCENT, UP, f"{CLDYB}, section 5.1", "sequences, training seeds and test images", FIGURES),
        Column(("AvgAcc",), "accuracy averaged over steps", "1/T sum over t of Acc_t", PERCENT, UP,
               "average incremental accuracy; section 4.1 of Hyperparameters in Continual Learning: A Reality Check",
               table=FIGURES),
        Column(("AR",), "average retention", "1/(T-1) sum over i < T of (a_Ti - a_ii)", POINTS, UP,
               f"{CLDYB}, section 5.1, footnote 1: Eq. 2 with its sign turned", table=FIGURES),
        Column(("ALA",), "average learning accuracy", "1/T sum over i <= T of a_ii", PERCENT, UP, f"{CLDYB}, Eq. 1",
               table=FIGURES),
        Column(("upcoming Acc",), "final accuracy on the tasks from step s on, when the first pool grew",
               "1/(T-s+1) sum over s <= i <= T of a_Ti", PERCENT, UP, f"{CLDYB}, section 5.3 and Fig. 5 (no equation)",
               "sequences, training seeds and test images", FIGURES),
        Column(("Acc", "AvgAcc", "AR", "ALA", "upcoming Acc"),
               "the same figures, this run minus the first, mean over shared methods",
               "figure of the run - figure of the first", POINTS, "higher: easier than the first",
               f"{OWN}; Fig. 6 of {CLDYB}", "sequences, training seeds and test images; AvgAcc, AR and ALA have none",
               CHANGES),
        Column(("Acc, these sequences",),
               "the difference of Acc, with the interval conditional on these found sequences and trainings", "as Acc",
               POINTS, "higher: easier than the first", OWN, "random sequences and test images", CHANGES),
        Column(("Acc", "AvgAcc", "ALA", "upcoming Acc"),
               "the same figures of runs that differ in their seed alone: mean over the runs, and the lowest and the highest "
               "run", "mean, min and max over studies", PERCENT, UP, OWN, table=STUDIES),
        Column(("AR",), "the same of average retention", "mean, min and max over studies", POINTS, UP, OWN,
               table=STUDIES),
        Column(("Studies",), "runs that have the figure, each with a seed of its own", "", COUNT, NEITHER, OWN,
               table=STUDIES),
        Column(("Study by study", "Values"), "whether a part of the design differs between the runs; the seeds", "",
               Scale("-", "-"), NEITHER, OWN, table=PARTS),
        Column(("Classes",), "found classes of the task that came with --grow, of all its classes", "", COUNT, NEITHER,
               f"{CLDYB}, Fig. 21"),
        Column(("Share, %", "Left, %"),
               "share of such classes in the found task, and among the classes that were left to take", "", PERCENT,
               NEITHER, f"{OWN}; Fig. 21 of {CLDYB}"),
        Column(("Candidates",), "judged candidates with classes of the group", "", COUNT, NEITHER, OWN, table=GROUPS),
        Column(("Reward",), "mean reward of these candidates, each with its share of classes of the group",
               "reward: AFM - ALA, or what --reward says", Scale("points", "any"), "higher: harder tasks",
               f"{CLDYB}, section 5.3; reward: Eq. 3", table=GROUPS),
        Column(("Above", "By step (steps)"),
               "that, less the mean of all candidates of the same step; its range over steps",
               "reward - mean reward of the step", Scale("points", "any"), "higher: harder tasks", OWN, table=GROUPS),
    ),
)  # fmt: skip
