"""Texts of the notes of a comparison."""

from protocols.report.texts.text import Text

TEXTS = {
    "compare.table": Text(
        "headline", "Rank correlations of {columns:n column} with {reference}, over {methods:n method}."
    ),
    "compare.one": Text("headline", "{run} stands alone: name another run for differences."),
    "compare.studies": Text("headline", "{studies:n study} of one question, which differ in their seed alone."),
    "compare.easier": Text("headline", "Found sequences of {easier} are easier than those of {harder}."),
    "compare.differ": Text(
        "headline", "Accuracy on found sequences differs from {first} in {differing} of {others:n other run}."
    ),
    "compare.undecided": Text(
        "headline", "No difference to {first} in accuracy on found sequences is shown (--searches, --score-seeds)."
    ),
    "compare.beside": Text("headline", "{runs:n run} beside each other, with no difference that can be computed."),
    # what runs share
    "compare.found_alone": Text(
        "condition", "All runs have the same random sequences and methods, so they differ in the found sequences alone."
    ),
    "compare.same_random": Text("condition", "All runs have the same random sequences."),
    "compare.same_found": Text("condition", "All runs have the same random and the same found sequences."),
    "compare.same_methods": Text("condition", "All runs have the same methods."),
    "compare.other_methods": Text("condition", "The runs do not have the same methods."),
    # what figures hold for
    "compare.intervals": Text(
        "condition",
        "95 % intervals are over {over}. They are conditional on the {given}.",
    ),
    "compare.these_sequences": Text(
        "condition",
        "An interval of fewer than {fewest} found sequences, or of found sequences with one accuracy, is conditional on these "
        "sequences (--searches).",
    ),
    "compare.these_trainings": Text(
        "condition",
        "An interval of fewer than {fewest} training seeds is conditional on these seeds (--score-seeds).",
    ),
    "compare.these_images": Text(
        "condition",
        "Where it is unknown which test images were right, an interval is conditional on these test images.",
    ),
    "compare.spread": Text(
        "condition",
        "The range over studies is no confidence interval. Studies are not paired, and no run is subtracted from another.",
    ),
    "compare.shared": Text(
        "detail",
        "Means and differences are over {methods:n shared method}; a difference is over the training seeds that both runs have.",
    ),
    "compare.no_images": Text(
        "detail",
        "AvgAcc, AR and ALA have no interval, because which images were right before the last step is not kept.",
    ),
    "compare.upcoming": Text(
        "detail", "Upcoming Acc is final accuracy on the tasks from step {step} on, when the first pool grew."
    ),
    "compare.groups": Text(
        "detail",
        "Rewards by group are descriptive: candidates of a step share a state and were not drawn at random. The range over steps "
        "is no confidence interval.",
    ),
    # what is missing, or may mislead
    "compare.no_reference": Text(
        "advice",
        "Rank correlations need a column of held-out accuracy (seqsearch score RUN --heldout-pool POOL), or another one by "
        "--reference.",
    ),
    "compare.remark": Text("warning", "{run}: {text}"),
    "compare.trouble": Text("warning", "{text}"),
    "compare.unlike": Text(
        "warning",
        "{labels} {labels:is/are} not the same in {first} and {run} (code, parameters, backbone, weights, precision, versions or "
        "device).",
    ),
    "compare.none_shared": Text(
        "warning",
        "The runs share no method that was evaluated on every side, so there is no mean and no difference.",
    ),
    "compare.without_interval": Text(
        "warning", "{cells:n accuracy value} {cells:has/have} no interval, because {why}. The first: {who}."
    ),
    "compare.unknown_groups": Text(
        "detail", "{run}: no file says the group of {unknown} of {classes} classes of candidates."
    ),
    "compare.runs": Text("detail", "Compared are {runs}."),
}
