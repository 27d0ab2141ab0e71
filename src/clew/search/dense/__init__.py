"""Search by meaning: vectors, where they are kept, and the search among them."""

# Implements: REQ-d00035
