"""Texts of notes that several protocols share."""

from protocols.report.texts.text import Text

TEXTS = {
    "run.unfinished": Text("headline", "Not finished: the run stopped at {reached}. It has no result yet."),
    "run.resume": Text("advice", "Go on with: {command}"),
    # chance
    "chance.too_few": Text(
        "warning",
        "{method}: {figure} {accuracy:percent} % {where}, where chance is {chance:percent} % ({classes:to class}). "
        "{images:n test image} {images:is/are} too few to show that any accuracy is above chance.",
    ),
    "chance.undecided": Text(
        "warning",
        "{method}: {figure} {accuracy:percent} % {where} is not significantly above chance, which is {chance:percent} % for "
        "{classes:to class} (p = {p:p}, Bonferroni over {trainings:n training}).",
    ),
    "chance.needed": Text(
        "warning",
        "{method}: {figure} {accuracy:percent} % {where} is not significantly above chance, which is {chance:percent} % for "
        "{classes:to class}. One of {trainings:n training} would need {needed} of {images:n test image} right "
        "({share:percent} %).",
    ),
    "chance.test": Text(
        "detail",
        "Chance is tested by the images right of each class after the last task, at {level:percent} % over all trainings of a "
        "method (Bonferroni). The test is conditional on these trainings and assumes that test images are drawn independently. "
        "A method that is not significantly above chance may still have learned something.",
    ),
    # means
    "mean.assumption": Text(
        "condition",
        "Intervals of means over fewer than {enough} {what} assume that no rare one lies far off (docs/distribution.md).",
    ),
    "mean.looking": Text(
        "condition",
        "After --until mean, the 95 % interval of the mean holds in only 90 to 95 % of cases where accuracies have a long tail "
        "or rare outliers (docs/distribution.md).",
    ),
    # cost
    "cost.unknown": Text("detail", "The run folder has no stats.json, so the cost of the run is unknown."),
    "cost.moved": Text(
        "finding",
        "{method}: training changes its features by {moved:percent} % only (median of {trainings:n training}), so it is nearly a "
        "classifier on frozen features.",
    ),
    "cost.trainings": Text("detail", "{trainings:n training} {trainings:was/were} done."),
    "cost.naive": Text(
        "detail", "Training every rollout from scratch would take {naive:n training}, {ratio:.1f} times as many."
    ),
    "cost.replayed": Text("detail", "{results:n result} came from the journal."),
    "cost.time": Text("detail", "The run took {seconds:duration} in {sessions:n session}."),
    "cost.starting": Text("detail", "Starting took {seconds:duration} more, which --time-budget does not count."),
    "cost.killed": Text("detail", "{sessions:n session} {sessions:was/were} killed; their time is unknown."),
    "cost.others": Text("detail", "The other {sessions:n session} took {seconds:duration}."),
    "cost.unclear": Text("detail", "Of {sessions:n session} some were killed, so the time of the run is unknown."),
    "cost.busy": Text("detail", "Workers were busy {share:percent} % of the time."),
    # where images and hyperparameters come from
    "pool.used": Text(
        "detail", "Pool {pool}: {used} of {classes:n class} are used, with {images:n image}, split {split}."
    ),
    "pool.grown": Text("condition", "Pool {pool} is there from task {step} on (--grow)."),
    "pool.left_out": Text("detail", "Pool {pool}: these groups are left out: {groups}."),
    "pool.changeable": Text(
        "detail",
        "Pool {pool} is known by path, size and time of its files, not by their content (seqsearch pool build mends that).",
    ),
    "run.extended": Text(
        "condition",
        "The run was extended from {lengths} tasks: no look-ahead went beyond the length that a task was chosen for.",
    ),
    "tuned.circular": Text(
        "warning",
        "Hyperparameters were tuned on the first tasks of a searched sequence (--tune-on first, the paper's way): the methods "
        "are evaluated on tasks that they were tuned on, and all tasks but the first were chosen to be hard for their defaults.",
    ),
    "tuned.outside": Text(
        "condition", "Hyperparameters were tuned on {tasks:n random task} of classes outside the run."
    ),
    "tuned.chosen": Text("detail", "Chosen for {method}: {values}. All trials are in trials.parquet."),
    # drops
    "drop.without_interval": Text("warning", "The drop of {methods} has no interval: {why}."),
}
