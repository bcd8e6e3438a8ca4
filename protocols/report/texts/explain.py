"""Texts of the notes of an explanation."""

from protocols.report.texts.text import Text

TEXTS = {
    "explain.none": Text("headline", "No effect can be computed; the notes say why."),
    "explain.undecided": Text(
        "headline", "Whether the choice of classes, grouping or order makes a difference is undecided (more --draws)."
    ),
    "explain.harder": Text("headline", "{found:n found sequence} {found:is/are} harder by {harder}."),
    "explain.easier": Text("headline", "{found:n found sequence} {found:is/are} easier by {easier}."),
    "explain.both": Text(
        "headline", "{found:n found sequence} {found:is/are} harder by {harder} but easier by {easier}."
    ),
    # what intervals hold for
    "explain.over": Text(
        "condition",
        "95 % intervals of accuracy are over {over}. They are conditional on the first task and the split of the images.",
    ),
    "explain.these_found": Text(
        "condition",
        "They hold for {found:n found sequence}: another search may differ for other reasons (--searches 3 or more).",
    ),
    "explain.these_seeds": Text("condition", "They hold for {seeds:n training seed} (--score-seeds 3 or more)."),
    "explain.these_images": Text("condition", "They hold for these test images."),
    "explain.conditional": Text(
        "detail", "Conditional on these found sequences and trainings, effects in pp are {effects:points}."
    ),
    "explain.stars": Text(
        "detail",
        "* marks effects that differ from 0 when all effects of a row hold together (95 %, Bonferroni). Each interval holds by "
        "itself.",
    ),
    "explain.sequences": Text(
        "detail",
        "There are {random:n random sequence}, {regrouped:n regrouping}, {reordered:n reordering} and "
        "{found:n found sequence}, with {seeds:n training seed}.",
    ),
    "explain.all_groupings": Text("detail", "All other groupings were run."),
    "explain.all_orders": Text("detail", "All other orders were run."),
    "explain.no_interval": Text("warning", "The effect of {effects} has no interval: {why}."),
    "explain.equal": Text(
        "finding", "There is no effect of {effects}: no two sequences that were compared differ with any seed."
    ),
    "explain.no_random": Text("warning", "The source has no random sequences, so there is no effect of content."),
    "explain.trouble": Text("warning", "{text}"),
    # measures
    "explain.masked": Text(
        "detail",
        "Of {effect}, {masked:points} pp are in the tasks by themselves and {confusion:points} pp in confusion with other tasks.",
    ),
    "explain.masked_how": Text(
        "detail",
        "Tasks by themselves: scores are masked to the task's own classes. Intervals of these parts hold for these test images.",
    ),
    "explain.no_bound": Text(
        "detail", "There is no gap to joint training, which was left out (--no-bound) or did not end well."
    ),
    "explain.gap": Text(
        "detail",
        "The gap to joint is accuracy of joint training on the same classes with the same seeds, minus that of the method. An "
        "effect is the growth of this gap.",
    ),
    "explain.bound_full": Text(
        "detail",
        "Joint training (full) is the best of fine-tuning, RanPAC and nearest neighbours by validation images.",
    ),
    "explain.bound_frozen": Text(
        "detail",
        "Joint training (frozen) is RanPAC's ridge regression on frozen features, without training of the network.",
    ),
    # ranks
    "explain.rank": Text(
        "finding",
        "{method}: {sequence} is harder than {beats} of {random:n random sequence} (exact one-sided p = {p:p}).",
    ),
}
