"""Toolset trace: suggesting links of tests and code to requirements, and writing them."""

from typing import Annotated, Literal

from msgspec import Meta

from clew.operation.call import Call
from clew.operation.declare import Freshness, MaxTokens, Operation, PageCursor, Toolset
from clew.trace.links.results import AppliedLink, SuggestionPage


class SuggestLinks(
    Operation,
    tool="suggest_links",
    toolset=Toolset.TRACE,
    title="Links that are probably missing",
    trim=("suggestions", "notes"),
    pages="suggestions",
    example={"file_path": "src", "limit": 3},
):
    """For tests and code that cite no requirement: which one each probably belongs to, with a confidence (of links
    suggested at 0.8, about 80 % are right), the likely assertion and the reasons. Returns at most `limit` (20), the
    most likely first; next_cursor leads to the rest. Changes nothing: apply_link writes one, or rejects it so that it
    is not suggested again. For assertions without a test call get_uncovered_assertions."""

    file_path: Annotated[
        str | None, Meta(description="A file of tests or code, or a folder, relative to the project; without it, all")
    ] = None
    limit: Annotated[int, Meta(ge=1, le=200, description="Suggestions at most")] = 20
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> SuggestionPage:
        return call.project.links.suggest(self.file_path, offset=call.offset, limit=self.limit, progress=call.progress)

    def state(self, call: Call) -> str:
        """A further page belongs to what was rejected when the first was made."""
        return call.project.links.decisions_state()


class ApplyLink(
    Operation,
    tool="apply_link",
    toolset=Toolset.TRACE,
    title="Write a link into a file",
    needs=Freshness.NONE,
    writes=True,
    example={"file_path": "src/fairwater/curve.py", "line": 20, "requirement_id": "REQ-d00002", "dry_run": True},
):
    """Writes a comment such as `# Implements: REQ-d00001-A` above the test, function or class at `line`, in the file's
    own comment style and indentation, and reads the graph again. Every other byte stays. Refuses an unknown
    requirement, a file outside the project, a binary or write-protected one. A link that is there already is not
    written twice. decision=reject remembers that a suggestion is wrong; no file is touched."""

    file_path: Annotated[str, Meta(min_length=1, description="A file of tests or code, relative to the project")]
    line: Annotated[int, Meta(ge=0, description="A line of the test, function or class; 0 is the top of the file")]
    requirement_id: Annotated[
        str, Meta(min_length=1, description="A requirement, or assertions of one: REQ-d00062, REQ-d00062-A, d62-A+B")
    ]
    decision: Annotated[
        Literal["accept", "reject", "reconsider"],
        Meta(description="reject remembers that it is no link and writes nothing; reconsider takes that back"),
    ] = "accept"
    dry_run: Annotated[bool, Meta(description="Show the comment and its place, write nothing")] = False
    if_version: Annotated[
        str | None, Meta(description="Refuse if the file changed: file_version of the suggestion")
    ] = None

    def run(self, call: Call) -> AppliedLink:
        call.project.ensure_graph(call.progress)
        return call.project.links.apply(
            self.file_path,
            self.line,
            self.requirement_id,
            decision=self.decision,
            if_version=self.if_version,
            dry_run=self.dry_run,
        )
