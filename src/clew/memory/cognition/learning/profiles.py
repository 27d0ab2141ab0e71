"""Weights for the thirteen spaces that people and feedback make: profiles of tasks, and the synergy of pairs."""

import math
import uuid
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import InvalidArgument, NotFound
from clew.memory.cognition.compare import Comparer
from clew.memory.cognition.learning.requests import ProfileRequest, SynergyFeedback, UpdateScope
from clew.memory.cognition.records import CognitionRecords
from clew.memory.model import LONGEST_NAME
from clew.memory.navigation.spaces import SPACES
from clew.memory.texts.admit import check_text
from clew.memory.texts.scrub import scrub
from clew.text.display import shortened

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

_PROFILE = "profile "
_SYNERGY = "synergy"
_WEAK, _MODERATE = 0.3, 0.6
_MOST_PROFILES = 200
GROUPS: dict[str, tuple[str, ...]] = {
    "factual": ("E1", "E6", "E12", "E13"),
    "temporal": ("E2", "E3", "E4"),
    "causal": ("E5",),
    "relational": ("E8", "E11"),
    "qualitative": ("E9", "E10"),
    "implementation": ("E7",),
}
"""Spaces that look at the same side of a memory; their synergy begins as moderate."""
_SHOWN = 20


class WeightProfile(msgspec.Struct, frozen=True, kw_only=True):
    profile_id: str
    name: str
    task_type: str = "custom"
    embedder_weights: tuple[float, ...] = (1.0,) * len(SPACES)
    group_priorities: dict[str, float] = {}
    fusion_strategy: str = "hierarchical"


class Profiles(msgspec.Struct, frozen=True, kw_only=True):
    action: str
    profile: WeightProfile | None
    profiles: tuple[WeightProfile, ...]
    count: int
    reversal_hash: str | None = None
    truncated: bool = False


class SynergyUpdate(msgspec.Struct, frozen=True, kw_only=True):
    pairs_updated: tuple[dict[str, Any], ...]
    count: int
    events_processed: int
    learning_triggered: bool
    matrix: tuple[tuple[float, ...], ...]
    """Thirteen rows: symmetric, 1 on the diagonal, 0 to 1 elsewhere."""
    reversal_hash: str | None = None
    truncated: bool = False


def profile(view: "MemoryView", id: str) -> WeightProfile:
    found = CognitionRecords(view).get(f"{_PROFILE}{id}", WeightProfile) if len(id) <= 80 else None
    if found is None:
        raise NotFound(
            f"There is no profile '{shortened(id)}'.", hint="manage_teleological_profile with action list gives ids."
        )
    return found


def manage(view: "MemoryView", asked: ProfileRequest) -> Profiles:
    """Create, read, change, delete or list profiles; `given` are the fields that were passed."""
    if asked.action == "list":
        found = tuple(CognitionRecords(view).below(_PROFILE, WeightProfile).values())
        return Profiles(action=asked.action, profile=None, profiles=found, count=len(found))
    if asked.action == "create":
        return _create(view, asked.given)
    if asked.profile_id is None:
        raise InvalidArgument(
            f"The argument 'profile_id' is missing; '{asked.action}' needs it.", hint="Action list gives ids."
        )
    own = profile(view, asked.profile_id)
    hash = None
    if asked.action == "update":
        own = _checked(msgspec.structs.replace(own, **asked.given))
        hash = _write(view, own.profile_id, own, "changed")
    elif asked.action == "delete":
        hash = _write(view, own.profile_id, None, "deleted")
    return Profiles(action=asked.action, profile=own, profiles=(), count=1, reversal_hash=hash)


def _create(view: "MemoryView", given: Mapping[str, Any]) -> Profiles:
    if "name" not in given:
        raise InvalidArgument("The argument 'name' is missing; 'create' needs it.", hint="Name the profile.")
    if len(CognitionRecords(view).below(_PROFILE, WeightProfile)) >= _MOST_PROFILES:
        raise InvalidArgument(f"There are {_MOST_PROFILES} profiles already.", hint="Delete one first.")
    made = _checked(WeightProfile(profile_id=f"profile-{uuid.uuid4().hex[:12]}", **given))
    hash = _write(view, made.profile_id, made, "created")
    return Profiles(action="create", profile=made, profiles=(), count=1, reversal_hash=hash)


