"""`python -m clew`."""

from clew.surfaces.cli.main import entry

entry()
