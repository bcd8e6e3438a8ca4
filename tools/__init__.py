"""Makers of what the packages ship and the pages print: weights, the glyph atlas, generated pages. They are not installed."""
