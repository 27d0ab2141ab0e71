"""The transitions of a requirement's status, and the conditions under which it may be verified.

All other transitions need a person's decision: force, with a reason. Files of schema revision 1 keep dossiers with a
requirement; Clew reads them and does not write them.
"""

from collections.abc import Mapping
from typing import Any

from clew.errors import Refused
from clew.formats.register.model import Register, Requirement, Status

_NATURAL = {
    Status.DRAFT: (Status.PROPOSED, Status.APPROVED),
    Status.PROPOSED: (Status.APPROVED,),
    Status.APPROVED: (Status.IMPLEMENTED,),
    Status.IMPLEMENTED: (Status.VERIFIED,),
    Status.VERIFIED: (),
    Status.OBSOLETE: (),
}

_DEFAULT_EXEMPT = ("validation-exempt",)


def next_moves(status: Status) -> tuple[Status, ...]:
    return _NATURAL[status] if status is Status.OBSOLETE else (*_NATURAL[status], Status.OBSOLETE)


def check_move(requirement: Requirement, to: Status, *, force: bool) -> None:
    now = requirement.status
    if force or to is now or to in next_moves(now):
        return
    moves = ", ".join(status.word for status in next_moves(now))
    way = (
        f"From {now.word} it may become {moves}. Go step by step, or" if moves else "To bring it back, add it again or"
    )
    raise Refused(
        f"{requirement.id} is {now.word} and cannot become {to.word}{' in one step' if moves else ''}.",
        hint=f"{way} pass force=true with a reason.",
    )


def check_promotion(requirement: Requirement, *, force: bool) -> bool:
    """True if evidence may promote the requirement now. False for one that is verified or obsolete already; raises
    Refused for one that is not implemented yet."""
    if requirement.status in (Status.VERIFIED, Status.OBSOLETE):
        return False
    if requirement.status is not Status.IMPLEMENTED and not force:
        raise Refused(
            f"{requirement.id} is {requirement.status.word}; only implemented requirements are promoted to verified.",
            hint="Move it to implemented first, record the evidence without promote, or pass force=true.",
        )
    return True


def has_genuine_dossier(dossier: Any) -> bool:
    """True for a dossier that was concluded with a pass; an exemption does not count."""
    return isinstance(dossier, Mapping) and dossier.get("verdict") == "Pass" and not dossier.get("exempt")


def has_human_confirmation(dossier: Any) -> bool:
    return isinstance(dossier, Mapping) and bool(dossier.get("human_confirmation"))


def may_be_verified(requirement: Requirement, register: Register) -> bool:
    """Files of the revisions that know dossiers ask for one that passed, an exemption, or an exempting tag."""
    if not register.schema_rev:
        return True
    dossier = requirement.validation
    if isinstance(dossier, Mapping) and (dossier.get("exempt") or dossier.get("verdict") == "Pass"):
        return True
    return any(tag in _exempt_tags(register) for tag in requirement.tags)


def _exempt_tags(register: Register) -> tuple[str, ...]:
    validation = (register.config or {}).get("validation")
    tags = validation.get("exempt_tags") if isinstance(validation, Mapping) else None
    return tuple(tags) if isinstance(tags, list) else _DEFAULT_EXEMPT
