"""The command `clew impact`: the nodes, users and tests that a change concerns."""

# Implements: REQ-d00053
# Implements: REQ-d00782

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec

from clew.derived.code_file import FiledSymbol
from clew.errors import NotFound
from clew.formats.code.facts.model import MODULE
from clew.formats.code.languages import family_for
from clew.graph.code.region import CodeRegion
from clew.graph.model import NodeKind
from clew.operation.call import Call
from clew.operation.declare import HelpHeading, Operation, Option, Toolset
from clew.text.display import counted
from clew.text.terminal import coloured
from clew.trace.read.resolve import Resolver, Subject, subject_of
from clew.trace.reports.impact import Affected, Impact, documented, impact
from clew.trace.reports.suspect import suspects
from clew.why.changes.tests_to_run import TestsToRun, tests_to_run
from clew.why.changes.unreached import MANY_SITES, note_on
from clew.why.inquiry import Inquiry
from clew.why.operations.changed import tests_as_lines
from clew.why.sections.used import UsesOf, file_uses, kept_symbol, uses_of
from clew.why.target import file_argument
from clew.why.users import User, not_seen, users

if TYPE_CHECKING:
    from clew.code.results import ShownSymbol, ShownUse

_RESULTS = {"passed": "green", "failed": "red", "error": "red"}
_SECONDS = 10.0


class ImpactShown(Impact, frozen=True, kw_only=True):
    """With the users and tests of code, whether it cites anything or not."""

    used_by: tuple[Affected, ...] = ()
    """Files that import it, and files that import those, nearest first."""
    used_by_total: int = 0
    uses: "tuple[ShownUse, ...]" = ()
    """Lines outside of tests that use it, nearest first; of a file, the first line of each file that uses it."""
    uses_total: int = 0
    unbound: int = 0
    """Places with the name of which it is not known what they mean."""
    tests: TestsToRun = TestsToRun()
    """The tests to run after a change of it."""
    definitions: "tuple[ShownSymbol, ...]" = ()
    """The definitions of the name, where several are meant as much; nothing is answered then."""
    notes: tuple[str, ...] = ()
    """Users that were not seen, and other limits."""


class ShowImpact(
    Operation,
    verb="impact",
    served=True,
    heading=HelpHeading.PROVE,
    toolset=Toolset.CORE,
    summary="what depends on a requirement, file or symbol, which tests to run, what becomes suspect",
    epilog="clew impact REQ-d00001-A\nclew impact src/fairwater/curve.py\nclew impact height_at --tests",
):
    """Dependents of a requirement, file or symbol, the evidence for it, the tests to run, and the links that become
    suspect when it changes."""

    what: Annotated[
        str,
        Option(
            positional=True,
            metavar="TARGET",
            about="a requirement, an assertion, a test, a file, FILE:LINE or a symbol, as `clew why` takes it",
        ),
    ]
    limit: Annotated[int, Option(metavar="N", about="items of each list at most")] = 20
    tests: Annotated[bool, Option(about="only the tests to run")] = False

    def run(self, call: Call) -> ImpactShown:
        project, limit = call.project, max(self.limit, 0)
        path = file_argument(call, self.what).path
        notes = project.code.ensure() if path is not None else ()
        # Settings may name entry points; that alone makes them no source file.
        family = family_for(path) if path is not None and project.code.file.has((path,)) else None
        source = path if family is not None and family.blocks else None
        subject = _subject(call, self.what, source)
        if subject is None:
            return _of_symbol(call, self.what, limit)
        found = _of_graph(call, subject, limit)
        if source is None:
            return found
        return _with_file(call, found, source, limit, notes)

    def render(self, result: ImpactShown) -> str:
        if self.tests:
            return "\n".join(tests_as_lines(result.tests, is_code=True))
        return "\n".join(_impact(result))


