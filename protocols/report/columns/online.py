"""Of ``seqsearch online``."""

from __future__ import annotations

from protocols.report.column import (
    COUNT,
    DOWN,
    NEAR_FUTURE,
    NEITHER,
    OURS,
    PERCENT,
    POINTS,
    UP,
    Column,
    Scale,
    Section,
)

BLOCKS = "blocks of the stream and seeds"
PAIRS, SHUFFLED = "Rankings, pair by pair", "Trained and judged, in order and shuffled"
BLIND = "sentences, map and curve of the report, JSON"
OWN = f"{OURS}, docs/online.md"

SECTION = Section(
    rows=("Learner", "Learner, or pair", "Pair", "status", "order", "window"),
    columns=(
        Column(("online [95 %]",), "accuracy on each batch before it is learned",
               "1/n sum over samples judged of [f_t(x) = y], x of the batch after the last one learned, t", PERCENT,
               UP, f"{NEAR_FUTURE}, section 3.1 (no equation number)", BLOCKS),
        Column(("S = ... [95 %]", "S = ...", "near future (S = 0)"),
               "near-future accuracy: on the batch that begins S samples after the last one learned",
               "the same, x of the batch that begins at t + 1 + S", PERCENT, UP,
               f"{NEAR_FUTURE}, section 3.5 (no equation number)", BLOCKS),
        Column(("drop [95 %]",), "what is lost from the next batch to S samples ahead, on the same samples",
               "online - near-future accuracy", POINTS, DOWN, OWN, BLOCKS),
        Column(("retention", "retention [95 %]"), "accuracy of the final model on the holdout",
               "right / judged of the holdout", PERCENT, UP, f"{NEAR_FUTURE}, section 3.1: information retention, "
               "there backward transfer at the last step on a test stream", BLOCKS),
        Column(("updates",), "updates of a learner, a step", "", COUNT, NEITHER, OWN),
        Column(("ms",), "time of learning, a step", "", Scale("ms", "from 0"), DOWN, OWN),
        Column(("online", "S = ..."), "difference of two learners on the same samples, online and S samples ahead",
               "accuracy of the first - that of the second", POINTS, "higher: the first is better", OWN,
               "blocks of the stream and seeds, all pairs together", PAIRS),
        Column(("in order: o", "s"),
               "online accuracy judged in order of time: of a learner trained in order (o), or shuffled (s)",
               "right / judged", PERCENT, UP, OWN, table=SHUFFLED),
        Column(("shuffled: o", "s"), "online accuracy judged shuffled within the window, likewise", "right / judged",
               PERCENT, UP, OWN, table=SHUFFLED),
        Column(("difference",), "what training in order gains, judged in order, and judged shuffled", "o - s", POINTS,
               NEITHER, OWN, "blocks of the stream and seeds, both of a row together", SHUFFLED),
        Column(("accuracy of the blind classifier",),
               "of what predicts the most frequent of the last k labels, S samples ahead",
               "a(k, S) = share of samples with prediction = y", PERCENT, NEITHER,
               f"{NEAR_FUTURE}, sections 3.2 and 3.5", told_in=BLIND),
        Column(("chance",), "what it would get of independent labels",
               "e(k, S) = sum over classes c of P(predicted c) P(y = c)", PERCENT, NEITHER, f"{OURS}, docs/shift.md",
               told_in=BLIND),
        Column(("kappa",), "its agreement beyond chance; S is where this is gone", "(a - e) / (1 - e)",
               Scale("1", "at most 1"), "higher: labels are more correlated", f"{OURS}, docs/shift.md", told_in=BLIND),
    ),
)  # fmt: skip
