"""What test runs showed: which test a report means, and what was executed."""

# Implements: REQ-d00041