def _write(view: "MemoryView", id: str, value: WeightProfile | None, how: str) -> str:
    record = f"{_PROFILE}{id}"
    return CognitionRecords(view).update(
        record, WeightProfile, lambda _: value, "manage_teleological_profile", f"profile {id} {how}"
    )


def _checked(made: WeightProfile) -> WeightProfile:
    name = scrub(check_text("name", made.name, LONGEST_NAME)).text
    numbers = (*made.embedder_weights, *made.group_priorities.values())
    if len(made.embedder_weights) != len(SPACES) or any(not math.isfinite(n) or not 0 <= n <= 1 for n in numbers):
        raise InvalidArgument(
            f"'embedder_weights' has {len(made.embedder_weights)} numbers; {len(SPACES)} from 0 to 1 are allowed, and"
            " priorities from 0 to 1.",
            hint="Give one for each space, E1 to E13.",
        )
    if unknown := set(made.group_priorities) - set(GROUPS):
        raise InvalidArgument(
            f"'group_priorities' has no group '{shortened(sorted(unknown)[0])}'.", hint=f"Groups: {', '.join(GROUPS)}."
        )
    return msgspec.structs.replace(made, name=name)


def synergy(view: "MemoryView") -> dict[tuple[int, int], float]:
    """The synergy of each pair of spaces, the smaller index first."""
    kept = CognitionRecords(view).get(_SYNERGY, tuple[float, ...])
    pairs = list(combinations(range(len(SPACES)), 2))
    if kept is not None:
        return dict(zip(pairs, kept, strict=True))
    return {(i, j): _MODERATE if _are_alike(SPACES[i].id, SPACES[j].id) else _WEAK for i, j in pairs}


def _are_alike(one: str, other: str) -> bool:
    return any(one in group and other in group for group in GROUPS.values())


def has_feedback(view: "MemoryView") -> bool:
    return CognitionRecords(view).get(_SYNERGY, tuple[float, ...]) is not None


def matrix_of(table: Mapping[tuple[int, int], float]) -> tuple[tuple[float, ...], ...]:
    size = range(len(SPACES))
    return tuple(tuple(1.0 if i == j else round(table[min(i, j), max(i, j)], 6) for j in size) for i in size)


def update_synergy(view: "MemoryView", asked: SynergyFeedback) -> SynergyUpdate:
    """Move pairs of spaces that both say something about two memories: up where the result was relevant."""
    one, other = view.library.get(asked.query_vector_id), view.library.get(asked.result_vector_id)
    if one.id == other.id:
        raise InvalidArgument("'query_vector_id' and 'result_vector_id' are the same memory.", hint="Name two.")
    values = Comparer(view, [one, other]).values(one, other)
    table = synergy(view)
    amount = {"relevant": 1.0, "not_relevant": -1.0, "partially_relevant": 0.5}[asked.feedback]
    step = asked.learning_rate * amount * (1.0 if asked.relevance_score is None else asked.relevance_score)
    chosen = [pair for pair in table if _is_meant(pair, asked.update_scope, values, table)]
    new = {pair: min(max(value + step, 0.0), 1.0) if pair in chosen else value for pair, value in table.items()}
    moved = [pair for pair in chosen if new[pair] != table[pair]]
    hash = None
    if moved:
        stored = tuple(round(value, 6) for value in new.values())
        hash = CognitionRecords(view).update(
            _SYNERGY,
            tuple[float, ...],
            lambda _: stored,
            "update_synergy_matrix",
            f"{asked.feedback}: {len(moved)} pairs",
        )
    return SynergyUpdate(
        pairs_updated=tuple(
            {"i": SPACES[i].id, "j": SPACES[j].id, "old": round(table[i, j], 6), "new": round(new[i, j], 6)}
            for i, j in moved[:_SHOWN]
        ),
        count=len(moved),
        events_processed=1,
        learning_triggered=bool(moved),
        matrix=matrix_of(new),
        reversal_hash=hash,
        truncated=len(moved) > _SHOWN,
    )


def _is_meant(
    pair: tuple[int, int], scope: UpdateScope, values: Sequence[float | None], table: Mapping[tuple[int, int], float]
) -> bool:
    if scope == "all_pairs":
        return True
    if scope == "high_synergy_only":
        return table[pair] >= _MODERATE
    return bool(values[pair[0]]) and bool(values[pair[1]])
