"""Questions about source code: who uses a symbol, and which tests run it."""

# Implements: REQ-d00742
