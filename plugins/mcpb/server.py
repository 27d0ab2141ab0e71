"""Serves the project whose folder is the argument."""

from clew.surfaces.cli.main import serve_entry

serve_entry()
