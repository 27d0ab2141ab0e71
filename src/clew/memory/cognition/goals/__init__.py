"""Subjects of the memory: topics, goals, drift and vectors that compare a text with them."""
