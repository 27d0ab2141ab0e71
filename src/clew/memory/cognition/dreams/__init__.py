"""The offline job that keeps the memory in order, and what it proposes."""
