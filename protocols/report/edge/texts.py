"""Sentences of the notes of EDGE runs and plans."""

from protocols.report.notes import Text

TEXTS = {
    "edge.ends": Text("headline", "The hard sequence is {hard}, the easy one {easy} than random ones for {who}."),
    "edge.end": Text("headline", "The {end} sequence is {direction} than random ones for {who}."),
    "edge.alike": Text("headline", "Hard and easy sequences score as random ones to 0.1 pp for {who}."),
    "edge.none": Text(
        "headline", "Neither the hard nor the easy sequence differs significantly from random ones for {who}."
    ),
    "edge.too_few": Text(
        "headline",
        "{L:n random sequence} {L:is/are} too few for a verdict; {needed:,} more would allow one (--random-sequences).",
    ),
    "edge.constant": Text("headline", "Every trained sequence scores the same for {who}."),
    "edge.untested": Text("headline", "Hard and easy sequences were not evaluated among random ones for {who}."),
    "edge.by_method": Text(
        "headline", "A hard or an easy sequence differs from random ones for {differing} of {methods:n method}."
    ),
    # plans
    "edge.planned": Text("headline", "Hard and easy sequences were found for {classes:n class} in {tasks:n task}."),
    "edge.plan_flat": Text("headline", "Hard and easy sequences have the same S, so they mean nothing."),
    "edge.plan_undefined": Text("headline", "S is not defined for this plan, so hard and easy mean nothing."),
    "edge.plan_time": Text("finding", "Planning took {seconds:.2f} s in all."),
    "edge.plan_budget": Text("finding", "That is {ratio:.2f} times the budget of {budget:g} s, compiling aside."),
    "edge.plan_memory": Text(
        "finding",
        "The process took {gigabytes:.1f} GB of memory at most: {ratio:.1f} times the similarities that it read.",
    ),
    "edge.plan_compiling": Text(
        "finding", "Of this, {seconds:.2f} s were spent on compiling, or on loading compiled code."
    ),
    "edge.plan_holds": Text("finding", "sequences.parquet holds hard, easy and {random:n random sequence}."),
    "edge.plan_shown": Text("detail", "Of {random:n random sequence} only the first is shown with its classes."),
    "edge.plan_sizes": Text("condition", "The sizes of the tasks are {sizes} classes."),
    "edge.bounds": Text("detail", "No sequence is beyond its bound."),
    "edge.flat": Text(
        "warning",
        "The similarity ({source}) does not discriminate: its hard and its easy sequence have the same S ({S:.5g}). They are no "
        "more than random ones. Give another --similarity.",
    ),
    "edge.bound_cut": Text(
        "warning",
        "Similarity {label}: the budget cut the bound short. The bound holds, and a longer --budget may make it tighter.",
    ),
    "edge.no_bound": Text(
        "warning",
        "Similarity {label}: there was no bound within the budget. Give a longer --budget, or --no-bound.",
    ),
    # conditions
    "edge.conditional": Text(
        "condition",
        "Means are over class sequences and training seeds. Figures hold for these classes, this split and these test images.",
    ),
    "edge.fixed_partition": Text(
        "condition", "All sequences have the same tasks, in another order (--partition fixed)."
    ),
    "edge.sizes": Text(
        "condition",
        "Tasks have {sizes:to class}, and Eq. 1 counts every task alike: a class counts for more in a small task. "
        "Accuracies then differ by where classes stand even for methods that no order changes.",
    ),
    "edge.every": Text(
        "condition",
        "All {possible:n sequence} that there {possible:is/are} were trained with the same {seeds:n training seed}: this is the "
        "truth (--enumerate).",
    ),
    "edge.paper_asked": Text("condition", "The run was to report the paper's estimate (--estimator paper)."),
    "edge.planned_before": Text(
        "condition",
        "Ranks, places, worst and tails are of the first {planned:n random sequence}, which were planned before --until mean "
        "looked at any.",
    ),
    # advice
    "edge.needed": Text(
        "advice",
        "A verdict on both ends needs {needed:n more random sequence}, a verdict on one end alone {alone:,} more.",
    ),
    "edge.one_end": Text("advice", "{method}: {needed:n more random sequence} would allow a verdict on one end alone."),
    "edge.few": Text(
        "advice",
        "{method}: random sequences are too few for an interval of the mean; {needed:,} more {needed:is/are} needed.",
    ),
    "edge.one_seed": Text(
        "advice", "One training seed cannot separate training noise from the effect of order (--score-seeds)."
    ),
    "edge.few_sequences": Text(
        "detail",
        "There are only {possible:n sequence}; the {drawn:n random one} {drawn:is/are} drawn with replacement. --enumerate runs "
        "them all.",
    ),
    "edge.few_correlated": Text(
        "detail", "{method}: the correlation of S and accuracy needs {needed:n more sequence} for an interval."
    ),
    "edge.few_groups": Text(
        "detail",
        "{method}: the correlation of S and accuracy needs {needed:n more group} for an interval. Sequences of a group share "
        "what S depends on.",
    ),
    # warnings
    "edge.left_out": Text(
        "warning", "{method}: {lost} of {of:n sequence} ({what}) failed with some seed and {lost:is/are} left out."
    ),
    "edge.fit_left_out": Text(
        "warning",
        "{method}: {lost:n sequence} that --fit chose failed with some fresh seed and {lost:is/are} left out.",
    ),
    "edge.unjudged": Text("warning", "{methods}: hard and easy sequences were not both evaluated."),
    "edge.no_estimate": Text("warning", "{methods}: fewer than two complete random sequences give no estimate."),
    "edge.no_mean": Text(
        "warning",
        "The mean over methods has no test, because the methods were not all evaluated on the same sequences.",
    ),
    "edge.until_missed": Text("warning", "--until {until} was not reached for {methods} (--max-sequences)."),
    # findings
    "edge.expects": Text(
        "finding", "EDGE expects the hard sequence to be harder and the easy one to be easier than random ones."
    ),
    "edge.methods_ends": Text(
        "finding", "The hard sequence is {hard} and the easy one {easy} than random ones for {methods}."
    ),
    "edge.methods_end": Text("finding", "The {end} sequence is {direction} than random ones for {methods}."),
    "edge.methods_none": Text(
        "finding", "Neither the hard nor the easy sequence differs significantly from random ones for {methods}."
    ),
    "edge.methods_alike": Text("finding", "Hard and easy sequences score as random ones to 0.1 pp for {methods}."),
    "edge.unmoved": Text(
        "finding",
        "{method}: accuracy is the same on every sequence trained ({sequences:,} of them), so no effect of their order is seen.",
    ),
    "edge.named_differs": Text("finding", "The order {order} is {finding} than random ones for {methods}."),
    "edge.named_none": Text(
        "finding", "The order {order} does not differ significantly from random ones for {methods}."
    ),
    "edge.named_few": Text(
        "advice", "A finding on named orders needs {needed:n more random sequence} (--random-sequences)."
    ),
    "edge.named": Text(
        "detail",
        "Named orders are ranked among random sequences by one training. Their p-values are adjusted for all methods and for "
        "{orders:n named order}: 5 % for better, which the theory expects, 1 % for worse.",
    ),
    "edge.robust": Text(
        "condition",
        "{method}: robust to class order within {margin:g} pp. Over random orders of these classes its sd is at most {upper:.2f} "
        "pp (95 %, {orders:n order}, {seeds:n shared seed}).",
    ),
    "edge.robust_not_shown": Text(
        "condition",
        "{method}: not shown to be robust to class order within {margin:g} pp. Over random orders of these classes its sd is at "
        "most {upper:.2f} pp (95 %, {orders:n order}, {seeds:n shared seed}).",
    ),
    "edge.robust_unknown": Text(
        "condition", "{method}: nothing is concluded on robustness to class order, because {why}."
    ),
    "edge.robust_ratio": Text(
        "finding",
        "{method}: its sd over orders is {ratio:.2f} times that of {baseline}, and at most {upper:.2f} times (95 %).",
    ),
    "edge.robust_no_ratio": Text("finding", "{method}: the ratio of sds over orders has no bound, because {why}."),
    "edge.robust_conditional": Text(
        "condition",
        "The bound of an sd over orders holds for this split and these test images, and for tails up to exponential ones. It "
        "says nothing of orders rarer than {rare:.0f} %.",
    ),
    # --fit
    "edge.fit_none": Text("finding", "{method}: nothing is fitted, since {why}."),
    "edge.fit_open": Text(
        "finding",
        "{method}: similarities predict accuracy (R2 = {r2:.2f}, p = {p:p}), so the extremes of the fit are trained.",
    ),
    "edge.fit_shut": Text(
        "finding",
        "{method}: similarities are not shown to predict accuracy (R2 = {r2:.2f}, p = {p:p}), so no extreme of a fit is trained.",
    ),
    "edge.fit_side": Text(
        "finding",
        "{method}: {side} sequences of the fit ({fitted}) are {direction} than the {random} random ones ({again}), trained "
        "again: {difference:points} points.",
    ),
    "edge.fit_undecided": Text(
        "finding",
        "{method}: {side} sequences of the fit ({fitted}) do not differ significantly from the {random} random ones ({again}), "
        "trained again: {difference:points} points.",
    ),
    "edge.fit_no_noise": Text(
        "finding",
        "{method}: {side} sequences of the fit ({fitted}) score {difference:points} points against the {random} random ones "
        "({again}) with every fresh seed. There is no interval, and nothing is claimed.",
    ),
    "edge.fit_uncompared": Text(
        "warning",
        "{method}: {side} sequences of the fit ({fitted}) cannot be compared: no {random} random sequence was evaluated with "
        "every fresh seed.",
    ),
    "edge.fit_conditional": Text(
        "condition",
        "Verdicts on a fit hold for each method by itself and for these sequences: another draw of random sequences gives "
        "another fit.",
    ),
    "edge.fit_gate": Text(
        "detail",
        "{method}: R2 is over {sequences:n random sequence}, each left out in turn; p is by {permutations} permutations.",
    ),
    "edge.fit_together": Text("detail", "{method}: with all methods read together (Holm), p of the fit is {p:p}."),
    "edge.fit_effects": Text(
        "detail",
        "An effect is of a feature beside all others. Ridge regression shrinks it; a change of this feature alone may do "
        "something else.",
    ),
    "edge.fit_seeds": Text(
        "detail",
        "Intervals of a fit (95 %) are over {seeds:n training seed} that served nothing before, the same for all sequences: "
        "training noise only.",
    ),
    "edge.fit_equal": Text(
        "detail",
        "Fitted and random sequences are compared at equal trainings: both come from the random sequences, trained once each.",
    ),
    "edge.fit_fresh": Text(
        "detail",
        "Verdicts on a fit rest on the fresh seeds alone, not on a rank among the random sequences that the fit was made of. "
        "Trainings that fail rarely, and on one side alone, are in no interval of a few seeds.",
    ),
    # how sequences were trained
    "edge.accuracies": Text(
        "detail",
        "Accuracies are final ones on test images, means over tasks (Eq. 1). Random, RS and own sequences have a training seed "
        "each, of its own.",
    ),
    "edge.seeds": Text("detail", "Hard and easy sequences were trained with {seeds:n seed}."),
    "edge.crossed": Text(
        "detail", "The first {crossed:n random sequence} {crossed:was/were} trained with these seeds besides."
    ),
    "edge.all_crossed": Text("detail", "All other sequences were trained with these seeds besides."),
    "edge.order_from": Text("detail", "The spread of order is from {sequences:n sequence} times {seeds:n seed}."),
    "edge.training_from": Text(
        "detail",
        "The spread of training is from {sequences:n sequence} times {seeds:n seed}, {extremes:,} of them hard or easy.",
    ),
    "edge.nothing_beyond": Text(
        "detail",
        "Every sequence was trained, so nothing is beyond what was seen. Mean, sd, lowest and highest of all are in the table of "
        "the truth; other tables have those of the random sequences alone.",
    ),
    "edge.drawn": Text(
        "detail",
        "The {drawn:n random one} {drawn:is/are} drawn of these with replacement and trained with a seed of "
        "its own each. Ranks, and the mean over sequences and seeds, rest on independent trainings, not on different sequences.",
    ),
    "edge.until_sufficed": Text(
        "detail", "The {drawn:n random sequence} asked for sufficed for --until {until}: none was added."
    ),
    "edge.until_added": Text(
        "detail",
        "Random sequences were added to the {asked:,} asked for until {until} was reached, {drawn:,} in all.",
    ),
    "edge.learned": Text(
        "detail", "The similarity ({sources}) took one training on all classes at once, the search took none."
    ),
    "edge.unlearned": Text("detail", "Hard and easy sequences were found without any training."),
    "edge.so_far": Text("detail", "{rollouts:n rollout} {rollouts:was/were} trained and evaluated so far."),
    # how figures are read
    "edge.difference": Text(
        "detail",
        "Easy - hard is of the first hard and the first easy sequence; its interval is of training noise only, over "
        "{seeds:n training seed}.",
    ),
    "edge.same_difference": Text(
        "detail", "{methods}: easy - hard is the same with each of {seeds:n seed}, so it has no interval."
    ),
    "edge.ranks": Text(
        "detail",
        "A verdict takes one-sided p by ranks: 5 % over both ends for a hard sequence that scores lower or an easy one that "
        "scores higher, 1 % for the opposite.",
    ),
    "edge.adjusted": Text(
        "detail",
        "Verdicts by method are adjusted for the {methods:n method} ({how}). Where similarity has no effect on accuracy, a run "
        "has one for any method with a probability of at most 6 %.",
    ),
    "edge.groups": Text(
        "detail",
        "{methods}: correlations count groups of sequences. That groups share classes is in neither interval nor p-value.",
    ),
    "edge.paper": Text(
        "detail", "The paper's estimate is of the hard, one random and the easy sequence, which are no sample."
    ),
    "edge.rs": Text("detail", "RS are the orders that are drawn with the seeds of --rs-seeds."),
    "edge.same_draw": Text("detail", "{first} and {second} are one sequence, which counts twice in the figures of RS."),
    "edge.ks": Text(
        "detail",
        "KS with fitted mean and sd is invalid, its p-values are too large; Lilliefors is the valid form. n/a: fewer than 10 "
        "different values.",
    ),
    "edge.truth_sd": Text(
        "detail", "In the table of the truth sd of RS and of EDGE as published has ddof 0, all others have ddof 1."
    ),
}