def _subject(call: Call, text: str, source: str | None) -> Subject | None:
    """The subject of the question by its id or path, which may be a source file that cites nothing; None where it is
    neither. The caller then looks for a symbol."""
    project = call.project
    try:
        resolver = Resolver(project.graph, project.context.grammar)
        return subject_of(project.graph, resolver, project.config.root, text, call.folder)
    except NotFound:
        if source is not None:
            return Subject(source, NodeKind.FILE.value, "", ())
        if file_argument(call, text).path is not None:
            raise
        return None


def _of_graph(call: Call, subject: Subject, limit: int) -> ImpactShown:
    project = call.project
    found = impact(project.graph, subject, suspects(project.graph, project.store), limit=limit)
    # Documents that were never read would have to be read now, all of them.
    pages = documented(project.graph, subject) if project.kb.was_read else []
    node = project.graph.get_node(subject.ids[0]) if len(subject.ids) == 1 else None
    is_verified = node is not None and node.kind in (NodeKind.REQUIREMENT, NodeKind.ASSERTION) and found.proofs
    doubt = note_on(project, node, call.check, MANY_SITES) if is_verified and node is not None else ""
    return ImpactShown(
        **{
            **{name: getattr(found, name) for name in found.__struct_fields__},
            "documented": tuple(pages[:limit]),
            "documented_total": len(pages),
        },
        notes=(doubt,) if doubt else (),
    )


def _of_symbol(call: Call, text: str, limit: int) -> ImpactShown:
    from clew.code.service import shown_symbol

    project = call.project
    inquiry = Inquiry(call, text)
    target = inquiry.target
    if target.definitions:
        service = project.uses
        known = tuple(shown_symbol(each, len(service.uses_of(each, call.check).uses)) for each in target.definitions)
        empty = _of_graph(call, Subject(text, "name", target.title, ()), limit)
        return msgspec.structs.replace(empty, definitions=known, notes=("Name the definition that is meant.",))
    if target.node is not None or target.symbol is None or target.path is None:
        known_id = (target.node.id,) if target.node is not None else ()
        return _of_graph(call, Subject(target.name, target.kind, target.title, known_id), limit)
    first, last = target.symbol.line, target.symbol.end_line
    here = ((node.id, node.source) for node in inquiry.nodes_here())
    ids = tuple(id for id, source in here if source is not None and first <= source.line <= last)
    found = _of_graph(call, Subject(f"{target.path}::{target.symbol.qualname}", "symbol", target.title, ids), limit)
    symbol = kept_symbol(inquiry)
    if symbol is None:
        note = "Uses are not read in this language."
        return msgspec.structs.replace(found, notes=(*inquiry.notes, note))
    uses = uses_of(inquiry, symbol)
    shown = tuple(project.uses.shown((*uses.real, *uses.imports)[:limit]))
    tests = tests_to_run(project, (symbol,), limit=max(limit, 1), check=call.check, seconds=_SECONDS)
    return msgspec.structs.replace(
        found,
        uses=shown,
        uses_total=len(uses.real) + len(uses.imports),
        unbound=uses.uses.unbound,
        tests=tests,
        notes=(*inquiry.notes, *_limits(symbol, uses), *tests.notes),
    )


def _limits(symbol: FiledSymbol, found: UsesOf) -> Iterator[str]:
    if not found.real and not found.imports:
        yield (
            f"No use outside of tests was found in {counted(found.uses.files, 'file')} with the name '{symbol.name}'."
        )
    if found.uses.one_of:
        yield f"{counted(len(found.uses.one_of), 'place')} may use this or another definition of the name."


