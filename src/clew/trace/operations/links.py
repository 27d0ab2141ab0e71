"""Toolset trace: suggesting links of tests and code to requirements, and writing them."""

from typing import Annotated, Literal

from msgspec import Meta

from clew.operation.call import Call
from clew.operation.registry import Freshness, MaxTokens, PageCursor, Request, Tool, Toolset
from clew.trace.links.results import AppliedLink, SuggestionPage


class SuggestRequest(Request, frozen=True, kw_only=True):
    file_path: Annotated[
        str | None, Meta(description="A file of tests or code, or a folder, relative to the project; without it, all")
    ] = None
    limit: Annotated[int, Meta(ge=1, le=200, description="Suggestions at most")] = 20
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class ApplyRequest(Request, frozen=True, kw_only=True):
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


def run_suggest_links(call: Call, request: SuggestRequest) -> SuggestionPage:
    return call.project.links.suggest(
        request.file_path, offset=call.offset, limit=request.limit, progress=call.progress
    )


def decisions_of(call: Call, request: SuggestRequest) -> str:
    """A further page belongs to what was rejected when the first was made."""
    return call.project.links.decisions_state()


def run_apply_link(call: Call, request: ApplyRequest) -> AppliedLink:
    call.project.ensure_graph(call.progress)
    return call.project.links.apply(
        request.file_path,
        request.line,
        request.requirement_id,
        decision=request.decision,
        if_version=request.if_version,
        dry_run=request.dry_run,
    )


SUGGEST_LINKS = Tool(
    name="suggest_links",
    toolset=Toolset.TRACE,
    title="Links that are probably missing",
    description=(
        "For tests and code that cite no requirement: which one each probably belongs to, with a confidence (of links "
        "suggested at 0.8, about 80 % are right), the likely assertion and the reasons. Returns at most `limit` (20), "
        "the most likely first; next_cursor leads to the rest. Changes nothing: apply_link writes one, or rejects it "
        "so that it is not suggested again. For assertions without a test call get_uncovered_assertions."
    ),
    request=SuggestRequest,
    result=SuggestionPage,
    run=run_suggest_links,
    trim=("suggestions", "notes"),
    pages="suggestions",
    state=decisions_of,
    example={"file_path": "src", "limit": 3},
)

APPLY_LINK = Tool(
    name="apply_link",
    toolset=Toolset.TRACE,
    title="Write a link into a file",
    description=(
        "Writes a comment such as `# Implements: REQ-d00001-A` above the test, function or class at `line`, in the "
        "file's own comment style and indentation, and reads the graph again. Every other byte stays. Refuses an "
        "unknown requirement, a file outside the project, a binary or write-protected one. A link that is there "
        "already is not written twice. decision=reject remembers that a suggestion is wrong; no file is touched."
    ),
    request=ApplyRequest,
    result=AppliedLink,
    run=run_apply_link,
    needs=Freshness.NONE,
    read_only=False,
    example={
        "file_path": "src/fairwater/curve.py",
        "line": 20,
        "requirement_id": "REQ-d00002",
        "dry_run": True,
    },
)

TOOLS = (SUGGEST_LINKS, APPLY_LINK)
