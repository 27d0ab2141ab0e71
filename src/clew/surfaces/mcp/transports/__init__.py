"""stdio, streamable HTTP, and HTTP with server-sent events."""
