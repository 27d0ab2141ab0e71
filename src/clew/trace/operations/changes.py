"""The commands `clew changed` and `clew review`: changes, and the links that they put in doubt."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from clew.errors import InvalidArgument
from clew.operation.call import Call
from clew.operation.declare import Operation, Option, Toolset
from clew.text.display import counted
from clew.text.terminal import coloured
from clew.trace.read.resolve import Resolver, Subject, subject_of
from clew.trace.reports.changed import ChangedImpact, ChangeReport, as_markdown, changed, others_changed, with_impact
from clew.trace.reports.citations import HashedCitation, ReviewReport, links, links_citing, links_made_by, record
from clew.trace.reports.suspect import Suspect, suspects

_CHANGES = {"added": "green", "changed": "yellow", "moved": "cyan", "removed": "red"}


def meant(call: Call, text: str) -> Subject:
    """Resolve an id, or a path relative to the current folder."""
    project = call.project
    return subject_of(
        project.graph, Resolver(project.graph, project.context.grammar), project.config.root, text, call.folder
    )


class ShowChanged(
    Operation,
    verb="changed",
    toolset=Toolset.TRACE,
    summary="changes since the last commit, or since the branch began",
    epilog="clew changed\nclew changed --base main --json",
    folder="argument",
):
    """Requirements, assertions, tests and code that differ from a commit."""

    base: Annotated[
        str | None,
        Option(metavar="REF", about="compare with where this branch left REF (default: with the last commit)"),
    ] = None
    format: Annotated[
        Literal["text", "markdown"], Option(about="markdown adds what each change concerns, for a pull request")
    ] = "text"

    def run(self, call: Call) -> ChangeReport | ChangedImpact:
        project = call.project
        found = changed(project.graph, project.config, project.context.grammar, self.base)
        if self.format == "text":
            return found
        return with_impact(project.graph, found, suspects(project.graph, project.store))

    def render(self, result: ChangeReport | ChangedImpact) -> str:
        return as_markdown(result) if isinstance(result, ChangedImpact) else "\n".join(_changed(result))


def _changed(found: ChangeReport) -> Iterator[str]:
    for item in found.items:
        word = coloured(f"{item.change:<8}", _CHANGES[item.change])
        title = item.title.partition("\n")[0]
        yield f"{word} {item.kind:<12} {item.id}  {title}  {coloured(f'{item.path}:{item.line}', 'dim')}"
        if item.broken:
            yield f"{'':<21} cites {coloured(', '.join(item.broken), 'red')}: not there"
        if item.lost:
            yield f"{'':<21} no longer cites {', '.join(item.lost)}"
    counts = ", ".join(
        f"{number} {kind}{'' if number == 1 or kind == 'code' else 's'}" for kind, number in found.counts.items()
    )
    for path in found.not_compared:
        yield coloured(f"not compared, because git has a filter for it: {path}", "yellow")
    compared = "HEAD" if found.base is None else found.base
    yield counts or f"No requirement, assertion, test or citing code changed since {compared}."
    if others := others_changed(found):
        yield coloured(others, "dim")
    elif not counts:
        yield "`clew changed --base REF` compares with another commit."


class SuspectLinks(msgspec.Struct, frozen=True):
    suspect: tuple[Suspect, ...]
    count: int


class ConfirmLinks(
    Operation,
    verb="review",
    toolset=Toolset.TRACE,
    summary="record that links still hold although the cited text changed",
    epilog="clew review --list\nclew review REQ-d00001-A\nclew review REQ-d00001 --by tests/test_curve.py",
    writes=True,
):
    """Record that links still hold, or list those that are in doubt."""

    what: Annotated[
        tuple[str, ...],
        Option(positional=True, metavar="ID|FILE", about="review the links that cite this, and those it makes itself"),
    ] = ()
    by: Annotated[str | None, Option(metavar="ID|FILE", about="only the links that this makes")] = None
    every: Annotated[bool, Option("--all", about="review every link, and forget those that are gone")] = False
    only_list: Annotated[bool, Option("--list", about="list the suspect links; exit code 1 if there are any")] = False

    def run(self, call: Call) -> ReviewReport | SuspectLinks:
        if sum((bool(self.what), self.every, self.only_list)) != 1:
            raise InvalidArgument(
                "Name what was reviewed, or pass --all, or --list; one of the three.",
                hint="`clew review --help` has examples.",
            )
        project, config = call.project, call.project.config
        if self.only_list:
            found = suspects(project.graph, project.store)
            return SuspectLinks(found, len(found))
        drop_gone = self.every and not self.by
        return record(
            config.root, config.reviews, project.graph, project.store, self._chosen(call), drop_gone=drop_gone
        )

    def _chosen(self, call: Call) -> list[HashedCitation]:
        graph = call.project.graph
        if self.every:
            found = links(graph)
        else:
            ids = [id for text in self.what for id in meant(call, text).ids]
            found = tuple(dict.fromkeys((*links_citing(graph, ids), *links_made_by(graph, ids))))
        if not self.by:
            return list(found)
        makers = set(meant(call, self.by).ids)
        return [link for link in found if link.citing_id in makers]

    def render(self, result: Any) -> str:
        return "\n".join(_suspects(result) if isinstance(result, SuspectLinks) else _recorded(result))

    def exit_code(self, result: Any) -> int:
        return 1 if isinstance(result, SuspectLinks) and result.suspect else 0


def _suspects(found: SuspectLinks) -> Iterator[str]:
    for suspect in found.suspect:
        since = "its review" if suspect.reviewed else "it was first seen here"
        link = suspect.link
        yield f"{link.citing_id} {link.kind} {coloured(link.cited, 'yellow')}, changed since {since}"
    yield counted(found.count, "suspect link")


def _recorded(report: ReviewReport) -> Iterator[str]:
    for link in report.recorded:
        yield f"{link.citing_id} {link.kind} {coloured(link.cited, 'cyan')}"
    parts = [f"{len(report.recorded)} recorded in {report.file}", f"{report.unchanged} were there already"]
    if report.dropped:
        parts.append(f"{report.dropped} of links that are gone removed")
    yield ", ".join(parts)
