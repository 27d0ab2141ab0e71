"""The working tree: finding files, reading them without leaving the project, following their changes, and git."""

# Implements: REQ-d00004
