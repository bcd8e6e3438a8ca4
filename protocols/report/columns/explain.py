"""Of ``seqsearch explain``."""

from __future__ import annotations

from protocols.report.column import COUNT, NEITHER, OURS, P_VALUE, PERCENT, POINTS, UP, Column, Scale, Section

OWN = f"{OURS}, docs/explain.md"
OVER = "what the notes say: searches, or regroupings and reorderings; training seeds, test images"
HARDER = "higher: found sequences are harder for it"
GROUPS, ALIKE = "Groups of the found classes", "Similarity"
MASKED = "final Acc with scores over the classes of the task of the image alone"
COSINE = Scale("cosine", "-1 to 1")

SECTION = Section(
    rows=("Method", "of", "Sequence", "group", "by", "task", "class"),
    columns=(
        Column(("content",), "points that the found classes cost, however they are grouped and ordered",
               "random - regrouped", POINTS, HARDER, OWN, OVER),
        Column(("grouping",), "points that it costs to learn these classes together", "regrouped - reordered", POINTS,
               HARDER, OWN, OVER),
        Column(("order",), "points that it costs to learn these tasks in this order", "reordered - found", POINTS,
               HARDER, OWN, OVER),
        Column(("random", "regrouped", "reordered", "found"),
               "final Acc: of random sequences, found classes regrouped, found tasks in another order, as found; "
               "rows may be of Acc masked to the task's own classes, of what is confused (masked - Acc), of the "
               "gap to joint training (joint - Acc)", "1/T sum over i <= T of a_Ti, mean over sequences and seeds",
               PERCENT, UP, OWN, OVER, "Conditions"),
        Column(("found", "in the pool"), "classes of the group: of the found ones, and of those of the pool", "",
               COUNT, NEITHER, OWN, table=GROUPS),
        Column(("p",),
               "p-value of so many classes of the group or more, drawn at random; Holm's over groups and found "
               "sequences", "hypergeometric", P_VALUE, NEITHER, OWN, table=GROUPS),
        Column(("found", "by chance"), "mean cosine of the found classes, and of random draws of their like", "",
               COSINE, NEITHER, OWN, table=ALIKE),
        Column(("place",), "share of random draws below the found one, ties half", "", PERCENT, NEITHER, OWN,
               table=ALIKE),
        Column(("p",), "two-sided p-value of the place, exact, Holm's over the table",
               "2 min(1 + draws as high, 1 + draws as low) / (draws + 1)", P_VALUE, NEITHER, OWN, table=ALIKE),
        Column(("cosine",), "of two classes of one task", "", COSINE, NEITHER, OWN),
    ),
    measured=(
        ("accuracy", "final Acc, with scores over all classes of the sequence"),
        ("Acc", "final accuracy, with scores over all classes of the sequence"),
        ("tasks by themselves", MASKED),
        ("Acc, masked", MASKED),
        ("confusion", "what is confused with other tasks: Acc masked to the task's own classes, minus Acc"),
        ("gap to joint", "Acc of joint training on all classes at once, minus Acc"),
    ),
)  # fmt: skip
