"""Multimodal class-incremental learning: methods on random class orders, cut into experiences."""
