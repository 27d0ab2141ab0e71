"""What an operation is, and the one way to carry it out: decoding, freshness, paging, budget, listing."""

# Implements: REQ-o00004
