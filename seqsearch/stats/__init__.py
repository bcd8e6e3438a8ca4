"""Statistics: accuracy figures, their distribution over class sequences, comparisons, choices of settings, labels in time.

Pure functions of numbers. Accuracies are fractions. ``A [L, R]`` is the final accuracy of sequence l trained with seed r. The
same seeds serve every sequence, so rows and columns are crossed. `docs/statistics.md` and the pages that it names define every
convention.
"""
