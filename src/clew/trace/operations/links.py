"""Toolset trace: suggesting links of tests and code to requirements, and writing them."""

from typing import Annotated, Any

import msgspec

from clew.errors import InvalidArgument
from clew.operation.call import Call
from clew.operation.declare import Freshness, MaxTokens, Operation, Option, PageCursor, Toolset
from clew.text.terminal import coloured
from clew.trace.links.requests import FilePath, LinkRequest, SuggestionQuery, SuggestionSearch, Wait
from clew.trace.links.results import AppliedLink, Reviewed, Suggestion, SuggestionPage

_STYLES = {"high": "green", "medium": "yellow", "low": "dim"}


class SuggestLinks(
    SuggestionQuery,
    Operation,
    tool="suggest_links",
    toolset=Toolset.TRACE,
    title="Links that are probably missing",
    trim=("suggestions", "notes"),
    pages="suggestions",
    example={"file_path": "src", "limit": 3},
):
    """For tests and code that cite no requirement: which one each probably belongs to, with a confidence, the likely
    assertion and the reasons. Once a few were decided, `calibrated` is true: of links at 0.8 about 80 % are right.
    Returns at most `limit` (20), the most likely first; next_cursor leads to the rest. Changes nothing: apply_link
    writes one, or rejects it so that it is not suggested again. For assertions without a test call
    get_uncovered_assertions."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> SuggestionPage:
        return call.project.links.suggest(self, offset=call.offset, progress=call.progress)

    def state(self, call: Call) -> str:
        """The state of a page: further pages belong to the decisions at the time of the first."""
        return call.project.links.decisions_state()


class ApplyLink(
    LinkRequest,
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

    def run(self, call: Call) -> AppliedLink:
        call.project.ensure_graph(call.progress)
        return call.project.links.apply(self)


class ListSuggestions(
    SuggestionSearch,
    Operation,
    verb="links suggest",
    command_of="suggest_links",
    toolset=Toolset.TRACE,
    summary="list links that are probably missing, the most likely first",
    epilog="clew links suggest --tests\nclew links suggest src --limit 10 --wait",
):
    """The suggestions in one list, by words at once, and by meaning as far as that is known."""

    def run(self, call: Call) -> SuggestionPage:
        if not 1 <= self.limit <= 10_000:
            raise InvalidArgument(f"--limit is {self.limit}, not from 1 to 10,000.", hint="The default is 20.")
        return call.project.links.suggest(self, ends=True, progress=call.progress)

    def data(self, result: SuggestionPage) -> Any:
        return {name: value for name, value in msgspec.structs.asdict(result).items() if name != "next_cursor"}

    def render(self, result: SuggestionPage) -> str:
        notes = (coloured(note, "dim") for note in result.notes)
        return "\n".join((*map(_suggestion, result.suggestions), _summary(result), *notes))

    def exit_code(self, result: SuggestionPage) -> int:
        return 0 if result.suggestions else 1


class ReviewLinks(
    Operation,
    verb="links review",
    toolset=Toolset.TRACE,
    summary="go through suggested links by keyboard: accept, reject or skip each, or undo",
    epilog="clew links review tests",
    needs=Freshness.NONE,
    writes=True,
):
    """Shows one suggestion after the other, the most likely first, and reads a key for each: `a` writes the link, `r`
    rejects it, `s` leaves it open, `u` undoes the last key, `q` ends."""

    file_path: FilePath = None
    limit: Annotated[int, Option(metavar="N", about="suggestions at most")] = 100
    wait: Wait = False

    def run(self, call: Call) -> Reviewed:
        from clew.trace.links.review import review

        call.project.ensure_graph(call.progress)
        query = SuggestionSearch(self.file_path, self.limit, wait=self.wait)
        return review(call.project.links, query, _suggestion, call.progress)

    def render(self, result: Reviewed) -> str:
        return (
            f"{result.accepted} accepted, {result.rejected} rejected, {result.skipped} skipped; {result.left} were not"
            " looked at."
        )


def _suggestion(each: Suggestion) -> str:
    sure = coloured(f"{each.confidence:.2f}", _STYLES[each.confidence_band])
    return (
        f"{sure}  {each.file}:{each.line}  {each.source_label}\n"
        f"      {coloured(each.assertion_id or each.requirement_id, 'cyan')}  {each.requirement_title}\n"
        + coloured(f"      {'; '.join(each.reasons) or each.reason}", "dim")
    )


def _summary(page: SuggestionPage) -> str:
    looked = f"{page.considered} tests and pieces of code cite no requirement"
    if not page.total:
        fits = "no requirement or scenario fits any of them. `clew brief` says what there is."
        return f"Nothing to suggest: {looked}, and {fits}"
    more = f"; {page.total - page.count} more with --limit {page.total}" if page.truncated else ""
    return f"{page.count} of {page.total} suggestions, {looked}{more}."


class LinkAtPlace(Operation, toolset=Toolset.TRACE, needs=Freshness.NONE, writes=True):
    """A link that somebody names by its place in a file."""

    place: Annotated[
        str, Option(positional=True, metavar="FILE:LINE", about="the place of the test, function or class")
    ]
    requirement: Annotated[str, Option(positional=True, metavar="ID", about="a requirement or assertion; d1-A works")]

    def decide(self, call: Call, **how: Any) -> AppliedLink:
        path, line = _place(self.place)
        call.project.ensure_graph(call.progress)
        return call.project.links.apply(LinkRequest(path, line, self.requirement, **how), actor="cli")

    def render(self, result: AppliedLink) -> str:
        written = f"{result.file}:{result.line}: {coloured(result.comment, 'green')}" if result.comment else ""
        return f"{result.message}\n{written}"


class WriteLink(
    LinkAtPlace,
    verb="links apply",
    command_of="apply_link",
    summary="write a link as a comment above a test, function or class",
    epilog="clew links apply src/fairwater/curve.py:30 REQ-d00002-B",
):
    """Writes a link as apply_link does, for a place in the form FILE:LINE."""

    dry_run: Annotated[bool, Option(about="show the comment and its place, write nothing")] = False
    if_version: Annotated[str | None, Option(metavar="VERSION", about="refuse unless the file has this version")] = None

    def run(self, call: Call) -> AppliedLink:
        return self.decide(call, if_version=self.if_version, dry_run=self.dry_run)


class RejectLink(
    LinkAtPlace,
    verb="links reject",
    summary="remember that a suggested link is wrong, so that it is not suggested again",
    epilog="clew links reject src/fairwater/curve.py:30 d2\nclew links reject src/fairwater/curve.py:30 d2 --take-back",
):
    """Rejects a link as apply_link does with decision=reject, or takes that back as with reconsider."""

    take_back: Annotated[bool, Option(about="let the link be suggested again")] = False

    def run(self, call: Call) -> AppliedLink:
        return self.decide(call, decision="reconsider" if self.take_back else "reject")


def _place(text: str) -> tuple[str, int]:
    path, colon, line = text.rpartition(":")
    if not colon or not path or not line.isdecimal():
        raise InvalidArgument(
            f"'{text}' has no line number.", hint="Write file and line, such as src/clock.py:12; line 0 is the top."
        )
    return path, int(line)
