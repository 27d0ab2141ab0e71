"""One question, with the data that its sections share: the project, the target, its file, its history, lines with a
word."""

import os
import re
import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from clew.derived.code_file import STUBS, CodeFile
from clew.derived.history import Commit, CommitHistory
from clew.derived.history_reader import DEADLINE_SECONDS, HistoryProgress
from clew.errors import StoreCorrupt
from clew.formats.code.outline import Symbol, holds_code
from clew.formats.code.words import BY_NAMES
from clew.graph.code.region import CodeRegion
from clew.graph.model import Node, NodeKind
from clew.text.display import one_line
from clew.why.story.asking import GitQuestions
from clew.why.story.reason import body_of
from clew.why.target import Target, TargetText, find_target, read_text
from clew.workspace.git import api as git
from clew.workspace.paths import display

if TYPE_CHECKING:
    from clew.graph.graph import Graph
    from clew.operation.call import Call
    from clew.why.story.ties import CommitTies

_NO_TRACKERS = (
    "UTF|UCS|LATIN|ASCII|SHA|MD|AES|RSA|TLS|SSL|ISO|IEC|IEEE|ECMA|RFC|PEP|BIP|EIP|CVE|CWE|GHSA|HTTP|ISBN|UTC|GMT|X"
    "|GPL|LGPL|AGPL|BSD|MIT|MPL|APACHE|COVID|IPV|ARM|RISC|AVX|SSE|USB|PY|JAVA|ES|C|CPP|NET|V"
)
"""Words before a hyphen and a number that are no key of a tracker."""
_REFERENCES = re.compile(
    r"(?<![\w/&])#\d{1,7}\b|\bGH-\d{1,7}\b|(?<![\w!])!\d{1,6}\b|"
    rf"\b(?!(?:{_NO_TRACKERS})-)"
    r"[A-Z][A-Z0-9]{1,9}-\d{1,6}\b"
)
_ADDRESSES = re.compile(r"https?://\S+?/(?:issues|pull|merge_requests|browse)/([\w-]+)")
LAST_SECONDS = 12.0
"""Time by which an answer ends whatever git still has to say."""
_IDS = re.compile(r"[A-Za-z][\w.]*(?:[-/#][\w.]+)+")


class Inquiry:
    def __init__(
        self,
        call: "Call",
        asked: str,
        *,
        is_text: bool = False,
        target: Target | None = None,
        seconds: float | None = None,
    ) -> None:
        """`target` is what the question is about, where that is known; `seconds` is the time for all of it, where the
        usual one is too long."""
        self.call = call
        self.project = call.project
        self.root = call.project.config.root
        usual = DEADLINE_SECONDS if seconds is None else seconds
        self._until = time.monotonic() + usual
        self.questions = GitQuestions(max(usual, LAST_SECONDS) if seconds is None else seconds)
        """Questions to git about the target: without its commits there is no answer, so these may take longer."""
        self.ties: dict[str, CommitTies] = {}
        """Facts that belong to commits, which several sections tell."""
        text = Target(asked=asked, kind="text", name=asked) if is_text else None
        self.target = target or text or find_target(call, asked, self._until)
        self.notes: list[str] = []
        self._opened: list[tuple[CommitHistory | CodeFile, object]] = []
        """The derived files that were read as far as there was time, each with its opening then."""

    # Implements: REQ-d00645-C
    def demand_same_files(self) -> None:
        """StoreCorrupt, after which the call is repeated, where a file was made again since: parts of the answer may
        have found nothing in the empty one."""
        for file, opening in self._opened:
            if file.opening is not opening:
                raise StoreCorrupt("A derived file was made again.", hint="Ask again.", data={"derived": True})

    @property
    def left(self) -> float:
        """Seconds left for the answer."""
        return max(self._until - time.monotonic(), 0.05)

    @property
    def seconds(self) -> int:
        """Seconds left for a question to git, which always gets a moment."""
        return max(round(self.left), 1)

    @property
    def is_code(self) -> bool:
        """True if the target is a file of source code, or a part of one."""
        target = self.target
        return target.node is None and target.path is not None and holds_code(target.path)

    @property
    def graph(self) -> "Graph":
        return self.project.graph

    @cached_property
    def readiness(self) -> HistoryProgress:
        """The history, read as far as there was time."""
        found = self.project.history.ensure(self.left)
        self._opened.append((self.history, self.history.opening))
        self.notes += found.notes
        return found

    @property
    def history(self) -> CommitHistory:
        return self.project.history.history

    @cached_property
    def code(self) -> CodeRegion:
        """The outlines of source files, read as far as there was time."""
        self.notes += self.project.code.ensure(self.left)
        self._opened.append((self.project.code.file, self.project.code.file.opening))
        return self.project.symbols

    @cached_property
    def symbols(self) -> Sequence[Symbol]:
        """The definitions in the target's file."""
        path = self.target.path
        if path is None or self.text is None or not holds_code(path):
            return ()
        _ = self.code
        return self.project.code.file.symbols_of(path) or self.text.outline.symbols

    def has_rules(self, path: str) -> bool:
        """True if names in a file are bound by the rules of its language."""
        record = self.project.code.file.record(path)
        return record is not None and bool(record.facts.rules) and not record.facts.rules.startswith(BY_NAMES)

    @cached_property
    def text(self) -> TargetText | None:
        """The target's file."""
        return read_text(self.project, self.target.path) if self.target.path is not None else None

    def lines_of(self, path: str) -> tuple[str, ...]:
        """The lines of a file of the project; none where it cannot be read."""
        text = read_text(self.project, path)
        return text.lines if text is not None else ()

    @cached_property
    def span(self) -> tuple[int, int]:
        """The first and last line of the target."""
        if self.target.first:
            return self.target.first, max(self.target.last, self.target.first)
        return 1, max(len(self.text.lines) if self.text is not None else 1, 1)

    def nodes_here(self) -> list[Node]:
        """The tests and citing places in the target's file. The caller holds the graph's lock."""
        if self.target.path is None:
            return []
        kinds = (NodeKind.CODE, NodeKind.TEST)
        return [node for node in self.graph.memory.nodes_in_file(self.target.path) if node.kind in kinds]

    def ids_in(self, message: str) -> list[Node]:
        """Requirements and parts of them that a message names. The caller holds the graph's lock."""
        found: dict[str, Node] = {}
        for word in _IDS.findall(message)[:60]:
            node = self.graph.memory.get_node(word) or self._spelled(word)
            if node is not None and node.kind in (NodeKind.REQUIREMENT, NodeKind.ASSERTION, NodeKind.SPEC):
                found.setdefault(node.id, node)
        return list(found.values())

    def _spelled(self, word: str) -> Node | None:
        reference = self.project.context.grammar.parse_reference(word)
        if reference is None:
            return None
        memory = self.graph.memory
        if len(reference.labels) == 1:
            part = memory.get_node(self.project.context.grammar.assertion_id(reference.target, reference.labels[0]))
            if part is not None:
                return part
        return memory.get_node(reference.target)


