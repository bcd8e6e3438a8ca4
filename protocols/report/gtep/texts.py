"""Sentences of the notes of GTEP."""

from protocols.report.notes import Text

TEXTS = {
    # headlines
    "gtep.none": Text("headline", "No method finished all class orders of a pool, so there is no result."),
    "gtep.one": Text("headline", "{method} has an H of {h:percent} % on {pool}; there is no other method to compare."),
    "gtep.too_few": Text(
        "headline",
        "{first} {names:has/have} the highest H; {orders:n class order} {orders:is/are} too few to compare methods.",
    ),
    "gtep.above": Text(
        "headline", "{first} has a significantly higher H than every other method that finished on {pool}."
    ),
    "gtep.undecided": Text(
        "headline", "{first} {names:has/have} the highest H on {pool}; {candidates} of {methods} methods may be best."
    ),
    "gtep.same_first": Text(
        "headline", "{first} has the highest H on each pool ({pools}), significantly so on {above} of them."
    ),
    "gtep.other_first": Text(
        "headline", "Different methods have the highest H on the {pools} pools, significantly so on {above} of them."
    ),
    # conditions
    "gtep.over": Text(
        "condition",
        "Means and intervals are over {orders:n class order} of these classes, the same for all methods. Each has its own "
        "training seed.",
    ),
    "gtep.conditional": Text(
        "condition",
        "They hold for these pools, their split into images, and these settings. No interval covers other classes, other images "
        "or another draw of settings.",
    ),
    "gtep.one_se": Text(
        "condition",
        "The chosen setting is the one with the least training within one standard error of the best (--select one-se).",
    ),
    "gtep.phases": Text(
        "detail", "Settings were chosen on {chosen:n class order} of {tuning} and evaluated on {orders} of each pool."
    ),
    "gtep.called": Text("detail", "The pool that is called {name} is {pool}."),
    "gtep.bold": Text(
        "detail",
        "Bold and *: the method does not differ significantly from the first (multiple comparisons with the best, 95 % over all "
        "methods), or shows the same H.",
    ),
    # advice
    "gtep.few": Text(
        "advice",
        "{orders:n class order} {orders:is/are} too few: intervals need {interval}, and comparing methods or settings needs "
        "{compared} (--eval-orders, --orders).",
    ),
    "gtep.more_maybe": Text(
        "advice",
        "For {methods}, {more} more settings may add more to H than class orders make it vary (--trials).",
    ),
    # warnings
    "gtep.failed": Text("warning", "{method} has no figures on {pool}: {why}."),
    "gtep.none_chosen": Text(
        "warning", "{method}: none of {settings:n setting} ended well on all class orders, so none was chosen."
    ),
    "gtep.overlap": Text(
        "warning",
        "Both phases may share classes (--allow-overlap {allowed}), so that classes evaluated may have had a part in the choice.",
    ),
    "gtep.all_shared": Text(
        "warning", "On {pool} all classes in play are shared: nothing is left to evaluate without them."
    ),
    "gtep.near": Text(
        "warning",
        "{near} of {images:n image} of {pool} {near:is/are} nearer to an image of {tuning} than 99 % of images are to their own "
        "pool. They are near duplicates or similar things: look at them.",
    ),
    "gtep.tried_so_far": Text(
        "warning", "{method}: {done} of {settings:n setting} learned all tasks on all class orders so far."
    ),
    "gtep.evaluated_so_far": Text(
        "warning", "{method} ({use}): {done} of {orders:n class order} of {pool} {orders:is/are} evaluated so far."
    ),
    # other choices
    "gtep.regret": Text(
        "finding",
        "On {pool}, choosing settings there instead of on {tuning} changes H, in points, by {regret:points}: each interval "
        "excludes 0.",
    ),
    "gtep.gain": Text(
        "finding",
        "On {pool}, settings chosen on {tuning} change H against the original settings, in points, by {gain:points}: each "
        "interval excludes 0.",
    ),
    "gtep.optimism": Text(
        "finding",
        "H that settings were chosen by exceeds H on fresh class orders and test images of {tuning}, in pp, by "
        "{optimism:points}: each interval excludes 0.",
    ),
    "gtep.within": Text("finding", "On {pool}, the {figure} of {methods} is undecided: the interval includes 0."),
    "gtep.same_setting": Text(
        "finding",
        "On {pool}, {methods} {methods:has/have} a regret of 0: the same setting is chosen there and on {tuning}.",
    ),
    "gtep.unknown": Text("detail", "On {pool}, the {figure} of {methods} has no interval: {why}."),
    "gtep.each": Text(
        "detail",
        "Each interval of regret, gain and optimism holds by itself, at 95 %, over class orders and for these very settings.",
    ),
    "gtep.fewer_images": Text(
        "detail",
        "The first phase learns from fewer images, because it holds back the images that it evaluates on. This alone makes "
        "optimism smaller.",
    ),
    # rankings
    "gtep.tau_chosen": Text(
        "finding",
        "The ranking of {methods:n method} by H as chosen on {tuning} and that by H on {pool} have tau = {tau:.2f} (p = {p:p}).",
    ),
    "gtep.tau_conventional": Text(
        "finding",
        "On {pool}, the ranking of {methods:n method} tuned on {tuning} and that tuned there have tau = {tau:.2f} (p = {p:p}).",
    ),
    "gtep.tau_original": Text(
        "finding",
        "On {pool}, the ranking of {methods:n method} tuned on {tuning} and that with original settings have tau = {tau:.2f} "
        "(p = {p:p}).",
    ),
    "gtep.reversed": Text(
        "finding",
        "On {pool}, {number:n pair} of methods {number:differs/differ} significantly and {number:reverses/reverse} between the "
        "rankings ({rankings}): {pairs}.",
    ),
    "gtep.agreed": Text(
        "detail",
        "On {pool}, {number:n pair} of methods {number:differs/differ} significantly, and alike, in both rankings ({rankings}): "
        "{pairs}.",
    ),
    "gtep.pairs_named": Text("detail", "Notes on rankings name at most {most} pairs; --json has all."),
    "gtep.p_unrelated": Text(
        "detail",
        "The p-value of tau is of unrelated rankings: of these methods and settings, over class orders.",
    ),
    "gtep.p_approximate": Text("detail", "The p-value of tau is approximate for more than nine methods."),
    "gtep.tau_unknown": Text("detail", "On {pool}, the rankings ({rankings}) have no tau: {why}."),
    "gtep.pairs_unknown": Text(
        "detail", "On {pool}, pairs of methods are not compared between rankings ({rankings}): {why}."
    ),
    # methods on a pool
    "gtep.below": Text("finding", "On {pool}, {below} {below:is/are} significantly below {first}."),
    "gtep.near_duplicates": Text("detail", "On {pool}, {alike} {alike:is/are} not significantly below {first}."),
    "gtep.no_interval": Text("detail", "H of {methods} has no interval on {pool}: {why}."),
    "gtep.takeaway_yes": Text(
        "detail", "The paper's Key Takeaway 1, on {pool}: {first} outperforms the other methods with these settings."
    ),
    "gtep.takeaway_no": Text(
        "detail",
        "The paper's Key Takeaway 1, on {pool}: no method is shown to outperform the others with these settings; {first} is "
        "highest.",
    ),
    "gtep.model_size": Text(
        "detail",
        "The paper's Key Takeaway 2, on {pool}: the model of {first} has {bytes:count} bytes; {less} of {known} methods have a "
        "smaller one.",
    ),
    "gtep.train_time": Text(
        "detail",
        "On {pool}, {first} takes {seconds:seconds} to train a class order; {less} of {known} methods take less time.",
    ),
    "gtep.spread": Text(
        "detail",
        "On {pool}, Acc of {first} has a standard deviation of {sd:percent} pp over {orders} class orders; {less} of {known} "
        "methods have a smaller one.",
    ),
    "gtep.lowest": Text(
        "detail", "On {pool}, Acc of {first} is {low:percent} % at its lowest, with a median of {median:percent} %."
    ),
    "gtep.spread_unknown": Text("detail", "On {pool}, the spread of Acc over class orders is not known from one."),
    "gtep.untested": Text(
        "detail",
        "Costs and spreads are of one run and not tested, and times are of its machines. A rare collapse needs more class orders "
        "to show.",
    ),
    # the first phase
    "gtep.chosen": Text(
        "detail",
        "{method}: setting {number} of {settings} was chosen ({params}). It was chosen by its H of {h:percent} %.",
    ),
    "gtep.too_high": Text("detail", "The H that a setting was chosen by is too high on average."),
    "gtep.not_well": Text("detail", "{method}: {failed} of {settings:n setting} diverged or failed."),
    "gtep.left_early": Text("detail", "{method}: {stopped} of {settings:n setting} {stopped:was/were} left early."),
    "gtep.setting_best": Text(
        "detail",
        "{method}: the best setting is significantly above all others, over class orders of these classes (95 %).",
    ),
    "gtep.settings_alike": Text(
        "detail",
        "{method}: {others:n other setting} {others:does/do} not differ significantly from the best, over class orders of these "
        "classes (95 %).",
    ),
    "gtep.settings_undecided": Text("detail", "{method}: whether other settings are as good is undecided: {why}."),
    "gtep.alone": Text("detail", "{method}: {figure} alone would have chosen setting {other}, not {chosen}."),
    "gtep.enough": Text(
        "detail", "For {methods}, {more} more settings would add less to H than class orders make it vary."
    ),
    "gtep.no_more": Text("detail", "For {methods}, there are no more settings to try."),
    "gtep.more_unknown": Text("detail", "For {methods}, what {more} more settings would add is not known: {why}."),
    "gtep.dependent": Text(
        "detail",
        "How much more settings would add is not known: settings that Optuna proposes, or that were left early, are no "
        "independent draws.",
    ),
    "gtep.rule": Text(
        "detail",
        "Whether more settings would help is a rule and no test, of draws from these search spaces on these class orders.",
    ),
    # shared classes and look-alikes
    "gtep.shared": Text(
        "finding",
        "{shared} of {classes:n class} in play on {pool} {shared:has/have} something in common with one of {tuning}, by name or "
        "by images.",
    ),
    "gtep.without": Text("finding", "Without the shared classes of {pool}, H changes, in points, by: {change:points}."),
    "gtep.rank_stays": Text("finding", "Without the shared classes of {pool}, the ranking of methods stays the same."),
    "gtep.rank_changes": Text("finding", "Without the shared classes of {pool}, the ranking of methods changes."),
    "gtep.other_classes": Text(
        "detail",
        "Other classes are easier or harder by themselves, so the change does not measure the effect of sharing.",
    ),
    "gtep.none_near": Text(
        "detail",
        "None of {images:n image} of {pool} is nearer to an image of {tuning} than 99 % of images are to their own pool.",
    ),
    "gtep.closest": Text(
        "detail",
        "The closest images of {tuning} and {pool} are {tuned_class} [{tuned_row}] and {other_class} [{other_row}], by features "
        "of {backbone}.",
    ),
}
