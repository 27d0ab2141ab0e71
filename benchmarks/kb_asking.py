"""One question after the other, as an agent asks: through the tools, in at most two calls."""

from collections.abc import Mapping
from typing import Any

import msgspec

from benchmarks.kb_golden import GoldenQuestion
from benchmarks.probes.stopwatch import Stopwatch
from clew.kb.answer.requests import Mode, Narrowing, SearchRequest
from clew.operation.call import Answer, Call, carry_out
from clew.operation.listing import all_tools
from clew.project import Project
from clew.text.tokens import estimate_tokens

PASTED = 5
MORE_QUOTES = 12
_TOOLS = {tool.name: tool for tool in all_tools()}


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    question: GoldenQuestion
    rank: int
    """Of the first section that is expected; 0 where none is among the five."""
    found: bool
    tokens: int
    """Of the answer as text, which says all that the data says."""
    data_tokens: int
    seconds: float
    found_twice: bool
    tokens_twice: int
    """With the second call, where there was one."""
    found_naively: bool
    naive_tokens: int


def wait_for_encoder(project: Project, question: str) -> None:
    """On a busy machine an answer does without meaning after some seconds, and the next one has it: what is found would
    be that of two ways to look, and the cursor of the first no longer valid."""
    if project.index.engine is not None:
        project.index.engine.embed_query(question)


class QuestionRunner:
    def __init__(self, project: Project) -> None:
        self._project = project

    def is_answerable(self, question: GoldenQuestion) -> bool:
        """Whether one of the sections that answer it is there and still does."""
        with self._project.kb.library.reading() as reading:
            texts = (reading.text(id) for id in question.sections)
            return any(text is not None and question.is_answered_by(text) for text in texts)

    def ask(self, question: GoldenQuestion) -> Asked:
        corpus = question.sections[0].partition(":")[2].partition("/")[0]
        arguments = {"question": question.text, "filters": {"path_prefix": f"{corpus}/"}}
        wait_for_encoder(self._project, question.text)
        watch = Stopwatch()
        with watch.sample():
            answer = self._call("kb.retrieve_evidence", arguments)
        found, tokens = _answers(question, answer), estimate_tokens(answer.text)
        more, more_tokens = (False, 0) if found else self._once_more(question, arguments, answer.data["next_cursor"])
        pasted, naive_tokens = self._naively(question, corpus)
        return Asked(
            question=question,
            rank=self._rank(question, corpus),
            found=found,
            tokens=tokens,
            data_tokens=estimate_tokens(msgspec.json.encode(answer.data).decode()),
            seconds=watch.seconds[0],
            found_twice=found or more,
            tokens_twice=tokens + more_tokens,
            found_naively=pasted,
            naive_tokens=naive_tokens,
        )

    def _once_more(
        self, question: GoldenQuestion, arguments: Mapping[str, Any], cursor: str | None
    ) -> tuple[bool, int]:
        """What an agent does next that did not find its answer: it asks for the quotes after the first."""
        if cursor is None:
            return False, 0
        answer = self._call("kb.retrieve_evidence", {**arguments, "max_quotes": MORE_QUOTES, "cursor": cursor})
        return _answers(question, answer), estimate_tokens(answer.text)

    def _naively(self, question: GoldenQuestion, corpus: str) -> tuple[bool, int]:
        found = self._project.kb.finder.find(
            SearchRequest(
                query=question.text,
                top_k=PASTED,
                mode=Mode.VECTOR_ONLY,
                narrowing=Narrowing(path=corpus),
                max_per_document=None,
            )
        )
        pasted = "\n\n".join(f"{each.section.trail}\n{each.text}" for each in found.sections)
        return question.is_answered_by(pasted), estimate_tokens(pasted)

    def _rank(self, question: GoldenQuestion, corpus: str) -> int:
        request = SearchRequest(query=question.text, top_k=PASTED, narrowing=Narrowing(path=corpus))
        found = self._project.kb.finder.find(request)
        ids = [each.section.id for each in found.sections]
        return next((place for place, id in enumerate(ids, start=1) if id in question.sections), 0)

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        return carry_out(_TOOLS[tool], arguments, Call(self._project, all_tools()))


def _answers(question: GoldenQuestion, answer: Answer) -> bool:
    return any(question.is_answered_by(quote["quote"]) for quote in answer.data["quotes"])
