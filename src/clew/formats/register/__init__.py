"""Registers of managed requirements: the `.req` files of the req program.

A file is read into frozen values and written back byte for byte: `read_single(data)` and `write_single(register)` for
one file, `read_directory(files)` and `write_directory(register)` for a folder. Whatever this version does not know is
kept, and a file that does not match its checksum is refused.
"""

from clew.formats.register.directory import read_directory, write_directory
from clew.formats.register.envelope import FORMAT_TAG
from clew.formats.register.migration import Migration, migrate
from clew.formats.register.model import Layout, Register, Requirement, RequirementLink
from clew.formats.register.single import read_single, write_single

READER_VERSION = 1
"""Goes up whenever the same bytes give other values; records cached under another version are not used."""

__all__ = [
    "FORMAT_TAG",
    "READER_VERSION",
    "Layout",
    "Migration",
    "Register",
    "Requirement",
    "RequirementLink",
    "migrate",
    "read_directory",
    "read_single",
    "write_directory",
    "write_single",
]
