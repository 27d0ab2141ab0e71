"""The commands `clew impact`, `clew changed` and `clew review`: what changed, and what a change puts in doubt."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from clew.errors import InvalidArgument
from clew.operation.call import Call
from clew.operation.declare import Operation, Option, Toolset
from clew.text.counting import counted
from clew.text.terminal import coloured
from clew.trace.read.resolve import Resolver, Subject, subject_of
from clew.trace.reports.changed import Changed, changed
from clew.trace.reports.citations import HashedCitation, ReviewReport, links, links_citing, links_made_by, record
from clew.trace.reports.impact import Affected, Impact, documented, impact
from clew.trace.reports.suspect import Suspect, suspects

_RESULTS = {"passed": "green", "failed": "red", "error": "red"}
_CHANGES = {"added": "green", "changed": "yellow", "moved": "cyan", "removed": "red"}


def meant(call: Call, text: str) -> Subject:
    """What somebody means by an id, or by a file as it is named from the folder where they are."""
    project = call.project
    return subject_of(
        project.graph, Resolver(project.graph, project.context.grammar), project.config.root, text, Path.cwd()
    )


class ShowImpact(
    Operation,
    verb="impact",
    toolset=Toolset.TRACE,
    summary="what depends on a requirement or file, what proves it, what becomes suspect",
    epilog="clew impact REQ-d00001-A\nclew impact src/fairwater/curve.py",
):
    """What depends on something, what proves it, and which links become suspect when it changes."""

    what: Annotated[
        str,
        Option(
            positional=True, metavar="ID|FILE", about="a requirement, an assertion, a test, or any file that is read"
        ),
    ]
    limit: Annotated[int, Option(metavar="N", about="items of each list at most")] = 20

    def run(self, call: Call) -> Impact:
        project, limit = call.project, max(self.limit, 0)
        subject = meant(call, self.what)
        found = impact(project.graph, subject, suspects(project.graph, project.store), limit=limit)
        # Documents that were never read would have to be read now, all of them.
        pages = documented(project.graph, subject) if project.kb.was_read else []
        return msgspec.structs.replace(found, documented=tuple(pages[:limit]), documented_total=len(pages))

    def render(self, result: Impact) -> str:
        return "\n".join(_impact(result))


def _impact(found: Impact) -> Iterator[str]:
    yield coloured(f"{found.subject}: {found.title}" if found.title else found.subject, "bold")
    if found.stands_for_total:
        yield from _affected("stands for", found.stands_for, found.stands_for_total)
    counts = ", ".join(f"{number} {kind}" for kind, number in found.dependents_by_kind.items())
    yield from _affected(f"depends on it ({counts or 'nothing'})", found.dependents, found.dependents_total)
    if total := found.documented_total:
        yield from _affected(f"documents speak of it ({total})", found.documented, total)
    yield coloured(f"proves it ({found.proofs_total})", "dim")
    for proof in found.proofs:
        result = proof.result or "no result"
        yield f"  {proof.id}  {proof.proves}  {coloured(result, _RESULTS.get(result, 'dim'))}"
    yield from _more(found.proofs_total - len(found.proofs))
    now = f", {found.suspect_now} are now" if found.suspect_now else ""
    yield coloured(f"becomes suspect when it changes ({found.becomes_suspect_total}{now})", "dim")
    for doubt in found.becomes_suspect:
        mark = coloured("  suspect now", "yellow") if doubt.suspect_now else ""
        yield f"  {doubt.citing}  {doubt.kind} {doubt.cited}{mark}"
    yield from _more(found.becomes_suspect_total - len(found.becomes_suspect))


def _affected(heading: str, items: tuple[Affected, ...], total: int) -> Iterator[str]:
    yield coloured(heading, "dim")
    for item in items:
        yield f"{'  ' * item.distance}{item.id}  {item.how}  {coloured(f'{item.path}:{item.line}', 'dim')}"
    yield from _more(total - len(items))


def _more(number: int) -> Iterator[str]:
    if number > 0:
        yield coloured(f"  {number} more; --limit shows them", "dim")


class ShowChanged(
    Operation,
    verb="changed",
    toolset=Toolset.TRACE,
    summary="what changed since the last commit, or since the branch began",
    epilog="clew changed\nclew changed --base main --json",
    folder="argument",
):
    """Requirements, assertions, tests and code that differ from a commit."""

    base: Annotated[
        str | None,
        Option(metavar="REF", about="compare with where this branch left REF (default: with the last commit)"),
    ] = None

    def run(self, call: Call) -> Changed:
        project = call.project
        return changed(project.graph, project.config, project.context.grammar, self.base)

    def render(self, result: Changed) -> str:
        return "\n".join(_changed(result))


def _changed(found: Changed) -> Iterator[str]:
    for item in found.items:
        word = coloured(f"{item.change:<8}", _CHANGES[item.change])
        title = item.title.partition("\n")[0]
        yield f"{word} {item.kind:<12} {item.id}  {title}  {coloured(f'{item.path}:{item.line}', 'dim')}"
    counts = ", ".join(
        f"{number} {kind}{'' if number == 1 or kind == 'code' else 's'}" for kind, number in found.counts.items()
    )
    for path in found.not_compared:
        yield coloured(f"not compared, because git has a filter for it: {path}", "yellow")
    yield counts or "Nothing changed."


class SuspectLinks(msgspec.Struct, frozen=True):
    suspect: tuple[Suspect, ...]
    count: int


class ReviewLinks(
    Operation,
    verb="review",
    toolset=Toolset.TRACE,
    summary="record that links still hold although what they cite changed",
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
