"""Lists and searches: by words, patterns, keywords, kinds and scope."""
