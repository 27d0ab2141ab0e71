"""A folder in BEIR form (documents, queries, and which documents answer which query), and measuring retrieval on it.

`corpus.jsonl` has `_id`, `title` and `text` on each line, `queries.jsonl` has `_id` and `text`, `qrels.tsv` has query
id, document id and score; a first line with the names of the columns is passed over. What was said in a conversation
has `metadata`: session, turn, speaker, role and time, of which any may be missing.

The documents go into an engine in a folder of their own, so that nothing else is touched. A signal is measured by a
recipe that asks it alone.
"""

import codecs
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from clew.config import EmbedSettings
from clew.errors import InvalidArgument, NotFound
from clew.operation.paging import Cursors
from clew.search.dense.indexing import Progress
from clew.search.engine import SearchEngine
from clew.search.eval.metrics import Gain, Interval, Latency, bootstrap, latency, ndcg, recall, reciprocal_rank
from clew.search.question import Question, RankedUnit
from clew.search.rank.dates import YEAR
from clew.search.rank.recipes import BUILT_IN, SIGNALS, Recipes
from clew.search.units import Scope, Unit
from clew.workspace.regular import ANY_BYTES, contents, opened

CORPUS, QUERIES, JUDGEMENTS = "corpus.jsonl", "queries.jsonl", "qrels.tsv"


class Turn(msgspec.Struct, frozen=True):
    """The place of a document in a conversation."""

    session: str | int | None = None
    turn: float | str | None = None
    speaker: str | None = None
    role: str | None = None
    time: str | float | None = None


class EvaluationDocument(msgspec.Struct, frozen=True):
    id: str = msgspec.field(name="_id")
    title: str | None = None
    text: str = ""
    metadata: Turn | None = None


class EvaluationQuery(msgspec.Struct, frozen=True):
    id: str = msgspec.field(name="_id")
    text: str = ""


Line = TypeVar("Line", EvaluationDocument, EvaluationQuery)


class Collection(msgspec.Struct, frozen=True):
    documents: tuple[EvaluationDocument, ...]
    queries: tuple[EvaluationQuery, ...]
    """The queries that have at least one relevant document."""
    grades: dict[str, dict[str, float]]
    """By query and document."""
    notes: tuple[str, ...] = ()


def read_collection(folder: Path) -> Collection:
    missing = [name for name in (CORPUS, QUERIES, JUDGEMENTS) if not (folder / name).is_file()]
    if missing:
        raise NotFound(
            f"{folder} has no {', '.join(missing)}.",
            hint=f"Put {CORPUS} (_id, title, text), {QUERIES} (_id, text) and {JUDGEMENTS} there.",
        )
    notes: list[str] = []
    documents = _by_id(folder / CORPUS, EvaluationDocument, notes)
    queries = _by_id(folder / QUERIES, EvaluationQuery, notes)
    grades: dict[str, dict[str, float]] = {}
    unknown = 0
    for query, document, score in _judgements(folder / JUDGEMENTS):
        if query not in queries or document not in documents:
            unknown += 1
        elif score > 0:
            grades.setdefault(query, {})[document] = score
    asked = tuple(query for id, query in queries.items() if id in grades)
    if not asked:
        raise InvalidArgument(
            f"{folder / JUDGEMENTS} names no relevant document for any query.",
            hint="Each line is: query id, tab, document id, tab, a score above 0.",
        )
    if unknown:
        notes.append(f"{unknown} judgements name a query or a document that does not exist.")
    if len(asked) < len(queries):
        notes.append(f"{len(queries) - len(asked)} queries have no relevant document and are left out.")
    return Collection(tuple(documents.values()), asked, grades, tuple(notes))


def _by_id(path: Path, kind: type[Line], notes: list[str]) -> dict[str, Line]:
    found: dict[str, Line] = {}
    repeated = 0
    for line in _lines(path, kind):
        repeated += line.id in found
        found[line.id] = line
    if repeated:
        notes.append(f"{path.name} gives {repeated} ids again; the last of each counts.")
    return found


def _lines(path: Path, kind: type[Line]) -> Iterator[Line]:
    decoder = msgspec.json.Decoder(kind)
    with opened(path) as descriptor, open(descriptor, "rb", closefd=False) as file:
        for number, line in enumerate(file, start=1):
            content = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if content.strip():
                try:
                    yield decoder.decode(content)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise InvalidArgument(
                        f"{path.name}, line {number}: {error}.", hint="Each line is one JSON object with `_id`."
                    ) from None


