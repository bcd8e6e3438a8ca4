"""Required size of a study, from the variance of the accuracies of a run."""
