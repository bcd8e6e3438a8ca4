"""Experiment trackers, one file each, and the metrics of runs that they get."""
