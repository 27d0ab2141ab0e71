"""When two texts of a requirement are the same, and a hash that says so."""

from hashlib import sha256

from clew.formats.openspec.records import Requirement

_LENGTH = 16


def settled(requirement: Requirement) -> str:
    """The text of a requirement for comparison: its heading and everything below, line ends as LF, no space around."""
    return requirement.raw.replace("\r\n", "\n").replace("\r", "\n").strip()


def requirement_hash(requirement: Requirement) -> str:
    return sha256(settled(requirement).encode()).hexdigest()[:_LENGTH]
