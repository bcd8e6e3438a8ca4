"""Statistics of a method's accuracy over class sequences: its distribution, estimated, tested and compared.

Pure functions of numbers. Accuracies are fractions; ``A [L, R]`` is the final accuracy (Eq. 1 of "The Lie of the Average: How
Class Incremental Learning Evaluation Deceives You?", the mean over tasks) of sequence l trained with seed r. The same seeds serve
every sequence, so rows and columns are crossed. `docs/distribution.md` names every convention.
"""
