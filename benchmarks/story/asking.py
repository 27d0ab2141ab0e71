"""Asks Clew the questions of one set, in a process of its own: `python -m benchmarks.story.asking ROOT NAME`.

The index is completed before, as `clew index` does: what is measured is a server that had the time to read everything.
Prints what was said and how long it took, as JSON.
"""

import sys
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.probes.stopwatch import Stopwatch
from benchmarks.story.sets import Question, sets


class Said(msgspec.Struct, frozen=True):
    """The answer to a question, as an agent reads it."""

    id: str
    text: str
    first_seconds: float
    """On the clock, of the first answer about this."""
    seconds: float
    """Of the second one, which is what is scored."""
    cpu_seconds: float
    """Of the second one, the part in which a processor worked."""


def main() -> None:
    root, name = Path(sys.argv[1]), sys.argv[2]
    chosen = next(each for each in sets() if each.name == name)
    sys.stdout.buffer.write(msgspec.json.encode(asked(root, chosen.question)))


def asked(root: Path, questions: tuple[Question, ...]) -> list[Said]:
    from clew.project import Project

    project = Project.open(root)
    try:
        _completed(project)
        return [_asked(project, question) for question in questions]
    finally:
        project.close()


def _completed(project: Any) -> None:
    from clew.operation.call import Call
    from clew.operation.listing import all_tools
    from clew.search.operations import MakeIndex

    MakeIndex().run(Call(project, all_tools()))


def _asked(project: Any, question: Question) -> Said:
    first, second = Stopwatch(), Stopwatch()
    with first.sample():
        _answer(project, question)
    with second.sample():
        text = _answer(project, question)
    return Said(question.id, text, first.seconds[0], second.seconds[0], second.cpu[0])


def _answer(project: Any, question: Question) -> str:
    """An error is an answer as well: it is what the agent gets."""
    from clew.errors import ClewError
    from clew.operation.call import Call, carry_out
    from clew.operation.listing import all_tools
    from clew.operation.names import by_any_spelling
    from clew.why.operations.search import AskEverything

    call = Call(project, all_tools())
    try:
        if question.is_target:
            return carry_out(by_any_spelling(all_tools())["why"], {"target": question.ask}, call).text
        request = AskEverything(question=question.ask)
        answered = request.run(call)
        return "\n".join((request.render(answered), *request.messages(answered)))
    except ClewError as error:
        return f"{error.message} {error.hint or ''}".strip()


if __name__ == "__main__":
    main()
