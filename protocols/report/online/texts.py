"""Sentences of the notes of online runs."""

from protocols.report.notes import Text

TEXTS = {
    "online.none": Text("headline", "No learner finished, so there is no result."),
    "online.no_shift": Text(
        "headline", "S = 0: near-future accuracy equals online accuracy, so no ranking can reverse."
    ),
    "online.one": Text("headline", "Only {learner} finished, so there is no ranking that could reverse."),
    "online.reverses": Text(
        "headline",
        "Online {above} is significantly above {below}; {shift:count} samples ahead it is significantly below.",
    ),
    "online.reverse": Text(
        "headline",
        "{reversed} of {pairs:n pair} of learners reverse significantly between online and near-future accuracy.",
    ),
    "online.open": Text("headline", "It is open whether rankings reverse: intervals need a longer stream (--stream)."),
    "online.undecided": Text(
        "headline",
        "No ranking is shown to reverse: {undecided} of {pairs:n pair} of learners {undecided:is/are} undecided.",
    ),
    "online.keeps": Text(
        "headline", "{above} is significantly above {below}, both online and {shift:count} samples ahead."
    ),
    "online.keep": Text(
        "headline",
        "No ranking reverses: all {pairs:n pair} keep their order significantly, online and {shift:count} samples ahead.",
    ),
    # what intervals hold for
    "online.conditional": Text(
        "condition",
        "Intervals are conditional on these training seeds and on how accuracy changes along this stream. They hold for other "
        "samples of these classes.",
    ),
    "online.settings": Text(
        "detail",
        "Intervals hold for this split into search part, main part and holdout, these settings and this S. They cover no other "
        "stream, no other order of the same samples, and no S chosen on other samples.",
    ),
    "online.blocks": Text(
        "detail",
        "The 95 % intervals rest on {blocks:to block} of samples, because neighbouring samples are correlated.",
    ),
    "online.wider": Text(
        "detail",
        'Intervals of the table "Over training seeds" hold for other training seeds as well, drawn independently for each '
        "learner.",
    ),
    "online.seeds": Text("detail", "Accuracies are means over {seeds:n training seed}."),
    "online.not_sampled": Text("detail", "Learners that draw nothing have one training."),
    "online.few_seeds": Text(
        "advice",
        "Intervals for other training seeds need {fewest} training seeds or more (--seeds); this run has {seeds}.",
    ),
    "online.bold": Text("detail", "Bold: no other learner is significantly above (95 %, all pairs together)."),
    "online.by_sample": Text(
        "detail",
        "The blind baseline by sample also sees labels of the batch that is evaluated, which learners do not see. It shows how "
        "much repeated labels give away, and is compared with no learner.",
    ),
    # learners without figures or intervals
    "online.failed": Text(
        "warning",
        "{learners} did not finish. seqsearch evaluated {learners:it/them} on fewer samples and compares {learners:it/them} with "
        "no other learner.",
    ),
    "online.absent": Text(
        "warning",
        "{learners} {learners:has/have} no figures because of a failure before the first checkpoint (log.jsonl).",
    ),
    "online.no_interval": Text(
        "warning", "{without} of {of} figures and differences {without:has/have} no interval: {why}."
    ),
    "online.reasons": Text("detail", "--json has {reasons:n further reason} for a missing interval."),
    "online.pairs_without": Text(
        "detail",
        "{without} of {pairs:n pair} of learners {without:has/have} no interval online or {shift:count} samples ahead.",
    ),
    # S
    "online.shift_named": Text("detail", "--shift {asked} sets S = {shift:count}."),
    "online.shift_paper": Text(
        "detail", "--shift {asked} sets S = {shift:count}, as the paper has it for that data set."
    ),
    "online.rule": Text("detail", "The rule of --shift auto gives {rule:count} on the search part."),
    "online.rule_longer": Text(
        "warning",
        "The rule of --shift auto gives {rule:count} on the search part, so labels are correlated beyond S = {shift:count}. "
        "Blocks may be too short.",
    ),
    "online.rule_none": Text(
        "warning",
        "The rule of --shift auto finds no shift on the search part, so labels S samples apart may be correlated.",
    ),
    "online.too_sure": Text(
        "warning", "Intervals and verdicts may be too sure, because labels beyond S may be correlated."
    ),
    "online.shift_chosen": Text(
        "detail", "seqsearch chose S = {shift:count} on the search part, before it trained any learner."
    ),
    "online.shift_labels": Text("detail", "The choice of S rests on {labels:n label} in {blocks:n block}."),
    "online.shift_kappa": Text(
        "detail",
        "S is the smallest shift from which on the blind classifier's kappa, beyond its plateau at the longest shifts, stays "
        "below {tolerance:g}. The upper 95 % confidence bound decides, at all longer shifts tried.",
    ),
    "online.shift_null": Text(
        "detail",
        "S is the smallest shift from which on the blind classifier's accuracy beyond {null} guessing stays below "
        "{tolerance:g}. The upper 95 % confidence bound decides, at all longer shifts tried.",
    ),
    "online.plateau": Text("detail", "Kappa has a plateau of {plateau:.3f}, which no shift takes away."),
    # the blind baseline
    "online.blind_online": Text(
        "detail",
        "The blind baseline, which sees no image, gets {accuracy:percent} % online on the last {samples:n sample} of the main "
        "part (k = {k:count}, chance {chance:percent} %, kappa {kappa:.3f}).",
    ),
    "online.blind_ahead": Text(
        "detail",
        "The blind baseline, which sees no image, gets {accuracy:percent} % at S = {shift:count} on the last "
        "{samples:n sample} of the main part (k = {k:count}, chance {chance:percent} %, kappa {kappa:.3f}).",
    ),
    "online.kappa_within": Text(
        "detail",
        "At S = {shift:count} the highest kappa of all k is {kappa:.3f} (k = {k:count}), within the tolerance of "
        "{tolerance:g}.",
    ),
    "online.kappa_above": Text(
        "warning",
        "At S = {shift:count} the highest kappa of all k is {kappa:.3f} (k = {k:count}), above the tolerance of {tolerance:g}. "
        "Labels alone still give part of near-future accuracy.",
    ),
    "online.kappa_why": Text(
        "detail",
        "A kappa above the tolerance comes from correlation beyond S, drift of the class prior, or chance. The highest of many "
        "has no interval.",
    ),
    "online.below_online": Text(
        "finding", "Online, {learners} {learners:is/are} significantly below the blind baseline, which sees no image."
    ),
    "online.below_ahead": Text(
        "finding",
        "At S = {shift:count}, {learners} {learners:is/are} significantly below the blind baseline, which sees no image.",
    ),
    "online.above": Text(
        "detail", "At S = {shift:count}, {learners} {learners:is/are} significantly above the blind baseline."
    ),
    "online.as_blind": Text(
        "detail",
        "At S = {shift:count}, {learners} {learners:is/are} not significantly different from the blind baseline.",
    ),
    "online.blind_unknown": Text(
        "detail", "At S = {shift:count}, the difference of {learners} from the blind baseline has no interval."
    ),
    # rankings
    "online.pair": Text(
        "finding",
        "{above} is above {below} by {online:percent} pp online, and below it by {ahead:percent} pp at S = {shift:count}.",
    ),
    "online.over_seeds": Text(
        "finding", "{holding} of {reversed:n reversal} {holding:holds/hold} for other training seeds as well: {pairs}."
    ),
    "online.not_over_seeds": Text(
        "finding", "0 of {reversed:n reversal} hold for other training seeds as well. More seeds may decide (--seeds)."
    ),
    "online.turned": Text(
        "finding",
        "The means of {turned} of {pairs:n pair} change their order, but no interval shows it: this may be noise.",
    ),
    "online.dropped": Text(
        "finding",
        "Accuracy at S = {shift:count} is below online accuracy for {learners:n learner}. The largest drops in pp, each with "
        "its own interval: {drops:points}.",
    ),
    "online.drop_includes": Text(
        "detail",
        "A drop includes accuracy that came from labels of neighbours, and changes of the stream within S samples.",
    ),
    "online.order": Text(
        "finding",
        "{learner}, windows of {window:count}: training in order minus training shuffled is {ordered:points} pp evaluated in "
        "order, and {shuffled:points} pp evaluated shuffled.",
    ),
    "online.order_local": Text(
        "finding",
        "{learner}, windows of {window:count}: the gain from training in order does not hold where neighbours are apart.",
    ),
    # the stream
    "online.stream": Text("detail", "Stream {name} has {samples:n sample} of {classes:n class}."),
    "online.parts": Text(
        "detail",
        "The choice of k and S uses {search:n sample}. The main part has {main:n sample} in {steps:n step} of {batch:count}.",
    ),
    "online.holdout": Text("detail", "{holdout:n sample} {holdout:is/are} held out for retention."),
    "online.no_holdout": Text("detail", "No sample is held out, so there is no retention."),
    "online.chance": Text("detail", "A class guessed at random is right in {chance:percent} %."),
}
