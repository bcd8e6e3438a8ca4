"""Of ``seqsearch mcil``."""

from __future__ import annotations

from protocols.report.column import (
    COUNT,
    DOWN,
    MCIL,
    NEITHER,
    OURS,
    P_VALUE,
    PERCENT,
    POINTS,
    SECONDS,
    SPREAD,
    UP,
    Column,
    Section,
    sizes,
)

RUNS = "runs: class orders, or training seeds of a single one"
OWN = f"{OURS}, docs/mcil.md"
METHODS, NOISE, PAIRS, WORTH = "Methods", "Orders and seeds", "Methods, pair by pair", "What each modality is worth"

SECTION = Section(
    rows=("Method", "Pair", "order", "judged by"),
    columns=(
        Column(("Avg [95 %]", "Avg"), "balanced accuracy, averaged over experiences", "1/T sum over t of A_t", PERCENT,
               UP, f"{MCIL}, section 4.2 and appendix B (no equation)", RUNS),
        Column(("A_1", "A_T", "..."),
               "balanced accuracy after experience t, over all classes seen: classes weigh alike",
               "A_t = mean over classes c seen of right_c / images_c", PERCENT, UP, f"{MCIL}, the text below Eq. 2"),
        Column(("pooled",), "accuracy averaged over experiences: images weigh alike",
               "1/T sum over t of (sum over c of right_c) / (sum over c of images_c)", PERCENT, UP,
               f"{MCIL}, Eq. 2 as printed"),
        Column(("PD A_1 - Avg",), "performance drop as the paper's tables print it", "A_1 - Avg", POINTS, DOWN,
               f"{MCIL}, Tables 2 to 4"),
        Column(("PD A_1 - A_T",), "performance drop as the paper's text defines it: first experience to last",
               "A_1 - A_T", POINTS, DOWN, f"{MCIL}, appendix B (no equation)"),
        Column(("forgetting",), "what earlier experiences lost since their best; 0 for T = 1",
               "1/(T-1) sum over i < T of ((max over i <= t < T of a_ti) - a_Ti)", POINTS, DOWN,
               "Riemannian Walk for Incremental Learning: Understanding Forgetting and Intransigence (Chaudhry et "
               "al., 2018), Eq. 3"),
        Column(("transfer",),
               "backward transfer: what earlier experiences gained since they were learned; 0 for T = 1",
               "1/(T-1) sum over i < T of (a_Ti - a_ii)", POINTS, UP,
               "Gradient Episodic Memory for Continual Learning (Lopez-Paz and Ranzato, 2017), Eq. 3"),
        Column(("runs",), "runs that came to their end, and how the first ended that did not", "", COUNT, NEITHER, OWN,
               table=METHODS),
        *sizes(("stored, MB", "of it exemplars"), ("size, MB",)),
        Column(("training, s", "judging, s"), "time of a run, mean", "", SECONDS, DOWN, OWN),
        Column(("difference [95 %]",), "of two methods over the same runs", "Avg of the first - Avg of the second",
               POINTS, "higher: the first is better", OWN, "runs, paired"),
        Column(("lost [95 %]",), "what the same states lose when they are judged otherwise",
               "Avg of pairs as they are - Avg", POINTS, NEITHER, OWN, "runs, paired", WORTH),
        Column(("p",), "p-value of the difference being 0, Holm's over the table", "", P_VALUE, NEITHER, OWN,
               table=PAIRS),
        Column(("p",), "p-value of nothing being lost, Holm's over the table", "", P_VALUE, NEITHER, OWN, table=WORTH),
        Column(("orders", "seeds"),
               "standard deviation of Avg: of class orders over all their seeds; of trainings of a given order",
               "sqrt of the variance components of orders and of seeds within them", SPREAD, DOWN, OWN, table=NOISE),
        Column(("p",),
               "p-value of orders that differ by no more than seeds explain (permutations of the runs), Holm's "
               "over methods", "", P_VALUE, NEITHER, OWN, table=NOISE),
    ),
)  # fmt: skip
