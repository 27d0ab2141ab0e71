"""Toolset core: the history and the reasons of a target, and everything to know before it is edited."""

from typing import Annotated

from msgspec import Meta

from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, Option, Toolset
from clew.why.answer import Thread, as_terminal, as_text, thinned

_NEEDED = ("{command} needs to know what.", "Write `{command} FILE:LINE`, a symbol, an id or a commit.")
TargetName = Annotated[
    str,
    Meta(min_length=1, max_length=1_000, description="FILE, FILE:LINE, FILE:START-END, a symbol, an id or a commit"),
    Option(positional=True, metavar="TARGET", needed=_NEEDED),
]


class ShowWhy(
    Operation,
    tool="why",
    verb="why",
    served=True,
    toolset=Toolset.CORE,
    title="Why this is there",
    summary="why a line, symbol, requirement or commit is there, what proves it, what depends on it",
    epilog="clew why src/fairwater/curve.py:12\nclew why REQ-d00001-A\nclew why HEAD\nclew why '#12'\n"
    'clew why HEAD~1..HEAD\nclew why --history "half a metre"',
    needs=Freshness.NONE,
    trim=("sections", "notes"),
    outlined=True,
    example={"target": "REQ-d00001"},
):
    """For finding out why a line, symbol, requirement, test or commit is there, or was removed: also for #NUMBER and
    A..B PATH. Returns the reason, the commits, who asked for it, decisions, proof and what depends on it, each with its
    place and how sure it is; a section without evidence says so."""

    target: TargetName
    history: Annotated[bool, Meta(description="The target is a text: which commits added and removed it")] = False
    max_tokens: Annotated[
        int, Meta(ge=400, le=20_000, description="Size at most; default 1,800"), Option(hidden=True)
    ] = 1_800

    def run(self, call: Call) -> Thread:
        from clew.why.thread import thread

        call.project.ensure_graph(call.progress)
        found = thread(call, self.target, is_text=self.history)
        return found if call.surface == "cli" else thinned(found, self.max_tokens)

    def text(self, result: Thread) -> str:
        return as_text(result)

    def render(self, result: Thread) -> str:
        return as_terminal(result)


class ShowContext(
    Operation,
    tool="context",
    verb="context",
    served=True,
    toolset=Toolset.CORE,
    title="What to know before an edit",
    summary="what to know before an edit, within a budget",
    epilog="clew context src/fairwater/curve.py:12\nclew context REQ-d00001 --max-tokens 3000",
    needs=Freshness.NONE,
    # Its own max_tokens is that of the text.
    budget=20_000,
    trim=("sections", "notes"),
    outlined=True,
    example={"target": "REQ-d00001"},
):
    """For the moment before an edit of a file, lines, a symbol or a requirement. Returns the requirements to keep,
    decisions and pitfalls, tests to run, what depends on it, then its text, in max_tokens."""

    target: TargetName
    max_tokens: Annotated[
        int, Meta(ge=400, le=20_000, description="Size at most; default 900"), Option(metavar="N")
    ] = 900

    def run(self, call: Call) -> Thread:
        from clew.why.context import packed

        call.project.ensure_graph(call.progress)
        return packed(call, self.target, self.max_tokens)

    def text(self, result: Thread) -> str:
        return as_text(result)

    def render(self, result: Thread) -> str:
        return as_terminal(result)
