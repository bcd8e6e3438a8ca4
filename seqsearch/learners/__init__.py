"""Learners of streams (online continual learning), one file each; `base` is what they are, `parts` what they share."""
