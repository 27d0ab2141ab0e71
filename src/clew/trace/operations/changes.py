"""The command `clew review`: links that changes put in doubt."""

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from clew.errors import InvalidArgument
from clew.operation.call import Call
from clew.operation.declare import Operation, Option, Toolset
from clew.text.display import counted
from clew.text.terminal import coloured
from clew.trace.read.resolve import Resolver, Subject, subject_of
from clew.trace.reports.citations import HashedCitation, ReviewReport, links, links_citing, links_made_by, record
from clew.trace.reports.suspect import Suspect, suspects


def meant(call: Call, text: str) -> Subject:
    """Resolve an id, or a path relative to the current folder."""
    project = call.project
    return subject_of(
        project.graph, Resolver(project.graph, project.context.grammar), project.config.root, text, call.folder
    )


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
