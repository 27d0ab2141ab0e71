"""What each of the thirteen spaces would add to the ranking of memories.

    python -m benchmarks.memory_spaces [FOLDER ...]

A folder holds a conversation as `clew eval` takes it: corpus.jsonl, queries.jsonl, qrels.tsv. Each turn becomes a
memory. The search's own ranking, by words and meaning, gives fifty candidates for each question. Every space orders
them alone, and is added to the ranking with a weight of 0.3, both in standard deviations. Recall@10 is the share of
the turns that answer a question among its first ten.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from clew.memory.cognition.agreement import as_memory
from clew.memory.cognition.compare import Comparer, Values
from clew.memory.model import Memory, MemoryKind, MemoryLinkKind, MemoryScope, Origin, linked, new_id
from clew.memory.navigation.spaces import SPACES
from clew.memory.service import MemoryView
from clew.project import Project

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "memory"
CANDIDATES, FOUND, WEIGHT = 50, 10, 0.3


def moment(spoken: str, turn: int) -> str:
    """A time such as `1:56 pm on 8 May, 2023`, and a minute for each turn."""
    try:
        at = datetime.strptime(spoken, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        at = datetime(2023, 1, 1, tzinfo=UTC)
    return (at + timedelta(minutes=turn)).isoformat()


def remember(view: MemoryView, folder: Path) -> dict[str, str]:
    """Store the turns; the id of each one's memory."""
    ids: dict[str, str] = {}
    with view.changes.make("store", "benchmark", "turns of a conversation") as change:
        before: dict[str, str] = {}
        for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
            turn = json.loads(line)
            about, id = turn["metadata"], new_id()
            change.put(
                Memory(
                    id=id,
                    kind=MemoryKind.FACT,
                    text=turn["text"],
                    title=turn["text"][:80],
                    rationale="said",
                    recorded_at=moment(about["time"], about["turn"]),
                    scope=MemoryScope(repository=view.service.home.repository),
                    origin=Origin(session=about["session"]),
                )
            )
            if about["session"] in before:
                change.link(linked(before[about["session"]], id, MemoryLinkKind.NEXT, "session"))
            before[about["session"]] = ids[turn["_id"]] = id
    return ids


def answers(folder: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, turn, *rest = line.split("\t")
        if rest and rest[-1].strip().lstrip("-").isdigit() and int(rest[-1]) > 0:
            found.setdefault(query, set()).add(turn)
    return found


def standard(values: Sequence[float | None]) -> list[float]:
    """In standard deviations; what a space says nothing about is average."""
    known = [value for value in values if value is not None]
    spread = statistics.pstdev(known) if len(known) > 1 else 0.0
    mean = statistics.fmean(known) if known else 0.0
    return [(value - mean) / spread if value is not None and spread else 0.0 for value in values]


def measure(folder: Path, tally: dict[str, list[float]], said: list[int]) -> None:
    with tempfile.TemporaryDirectory() as root:
        (Path(root) / "clew.toml").write_text('[project]\nname = "x"\n[search]\nbackground = false\n', encoding="utf-8")
        project = Project.open(Path(root))
        try:
            view = project.memory.shared_view()
            ids = remember(view, folder)
            engine = view.units.engine()
            if engine is not None:
                engine.index_vectors()
            gold = answers(folder)
            for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
                query = json.loads(line)
                wanted = {ids[turn] for turn in gold.get(query["_id"], ()) if turn in ids}
                if wanted:
                    _ask(view, query["text"], wanted, tally, said)
        finally:
            project.close()


def _ask(view: MemoryView, text: str, wanted: set[str], tally: dict[str, list[float]], said: list[int]) -> None:
    ranked = view.units.rank(text, view.viewer)[0][:CANDIDATES]
    memories = list(view.library.get_many([each.id for each in ranked]).values())
    asked = as_memory(text, max((memory.recorded_at for memory in memories), default=""))
    best = max((each.lexical or 0.0 for each in ranked), default=0.0)
    lexical = {each.id: each.lexical / best for each in ranked if each.lexical and best}
    dense = {each.id: each.dense for each in ranked}
    comparer = Comparer(view, memories, asked.id, lexical)
    rows: list[Values] = [(dense[memory.id], *comparer.values(asked, memory)[1:]) for memory in memories]
    own = standard([each.score for each in ranked if each.id in {memory.id for memory in memories}])

    def recall(scores: Sequence[float]) -> float:
        order = sorted(range(len(memories)), key=lambda at: -scores[at])[:FOUND]
        return len(wanted & {memories[at].id for at in order}) / len(wanted)

    tally.setdefault("", []).append(recall(own))
    for place, space in enumerate(SPACES):
        values = [row[place] for row in rows]
        said[place] += sum(value is not None for value in values) > 1
        scores = standard(values)
        tally.setdefault(f"{space.id} alone", []).append(recall(scores) if any(scores) else 0.0)
        added = [score + WEIGHT * other for score, other in zip(own, scores, strict=True)]
        tally.setdefault(f"{space.id} added", []).append(recall(added))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory_spaces", description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, help="conversations; by default those beside the project")
    folders = parser.parse_args().folders or sorted(DATA.glob("*/"))
    tally: dict[str, list[float]] = {}
    said = [0] * len(SPACES)
    for folder in folders:
        measure(folder, tally, said)
    if not tally:
        print(f"skipped, because there is no conversation in {DATA}")
        return
    base, count = tally[""], len(tally[""])
    print(
        f"{count} questions of {len(folders)} conversations; words and meaning: recall@10 {statistics.fmean(base):.3f}"
    )
    print("| space | says something about | alone | added | gain | 95 % |")
    print("|---|---|---|---|---|---|")
    for place, space in enumerate(SPACES):
        alone, added = tally[f"{space.id} alone"], tally[f"{space.id} added"]
        gains = [new - old for new, old in zip(added, base, strict=True)]
        margin = 1.96 * statistics.pstdev(gains) / count**0.5
        gain = statistics.fmean(gains)
        print(
            f"| {space.id} {space.name} | {said[place] / count:.0%} | {statistics.fmean(alone):.3f} |"
            f" {statistics.fmean(added):.3f} | {gain:+.3f} | {gain - margin:+.3f} to {gain + margin:+.3f} |"
        )


if __name__ == "__main__":
    main()
