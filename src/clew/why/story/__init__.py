"""The story of lines: the commits behind them, back to the one that decided, and what belongs to a commit.

It asks git alone and knows nothing of requirements, tests or memories; the sections of an answer put these together.
"""
