"""Which moves in a requirement's life are natural. All others need a person's will: force, with a reason."""

from clew.errors import Refused
from clew.formats.register.model import Requirement, Status

_NATURAL = {
    Status.DRAFT: (Status.PROPOSED, Status.APPROVED),
    Status.PROPOSED: (Status.APPROVED,),
    Status.APPROVED: (Status.IMPLEMENTED,),
    Status.IMPLEMENTED: (Status.VERIFIED,),
    Status.VERIFIED: (),
    Status.OBSOLETE: (),
}


def next_moves(status: Status) -> tuple[Status, ...]:
    return _NATURAL[status] if status is Status.OBSOLETE else (*_NATURAL[status], Status.OBSOLETE)


def check_move(requirement: Requirement, to: Status, *, force: bool) -> None:
    now = requirement.status
    if force or to is now or to in next_moves(now):
        return
    moves = ", ".join(status.word for status in next_moves(now))
    way = f"From {now.word} it may become {moves}. Go step by step, or" if moves else "To bring it back, add it anew or"
    raise Refused(
        f"{requirement.id} is {now.word} and cannot become {to.word}{' in one step' if moves else ''}.",
        hint=f"{way} pass force=true with a reason.",
    )


def check_promotion(requirement: Requirement, *, force: bool) -> bool:
    """Whether evidence may promote the requirement now. False for one that is verified or obsolete already; Refused for
    one that is not implemented yet."""
    if requirement.status in (Status.VERIFIED, Status.OBSOLETE):
        return False
    if requirement.status is not Status.IMPLEMENTED and not force:
        raise Refused(
            f"{requirement.id} is {requirement.status.word}; only implemented requirements are promoted to verified.",
            hint="Move it to implemented first, record the evidence without promote, or pass force=true.",
        )
    return True
