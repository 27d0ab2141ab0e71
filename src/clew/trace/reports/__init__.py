"""What deserves attention or is handed on: findings, impact, suspect links, the matrix."""

# Implements: REQ-d00066
