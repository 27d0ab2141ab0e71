"""Pairs of engineering notes in ten projects' words: what the judge says of each, and which of them tools join.

The five projects of `memory_pairs_development.toml` are for making rules. The five of `memory_pairs_held_out.toml` only
measure: nobody looks at single errors on them, and `HELD_OUT_AS_WRITTEN` says that they are still what they were when
they were written, before the judge that they measure.
"""

import hashlib
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from clew.errors import ClewError
from clew.memory.curation.requests import MergeRequest, RestoreRequest
from clew.memory.judging.verdict import judge
from clew.memory.service import MemoryView
from clew.memory.writing.requests import Note
from clew.operation.call import Call
from clew.project import Project

LABELS = ("same", "says_more", "contradicts", "replaces", "other_thing", "unrelated")
HALVES = ("development", "held_out")
HELD_OUT_AS_WRITTEN = "5d26360adc3d02b39602132611bb716ab8ad169e72e8586639e0f604446b0bf6"
PRECISION, RECALL, PARAPHRASES, JOINED_WRONGLY = 0.90, 0.75, 0.80, 0
_WHY = "Needed to measure which memories are joined"
_KINDS = {"supersedes": "replaces"}


class LabelledPair(msgspec.Struct, frozen=True):
    project: str
    label: str
    old: str
    new: str


def read_pairs(half: str) -> list[LabelledPair]:
    told = tomllib.loads(_file(half).read_text(encoding="utf-8"))
    return [
        LabelledPair(project["name"], label, old, new)
        for project in told["project"]
        for label in LABELS
        for old, new in project[label]
    ]


def digest(half: str) -> str:
    return hashlib.sha256(_file(half).read_bytes()).hexdigest()


def _file(half: str) -> Path:
    return Path(__file__).with_name(f"memory_pairs_{half}.toml")


def report(*, misses: bool = False) -> None:
    """Print precision and recall of each class. `misses` prints the errors of the development half."""
    for half in HALVES:
        pairs = read_pairs(half)
        print(f"Judge on {len(pairs)} pairs of notes, {half.replace('_', ' ')}")
        said = [_KINDS.get(kind, kind) for kind in _judged(pairs)]
        _print_classes(pairs, said)
        joined = dict(_joined(pairs))
        for tool, places in joined.items():
            wrong = [pairs[at] for at in places if pairs[at].label not in ("same", "says_more")]
            verdict = "ok" if len(wrong) <= JOINED_WRONGLY else "MISSED"
            print(f"  {tool}: joins {len(places)}, wrongly {len(wrong)} (at most {JOINED_WRONGLY}) {verdict}")
        if misses and half == "development":
            for pair, kind in zip(pairs, said, strict=True):
                if kind != pair.label:
                    print(f"    {pair.label} -> {kind}: {pair.old} | {pair.new}")


def _print_classes(pairs: Sequence[LabelledPair], said: Sequence[str]) -> None:
    limits = {
        ("contradicts", "precision"): PRECISION,
        ("contradicts", "recall"): RECALL,
        ("same", "recall"): PARAPHRASES,
    }
    for label in LABELS:
        hits = Counter(pair.label for pair, kind in zip(pairs, said, strict=True) if kind == label)
        total = sum(pair.label == label for pair in pairs)
        found, given = hits[label], hits.total()
        figures = {"precision": found / given if given else None, "recall": found / total}
        texts = [_figure(name, value, limits.get((label, name))) for name, value in figures.items()]
        print(f"  {label:<12} {'  '.join(texts)}  ({given} said, {total} true)")
    wrong = [
        pair
        for pair, kind in zip(pairs, said, strict=True)
        if kind == "same" and pair.label not in ("same", "says_more")
    ]
    print(f"  called the same and neither the same nor more: {len(wrong)} (at most {JOINED_WRONGLY})")


def _figure(name: str, value: float | None, limit: float | None) -> str:
    text = f"{name} {'-' if value is None else f'{value:.3f}'}"
    if limit is None:
        return text
    return f"{text} (at least {limit:g}) {'ok' if value is not None and value >= limit else 'MISSED'}"


def _judged(pairs: Sequence[LabelledPair]) -> list[str]:
    from clew.config import EmbedSettings
    from clew.search.embed.opening import open_embedder

    embedder = open_embedder(EmbedSettings())
    assert embedder is not None
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.old, pair.new)))
    vectors: dict[str, Any] = {}
    for start in range(0, len(texts), 128):
        some = texts[start : start + 128]
        vectors |= dict(zip(some, embedder.embed(some), strict=True))
    return [judge(pair.old, pair.new, float(vectors[pair.old] @ vectors[pair.new])).kind for pair in pairs]


def _joined(pairs: Sequence[LabelledPair]) -> Iterator[tuple[str, list[int]]]:
    """The places of the pairs that a tool joins when it is asked to, without force."""
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        root = Path(folder)
        (root / "clew.toml").write_text("[search]\nbackground = false\n", encoding="utf-8")
        project = Project.open(root)
        try:
            view = project.memory.view(Call(project, ()))
            ids = [tuple(_stored(view, text) for text in (pair.old, pair.new)) for pair in pairs]
            project.index.make_vectors(lambda done, total, message: None)
            yield "merge_concepts", [at for at, pair in enumerate(ids) if _merges(view, pair)]
            yield "consolidation", _consolidated(view, ids)
        finally:
            project.close()


def _stored(view: MemoryView, text: str) -> str:
    return view.store(Note(content=text, rationale=_WHY)).node_id


def _merges(view: MemoryView, ids: tuple[str, ...]) -> bool:
    try:
        merged = view.merger.merge(MergeRequest(source_node_ids=ids, target_name="Joined", rationale=_WHY))
    except ClewError:
        return False
    view.curator.restore(RestoreRequest(reversal_hash=merged.reversal_hash))
    return True


def _consolidated(view: MemoryView, ids: Sequence[tuple[str, ...]]) -> list[int]:
    from clew.memory.cognition.dreams.requests import ConsolidationRequest
    from clew.memory.cognition.dreams.upkeep import consolidate

    done = consolidate(view, ConsolidationRequest(max_memories=2_000, dry_run=False))
    joined = {frozenset(view.changes.get(merge["reversal_hash"]).details["sources"]) for merge in done.merges}
    return [at for at, pair in enumerate(ids) if frozenset(pair) in joined]