def _with_file(call: Call, found: ImpactShown, path: str, limit: int, notes: tuple[str, ...]) -> ImpactShown:
    project = call.project
    using = list(users(project, path))
    inquiry = Inquiry(call, f"file:{path}")
    left_out = not_seen(project.symbols, path, is_bound=inquiry.has_rules(path))
    uses, left = file_uses(inquiry, path) if inquiry.has_rules(path) else ({}, "")
    first = [min(names.values(), key=lambda use: use.line) for names in uses.values()]
    symbols = [each for each in project.code.file.symbols_of(path) if each.parent == MODULE]
    tests = tests_to_run(project, symbols, limit=max(limit, 1), check=call.check, seconds=_SECONDS)
    return msgspec.structs.replace(
        found,
        used_by=tuple(_affected_users(project.symbols, using[:limit])),
        used_by_total=len(using),
        uses=tuple(project.uses.shown(first[:limit])),
        uses_total=len(first),
        tests=tests,
        notes=tuple(dict.fromkeys((*notes, *filter(None, (left_out, left)), *tests.notes))),
    )


def _affected_users(code: CodeRegion, using: Sequence[User]) -> Iterator[Affected]:
    """Users with the line of their import. Lines are looked up for those that are shown only."""
    lines: dict[str, dict[str, int]] = {}
    for user in using:
        if user.imports not in lines:
            lines[user.imports] = {each.path: each.line for each in reversed(code.importing(user.imports))}
        kind = NodeKind.TEST.value if user.is_test else NodeKind.FILE.value
        how = f"imports {user.imports}" + (" (a test)" if user.is_test else "")
        line = lines[user.imports].get(user.path, 1)
        yield Affected(user.path, kind, "", user.path, line, how, user.distance)


def _impact(found: ImpactShown) -> Iterator[str]:
    yield coloured(f"{found.subject}: {found.title}" if found.title else found.subject, "bold")
    for each in found.definitions:
        yield f"  {each.name}  {each.kind}, {counted(each.uses or 0, 'use')}"
    if not found.definitions:
        yield from _of_citations(found)
    yield from (coloured(f"note: {note}", "yellow") for note in found.notes)


def _of_citations(found: ImpactShown) -> Iterator[str]:
    if found.stands_for_total:
        yield from _affected("stands for", found.stands_for, found.stands_for_total)
    counts = ", ".join(f"{number} {kind}" for kind, number in found.dependents_by_kind.items())
    is_code = bool(found.uses_total or found.used_by_total or found.tests.total)
    if counts or not is_code:
        yield from _affected(f"depends on it ({counts or 'nothing'})", found.dependents, found.dependents_total)
    if total := found.uses_total:
        yield coloured(f"used by ({total})", "dim")
        yield from map(_use, found.uses)
        yield from _more(total - len(found.uses))
    if total := found.used_by_total:
        yield from _affected(f"imported by ({total})", found.used_by, total)
    if found.unbound:
        yield coloured(f"{counted(found.unbound, 'place')} of this name could not be resolved", "dim")
    if total := found.documented_total:
        yield from _affected(f"documents about it ({total})", found.documented, total)
    if found.proofs_total or not is_code:
        yield coloured(f"proves it ({found.proofs_total})", "dim")
    for proof in found.proofs:
        result = proof.result or "no result"
        yield f"  {proof.id}  {proof.proves}  {coloured(result, _RESULTS.get(result, 'dim'))}"
    yield from _more(found.proofs_total - len(found.proofs))
    if found.becomes_suspect_total or not is_code:
        now = f", {found.suspect_now} are now" if found.suspect_now else ""
        yield coloured(f"becomes suspect when it changes ({found.becomes_suspect_total}{now})", "dim")
    places = {item.id: f"{item.path}:{item.line}" for item in found.dependents}
    for doubt in found.becomes_suspect:
        mark = coloured("  suspect now", "yellow") if doubt.suspect_now else ""
        yield f"  {places.get(doubt.citing, doubt.citing)}  {doubt.kind} {doubt.cited}{mark}"
    yield from _more(found.becomes_suspect_total - len(found.becomes_suspect))
    yield from tests_as_lines(found.tests, is_code=False)


def _use(use: "ShownUse") -> str:
    inside = f" in {use.inside}" if use.inside else ""
    how = "" if use.basis == "exact" else f" ({use.basis})"
    return f"  {use.path}:{use.line}  {coloured(use.kind + how + inside, 'dim')}  {use.text}"


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
