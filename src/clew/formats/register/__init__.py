"""Registers of managed requirements: the `.req` files of the req program.

A file is read into frozen values and written back byte for byte: `read_single(data)` and `write_single(register)` for
one file, `read_directory(files)` and `write_directory(register)` for a folder. Whatever this version does not know is
kept, and a file that does not match its checksum is refused.
"""

# Implements: REQ-d00080

READER_VERSION = 1
"""Goes up whenever the same bytes give other values; records cached under another version are not used."""
