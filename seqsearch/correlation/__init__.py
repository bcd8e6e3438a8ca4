"""Labels in time: the blind classifier, the shift beyond which it gains nothing, and intervals of accuracies over a stream."""