def references_in(message: str) -> list[str]:
    """The issue and pull-request numbers that a message names."""
    addresses = (f"#{number}" if number.isdigit() else number for number in _ADDRESSES.findall(message))
    return list(dict.fromkeys([*_REFERENCES.findall(message), *addresses]))[:6]


def day(seconds: int) -> str:
    """A date; far outside of the calendar, as hostile commits have it, the number."""
    try:
        return time.strftime("%Y-%m-%d", time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):
        return f"second {seconds}"


def commit_line(commit: Commit, *, body: int = 0) -> str:
    """A commit in one line: its subject, the numbers it names, author and time; with `body`, that much of its body."""
    subject = one_line(commit.subject, 120) or "(no message)"
    numbers = [each for each in references_in(commit.message) if each not in subject]
    named = f" ({', '.join(numbers)})" if numbers else ""
    rest = one_line(body_of(commit.message), body) if body else ""
    reason = f" Its message: {rest}" if rest else ""
    return f'"{subject}"{named}, {one_line(commit.author, 40) or "nobody"}, {day(commit.time)}.{reason}'


def grep(inquiry: Inquiry, word: str, *patterns: str) -> list[tuple[str, int, str]]:
    """The lines of the project's files that hold a word."""
    options = ("-n", "-w", "-F", "-z", "-I", "--untracked", "-e", word, "--")
    output = git.answer(
        inquiry.root,
        "grep",
        *options,
        *(f":(glob)**/{each}" for each in patterns),
        seconds=inquiry.seconds,
        patterns=True,
    )
    found: list[tuple[str, int, str]] = []
    for row in (output or b"").split(b"\n"):
        parts = row.split(b"\0", 2)
        if len(parts) == 3 and parts[1].isdigit():
            found.append((display(os.fsdecode(parts[0])), int(parts[1]), parts[2].decode("utf-8", "replace")))
    return found


_SHORTEST_NAME = 4


def is_telling(inquiry: Inquiry, name: str) -> bool:
    """True if only one symbol of the project has the name, so that a line with the name is about that symbol."""
    is_name = len(name) >= _SHORTEST_NAME and re.fullmatch(r"\w+", name) is not None and not name.startswith("__")
    if not is_name:
        return False
    found = inquiry.project.code.file.named(name, 4)
    return len([each for each in found if not each.path.endswith(STUBS)] or found) == 1
