"""Source files: comments, the definitions in them, and the citations that comments and test names carry."""

# Implements: REQ-d00009
