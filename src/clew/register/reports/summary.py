"""The next steps for the requirements that a change touches, in a few lines."""

from collections.abc import Iterable

from clew.formats.register.ids import in_order
from clew.formats.register.model import RecordedOutcome, Register, Requirement, Status
from clew.text.display import counted

MOST, SHOWN = 5, 3

_NEXT = {
    Status.DRAFT: "clew req update {id} --status approved --reason ...",
    Status.PROPOSED: "clew req update {id} --status approved --reason ...",
    Status.APPROVED: "clew req update {id} --status implemented --reason ...",
    Status.IMPLEMENTED: "clew req verify {id} --by inspection --notes ... --promote",
    Status.OBSOLETE: "take its marker out of the code: it is obsolete",
}


def summary(touched: Iterable[str], removed: Iterable[str], register: Register) -> str:
    """A line for each requirement that changed or that a changed file names. Of many only the first few are named."""
    ids = in_order(set(touched))
    lines = [f"{id} was removed from the register: see that nothing names it any more" for id in removed]
    lines += [_line(requirement) for id in ids if (requirement := register.requirements.get(id)) is not None]
    if not lines:
        return "No requirement is touched."
    if len(lines) > MOST:
        lines = [*lines[:SHOWN], f"and {counted(len(lines) - SHOWN, 'more requirement')}"]
    return "\n".join(lines)


def _line(requirement: Requirement) -> str:
    return f"{requirement.id} ({requirement.status.word}) {requirement.title}: {_next(requirement)}"


def _next(requirement: Requirement) -> str:
    if requirement.status is not Status.VERIFIED:
        return _NEXT[requirement.status].format(id=requirement.id)
    if requirement.tests and requirement.tests[-1].outcome is RecordedOutcome.FAIL:
        return f"its last evidence failed: clew req test record {requirement.id} --result pass, once it passes"
    return f"clew req stale says whether its evidence still holds; clew req test record {requirement.id} renews it"
