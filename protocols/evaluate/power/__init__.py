"""How large a study must be, from how much the accuracies of a run vary."""
