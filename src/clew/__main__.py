"""`python -m clew`."""

# Implements: REQ-o00006

from clew.surfaces.cli.main import entry

entry()
