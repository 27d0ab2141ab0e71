"""Asks Clew the questions of one set, in a process of its own: `python -m benchmarks.answers.asking ROOT NAME`.

The index is completed before, as `clew index` does. Prints what was quoted, as JSON.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.answers.sets import OF_ALL, OF_DOCUMENTS, Question, sets
from benchmarks.probes.stopwatch import Stopwatch
from clew.operation.call import Answer, Call, carry_out
from clew.operation.listing import all_tools
from clew.project import Project
from clew.search.operations import MakeIndex
from clew.text.tokens import estimate_tokens
from clew.why.operations.search import AskEverything

_EVIDENCE = next(tool for tool in all_tools() if tool.name == "kb.retrieve_evidence")


class Quoted(msgspec.Struct, frozen=True):
    text: str
    path: str
    certainty: str
    """sure, likely or unsure; `sure` of an answer that does not tell."""
    is_first_call: bool


class Said(msgspec.Struct, frozen=True):
    question: Question
    asked: str
    """documents or all."""
    quotes: tuple[Quoted, ...]
    quote_tokens: int
    """Of the quotes of the first answer."""
    data_tokens: int
    text_tokens: int
    seconds: float


def main(root: Path, name: str) -> int:
    chosen = next(each for each in sets() if each.name == name)
    project = Project.open(root)
    try:
        MakeIndex().run(Call(project, all_tools()))
        said = [
            *(_documents(project, each) for each in chosen.question if each.kind in OF_DOCUMENTS),
            *(_all(project, each) for each in chosen.question if each.kind in OF_ALL),
        ]
    finally:
        project.close()
    sys.stdout.buffer.write(msgspec.json.encode(said))
    return 0


def _documents(project: Project, question: Question) -> Said:
    arguments: dict[str, Any] = {"question": question.ask}
    _wait(project, question.ask)
    watch = Stopwatch()
    with watch.sample():
        answer = _called(project, _EVIDENCE, arguments)
    quotes = _quotes(answer.data, first=True)
    if question.is_answerable and answer.data["next_cursor"] is not None:
        more = _called(project, _EVIDENCE, {**arguments, "cursor": answer.data["next_cursor"]})
        quotes += _quotes(more.data, first=False)
    return _said(question, "documents", answer, quotes, watch)


def _all(project: Project, question: Question) -> Said:
    _wait(project, question.ask)
    watch = Stopwatch()
    with watch.sample():
        request = AskEverything(question=question.ask)
        answered = request.run(Call(project, all_tools()))
    answer = Answer(msgspec.to_builtins(answered), request.render(answered))
    return _said(question, "all", answer, _quotes(answer.data, first=True), watch)


def _wait(project: Project, question: str) -> None:
    """On a busy machine an answer does without meaning after some seconds, and the next one has it."""
    if project.index.engine is not None:
        project.index.engine.embed_query(question)


def _called(project: Project, operation: Any, arguments: Mapping[str, Any]) -> Answer:
    return carry_out(operation, arguments, Call(project, all_tools()))


def _quotes(data: Mapping[str, Any], *, first: bool) -> tuple[Quoted, ...]:
    sources = data.get("sources", ())
    found = []
    for each in data["quotes"]:
        source = each if "section_id" in each or "place" in each else sources[each["source"] - 1]
        place = source.get("place") or source["section_id"].partition(":")[2].partition("#")[0]
        path = place.rpartition(":")[0] or place
        title = source.get("title", "") if "place" in source else ""
        found.append(Quoted(f"{title}\n{each['quote']}", path, each.get("certainty", "sure"), first))
    return tuple(found)


def _said(question: Question, asked: str, answer: Answer, quotes: tuple[Quoted, ...], watch: Stopwatch) -> Said:
    return Said(
        question=question,
        asked=asked,
        quotes=quotes,
        quote_tokens=sum(estimate_tokens(each["quote"]) for each in answer.data["quotes"]),
        data_tokens=estimate_tokens(msgspec.json.encode(answer.data).decode()),
        text_tokens=estimate_tokens(answer.text),
        seconds=watch.seconds[0],
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
