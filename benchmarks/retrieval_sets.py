"""The public collections that retrieval is measured on, read from beside the project where they are.

Each reader knows one format. Queries of Cranfield are judged under their place in the file, not under the number that
stands before them.
"""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from clew.search.eval.collection import Collection, EvaluationDocument, EvaluationQuery
from clew.text.keywords import STOP_WORDS

FOLDER = Path("..", "shared", "data", "retrieval")
TYPO_SEED = 7
SPLIT_SEED = 11

_WORD = re.compile(r"[a-z]{4,}")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def cranfield(folder: Path) -> Collection:
    documents = [
        EvaluationDocument(id=number, title=_joined(fields.get("T", "")), text=_joined(fields.get("W", "")))
        for number, fields in _records(folder / "cranfield" / "cran.all.1400")
    ]
    queries = [
        EvaluationQuery(id=str(place), text=_joined(fields.get("W", "")))
        for place, (_, fields) in enumerate(_records(folder / "cranfield" / "cran.qry"), start=1)
    ]
    lines = (line.split() for line in (folder / "cranfield" / "cranqrel").read_text().splitlines() if line.strip())
    # Codes 1 to 4 are degrees of relevance, -1 is none.
    return _collection(documents, queries, ((query, document) for query, document, code in lines if int(code) >= 1))


def cisi(folder: Path) -> Collection:
    documents = [
        EvaluationDocument(id=number, title=_joined(fields.get("T", "")), text=_joined(fields.get("W", "")))
        for number, fields in _records(folder / "cisi" / "CISI_simplified.ALL")
    ]
    queries = [
        EvaluationQuery(id=number, text=_joined(fields.get("W", "")))
        for number, fields in _records(folder / "cisi" / "CISI_simplified.QRY")
    ]
    lines = (line.split() for line in (folder / "cisi" / "CISI_simplified.REL").read_text().splitlines())
    return _collection(documents, queries, ((line[0], line[1]) for line in lines if len(line) >= 2))


def hotpotqa(folder: Path) -> Collection:
    corpus = json.loads((folder / "multihop" / "hotpotqa_train_corpus.json").read_text(encoding="utf-8"))
    questions = json.loads((folder / "multihop" / "hotpotqa_train.json").read_text(encoding="utf-8"))
    documents = [
        EvaluationDocument(id=title, title=title, text="".join(sentences)) for title, sentences in corpus.items()
    ]
    queries = [EvaluationQuery(id=str(place), text=each["question"]) for place, each in enumerate(questions)]
    answers = (
        (str(place), title) for place, each in enumerate(questions) for title, _sentence in each["supporting_facts"]
    )
    return _collection(documents, queries, answers)


def musique(folder: Path) -> Collection:
    corpus = json.loads((folder / "multihop" / "musique_train_corpus.json").read_text(encoding="utf-8"))
    questions = json.loads((folder / "multihop" / "musique_train.json").read_text(encoding="utf-8"))
    # Several paragraphs share a title, so both together name one.
    known = {(each["title"], each["text"]): str(place) for place, each in enumerate(corpus)}
    documents = [EvaluationDocument(id=id, title=title, text=text) for (title, text), id in known.items()]
    queries = [EvaluationQuery(id=each["id"], text=each["question"]) for each in questions]
    answers = (
        (each["id"], known[paragraph["title"], paragraph["paragraph_text"]])
        for each in questions
        for paragraph in each["paragraphs"]
        if paragraph["is_supporting"]
    )
    return _collection(documents, queries, answers)


def with_typos(collection: Collection) -> Collection:
    """The same questions with one edit in one of their words, the same ones in every run."""
    draw = random.Random(TYPO_SEED)
    queries = tuple(EvaluationQuery(id=query.id, text=_mistyped(query.text, draw)) for query in collection.queries)
    return Collection(collection.documents, queries, collection.grades)


def tuning_half(collection: Collection) -> frozenset[str]:
    """The queries that a weight may be chosen on; the others only judge."""
    ids = sorted(query.id for query in collection.queries)
    random.Random(SPLIT_SEED).shuffle(ids)
    return frozenset(ids[: len(ids) // 2])


def _mistyped(text: str, draw: random.Random) -> str:
    words = [found for found in _WORD.finditer(text) if found[0] not in STOP_WORDS]
    if not words:
        return text
    chosen = draw.choice(words)
    at = draw.randrange(chosen.start(), chosen.end())
    letter = draw.choice(_ALPHABET)
    swapped = text[at + 1 : at + 2] if at + 1 < chosen.end() else ""
    edits = (
        text[at + 1 :],
        letter + text[at + 1 :],
        letter + text[at:],
        swapped + text[at] + text[at + 1 + len(swapped) :],
    )
    return text[:at] + draw.choice(edits)


def _collection(
    documents: list[EvaluationDocument], queries: list[EvaluationQuery], answers: Iterator[tuple[str, str]]
) -> Collection:
    there = {document.id for document in documents}
    grades: dict[str, dict[str, float]] = {}
    for query, document in answers:
        if document in there:
            grades.setdefault(query, {})[document] = 1.0
    return Collection(tuple(documents), tuple(query for query in queries if query.id in grades), grades)


def _records(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Records that begin with `.I number` and have fields that begin with a dot and a letter."""
    number, field = "", ""
    fields: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith(".I "):
            if number:
                yield number, fields
            number, field, fields = line[3:].strip(), "", {}
        elif re.fullmatch(r"\.[A-Z]", line.strip()):
            field = line.strip()[1]
        elif field:
            fields[field] = f"{fields.get(field, '')}{line}\n"
    if number:
        yield number, fields


def _joined(text: str) -> str:
    return " ".join(text.split())
