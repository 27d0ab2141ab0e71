"""A folder in BEIR form: documents, queries, and which documents answer which query.

`corpus.jsonl` has `_id`, `title` and `text` on each line, `queries.jsonl` has `_id` and `text`, `qrels.tsv` has query
id, document id and score; a first line with the names of the columns is passed over.
"""

import codecs
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from clew.errors import InvalidArgument, NotFound

CORPUS, QUERIES, JUDGEMENTS = "corpus.jsonl", "queries.jsonl", "qrels.tsv"


class Document(msgspec.Struct, frozen=True):
    id: str = msgspec.field(name="_id")
    title: str | None = None
    text: str = ""


class Query(msgspec.Struct, frozen=True):
    id: str = msgspec.field(name="_id")
    text: str = ""


Line = TypeVar("Line", Document, Query)


class Collection(msgspec.Struct, frozen=True):
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    """Those with at least one relevant document."""
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
    documents = _by_id(folder / CORPUS, Document, notes)
    queries = _by_id(folder / QUERIES, Query, notes)
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
        notes.append(f"{unknown} judgements name a query or a document that is not there.")
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
    with path.open("rb") as file:
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
    for number, line in enumerate(path.read_bytes().removeprefix(codecs.BOM_UTF8).splitlines(), start=1):
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
