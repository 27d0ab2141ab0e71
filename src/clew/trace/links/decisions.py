"""Decisions of people and agents about suggestions, stored with author and time.

A rejected pair is not suggested again while both texts stay what they were. When either changes, the question is open
again: the rejection was about another text.
"""

from collections.abc import Callable, Iterator

import msgspec

from clew.errors import NotFound, StoreError
from clew.graph.model import Node
from clew.store.interface import Damaged, Store
from clew.text.hashing import content_hash
from clew.trace.links.match.units import LinkUnit
from clew.trace.links.requests import Decision

COLLECTION = "link_decisions"

ACCEPT, REJECT, RECONSIDER = "accept", "reject", "reconsider"


class LinkDecision(msgspec.Struct, frozen=True):
    """One decision about one pair."""

    unit: str
    """Kind, path and name: lines move."""
    requirement: str
    decision: str
    texts: str
    """Names what both said at the time."""
    logit: float | None = None
    """The logarithm of the odds when the link was suggested; None if it was not suggested."""


class Decisions:
    def __init__(self, store: Callable[[], Store | None], left_out: Callable[[], Damaged]) -> None:
        """`store` is asked at each use, because a team's store may open later. `left_out` takes the errors of damaged
        records, which are skipped."""
        self._store = store
        self._left_out = left_out

    def record(
        self, unit: LinkUnit, requirement: Node, decision: Decision, *, actor: str, logit: float | None = None
    ) -> None:
        """Store a decision, with the odds of the link; `reconsider` deletes it."""
        store = self._store()
        if store is None:
            raise StoreError(
                "The decision cannot be remembered: the project's store cannot be used.",
                hint="`clew doctor` says what is wrong with it.",
            )
        id = _id(_name(unit), requirement.id)
        decided = LinkDecision(_name(unit), requirement.id, decision, _texts(unit, requirement), logit)
        with store.transaction(actor=actor, reason=f"{decision} a suggested link") as transaction:
            if decision != RECONSIDER:
                transaction.put(COLLECTION, id, msgspec.to_builtins(decided))
            elif transaction.get(COLLECTION, id) is not None:
                transaction.delete(COLLECTION, id)
            else:
                raise NotFound(
                    f"Nothing was decided about {unit.label} and {requirement.id}.",
                    hint="suggest_links shows what is open.",
                )

    def rejected(self) -> dict[tuple[str, str], str]:
        """The rejected pairs, each with the name of the texts it was rejected for."""
        return {(each.unit, each.requirement): each.texts for each in self._all() if each.decision == REJECT}

    def judged(self) -> list[tuple[float, bool]]:
        """The logarithm of the odds of each decided suggestion, and whether it was accepted."""
        return [(each.logit, each.decision == ACCEPT) for each in self._all() if each.logit is not None]

    def _all(self) -> Iterator[LinkDecision]:
        store = self._store()
        if store is not None:
            for record in store.scan(COLLECTION, damaged=self._left_out()):
                yield msgspec.convert(record.data, LinkDecision)

    def version(self) -> str:
        """Differs after every decision."""
        store = self._store()
        if store is None:
            return ""
        events = store.events(collection=COLLECTION)
        return str(events[-1].seq) if events else ""


def is_rejected(rejected: dict[tuple[str, str], str], unit: LinkUnit, requirement: Node) -> bool:
    texts = rejected.get((_name(unit), requirement.id))
    return texts is not None and texts == _texts(unit, requirement)


def _name(unit: LinkUnit) -> str:
    return f"{unit.kind}:{unit.path}::{unit.label}"


def _id(unit: str, requirement: str) -> str:
    return content_hash(f"{unit}\0{requirement}".encode("utf-8", "replace"))


def _texts(unit: LinkUnit, requirement: Node) -> str:
    said = f"{unit.text}\0{requirement.title}\0{requirement.get_field('body', '')}"
    return content_hash(said.encode("utf-8", "replace"))
