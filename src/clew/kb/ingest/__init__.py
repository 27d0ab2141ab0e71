"""From document files to the store of documents and the search index."""

# Implements: REQ-d00094
