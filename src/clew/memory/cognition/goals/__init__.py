"""What the memory is about: topics, goals, drift and vectors that compare a text with them."""
