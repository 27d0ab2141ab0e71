"""Pictures: made on the server as SVG, each beside a list or table that says the same."""

# Implements: REQ-d00419
