"""Methods beside each other in several respects: accuracy, robustness, memory, time. Nothing is trained, except for latency."""
