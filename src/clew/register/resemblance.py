"""What a new requirement resembles: said when it is added, while it is easy to take back."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from clew.formats.register.ids import sort_key
from clew.formats.register.model import Requirement, Status
from clew.register.validator_duplicates import THRESHOLD, compared, said, told
from clew.search.similar import similarity

RETIRED_DAYS = 60
"""How long a requirement that was retired is still worth a word."""


def resemblances(new: Requirement, others: Iterable[Requirement]) -> tuple[str, ...]:
    """A warning where a live requirement, or one retired not long ago, says much the same: the one that is nearest."""
    own = said(new)
    since = _earlier(new.created, RETIRED_DAYS)
    nearest = max(
        (
            (similarity(own, said(each)), each)
            for each in others
            if each.id != new.id and (each.status is not Status.OBSOLETE or _last_change(each) >= since)
        ),
        key=lambda scored: (scored[0], sort_key(scored[1].id)),
        default=None,
    )
    if nearest is None or nearest[0] < THRESHOLD:
        return ()
    score, other = nearest
    state = f", which was retired on {_last_change(other)[:10]}" if other.status is Status.OBSOLETE else ""
    return (f"[statement] It says {told(score)} the same as {other.id}{state}: {compared(new, other)}.",)


def _last_change(requirement: Requirement) -> str:
    return requirement.history[-1].at if requirement.history else requirement.updated


def _earlier(moment: str, days: int) -> str:
    """A moment some days before another, in a form that sorts with it."""
    then = datetime.fromisoformat(f"{moment[:19]}+00:00").astimezone(UTC) - timedelta(days=days)
    return then.strftime("%Y-%m-%dT%H:%M:%S")
