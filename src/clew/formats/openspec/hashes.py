"""When two texts of a requirement are the same, and a hash that says so."""

from hashlib import sha256

from clew.formats.openspec.records import Requirement

_LENGTH = 16


def settled(requirement: Requirement) -> str:
    """The text of a requirement for comparison: its heading and everything below, line ends as LF, no space around."""
    return requirement.raw.replace("\r\n", "\n").replace("\r", "\n").strip()


def text_hash(text: str) -> str:
    """The hash of a text that is settled."""
    return sha256(text.encode()).hexdigest()[:_LENGTH]


def with_name(text: str, name: str) -> str:
    """The settled text of a requirement that is renamed."""
    return "\n".join((f"### Requirement: {name}", *text.split("\n")[1:]))
