"""Questions about a register: lists, coverage, staleness, review, exports."""

# Implements: REQ-d00088
