"""The views of the page: each answers a few questions by asking operations and services."""

# Implements: REQ-d00415
