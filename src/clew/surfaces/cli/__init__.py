"""The `clew` command."""

# Implements: REQ-o00006
