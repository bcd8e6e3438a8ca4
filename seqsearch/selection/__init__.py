"""Statistics of choosing a method's hyperparameters on one data set and evaluating the choice on another.

Pure functions of numbers, for "Hyperparameters in Continual Learning: A Reality Check". Scores are fractions; ``scores [R, S]``
are those of R settings, drawn at random from a search space, on the same S class orders: rows are settings, columns are paired.
A setting with a NaN anywhere has diverged. `docs/selection.md` says what each figure is conditional on and how often it holds.
"""
