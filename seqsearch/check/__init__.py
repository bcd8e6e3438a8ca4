"""``seqsearch check``: the contracts of custom methods and learners, tested by real training."""
