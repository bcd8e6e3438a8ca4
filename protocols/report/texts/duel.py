"""Texts of the notes of a duel."""

from protocols.report.texts.text import Text

TEXTS = {
    "duel.none": Text("headline", "No random sequence has results of both {a} and {b}, so there is no result."),
    "duel.equal": Text("headline", "{a} and {b} score the same on {sequences:n random sequence}."),
    "duel.most": Text("headline", "{above} is more accurate than {below} on most class sequences."),
    "duel.most_slightly": Text(
        "headline", "{above} is above {below} on most class sequences, by a median of less than 0.1 pp."
    ),
    "duel.too_few": Text(
        "headline", "Too few random sequences to compare {a} and {b}: {needed} more needed (--sequences)."
    ),
    "duel.undecided": Text("headline", "Neither {a} nor {b} is shown to be more accurate on most class sequences."),
    # conditions
    "duel.conditions": Text(
        "condition",
        "Figures hold for this pool, this split and these test images, which all sequences share. No interval covers other "
        "images.",
    ),
    "duel.source": Text(
        "condition", "Random sequences are those of {source}, which decides over which sequences the figures speak."
    ),
    "duel.fixed_first": Text(
        "condition",
        "All random sequences begin with the same task (--fixed-first), so figures hold for sequences with this first task.",
    ),
    "duel.given": Text(
        "condition", "{given:n given sequence} {given:was/were} not drawn at random: each speaks of itself alone."
    ),
    "duel.always_valid": Text(
        "condition",
        "The shares below the headline hold however often one looks. All other intervals are of the first "
        "{sequences:n random sequence}, which were asked for in any case.",
    ),
    "duel.one_training": Text(
        "detail",
        "Intervals over random sequences are over class sequences and training seeds. A random sequence has one training seed "
        "of its own, the same for both methods.",
    ),
    "duel.accuracy": Text("detail", "Accuracies are final ones, the mean over tasks (Eq. 1)."),
    "duel.level": Text("detail", "Each interval, test and claim is at 5 % by itself."),
    # over random sequences
    "duel.needed": Text(
        "advice",
        "To show that {above} is above {below} on most sequences takes {needed} random sequences at {power} % power, if the "
        "share is as estimated (--sequences).",
    ),
    "duel.mean_few": Text(
        "advice",
        "{a} minus {b} is {gap:points} pp on average; an interval takes {needed:n more random sequence} (--sequences).",
    ),
    "duel.mean": Text("finding", "{a} minus {b} is {gap:points} pp on average."),
    "duel.mean_undecided": Text(
        "finding",
        "Which method is more accurate on average is undecided: {a} minus {b} is {gap:points} pp.",
    ),
    "duel.mean_equal": Text("detail", "{a} minus {b} is {gap:points} pp on each sequence, which has no interval."),
    "duel.verdict": Text("finding", "--until verdict: a verdict was reached after {pairs:n pair}."),
    "duel.no_verdict": Text(
        "finding", "--until verdict: no verdict was reached after {pairs:n pair} (--max-sequences)."
    ),
    "duel.sign": Text(
        "finding", "{above} is above {below} more often than below (sign test without ties, two-sided p = {p:p})."
    ),
    "duel.sign_undecided": Text(
        "finding", "The sign test without ties shows no difference of {a} and {b} (two-sided p = {p:p})."
    ),
    "duel.counts": Text(
        "detail",
        "Of {sequences:n random sequence}, {a} is more accurate on {above}, {b} on {below}, and both are equal on {ties}.",
    ),
    "duel.quantiles": Text(
        "detail",
        "A tenth of sequences has a gap below {low:points} pp, a tenth one above {high:points} pp, and half one above "
        "{median:points} pp (95 % each, for any distribution).",
    ),
    "duel.beyond": Text(
        "detail",
        "Gaps range from {lowest:points} to {highest:points} pp. With 95 % confidence at most {share:percent} % of sequences "
        "lie below, and at most as many above (each by itself).",
    ),
    "duel.spread": Text(
        "detail",
        "The gap varies by {order:percent} pp (sd) between sequences, without training noise, and by {training:percent} pp "
        "between trainings of one sequence.",
    ),
    "duel.spread_of": Text(
        "detail", "This is estimated from {sequences:n random sequence} with {seeds:n training seed} each."
    ),
    # sequences that were trained again
    "duel.trouble": Text("warning", "{text}"),
    "duel.worst": Text(
        "detail",
        "Among random sequences, {sequence} is worst for {method}: {seen:points} pp when selected, which is biased, and "
        "{gap:points} pp on {seeds:n fresh seed}.",
    ),
    "duel.found": Text(
        "detail",
        "{sequence} was searched as worst for {method}: the gap is {gap:points} pp on {seeds:n fresh seed}.",
    ),
    "duel.extreme": Text(
        "finding",
        "{sequence}, searched as worst for {method}, is more extreme than random sequences (rank among {random}, one-sided "
        "p = {p:p}, 5 % over {searches:n search}).",
    ),
    "duel.extreme_undecided": Text(
        "finding",
        "Whether {sequence}, searched as worst for {method}, is more extreme than random sequences is undecided (rank among "
        "{random}, one-sided p = {p:p}, 5 % over {searches:n search}).",
    ),
    "duel.extreme_needed": Text(
        "detail",
        "For a verdict on {sequence} alone, {needed:n more random sequence} {needed:is/are} needed (--sequences).",
    ),
    "duel.this_search": Text("detail", "A verdict on a found sequence does not hold for other searches."),
    "duel.fresh": Text(
        "detail",
        "A gap on fresh seeds holds for its sequence alone, and its interval is of training noise. Gaps are {a} minus {b}.",
    ),
    "duel.fresh_few": Text(
        "detail",
        "Gaps on {seeds:n fresh seed} have no interval: {needed} more {needed:is/are} needed (--score-seeds).",
    ),
    "duel.fresh_equal": Text(
        "detail", "The gap of {sequences} is the same with all fresh seeds, which has no interval."
    ),
    "duel.done": Text("finding", "{rollouts:n rollout} {rollouts:was/were} trained and evaluated so far."),
}
