"""The hash in an End marker: whether the assertions are still those that were reviewed.

A hash is the first eight hex digits of a SHA-256. Two rules are in use. `ordered` (February 2026) hashes the assertion
lines in the order of the file. `sorted` (since August 2026) hashes each line, sorts the digests and hashes those, so
that moving an assertion changes nothing. A file may follow either; a stored hash that matches one of them is
current. In full-text mode the two names stand for the two readings of "the text": the body as written, and the body
put together from its parts without headings.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

import msgspec

from clew.formats.elspais.lines import plain_heading
from clew.formats.elspais.records import AssertionRecord, Requirement
from clew.formats.elspais.settings import ElspaisSettings

HashRule = Literal["ordered", "sorted"]
NOT_APPLICABLE = "N/A"
"""Text in the End marker of a requirement without assertions."""
OF_NOTHING = sha256(b"").hexdigest()[:8]
"""elspais gives this to a requirement that has no assertions yet."""

_LENGTH = 8
_BREAKS = re.compile(r"\r\n?|\n")
_SPACES = re.compile(r" {2,}")
_DIGEST = re.compile(r"[0-9a-fA-F]{4,64}")
_RULES: tuple[HashRule, HashRule] = ("ordered", "sorted")


class HashState(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Comparison of a requirement's stored hash with its text."""

    state: str
    """current, stale, missing (no hash, or a word such as TODO in its place) or none (nothing to hash)."""
    rule: HashRule | None
    """The rule that the stored hash follows; None where it follows neither."""
    value: str
    """The hash to write: under the rule the stored one follows, else under the rule asked for."""


def hash_state(requirement: Requirement, settings: ElspaisSettings, rule: HashRule = "sorted") -> HashState:
    """Compare the stored hash with the text. `rule` is what a new hash follows, best taken from `rule_of_file`."""
    stored = requirement.stored_hash
    full_text = settings.hash_mode == "full-text"
    if not requirement.assertions and not full_text:
        is_stale = _is_digest(stored) and stored != OF_NOTHING
        return HashState("stale" if is_stale else "none", None, NOT_APPLICABLE)
    for candidate in _RULES:
        value = _text_hash(requirement, candidate) if full_text else assertion_hash(requirement.assertions, candidate)
        if stored is not None and stored.lower() == value:
            return HashState("current", candidate, value)
        if candidate == rule:
            wanted = value
    return HashState("stale" if _is_digest(stored) else "missing", None, wanted)


def hash_to_write(before: Requirement, after: Requirement, settings: ElspaisSettings, rule: HashRule) -> str | None:
    """The hash that a requirement gets when its text changed; None where the one it has stays. One that was stale tells
    of a change that nobody has reviewed, and stays where the change is no matter of it."""
    if hash_state(after, settings).state in ("current", "none"):
        return None
    value = hash_state(after, settings, rule).value
    return value if value != hash_state(before, settings, rule).value else None


def _is_digest(stored: str | None) -> bool:
    """True if the stored value was once a hash, not a word such as TODO in its place."""
    return stored is not None and _DIGEST.fullmatch(stored) is not None


def rule_of_file(requirements: Iterable[Requirement], settings: ElspaisSettings) -> HashRule:
    """The rule most current hashes of a file follow; today's where none does."""
    votes = {"ordered": 0, "sorted": 0}
    for requirement in requirements:
        state = hash_state(requirement, settings)
        if state.rule is not None:
            votes[state.rule] += 1
    return "ordered" if votes["ordered"] > votes["sorted"] else "sorted"


def assertion_hash(assertions: Iterable[AssertionRecord], rule: HashRule) -> str:
    lines = [assertion_line(assertion.label, assertion.text).encode() for assertion in assertions]
    if rule == "sorted":
        lines = sorted(sha256(line).hexdigest().encode() for line in lines)
    return sha256(b"\n".join(lines)).hexdigest()[:_LENGTH]


def assertion_line(label: str, text: str) -> str:
    """An assertion as it is hashed: on one line, without repeated spaces. Tabs stay."""
    if "\n" in text or "\r" in text:
        text = _BREAKS.sub(" ", text)
    if "  " in text:
        text = _SPACES.sub(" ", text)
    return f"{label}. {text.strip()}"


def _text_hash(requirement: Requirement, rule: HashRule) -> str:
    if rule == "ordered":
        text = without_changelog(requirement.body)
    else:
        parts = [requirement.preamble]
        parts.extend(f"{assertion.label}. {assertion.text}" for assertion in requirement.assertions)
        parts.extend(section.text for section in requirement.sections)
        text = "\n".join(part for part in parts if part)
    return sha256(text.rstrip().encode()).hexdigest()[:_LENGTH]


def without_changelog(body: str) -> str:
    """The body up to its changelog."""
    lines = body.split("\n")
    for index, line in enumerate(lines):
        if line.startswith("#") and plain_heading(line.lstrip("#").strip()) == "changelog":
            return "\n".join(lines[:index])
    return body
