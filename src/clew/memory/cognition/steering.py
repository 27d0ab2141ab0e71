"""Steering: whether the memory is well kept, or whether a text would be worth remembering."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from clew.memory.cognition.learning.learner import accuracy_of
from clew.memory.cognition.learning.observations import observed
from clew.memory.cognition.records import INSUFFICIENT, SampledAnswer
from clew.memory.judging.verdict import judge
from clew.memory.model import LONGEST_TEXT, Memory, MemoryLinkKind
from clew.memory.places import Places
from clew.memory.scope import MemoryFilters
from clew.memory.texts.admit import check_text
from clew.memory.writing.reward import reward
from clew.text.keywords import overlap

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

_SAMPLE = 200
_LINKED_FROM = 0.7
_URGENT = -0.5


class SteeringReward(msgspec.Struct, frozen=True, kw_only=True):
    value: float | None
    """The mean of the scores that could be computed, from -1 to 1."""
    gardener_score: float | None
    curator_score: float | None
    assessor_score: float | None
    dominant_factor: str | None
    limiting_factor: str | None


class Steering(SampledAnswer, frozen=True, kw_only=True):
    reward: SteeringReward
    details: dict[str, Any]
    summary: str
    needs_immediate_attention: bool
    priority_improvement: str | None
    suggestions: tuple[str, ...]
    neuromodulation: dict[str, Any]
    candidate: dict[str, Any] | None = None
    """The reward that the text would get if it were stored now."""


def feedback(view: "MemoryView", content: str | None, domain: str | None) -> Steering:
    index, viewer = view.library.index, view.viewer
    rows = index.latest(viewer, MemoryFilters(domain=domain), _SAMPLE)
    linked = _linked(view, [row.id for row in rows])
    rated = [row.confidence for row in rows if row.confidence is not None]
    accuracy, outcomes = accuracy_of(view, domain)
    known = observed(view).outcomes(domain)
    efficiency = sum(each.actual >= 0.5 for each in known) / len(known) if accuracy is not None else None
    scores = {
        "gardener": _score(linked / len(rows)) if rows else None,
        "curator": _score(sum(rated) / len(rated)) if rated else None,
        "assessor": _score((accuracy + efficiency) / 2) if accuracy is not None and efficiency is not None else None,
    }
    measured = {name: value for name, value in scores.items() if value is not None}
    value = round(sum(measured.values()) / len(measured), 4) if measured else None
    worst = min(measured, key=lambda name: measured[name], default=None)
    candidate = _candidate(view, content) if content is not None else None
    return Steering(
        sufficient_data=bool(measured),
        samples=len(rows) + outcomes,
        note=_NOTE if measured else f"{INSUFFICIENT}: nothing is remembered yet.",
        reward=SteeringReward(
            value=value,
            gardener_score=scores["gardener"],
            curator_score=scores["curator"],
            assessor_score=scores["assessor"],
            dominant_factor=max(measured, key=lambda name: abs(measured[name]), default=None),
            limiting_factor=worst,
        ),
        details={
            "gardener": {"linked": linked, "memories": len(rows)},
            "curator": {"with_confidence": len(rated), "memories": len(rows)},
            "assessor": {"accuracy": accuracy, "share_used": efficiency, "outcomes": outcomes},
        },
        summary=", ".join(f"{name} {score:+.2f}" for name, score in measured.items()) or INSUFFICIENT,
        needs_immediate_attention=any(score < _URGENT for score in measured.values()),
        priority_improvement=_ADVICE[worst] if worst is not None else None,
        suggestions=tuple(_ADVICE[name] for name, score in measured.items() if score < 0),
        neuromodulation={"propagated": False, "da_delta": _dopamine(candidate)},
        candidate=candidate,
    )


_NOTE = (
    "Gardener: share of memories with links. Curator: mean confidence. Assessor: foresight and use of shown memories."
)
_ADVICE = {
    "gardener": "Link memories: say what they are about, or use annotate_node with related_concepts.",
    "curator": "Check doubtful memories with critique_context, check_types low_confidence.",
    "assessor": "Shown memories are seldom used: narrow queries, and forget what is never used.",
}


def _linked(view: "MemoryView", ids: Sequence[str]) -> int:
    """The number of memories with a link or a citation. Coming after another one in a session is no link."""
    links = view.library.index.links(ids, cites=True)
    return len(
        {end for link in links if link.kind is not MemoryLinkKind.NEXT for end in (link.source, link.target)} & {*ids}
    )


def _score(share: float) -> float:
    return round(2 * share - 1, 4)


def _dopamine(candidate: dict[str, Any] | None) -> float | None:
    """By what storing the candidate would change dopamine; asking changes nothing."""
    if candidate is None:
        return None
    value = float(candidate["value"])
    return round(value * 0.2 if value > 0 else value * 0.1, 4)


def _said_already(memories: Iterable[Memory], cosines: Mapping[str, float | None], text: str) -> str | None:
    """A memory that says the same as a text."""
    return next((each.id for each in memories if judge(each.text, text, cosines[each.id]).kind == "same"), None)


def _candidate(view: "MemoryView", content: str) -> dict[str, Any]:
    text = check_text("content", content, LONGEST_TEXT)
    known = view.library.index.with_text(text, view.viewer)
    ranked, _ = view.units.alike(text, view.viewer)
    memories = view.library.get_many([each.id for each in ranked[:20]])
    alike = [
        each.dense if each.dense is not None else overlap(memories[each.id].text, text)
        for each in ranked
        if each.id in memories
    ]
    cites = Places(view.service.context, view.service.home.inside).mentioned(text)
    made = reward(
        nearest=1.0 if known else max(alike, default=None),
        links=sum(value >= _LINKED_FROM for value in alike),
        cites=len(cites),
        confidence=None,
        memories=view.library.index.count(view.viewer),
        duplicate=known or _said_already(memories.values(), {each.id: each.dense for each in ranked}, text),
    )
    data: dict[str, Any] = msgspec.to_builtins(made)
    return data
