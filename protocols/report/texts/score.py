"""Texts of the notes of score."""

from protocols.report.texts.text import Text

TEXTS = {
    "score.none": Text(
        "headline", "{methods:n method} {methods:was/were} scored; found and random sequences were not compared."
    ),
    "score.no_comparison": Text("headline", "For {whom} methods, found and random sequences cannot be compared."),
    "score.equal": Text("headline", "For {whom} methods, found and random sequences do not differ at all."),
    "score.same_digits": Text("headline", "For {whom} methods, found and random sequences score the same to 0.1 %."),
    "score.too_few": Text(
        "headline",
        "No verdict yet for {whom} methods: {needed:n more random sequence} {needed:is/are} needed "
        "(--random-sequences {enough}).",
    ),
    "score.significant": Text(
        "headline", "For {whom} methods, the found {found:sequence is/sequences are} {end} than random sequences."
    ),
    "score.significant_than": Text(
        "headline",
        "For {whom} methods, the found {found:sequence is/sequences are} {end} than random sequences "
        "(--baseline {baseline}).",
    ),
    "score.undecided": Text(
        "headline",
        "For {whom} methods, the found {found:sequence is/sequences are} not significantly {end} than random sequences.",
    ),
    "score.undecided_than": Text(
        "headline",
        "For {whom} methods, found sequences are not significantly {end} than random sequences (--baseline {baseline}).",
    ),
    "score.searched": Text(
        "finding",
        "For searched methods, Acc is {found:percent} % on found and {random:percent} % on random sequences: a relative drop of "
        "{drop:percent} %.",
    ),
    "score.searched_rank": Text(
        "finding",
        "For searched methods, the test for {end} sequences has p = {p:p}: {as_extreme} of {random:n random sequence} score as "
        "extremely.",
    ),
    "score.held_out": Text(
        "condition", "Held-out methods were not searched with; searched methods were, alone or with others."
    ),
    "score.these_methods": Text(
        "detail", "Methods are not sampled: an interval of their mean holds for these methods alone."
    ),
    "score.transfer": Text(
        "detail",
        "Sequences that were searched with different methods are no draws of one search: their drops stand by group in the table "
        "of transfer.",
    ),
    "score.taken_over": Text(
        "detail", "{method}: {rollouts:n rollout} {rollouts:was/were} taken over from {source}, not trained here."
    ),
    "score.bound": Text(
        "detail",
        "Bound is joint training on all classes at once: the best of three learners by validation images, one training, without "
        "an interval. A method above it shows that more can be reached.",
    ),
    "score.over_ncm": Text(
        "detail",
        "Over NCM is accuracy beyond the nearest-class-mean baseline on frozen features, which the pre-training gives. It has no "
        "interval.",
    ),
    "score.ranks": Text(
        "finding",
        "Ranks of {n:n method} on {kind} sequences against the held-out pool, by accuracies as they are: SRCC {srcc:.3f} "
        "(p = {srcc_p:p}), KRCC {krcc:.3f} (p = {krcc_p:p}).",
    ),
    "score.exact_ranks": Text(
        "finding",
        "Ranks of {n:n method} on {kind} sequences against the held-out pool, by accuracies as they are: SRCC {srcc:.3f} "
        "(exact p = {srcc_p:p}), KRCC {krcc:.3f} (exact p = {krcc_p:p}).",
    ),
    "score.no_ranks": Text(
        "finding",
        "Ranks of {n:n method} on {kind} sequences have no correlation with those on the held-out pool: the methods score alike "
        "on one of them.",
    ),
}
