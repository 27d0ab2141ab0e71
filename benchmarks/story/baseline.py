"""What somebody without Clew would look at, cut to as many characters: the log of the lines with the message of the
blamed commit, and where the symbol stands."""

import re

from benchmarks.story.repository import Repository
from benchmarks.story.sets import Question
from benchmarks.workspace import BenchmarkFailed

LEAST_CHARACTERS = 1_200
"""Of what git may say beside a short answer, such as that nothing is known."""

_WORD = re.compile(r"[A-Za-z_][\w-]{3,}")
_COMMON = frozenset(
    (
        "when",
        "where",
        "what",
        "which",
        "there",
        "ever",
        "still",
        "since",
        "support",
        "supported",
        "removed",
        "used",
        "become",
        "became",
        "option",
        "argument",
        "into",
        "with",
        "from",
        "does",
        "that",
        "this",
        "moved",
        "read",
        "have",
        "been",
        "change",
        "changed",
    )
)
_DEFINES = r"^[^:]+:\d+:\s*(?:export\s+|pub\s+|async\s+)*(?:def|class|func|fn|function|struct|type|enum)\b"


def of_lines(question: Question, repository: Repository, characters: int) -> str:
    """`git log -L` behind the message that plain blame leads to. A symbol is taken where it seems to be defined."""
    place = question.ask if question.kind == "line" else _definition(question, repository)
    if not place:
        return ""
    path, _, line = place.rpartition(":")
    blamed = repository.git("blame", "-s", "-l", f"-L{line},{line}", "--", path).split()[0].lstrip("^")
    message, characters = repository.git("log", "-1", blamed), max(characters, LEAST_CHARACTERS)
    if len(message) < characters:
        message += repository.git("log", f"-L{line},{line}:{path}")
    return message[:characters]


def of_names(question: Question, repository: Repository, characters: int) -> str:
    """`git grep -n -w` of the symbol; of a line or a question the name in it that stands in the fewest lines."""
    name = question.ask if question.kind in ("symbol", "gone") else _rarest(_text(question, repository), repository)
    return _grep(repository, name)[: max(characters, LEAST_CHARACTERS)] if name else ""


def _text(question: Question, repository: Repository) -> str:
    if question.kind != "line":
        return question.ask
    path, _, line = question.ask.rpartition(":")
    return (repository.root / path).read_text(encoding="utf-8").splitlines()[int(line) - 1]


def _rarest(text: str, repository: Repository) -> str:
    counted = {
        name: found
        for name in dict.fromkeys(_WORD.findall(text))
        if name.lower() not in _COMMON and (found := _grep(repository, name).count("\n"))
    }
    return min(counted, key=lambda name: counted[name], default="")


def _definition(question: Question, repository: Repository) -> str:
    if question.kind != "symbol":
        return ""
    lines = [line for line in _grep(repository, question.ask).splitlines() if re.match(_DEFINES, line)]
    return ":".join(lines[0].split(":", 2)[:2]) if lines else ""


def _grep(repository: Repository, name: str) -> str:
    try:
        return repository.git("grep", "-I", "-n", "-w", "-F", "-e", name)
    except BenchmarkFailed:
        # Where nothing matches, grep ends with 1.
        return ""
