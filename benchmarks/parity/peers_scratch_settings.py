"""Settings that both sides of `benchmarks.parity.peers_scratch` share."""

CLASSES, EPOCHS, MEMORY = 4, 15, 48
NEW, STORED = 10, 3
"""Of a batch of 13 in Avalanche's Replay: 160 new and 48 stored images are both passed over once in 16 steps, as 208 are here."""
DECAY, MOMENTUM, LR, LR_BCE = 5e-4, 0.9, 0.05, 0.5
