"""Sequences in the forms of other toolboxes: one file a toolbox, found by its ``build``."""
