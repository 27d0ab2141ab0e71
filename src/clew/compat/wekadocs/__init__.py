"""The older tools of wekadocs on documents and on their graph."""

# Implements: REQ-d00178
