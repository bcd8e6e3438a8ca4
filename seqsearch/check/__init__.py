"""``seqsearch check``: the contracts of custom methods and learners, tested by real training, and of pools and streams."""
