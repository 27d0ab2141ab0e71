"""Evidence from test runs: the tests that a report names, and the lines that were executed."""

# Implements: REQ-d00041
