"""The knowledge base: documentation that answers questions without flooding the context."""

# Implements: REQ-d00093
