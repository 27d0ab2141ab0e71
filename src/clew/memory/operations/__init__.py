"""The tools and commands of the memory."""

# Implements: REQ-d00307
