"""Binding: the meaning of expressions in facts over all files of a project, computed when somebody asks."""

# Implements: REQ-d00741
