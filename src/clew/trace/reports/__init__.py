"""Reports on a project: findings, impact, suspect links, the matrix."""

# Implements: REQ-d00066
