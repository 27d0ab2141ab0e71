"""Looking into the memory: suspicious texts, how well known questions are answered, what each space finds."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Literal

import msgspec

from clew.errors import InvalidArgument
from clew.memory.cognition.agreement import as_memory
from clew.memory.cognition.dreams.recall_check import save_question
from clew.memory.judging.causes import causes_in
from clew.memory.model import LONGEST_QUERY, LONGEST_TEXT, Memory
from clew.memory.navigation.spaces import SPACES, PairContext
from clew.memory.storage.library import normal_id
from clew.memory.texts.admit import check_text
from clew.text.instruction_like import matches
from clew.text.keywords import overlap

if TYPE_CHECKING:
    from clew.memory.service import MemoryView
    from clew.memory.storage.units import RankedMemory

AdversarialCheck = Literal["embedding_outlier", "content_misalign", "prompt_injection", "circular_logic"]
_ENOUGH = 20
_FAR = 3.0
_SAME_CLAIM = 0.8


class AttackSign(msgspec.Struct, frozen=True, kw_only=True):
    check: str
    detected: bool
    score: float | None
    """Null where there is too little to tell."""
    evidence: tuple[str, ...]
    action: Literal["block", "quarantine", "none"]


class Adversarial(msgspec.Struct, frozen=True, kw_only=True):
    safe: bool
    findings: tuple[AttackSign, ...]
    note: str


class RecallAccuracy(msgspec.Struct, frozen=True, kw_only=True):
    precision: float
    recall: float
    f1: float
    mrr: float
    missing_expected: tuple[str, ...]
    unexpected_results: tuple[str, ...]
    ranks: dict[str, int]
    """Rank of each expected memory, from 1."""
    truncated: bool = False


class SpaceHit(msgspec.Struct, frozen=True):
    node_id: str
    title: str
    score: float


class SpaceComparison(msgspec.Struct, frozen=True, kw_only=True):
    spaces: dict[str, tuple[SpaceHit, ...]]
    absent_spaces: tuple[str, ...]
    overlap: dict[str, float]
    """For each two spaces, the share of their results that both have."""
    unique: dict[str, tuple[str, ...]]
    fused: tuple[SpaceHit, ...]
    truncated: bool = False

    def first(self, count: int) -> "SpaceComparison":
        """The same with at most so many of each list."""
        lists = (*self.spaces.values(), *self.unique.values(), self.fused)
        return SpaceComparison(
            spaces={space: hits[:count] for space, hits in self.spaces.items()},
            absent_spaces=self.absent_spaces,
            overlap=self.overlap,
            unique={space: ids[:count] for space, ids in self.unique.items()},
            fused=self.fused[:count],
            truncated=any(len(each) > count for each in lists),
        )


def check_adversarial(view: "MemoryView", content: str, checks: Collection[AdversarialCheck]) -> Adversarial:
    text = check_text("content", content, LONGEST_TEXT)
    run = {
        "prompt_injection": lambda: _injection(text),
        "embedding_outlier": lambda: _outlier(view, text),
        "content_misalign": lambda: _misaligned(view, text),
        "circular_logic": lambda: _circular(text),
    }
    findings = tuple(run[check]() for check in dict.fromkeys(checks))
    return Adversarial(
        safe=not any(finding.detected for finding in findings),
        findings=findings,
        note="A list of phrasings finds the usual attacks and no others. Recalled text is always marked as data.",
    )


def _injection(text: str) -> AttackSign:
    found = matches(text)
    return AttackSign(
        check="prompt_injection",
        detected=bool(found),
        score=1.0 if found else 0.0,
        evidence=tuple(f"{start}-{end}: {text[start:end][:120]}" for start, end in found[:5]),
        action="quarantine" if found else "none",
    )


def _outlier(view: "MemoryView", text: str) -> AttackSign:
    """True if the text is further from all memories than these are from each other."""
    others = [memory.text for memory, _ in view.library.latest(50)]
    vectors = view.units.vectors([text, *others]) if len(others) >= _ENOUGH else None
    if vectors is None:
        return _undecided("embedding_outlier", f"fewer than {_ENOUGH} memories, or no encoder, to compare with")
    nearest = [
        max(float(vectors[at] @ vectors[other]) for other in range(1, len(vectors)) if other != at)
        for at in range(len(vectors))
    ]
    mean, spread = fmean(nearest[1:]), pstdev(nearest[1:]) or 1e-6
    distance = (mean - nearest[0]) / spread
    return AttackSign(
        check="embedding_outlier",
        detected=distance > _FAR,
        score=round(distance, 3),
        evidence=(f"{distance:.1f} standard deviations from {len(others)} memories",),
        action="quarantine" if distance > _FAR else "none",
    )


def _misaligned(view: "MemoryView", text: str) -> AttackSign:
    """True if the end of a text has another subject than its beginning, as smuggled text has."""
    half = len(text) // 2
    vectors = view.units.vectors([text[:half], text[half:]]) if len(text) >= 200 else None
    if vectors is None:
        return _undecided("content_misalign", "the text is too short, or there is no encoder")
    cosine = float(vectors[0] @ vectors[1])
    return AttackSign(
        check="content_misalign",
        detected=cosine < 0.0,
        score=round(cosine, 3),
        evidence=(f"the similarity of its two halves is {cosine:.2f}",),
        action="quarantine" if cosine < 0.0 else "none",
    )


def _circular(text: str) -> AttackSign:
    """Claims that rest on each other: a circle of stated causes, of two steps or more."""
    # Claims in a row are claims for themselves: `A because B, B because A`.
    causes = causes_in(text.replace(",", "."))
    follows = {
        one: [at for at, other in enumerate(causes) if at != one and _is_claimed(causes[one].effect, other.cause)]
        for one in range(len(causes))
    }
    circle = next((path for start in follows if (path := _circle(follows, start))), ())
    return AttackSign(
        check="circular_logic",
        detected=bool(circle),
        score=1.0 if circle else 0.0,
        evidence=(" → ".join([causes[circle[0]].cause, *(causes[at].effect for at in circle)]),) if circle else (),
        action="quarantine" if circle else "none",
    )


def _is_claimed(effect: str, cause: str) -> bool:
    return overlap(effect, cause) >= _SAME_CLAIM


def _circle(follows: Mapping[int, Sequence[int]], start: int) -> tuple[int, ...]:
    """The shortest way from a claim back to itself."""
    ways: list[tuple[int, ...]] = [(start,)]
    met = {start}
    for way in ways:
        for after in follows[way[-1]]:
            if after == start and len(way) > 1:
                return way
            if after not in met:
                met.add(after)
                ways.append((*way, after))
    return ()


def _undecided(check: str, why: str) -> AttackSign:
    return AttackSign(check=check, detected=False, score=None, evidence=(f"Insufficient data: {why}.",), action="none")


def recall_accuracy(view: "MemoryView", query: str, expected: Sequence[str], top_k: int) -> RecallAccuracy:
    query = check_text("query", query, LONGEST_QUERY)
    wanted = list(dict.fromkeys(view.library.get(normal_id(id)).id for id in expected))
    if not wanted:
        raise InvalidArgument("'expected_node_ids' is empty.", hint="Name the memories that the query should find.")
    save_question(view, query, tuple(wanted))
    ranked, _ = view.recall.rank(query, top_k)
    found = [each.memory.id for each in ranked]
    hits = [id for id in wanted if id in found]
    precision = len(hits) / len(found) if found else 0.0
    recall = len(hits) / len(wanted)
    ranks = {id: found.index(id) + 1 for id in hits}
    return RecallAccuracy(
        precision=round(precision, 4),
        recall=round(recall, 4),
        f1=round(2 * precision * recall / (precision + recall), 4) if hits else 0.0,
        mrr=round(1 / min(ranks.values()), 4) if ranks else 0.0,
        missing_expected=tuple(id for id in wanted if id not in found),
        unexpected_results=tuple(id for id in found if id not in wanted),
        ranks=ranks,
    )


def compare_retrieval(view: "MemoryView", query: str, spaces: Sequence[str], top_k: int) -> SpaceComparison:
    """The results of each space for a query, and their agreement."""
    query = check_text("query", query, LONGEST_QUERY)
    ranked, _ = view.units.rank(query, view.viewer)
    memories = view.library.get_many(each.id for each in ranked)
    candidates = [(memories[each.id], each) for each in ranked if each.id in memories]
    asked = as_memory(query, view.changes.now())
    best = max((found.lexical or 0.0 for _, found in candidates), default=0.0)
    lists: dict[str, tuple[SpaceHit, ...] | None] = {}
    for id in dict.fromkeys(spaces):
        lists[id] = _in_space(id, asked, candidates, best, top_k)
    present = {id: {hit.node_id for hit in hits} for id, hits in lists.items() if hits is not None}
    return SpaceComparison(
        spaces={id: hits or () for id, hits in lists.items()},
        absent_spaces=tuple(id for id in lists if id not in present),
        overlap={
            f"{one}-{other}": round(len(present[one] & present[other]) / (len(present[one] | present[other]) or 1), 3)
            for one, other in combinations(present, 2)
        },
        unique={
            id: tuple(sorted(own - set().union(*(ids for other, ids in present.items() if other != id))))
            for id, own in present.items()
        },
        fused=tuple(SpaceHit(memory.id, memory.title, round(found.score, 4)) for memory, found in candidates[:top_k]),
    )


def _in_space(
    id: str, asked: Memory, candidates: "Sequence[tuple[Memory, RankedMemory]]", best: float, top_k: int
) -> tuple[SpaceHit, ...] | None:
    """The results of one space; None if it says nothing about any of the candidates."""
    space = next(each for each in SPACES if each.id == id)
    nobody: frozenset[str] = frozenset()
    scored: list[SpaceHit] = []
    for memory, found in candidates:
        lexical = None if found.lexical is None or not best else found.lexical / best
        value = space.compare(asked, memory, PairContext(found.dense, lexical, nobody, nobody))
        if value is not None:
            scored.append(SpaceHit(memory.id, memory.title, round(value, 4)))
    if not scored:
        return None
    return tuple(sorted((hit for hit in scored if hit.score > 0), key=lambda hit: -hit.score)[:top_k])
