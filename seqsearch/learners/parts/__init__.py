"""What learners of streams share: samplers of what was revealed, training by gradient, neighbours."""
