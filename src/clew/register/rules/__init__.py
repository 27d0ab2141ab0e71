"""What the validator demands of a requirement and of a register."""

# Implements: REQ-d00084
