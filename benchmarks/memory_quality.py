"""How good the memory is: what it recalls, when it keeps still, what contradicts what, which texts it alters."""

import csv
import random
import re
import tempfile
import tomllib
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.workspace import REPOSITORY, run
from clew.memory.judging.verdict import judge
from clew.memory.model import LINKS, MEMORIES, Memory, MemoryKind, MemoryLinkKind, MemoryScope, Origin, linked
from clew.memory.recall.injection import inject
from clew.memory.service import MemoryView
from clew.memory.storage.changes import spelled
from clew.memory.texts.scrub import scrub
from clew.operation.call import Call
from clew.project import Project
from clew.search.eval.collection import Collection, Evaluation, read_collection

SEED = 15
RECALL, GAIN = 0.78, 0.08
OWN_KEPT, FOREIGN_INJECTED = 0.85, 0.05
PRECISION, RECALL_OF_CONTRADICTIONS, CONTRADICTING_DUPLICATES = 0.90, 0.80, 0.015
ALTERED = 0.001
HELD_OUT = ("locomo-2", "locomo-6")
"""The gate's threshold was chosen on the other conversations."""
PROJECT = Path(__file__).parent / "memory_project.toml"
_BUDGET = 300
_FOREIGN_OF_EACH = 40


def _line(name: str, value: float, limit: float, *, at_least: bool = True) -> None:
    fits = value >= limit if at_least else value <= limit
    print(f"  {name}: {value:.4f} ({'at least' if at_least else 'at most'} {limit:g}) {'ok' if fits else 'MISSED'}")


# Recall


def recall(data: Path) -> None:
    names = ("conversation", "default", "assistant")
    measures = ("recall@5", "recall@10", "recall@20")
    scores: dict[str, dict[str, list[float]]] = {name: {measure: [] for measure in measures} for name in names}
    for folder in _conversations(data):
        with tempfile.TemporaryDirectory(prefix="clew-bench-") as place:
            evaluation = Evaluation(Path(place), read_collection(folder))
            try:
                for name in names:
                    measured = evaluation.measure(name)
                    for measure in measures:
                        scores[name][measure] += measured.scores[measure]
            finally:
                evaluation.close()
    print(f"Recall of turns, {len(scores['default']['recall@10']):,} questions on conversations of LoCoMo")
    means = {name: {each: sum(own[each]) / len(own[each]) for each in measures} for name, own in scores.items()}
    for name, own in means.items():
        print(f"  {name:<13}" + "  ".join(f"{measure} {value:.4f}" for measure, value in own.items()))
    _line("conversation, recall@10", means["conversation"]["recall@10"], RECALL)
    _line("above default, recall@10", means["conversation"]["recall@10"] - means["default"]["recall@10"], GAIN)


def _conversations(data: Path) -> list[Path]:
    return sorted(path for path in (data / "memory").iterdir() if path.is_dir())


# Gate


def gate(data: Path) -> None:
    """Questions about the conversation are kept; a foreign prompt, about people it does not know, gets nothing.

    Two figures only inform. Several conversations have a John: a question about another one's is, for this memory, a
    question about its own. Where all names are exchanged, every question is of that kind."""
    collections = {folder.name: read_collection(folder) for folder in _conversations(data)}
    print("Gate: prompts for which memory is injected, on conversations of LoCoMo as memories")
    shares: dict[tuple[bool, str], list[bool]] = {}
    for name, collection in collections.items():
        with _remembered(_turns(collection)) as view:
            for kind, texts in _prompts(name, collections).items():
                shares.setdefault((name in HELD_OUT, kind), []).extend(_injects(view, text) for text in texts)
    for is_held_out, half in ((False, "half for tuning"), (True, "held out")):
        _line(f"own kept, {half}", _share(shares[is_held_out, "own"]), OWN_KEPT)
        _line(f"foreign injected, {half}", _share(shares[is_held_out, "foreign"]), FOREIGN_INJECTED, at_least=False)
        for kind, meaning in (("namesake", "about a namesake"), ("exchanged", "with the names exchanged")):
            print(f"  foreign {meaning}, {half}: {_share(shares[is_held_out, kind]):.4f}")
    _gate_of_a_project()


def _gate_of_a_project() -> None:
    """A short memory, as a project has it in its first weeks, and the prompts of its days."""
    told = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    with _remembered([(text, str(number)) for number, text in enumerate(told["memories"])]) as view:
        kept, injected = ([_injects(view, text) for text in told[kind]] for kind in ("own", "foreign"))
    print(f"Gate: the same with the {len(told['memories'])} memories of an invented project")
    _line(f"own kept, {len(kept)} prompts", _share(kept), OWN_KEPT)
    _line(f"foreign injected, {len(injected)} prompts", _share(injected), FOREIGN_INJECTED, at_least=False)


def _prompts(name: str, collections: dict[str, Collection]) -> dict[str, list[str]]:
    draw = random.Random(f"{SEED} {name}")
    others = [
        (query.text, other)
        for other in collections.values()
        if other is not collections[name]
        for query in draw.sample(other.queries, _FOREIGN_OF_EACH)
    ]
    known = re.compile(rf"\b(?:{'|'.join(map(re.escape, _speakers(collections[name])))})\b")
    return {
        "own": [query.text for query in collections[name].queries],
        "foreign": [text for text, _ in others if not known.search(text)],
        "namesake": [text for text, _ in others if known.search(text)],
        "exchanged": [_with_names_of(text, other, collections[name]) for text, other in others],
    }


