"""Outcomes of shown memories, and the thresholds, weights and profiles that are learned from them."""