def _judgements(path: Path) -> Iterator[tuple[str, str, float]]:
    for number, line in enumerate(contents(path, ANY_BYTES).removeprefix(codecs.BOM_UTF8).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            columns = line.decode("utf-8").split("\t")
            if len(columns) == 4:
                # As TREC writes it, with an iteration in the second column.
                del columns[1]
            query, document, score = columns
            if number == 1 and not _is_number(score):
                continue
            grade = float(score)
            if not math.isfinite(grade):
                raise ValueError
        except ValueError:
            raise InvalidArgument(
                f"{path.name}, line {number}: {line[:80].decode('utf-8', 'replace')!r}.",
                hint="Write query id, document id and a score, with tabs between them, in UTF-8.",
            ) from None
        yield query.strip(), document.strip(), grade


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


PART = "document"
SEED = 20
MEASURES: dict[str, Callable[[Sequence[str], dict[str, float]], float]] = {
    "ndcg@10": lambda ranked, grades: ndcg(ranked, grades, 10, Gain.LINEAR),
    "recall@2": lambda ranked, grades: recall(ranked, grades, 2),
    "recall@5": lambda ranked, grades: recall(ranked, grades, 5),
    "recall@10": lambda ranked, grades: recall(ranked, grades, 10),
    "recall@20": lambda ranked, grades: recall(ranked, grades, 20),
    "mrr": lambda ranked, grades: reciprocal_rank(ranked, grades),
}


class Measured(msgspec.Struct, frozen=True):
    """Results of a recipe or a signal, as means over the queries."""

    values: dict[str, float]
    intervals: dict[str, Interval]
    """With 95% confidence, if other queries of the same kind had been drawn."""
    milliseconds: Latency
    """For one query, without its embedding."""
    scores: dict[str, tuple[float, ...]]
    """Each measure for each query, in the order of the collection."""

    def summary(self) -> dict[str, float]:
        return {
            **{name: round(value, 4) for name, value in self.values.items()},
            "p50_ms": round(self.milliseconds.p50, 2),
            "p95_ms": round(self.milliseconds.p95, 2),
        }


class Evaluation:
    """An engine filled with a collection."""

    def __init__(
        self,
        folder: Path,
        collection: Collection,
        *,
        embed: EmbedSettings | None = None,
        recipes: Recipes = BUILT_IN,
        progress: Progress = lambda done, total, message: None,
        engine: SearchEngine | None = None,
    ) -> None:
        """Without an `engine`, one in the folder."""
        self.collection = collection
        self.engine = engine or SearchEngine(folder, cursors=Cursors(bytes(32)), embed=embed, recipes=recipes)
        self.engine.units.put(_units(collection.documents))
        self.report = self.engine.index_vectors(progress)
        self.embedding: dict[str, float] = {}
        """The seconds that the embedding of each query took."""

    def close(self) -> None:
        self.engine.close()

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals to measure: without an embedder, only those by words."""
        return SIGNALS if self.report.note is None else ("lexical",)

    def measure(self, recipe: str, queries: Sequence[EvaluationQuery] | None = None) -> Measured:
        asked = self.collection.queries if queries is None else queries
        scores: dict[str, list[float]] = {name: [] for name in MEASURES}
        times: list[float] = []
        for query in asked:
            ranked, milliseconds = self._timed(recipe, query.text)
            times.append(milliseconds)
            for name, measure in MEASURES.items():
                scores[name].append(measure([unit.id for unit in ranked], self.collection.grades[query.id]))
        intervals = {name: bootstrap(values, seed=SEED, resamples=1_000) for name, values in scores.items()}
        return Measured(
            values={name: interval.mean for name, interval in intervals.items()},
            intervals=intervals,
            milliseconds=latency(times),
            scores={name: tuple(values) for name, values in scores.items()},
        )

    def explain(self, recipe: str, text: str, count: int) -> tuple[RankedUnit, ...]:
        return self.engine.rank(_question(recipe, text)).units[:count]

    def _timed(self, recipe: str, text: str) -> tuple[tuple[RankedUnit, ...], float]:
        began = time.perf_counter()
        self.engine.embed_query(text)
        embedded = time.perf_counter()
        ranking = self.engine.rank(_question(recipe, text))
        ended = time.perf_counter()
        # The engine remembers the vectors of recent queries, so only the first time tells what one costs.
        self.embedding.setdefault(text, (embedded - began) * 1000)
        return ranking.units, (ended - embedded) * 1000


def _units(documents: Sequence[EvaluationDocument]) -> Iterator[Unit]:
    """Documents as units; the turns of a session are in its order, whatever the order of the file is."""
    sessions = {session: at for at, session in enumerate(dict.fromkeys(map(_session, documents)))}
    ordered = sorted(documents, key=lambda document: (sessions[_session(document)], *_turn(document)))
    for place, document in enumerate(ordered):
        said = document.metadata
        unit = Unit(id=document.id, part=PART, title=document.title or "", body=document.text)
        if said is not None:
            unit = msgspec.structs.replace(
                unit,
                session=_session(document),
                place=place,
                speaker=said.speaker,
                role=None if said.role is None else said.role.casefold(),
                time=written_time(said.time),
            )
        yield unit


def _session(document: EvaluationDocument) -> str:
    return str(document.metadata.session) if document.metadata is not None else ""


def _turn(document: EvaluationDocument) -> tuple[float, str]:
    """Turns are numbers, or names that end in one."""
    turn = document.metadata.turn if document.metadata is not None else None
    if isinstance(turn, str):
        digits = re.findall(r"\d+", turn)
        return (float(digits[-1]) if digits else 0.0), turn
    return (0.0 if turn is None else turn), ""


def written_time(time: str | float | None) -> str | None:
    """A day as people write it, `1:56 pm on 8 May, 2023` or `March 15, 2024`, in ISO 8601; None where it has no
    day."""
    if time is None or isinstance(time, float | int):
        return None if time is None else _at(time)
    with suppress(ValueError):
        return datetime.fromisoformat(time.strip()).isoformat()
    year, month = YEAR.search(time), _MONTH.search(time)
    if year is None or month is None:
        return None
    day = _DAY.search(time.replace(year[0], " "))
    number = _MONTHS.index(month[0][:3].lower()) + 1
    with suppress(ValueError):
        return datetime(int(year[0]), number, int(day[0]) if day else 1, tzinfo=UTC).isoformat()
    return None


def _at(seconds: float) -> str | None:
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    return None


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})[a-z]*", re.IGNORECASE)
_DAY = re.compile(r"(?<![\d:])(?:[12]\d|3[01]|0?[1-9])(?![\d:])(?!\s*[ap]m)", re.IGNORECASE)


def _question(recipe: str, text: str) -> Question:
    return Question(text=text, scope=Scope(parts=(PART,)), recipe=recipe)
