"""A register in git: revisions, merging, hooks, setting up a clone."""

# Implements: REQ-d00230
