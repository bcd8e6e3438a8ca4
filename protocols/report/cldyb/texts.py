"""Sentences of the notes of CLDyB; score uses many of them."""

from protocols.report.notes import Text

TEXTS = {
    # verdicts
    "cldyb.one_task": Text("headline", "The run has one task, so there is nothing to search or compare (--tasks 2)."),
    "cldyb.no_random": Text(
        "headline", "Without random sequences there is nothing to compare the found ones with (--random-sequences)."
    ),
    "cldyb.no_comparison": Text(
        "headline", "Found and random sequences cannot be compared in this run; the warnings say why."
    ),
    "cldyb.equal": Text("headline", "With equal training seeds, found and random sequences do not differ at all."),
    "cldyb.other_seeds": Text(
        "finding",
        "Final Acc is {found:percent} % on found and {random:percent} % on random sequences, because found ones have more "
        "training seeds.",
    ),
    "cldyb.same_digits": Text("headline", "Found and random sequences score the same to 0.1 %."),
    "cldyb.too_few": Text(
        "headline",
        "No verdict yet: {needed:n more random sequence} {needed:is/are} needed (--random-sequences {enough}).",
    ),
    "cldyb.significant": Text("headline", "The found {found:sequence is/sequences are} {end} than random sequences."),
    "cldyb.significant_than": Text(
        "headline",
        "The found {found:sequence is/sequences are} {end} than random sequences (--baseline {baseline}).",
    ),
    "cldyb.continually": Text(
        "headline",
        "The found {found:sequence is/sequences are} {end} than random sequences, and harder to learn continually.",
    ),
    "cldyb.unselected": Text(
        "headline",
        "The found {found:sequence is/sequences are} {end} than random sequences, but the search had no selection signal.",
    ),
    "cldyb.undecided": Text(
        "headline", "The found {found:sequence is/sequences are} not significantly {end} than random sequences."
    ),
    "cldyb.undecided_than": Text(
        "headline",
        "The found {found:sequence is/sequences are} not significantly {end} than random sequences "
        "(--baseline {baseline}).",
    ),
    "cldyb.placebo_significant": Text(
        "headline",
        "Placebo with shuffled rewards: the found {found:sequence is/sequences are} {end} than random sequences.",
    ),
    "cldyb.placebo_undecided": Text(
        "headline",
        "Placebo with shuffled rewards: found sequences are not significantly {end} than random sequences.",
    ),
    "cldyb.same": Text("finding", "Why nothing differs: {why}."),
    # intervals
    "cldyb.easy": Text(
        "condition",
        "The search was for easy sequences (--difficulty easy), and the test is whether they are easier than random sequences.",
    ),
    "cldyb.over_searches": Text(
        "condition",
        "95 % intervals are over {over} ({found:n independent search}, {random:n random sequence}, "
        "{seeds:n training seed} of the found ones). They are conditional on the {given}.",
    ),
    "cldyb.test_alone": Text(
        "condition",
        "The test is not significant although the interval of the drop excludes 0. The test compares found sequences with single "
        "random ones, by one training each. The interval is of mean accuracies.",
    ),
    "cldyb.these_found": Text(
        "condition",
        "95 % intervals are over {over} ({found:n found sequence}, {random:n random sequence}, "
        "{seeds:n training seed} of the found ones). They are conditional on the {given}; another search may find "
        "less (--searches).",
    ),
    "cldyb.own_sequences": Text(
        "detail", "The found sequences come from {searches:n search}, each of them for other methods."
    ),
    "cldyb.these_seeds": Text("detail", "The intervals do not cover other training seeds (--score-seeds)."),
    "cldyb.no_interval": Text("advice", "The relative drop has no interval: {why}."),
    "cldyb.conditional": Text(
        "detail",
        "Conditional on the trainings of the found sequences as well, the 95 % interval of the relative drop is "
        "[{low:percent}, {high:percent}].",
    ),
    "cldyb.only_these": Text(
        "warning", "The relative drop excludes 0 for these trainings of the found sequences, but not for others."
    ),
    "cldyb.widest": Text(
        "advice",
        "{share:percent} % of the squared width of the drop's interval comes from {part}; {flag} narrows it most.",
    ),
    "cldyb.widest_images": Text(
        "advice",
        "{share:percent} % of the squared width of the drop's interval comes from test images; a pool with more of them "
        "narrows it most.",
    ),
    "cldyb.each": Text("detail", "Each interval of a table holds by itself."),
    # rows of methods
    "cldyb.stars": Text(
        "finding",
        "*: {which} sequences are {end} than random sequences for this method by itself (adjusted p at most {level}, "
        "{correction} over {methods:n method}).",
    ),
    "cldyb.no_stars": Text(
        "finding",
        "For no method by itself are {which} sequences significantly {end} (adjusted p above {level}, {correction} over "
        "{methods:n method}).",
    ),
    "cldyb.bold": Text(
        "finding",
        "Bold: the best of the compared methods on {which} sequences is {methods:or} (95 %, under the conditions of the "
        "intervals).",
    ),
    "cldyb.trouble": Text("warning", "{what}"),
    # what was trained on
    "cldyb.images": Text(
        "detail",
        "Methods were trained on {trained:.4g} images of a class: all but the {test:.4g} test images.",
    ),
    "cldyb.images_searched": Text(
        "detail",
        "During the search they were trained on {searched:.4g} images of a class; the search was rewarded on the rest.",
    ),
    # what the search could choose by
    "cldyb.flat": Text(
        "warning",
        "At {flat} of {steps:n step} with a choice, candidates do not differ in J beyond noise: the tasks taken there are as "
        "good as drawn from them.",
    ),
    "cldyb.flat_steps": Text(
        "detail",
        "J is equal at {equal:n step}, within two standard errors at {noise}, and of unknown noise at {unknown}.",
    ),
    "cldyb.one_candidate": Text(
        "warning",
        "At every step one candidate was evaluated to its end, so J chose nothing (--candidates, --condensed, --simulations, "
        "--screen-to, --selector).",
    ),
    "cldyb.no_signal": Text(
        "warning",
        "No candidate was chosen by training: what differs from random sequences comes from how candidates are proposed.",
    ),
    "cldyb.by_chance": Text(
        "warning",
        "No candidate was chosen by training: found and random tasks are drawn from the same candidates and differ by chance "
        "alone.",
    ),
    "cldyb.by_choosing": Text(
        "finding",
        "Random sequences are greedy proposals chosen at random, so the choice by training makes the found sequences {end}.",
    ),
    # joint training
    "cldyb.joint_loss": Text(
        "finding",
        "From random to found sequences, joint training on the same classes loses {joint:percent} pp and training in sequence "
        "loses {sequence:percent} pp.",
    ),
    "cldyb.gap_larger": Text(
        "finding",
        "For {methods}, the gap to joint training is larger by {gap:percent} pp: the found sequences are harder to learn "
        "continually.",
    ),
    "cldyb.gap_larger_too": Text(
        "finding",
        "For {methods}, the gap to joint training is larger by {gap:percent} pp: the found sequences are harder to learn "
        "continually, not only made of harder classes.",
    ),
    "cldyb.harder_classes": Text(
        "finding",
        "For {methods}, the gap to joint training differs by {gap:points} pp. The found sequences have harder classes or tasks, "
        "and are not shown to be harder to learn continually.",
    ),
    "cldyb.maybe_harder_classes": Text(
        "finding",
        "For {methods}, the gap to joint training differs by {gap:points} pp. The found sequences may have harder classes or "
        "tasks, and are not shown to be harder to learn continually.",
    ),
    "cldyb.no_joint": Text(
        "advice",
        "No method was trained jointly (--joint), so it is unknown whether the classes are harder for any learner.",
    ),
    "cldyb.joint_unsaid": Text(
        "detail",
        "Only for sequences that are significantly harder does the summary report whether their classes are harder, or they are "
        "harder to learn continually.",
    ),
    "cldyb.not_jointly": Text(
        "detail", "{methods} {methods:was/were} not trained jointly; --joint trains all methods jointly."
    ),
    "cldyb.gap_no_interval": Text("detail", "A gap to joint training has no interval: {why}."),
    # kinds of searches
    "cldyb.robustness": Text(
        "detail",
        "Robustness is the lowest of the mean final Acc over the sequences found for one method; every method is scored on all.",
    ),
    "cldyb.fell_short": Text(
        "warning",
        "{method} has {own:percent} % on its own found sequences and {low:percent} % on those of {others}, without an interval. "
        "Its own search did not find the hardest.",
    ),
    "cldyb.surrogates": Text(
        "condition",
        "The surrogates {surrogates} searched: the methods were trained only on what they found, and on random sequences.",
    ),
    "cldyb.surrogates_tuned": Text(
        "warning", "Hyperparameters of the methods were tuned, those of the surrogates were not."
    ),
    "cldyb.surrogates_unknown": Text(
        "advice",
        "How accuracies of surrogates and methods go together is unknown: name a surrogate in --methods, too.",
    ),
    "cldyb.agreement": Text(
        "finding",
        "The rank correlation of the final Acc of {surrogate} and {method} is {rho:.2f} [{low:.2f}, {high:.2f}] over "
        "{sequences:n random sequence}.",
    ),
    "cldyb.agreement_unclear": Text(
        "finding",
        "The rank correlation of the final Acc of {surrogate} and {method} is {rho:.2f} over {sequences:n random sequence}. It "
        "has no interval: they are too few, or all in one order.",
    ),
    "cldyb.agreement_given": Text(
        "detail",
        "Rank correlations with surrogates are of means over {seeds:n training seed}, and conditional on the first task, the "
        "split and these seeds.",
    ),
    "cldyb.left_out": Text(
        "condition",
        "Each search left out one method, and found is what was found without it; searched is what was found with it.",
    ),
    "cldyb.held_out": Text(
        "finding",
        "Acc on sequences found without a method differs from Acc on those found with it by {difference:points} pp, mean over "
        "methods.",
    ),
    "cldyb.held_out_over": Text(
        "detail",
        "The interval of Acc held out minus searched is over {over} ({groups:n search} for each method, {seeds:n training "
        "seed}). It is conditional on the {given}.",
    ),
    "cldyb.held_out_conditional": Text(
        "detail",
        "Conditional on these searches and trainings as well, the 95 % interval of Acc held out minus searched is "
        "[{low:points}, {high:points}].",
    ),
    "cldyb.held_out_no_interval": Text("detail", "Acc held out minus searched has no interval: {why}."),
    "cldyb.screened": Text(
        "detail",
        "Screening (--screen-to) left {spared} of {candidates:n candidate} untrained, at {narrowed} of {steps:n step}.",
    ),
    "cldyb.screened_all": Text(
        "detail",
        "At {steps:n more step} screening left none out: leave-one-out predictions disagree with what the search saw, or the "
        "share is too small.",
    ),
    "cldyb.screened_unknown": Text(
        "detail", "No step has three candidates with both prediction and J, so their correlation is unknown."
    ),
    "cldyb.screened_rank": Text(
        "detail",
        "The rank correlation of prediction and J among evaluated candidates is {mean:.2f}, mean over {steps:n step} ({low:.2f} "
        "to {high:.2f}). It has no interval, since steps of a search share the fit.",
    ),
    "cldyb.screened_narrowed": Text("detail", "The evaluated candidates are those that were predicted to be hardest."),
    # harder tasks, or more confusion
    "cldyb.confusion": Text(
        "finding",
        "Acc on random minus on found sequences is {acc:points} pp: {tasks:points} pp from the tasks alone (masked accuracy) and "
        "{confusion:points} pp from confusion between tasks. Each is rounded, without an interval.",
    ),
    "cldyb.confusion_steps": Text(
        "detail",
        "Confusion with other tasks by step is masked minus full Acc, in pp: {found:percent} on found and {random:percent} on "
        "random sequences.",
    ),
    # how far an unfinished run came
    "cldyb.decided": Text("finding", "{search}: {decided} of {tasks:n task} decided."),
    "cldyb.rescored": Text("finding", "{rollouts:n rollout} {rollouts:was/were} re-scored so far."),
}
