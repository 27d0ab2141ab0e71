"""Search by meaning: vectors, their storage, and searching them."""

# Implements: REQ-d00035
