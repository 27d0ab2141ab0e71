"""What became of shown memories, and what follows from it: thresholds, weights, profiles."""