def _turns(collection: Collection) -> list[tuple[str, str]]:
    """What was said in a conversation, and in which session."""
    return [(document.text, str(getattr(document.metadata, "session", ""))) for document in collection.documents]


class _remembered:  # noqa: N801 - it is used as a function
    """A project whose memory holds some texts, each of a session."""

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        self._texts = texts

    def __enter__(self) -> MemoryView:
        self._folder = tempfile.TemporaryDirectory(prefix="clew-bench-")
        root = Path(self._folder.name)
        (root / "clew.toml").write_text("[search]\nbackground = false\n", encoding="utf-8")
        self._project = Project.open(root)
        home = self._project.memory.home
        with home.store.transaction(actor="agent", reason="a benchmark") as transaction:
            before: Memory | None = None
            for memory in _as_memories(self._texts, home.repository):
                transaction.put(MEMORIES, memory.id, memory)
                if before is not None and before.origin.session == memory.origin.session:
                    link = linked(before.id, memory.id, MemoryLinkKind.NEXT, "session")
                    transaction.put(LINKS, link.id, link)
                before = memory
        self._project.memory.units.engine()
        self._project.index.make_vectors(lambda done, total, message: None)
        return self._project.memory.view(Call(self._project, ()))

    def __exit__(self, *_: object) -> None:
        self._project.close()
        self._folder.cleanup()


def _as_memories(texts: Sequence[tuple[str, str]], repository: str) -> Iterator[Memory]:
    draw = random.Random(SEED)
    now = spelled(datetime.now(UTC))
    for text, session in texts:
        yield Memory(
            id=str(uuid.UUID(int=draw.getrandbits(128), version=4)), kind=MemoryKind.FACT, text=text, title=text[:60],
            rationale="Said in a conversation", recorded_at=now, scope=MemoryScope(repository=repository),
            origin=Origin(session=session),
        )  # fmt: skip


def _injects(view: MemoryView, text: str) -> bool:
    return inject(view.recall, text, datetime.now(UTC), max_tokens=_BUDGET).abstained is None


def _with_names_of(text: str, other: Collection, own: Collection) -> str:
    names = dict(zip(_speakers(other), _speakers(own), strict=False))
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b", lambda match: names[match[0]], text)


def _speakers(collection: Collection) -> list[str]:
    said = (document.metadata.speaker for document in collection.documents if document.metadata is not None)
    return list(dict.fromkeys(speaker for speaker in said if speaker))


# Judge


def contradictions(data: Path) -> None:
    rows, cosines = _pairs(data / "contradiction" / "sick_train.csv")
    order = list(range(len(rows)))
    random.Random(SEED).shuffle(order)
    print(f"Judge on {len(rows):,} pairs of SICK, split at random; the rules were fitted to one half")
    for half, places in (("fitted half", order[: len(order) // 2]), ("other half", order[len(order) // 2 :])):
        verdicts = [judge(rows[at]["premise"], rows[at]["hypothesis"], cosines[at]).kind for at in places]
        labels = [rows[at]["label"] for at in places]
        said = [label for kind, label in zip(verdicts, labels, strict=True) if kind in ("contradicts", "supersedes")]
        same = [label for kind, label in zip(verdicts, labels, strict=True) if kind == "same"]
        _line(f"precision, {half}", said.count("contradiction") / len(said), PRECISION)
        found = said.count("contradiction") / labels.count("contradiction")
        _line(f"recall, {half}", found, RECALL_OF_CONTRADICTIONS)
        share = same.count("contradiction") / len(same)
        name = f"suggested duplicates that contradict, {half} ({len(same)} suggested)"
        _line(name, share, CONTRADICTING_DUPLICATES, at_least=False)


def _pairs(path: Path) -> tuple[list[dict[str, str]], list[float]]:
    from clew.config import EmbedSettings
    from clew.search.embed.opening import open_embedder

    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sentences = list(dict.fromkeys(row[side] for row in rows for side in ("premise", "hypothesis")))
    embedder = open_embedder(EmbedSettings())
    assert embedder is not None
    vectors: dict[str, Any] = {}
    for start in range(0, len(sentences), 256):
        some = sentences[start : start + 256]
        vectors |= dict(zip(some, embedder.embed(some), strict=True))
    return rows, [float(vectors[row["premise"]] @ vectors[row["hypothesis"]]) for row in rows]


# Scrub


def scrubbing(data: Path) -> None:
    """How many ordinary texts lose something that is no secret."""
    notes = {
        "turns of LoCoMo": [
            document.text for folder in _conversations(data) for document in read_collection(folder).documents
        ],
        "paragraphs of Clew's pages": [
            *_paragraphs((REPOSITORY / "docs").rglob("*.md")),
            *_paragraphs((REPOSITORY / "spec").glob("*.md")),
        ],
        "commit messages": [text for text in run("git", "log", "--format=%B%x00").split("\0") if text.strip()],
    }
    print("Scrub: ordinary texts that are altered")
    for name, texts in notes.items():
        if texts:
            _line(
                f"{name} ({len(texts):,})", _share([bool(scrub(text).found) for text in texts]), ALTERED, at_least=False
            )


def _paragraphs(paths: Any) -> list[str]:
    return [part for path in paths for part in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")) if part.strip()]


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


REPORTS: dict[str, Callable[[Path], None]] = {
    "recall": recall,
    "gate": gate,
    "judge": contradictions,
    "scrub": scrubbing,
}
