"""What "Hyperparameters in Continual Learning: A Reality Check" (GTEP) prints: results, sets of hyperparameters, settings."""
