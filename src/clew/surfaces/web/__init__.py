"""The page: the project in a browser, over the same operations that agents and the command line use."""

# Implements: REQ-o00060, REQ-d00415
