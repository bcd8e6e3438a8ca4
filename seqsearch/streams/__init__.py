"""Samples in time: labels, times and images of a stream, its parts, and the order in which it is played."""
