"""Binding: what the expressions in facts mean over all files of a project, found when somebody asks."""

# Implements: REQ-d00741
