"""Judging a pair of statements: quantities, names, negations and words are read first, then rules compare them."""
