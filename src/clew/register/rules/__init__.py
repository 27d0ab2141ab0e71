"""The validator's rules for a requirement and for a register."""

# Implements: REQ-d00084
