"""The `clew` command."""
