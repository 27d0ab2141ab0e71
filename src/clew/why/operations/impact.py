"""The command `clew impact`: the items that a change affects."""

# Implements: REQ-d00053

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec

from clew.errors import NotFound
from clew.graph.code.region import CodeRegion
from clew.graph.model import NodeKind
from clew.operation.call import Call
from clew.operation.declare import HelpHeading, Operation, Option, Toolset
from clew.text.terminal import coloured
from clew.trace.read.resolve import Resolver, Subject, subject_of
from clew.trace.reports.impact import Affected, Impact, documented, impact
from clew.trace.reports.suspect import suspects
from clew.why.target import file_argument
from clew.why.users import User, not_seen, users

_RESULTS = {"passed": "green", "failed": "red", "error": "red"}


class ImpactShown(Impact, frozen=True, kw_only=True):
    """The impact of a target, with the users of a source file, whether it cites anything or not."""

    used_by: tuple[Affected, ...]
    """Files that import it, and files that import those, nearest first."""
    used_by_total: int
    notes: tuple[str, ...] = ()
    """Users of the file that the imports do not show."""


def _subject(call: Call, text: str, source: str | None) -> Subject:
    """The subject of the question, which may be a source file that cites nothing. Raises NotFound if nothing is known
    about it."""
    project = call.project
    try:
        resolver = Resolver(project.graph, project.context.grammar)
        return subject_of(project.graph, resolver, project.config.root, text, call.folder)
    except NotFound:
        if source is None:
            raise
        return Subject(source, NodeKind.FILE.value, "", ())


def _source(call: Call, text: str) -> tuple[str | None, tuple[str, ...]]:
    """The source file that is meant, if it is one, and the limits of what is known of it."""
    path = file_argument(call, text).path
    if path is None:
        return None, ()
    code = call.project.code
    unfinished = code.ensure()
    return (path if code.file.has((path,)) else None), unfinished


def _affected_users(code: CodeRegion, using: Sequence[User]) -> Iterator[Affected]:
    """Users, each with the line of its import. Lines are looked up only for the ones shown."""
    lines: dict[str, dict[str, int]] = {}
    for user in using:
        if user.imports not in lines:
            lines[user.imports] = {each.path: each.line for each in reversed(code.importing(user.imports))}
        kind = NodeKind.TEST.value if user.is_test else NodeKind.FILE.value
        how = f"imports {user.imports}" + (" (a test)" if user.is_test else "")
        line = lines[user.imports].get(user.path, 1)
        yield Affected(user.path, kind, "", user.path, line, how, user.distance)


class ShowImpact(
    Operation,
    verb="impact",
    served=True,
    heading=HelpHeading.PROVE,
    toolset=Toolset.CORE,
    summary="what depends on a requirement or file, what proves it, what becomes suspect",
    epilog="clew impact REQ-d00001-A\nclew impact src/fairwater/curve.py",
):
    """Dependents of a requirement or file, the evidence for it, and the links that become suspect when it changes."""

    what: Annotated[
        str,
        Option(
            positional=True, metavar="ID|FILE", about="a requirement, an assertion, a test, or any file that is read"
        ),
    ]
    limit: Annotated[int, Option(metavar="N", about="items of each list at most")] = 20

    def run(self, call: Call) -> ImpactShown:
        project, limit = call.project, max(self.limit, 0)
        path, notes = _source(call, self.what)
        subject = _subject(call, self.what, path)
        using = list(users(project, path)) if path is not None else []
        left_out = not_seen(project.symbols, path) if path is not None else ""
        found = impact(project.graph, subject, suspects(project.graph, project.store), limit=limit)
        # Documents that were never read would have to be read now, all of them.
        pages = documented(project.graph, subject) if project.kb.was_read else []
        found = msgspec.structs.replace(found, documented=tuple(pages[:limit]), documented_total=len(pages))
        return ImpactShown(
            **msgspec.structs.asdict(found),
            used_by=tuple(_affected_users(project.symbols, using[:limit])),
            used_by_total=len(using),
            notes=(*notes, left_out) if left_out else notes,
        )

    def render(self, result: ImpactShown) -> str:
        return "\n".join(_impact(result))


def _impact(found: ImpactShown) -> Iterator[str]:
    yield coloured(f"{found.subject}: {found.title}" if found.title else found.subject, "bold")
    if found.stands_for_total:
        yield from _affected("stands for", found.stands_for, found.stands_for_total)
    counts = ", ".join(f"{number} {kind}" for kind, number in found.dependents_by_kind.items())
    yield from _affected(f"depends on it ({counts or 'nothing'})", found.dependents, found.dependents_total)
    if total := found.used_by_total:
        yield from _affected(f"uses it ({total})", found.used_by, total)
    if total := found.documented_total:
        yield from _affected(f"documents about it ({total})", found.documented, total)
    yield coloured(f"proves it ({found.proofs_total})", "dim")
    for proof in found.proofs:
        result = proof.result or "no result"
        yield f"  {proof.id}  {proof.proves}  {coloured(result, _RESULTS.get(result, 'dim'))}"
    yield from _more(found.proofs_total - len(found.proofs))
    now = f", {found.suspect_now} are now" if found.suspect_now else ""
    yield coloured(f"becomes suspect when it changes ({found.becomes_suspect_total}{now})", "dim")
    places = {item.id: f"{item.path}:{item.line}" for item in found.dependents}
    for doubt in found.becomes_suspect:
        mark = coloured("  suspect now", "yellow") if doubt.suspect_now else ""
        yield f"  {places.get(doubt.citing, doubt.citing)}  {doubt.kind} {doubt.cited}{mark}"
    yield from _more(found.becomes_suspect_total - len(found.becomes_suspect))
    yield from (coloured(f"note: {note}", "yellow") for note in found.notes)


def _affected(heading: str, items: tuple[Affected, ...], total: int) -> Iterator[str]:
    yield coloured(heading, "dim")
    for item in items:
        # The id of a piece of code has the line of its comment; its name says more.
        name = item.title if item.kind == "code" and item.title else item.id
        yield f"{'  ' * item.distance}{name}  {item.how}  {coloured(f'{item.path}:{item.line}', 'dim')}"
    yield from _more(total - len(items))


def _more(number: int) -> Iterator[str]:
    if number > 0:
        yield coloured(f"  {number} more; --limit shows them", "dim")
