"""What crosses the parts of Clew."""

# Implements: REQ-d00360
