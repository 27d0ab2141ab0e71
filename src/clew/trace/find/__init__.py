"""Lists and searches: by words, patterns, keywords, kinds and scope."""

# Implements: REQ-d00060
