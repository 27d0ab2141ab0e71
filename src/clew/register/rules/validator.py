"""The validator: what is wrong with a requirement, and with a register as a whole."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from clew.errors import FormatError
from clew.formats.register.ids import sort_key
from clew.formats.register.model import Kind, LinkKind, Register, Requirement, Status
from clew.register.dossier import may_be_verified
from clew.register.rules.codes import Finding, finding
from clew.register.rules.links import check_cycles, check_targets
from clew.register.rules.prose import check_statement
from clew.register.rules.safety import as_requirement, check_safety
from clew.register.rules.safety_levels import is_live
from clew.text.counting import counted

if TYPE_CHECKING:
    from clew.register.rules.duplicates import DuplicateIndex

TITLE_LEAST, TITLE_MOST = 5, 120

Judge = Callable[[tuple[Requirement, ...]], Mapping[str, str]]
"""Takes requirements, returns objections by id."""


def validate_requirement(requirement: Requirement) -> list[Finding]:
    """What one requirement breaks on its own. Its errors block whatever would write it."""
    id = requirement.id
    found = [
        *_title(id, requirement.title),
        *check_statement(id, requirement.statement),
        *_rationale(id, requirement.rationale),
        *_acceptance(requirement),
    ]
    # Nobody rewords what is retired.
    return [each for each in found if each.is_error] if requirement.status is Status.OBSOLETE else found


def _title(id: str, given: str) -> Iterator[Finding]:
    title = given.strip()
    if not title:
        yield finding("0001", id, "The title is empty.")
    elif len(title) < TITLE_LEAST:
        yield finding(
            "0002", id, f"The title '{title}' has {counted(len(title), 'character')}; {TITLE_LEAST} are the least."
        )
    if len(title) > TITLE_MOST:
        yield finding("0003", id, f"The title has {len(title)} characters; {TITLE_MOST} are the most.")
    if title.endswith("."):
        yield finding("0004", id, "The title ends with a full stop.")


def _rationale(id: str, rationale: str) -> Iterator[Finding]:
    count = len(rationale.split())
    if count == 0:
        yield finding("0012", id, "The rationale is empty.")
    elif count < 3:
        yield finding("0013", id, f"The rationale '{rationale.strip()}' is too short to explain anything.")


def _acceptance(requirement: Requirement) -> Iterator[Finding]:
    if requirement.kind is Kind.FUNCTIONAL and not requirement.acceptance:
        yield finding("0014", requirement.id, "A functional requirement needs at least one acceptance criterion.")
    for number, criterion in enumerate(requirement.acceptance, start=1):
        if len(criterion.split()) < 3:
            yield finding("0015", requirement.id, f"Criterion {number} '{criterion.strip()}' says too little to test.")


def validate_register(
    register: Register, judge: Judge | None = None, duplicates: "DuplicateIndex | None" = None
) -> list[Finding]:
    """Everything that is wrong, sorted by id. To validate often, pass the same index of `duplicates` each time."""
    from clew.register.rules.duplicates import check_duplicates  # a single requirement is judged without

    found: list[Finding] = []
    for requirement in register.requirements.values():
        found.extend(validate_requirement(requirement))
        found.extend(_in_context(requirement, register))
    live = [each for each in register.requirements.values() if each.status is not Status.OBSOLETE]
    found.extend(check_duplicates(live, duplicates))
    found.extend(check_cycles(register.requirements))
    found.extend(check_safety(register))
    for id, artefact in register.safety_requirements.items():
        if is_live(artefact):
            found.extend(_safety_statement(id, artefact))
    if judge is not None:
        objections = judge(tuple(live))
        found.extend(finding("0023", id, objection) for id, objection in objections.items())
    return sorted(found, key=lambda each: (sort_key(each.id), each.rule_code))


def _safety_statement(id: str, artefact: Mapping[str, object]) -> list[Finding]:
    try:
        return validate_requirement(as_requirement(id, artefact))
    except FormatError:
        # Kept as it stands for whoever understands it.
        return []


def _in_context(requirement: Requirement, register: Register) -> Iterator[Finding]:
    """What a requirement breaks together with others, or with its own past."""
    id, status = requirement.id, requirement.status
    yield from check_targets(requirement, register.requirements)
    advanced = status in (Status.APPROVED, Status.IMPLEMENTED, Status.VERIFIED)
    if advanced and requirement.kind is Kind.FUNCTIONAL and not requirement.acceptance:
        yield finding("0018", id, f"It is {status.word}, but nothing says when it is met.")
    if status is Status.OBSOLETE:
        return
    done = status in (Status.IMPLEMENTED, Status.VERIFIED)
    if done and not requirement.tests and requirement.targets(LinkKind.VERIFIES):
        verified = ", ".join(requirement.targets(LinkKind.VERIFIES))
        yield finding("0019", id, f"It says that it verifies {verified}, but has no test record.")
    if requirement.is_defective:
        yield finding("0024", id, "It is verified, but its last test record failed.")
    if status is Status.VERIFIED and not may_be_verified(requirement, register):
        yield finding("0032", id, "It is verified without a dossier that passed.")
