"""stdio, streamable HTTP, and HTTP with server-sent events."""

# Implements: REQ-d00016
