"""Printed results, hyperparameters and settings of "Hyperparameters in Continual Learning: A Reality Check" (GTEP)."""
