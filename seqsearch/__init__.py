"""Parallel search for adversarial task sequences in continual learning."""

from seqsearch.core.installation import warn_of_hidden

warn_of_hidden()
