"""Questions about a register: lists, coverage, staleness, review, exports."""
