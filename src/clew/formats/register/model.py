"""The values of a register: what a `.req` file holds.

Enums carry the spelling of the file; `word` is the spelling that people and tools use. Every value keeps the keys that
this version of the format does not know in `extras`, so that whatever a later program added survives a save.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from clew.errors import InvalidArgument
from clew.text.display import shortened


class Spelling(StrEnum):
    """A value that the file spells `NonFunctional` and everybody else `non-functional`."""

    word: str

    def __new__(cls, value: str) -> "Spelling":
        member = str.__new__(cls, value)
        member._value_ = value
        member.word = "".join(f"-{sign.lower()}" if sign.isupper() else sign for sign in value).removeprefix("-")
        return member


class RequirementKind(Spelling):
    FUNCTIONAL = "Functional"
    NON_FUNCTIONAL = "NonFunctional"
    CONSTRAINT = "Constraint"
    INTERFACE = "Interface"
    BUSINESS = "Business"


class Priority(Spelling):
    """From what comes first to what comes last."""

    MUST = "Must"
    SHOULD = "Should"
    COULD = "Could"
    WONT = "Wont"


class Status(Spelling):
    """In the order of a requirement's life."""

    DRAFT = "Draft"
    PROPOSED = "Proposed"
    APPROVED = "Approved"
    IMPLEMENTED = "Implemented"
    VERIFIED = "Verified"
    OBSOLETE = "Obsolete"


class LinkKind(Spelling):
    PARENT = "Parent"
    DEPENDS_ON = "DependsOn"
    CONFLICTS = "Conflicts"
    REFINES = "Refines"
    VERIFIES = "Verifies"
    MITIGATES = "Mitigates"
    """From a safety function to a hazard."""
    REALIZES = "Realizes"
    """From a safety requirement to a safety function."""


class RecordedOutcome(Spelling):
    PASS = "Pass"  # noqa: S105
    FAIL = "Fail"


class EvidenceKind(Spelling):
    AUTOMATED = "Automated"
    COMPOSITION = "Composition"
    INSPECTION = "Inspection"


class ActorKind(Spelling):
    HUMAN = "Human"
    AGENT = "Agent"
    UNKNOWN = "Unknown"


EXTRAS_KEY = "(unknown keys)"
"""Key of `extras` while a value is converted. It never reaches a file."""


class _Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Fields with a default are those that the file leaves out where they say nothing."""

    extras: dict[str, Any] = msgspec.field(default_factory=dict, name=EXTRAS_KEY)
    """Keys of the file that this version does not know, as they stand."""


class RequirementLink(_Value, frozen=True, kw_only=True, gc=False):
    """Stored with the requirement it starts from."""

    kind: LinkKind
    target: str


class HistoryEntry(_Value, frozen=True, kw_only=True, gc=False):
    at: str
    actor: str
    actor_kind: ActorKind
    action: str
    reason: str | None


class TestRecord(_Value, frozen=True, kw_only=True, gc=False):
    """Evidence. The last of a requirement's records is the one that counts."""

    __test__ = False  # keeps pytest from collecting the class itself

    at: str
    actor: str
    commit: str
    outcome: RecordedOutcome
    notes: str
    kind: EvidenceKind
    content_hash: str | None = None
    linked_files: tuple[str, ...] | None = None
    sil_gate_exception: bool = False


class Requirement(_Value, frozen=True, kw_only=True):
    id: str
    title: str
    statement: str
    rationale: str
    acceptance: tuple[str, ...]
    kind: RequirementKind
    priority: Priority
    status: Status
    tags: tuple[str, ...]
    links: tuple[RequirementLink, ...]
    created: str
    updated: str
    history: tuple[HistoryEntry, ...]
    tests: tuple[TestRecord, ...]
    validation: Mapping[str, Any] | None = None
    """The dossier that later versions of the format keep, as it stands."""

    def targets(self, kind: LinkKind) -> tuple[str, ...]:
        return tuple(link.target for link in self.links if link.kind is kind)

    @property
    def is_defective(self) -> bool:
        """Called verified although the last evidence says otherwise."""
        return self.status is Status.VERIFIED and bool(self.tests) and self.tests[-1].outcome is RecordedOutcome.FAIL


class RegisterLayout(StrEnum):
    SINGLE = "single"
    DIRECTORY = "directory"


Artefacts = Mapping[str, Mapping[str, Any]]


class Register(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    created: str
    updated: str
    next_id: int
    requirements: Mapping[str, Requirement]
    purpose: str | None = None
    config: Mapping[str, Any] | None = None
    schema_rev: int | None = None
    hazards: Artefacts = msgspec.field(default_factory=dict)
    safety_functions: Artefacts = msgspec.field(default_factory=dict)
    safety_requirements: Artefacts = msgspec.field(default_factory=dict)
    """Safety artefacts are kept as they stand; the validator reads them, no tool of the register changes them."""
    next_haz_id: int = 1
    next_sf_id: int = 1
    next_sr_id: int = 1
    layout: RegisterLayout = RegisterLayout.SINGLE
    format_tag: str = "req-v3"
    """Of the file it was read from; a file is always written in the format of today."""
    notice: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """The file's notice for people who open it, as found there; empty if it has none."""
    history: tuple[HistoryEntry, ...] = ()
    """History of the register as a whole, such as the removal of a requirement."""
    extras: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """Keys of the file that this version does not know, as they stand."""


AnyWord = TypeVar("AnyWord", bound=Spelling)

LINK_KINDS = (LinkKind.PARENT, LinkKind.DEPENDS_ON, LinkKind.CONFLICTS, LinkKind.REFINES, LinkKind.VERIFIES)
"""The kinds that lead from requirement to requirement; the others belong to the safety case."""


def parse_word(written: str, type_: type[AnyWord], what: str, allowed: Sequence[AnyWord] | None = None) -> AnyWord:
    """The value that `depends_on`, `depends-on` or `DependsOn` names."""
    options = {option.value.lower(): option for option in allowed or tuple(type_)}
    found = options.get(written.strip().lower().replace("-", "").replace("_", ""))
    if found is not None:
        return found
    from difflib import get_close_matches  # only for what is misspelled

    words = [option.word for option in options.values()]
    close = get_close_matches(written.strip().lower()[:40], words, n=1)
    suggestion = f"Did you mean '{close[0]}'? " if close else ""
    raise InvalidArgument(
        f"Unknown {what}: '{shortened(written)}'.",
        hint=f"{suggestion}{what.capitalize()} is one of {', '.join(words)}.",
    )
