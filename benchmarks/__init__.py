"""Clew's figures, measured: `make bench` prints them as a table. README.md says what each one means."""
