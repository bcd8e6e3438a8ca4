"""Texts of the notes of MCIL."""

from protocols.report.texts.text import Text

TEXTS = {
    "mcil.none": Text("headline", "No method finished all its runs, so there is no result."),
    "mcil.one": Text("headline", "{method} has an Avg of {average:percent} %; there is no other method to compare."),
    "mcil.equal": Text("headline", "All methods score the same in every run."),
    "mcil.too_few": Text(
        "headline",
        "{first} {names:has/have} the highest Avg{among}; {runs} {unit} {runs:is/are} too few to compare methods.",
    ),
    "mcil.none_differ": Text(
        "headline", "{first} {names:has/have} the highest Avg{among}, but no pair of methods differs significantly."
    ),
    "mcil.differ": Text(
        "headline",
        "{first} {names:has/have} the highest Avg{among}; {differing} of {pairs:n pair} of methods {differing:differs/differ} "
        "significantly.",
    ),
    "mcil.failed": Text(
        "warning", "{methods} did not finish all runs and {methods:is/are} compared with no other method."
    ),
    "mcil.why_failed": Text("warning", "{method}: {why}"),
    "mcil.pair": Text(
        "finding", "{above} is above {below} by {difference:percent} pp (p = {p:p}, Holm over all pairs)."
    ),
    "mcil.modality": Text(
        "finding", "{method} loses {lost:percent} pp of Avg when it is evaluated as {classifier!r} (p = {p:p})."
    ),
    "mcil.orders_matter": Text(
        "finding",
        "Avg varies between class orders by more than training seeds explain (standard deviation, pp): {sd:percent}.",
    ),
    "mcil.orders_undecided": Text(
        "finding", "For {methods}, Avg varies between class orders within seed-to-seed variation."
    ),
    "mcil.unseeded": Text(
        "finding", "For {methods}, training seeds change nothing: all variation of Avg is between class orders."
    ),
    "mcil.over_orders": Text(
        "condition",
        "Intervals and p-values are over {orders:n random class order}, with {seeds:n training seed} each, "
        "the same for all methods.",
    ),
    "mcil.over_seeds": Text(
        "condition",
        "Intervals and p-values are over {seeds:n training seed} of a single class order, and hold for it alone.",
    ),
    "mcil.conditional": Text(
        "condition",
        "They hold for this pool, this split with its test images, these experiences and these settings. All images but "
        "the test images are learned. No interval covers other images or another split.",
    ),
    "mcil.few": Text(
        "advice",
        "{runs} {unit} {runs:gives/give} no interval. Ask for {fewest} or more ({flag}), and for 5 or more to compare methods.",
    ),
    "mcil.bold": Text("detail", "Bold: no other method is significantly above (95 %, Holm over all pairs)."),
    "mcil.experiences": Text("detail", "The {experiences} experiences have this many classes: {sizes}."),
    "mcil.images": Text(
        "detail", "A class has {trained:.4g} images to learn from and {test:.4g} test images, on average."
    ),
}
