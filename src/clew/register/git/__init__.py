"""A register in git: revisions, merging, hooks, setting up a clone."""
