"""Suggested links between tests, code and requirements: finding, deciding, writing."""

# Implements: REQ-d00055
