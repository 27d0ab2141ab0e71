"""The link service: suggestions, decisions about them, and links written into files.

Writing a link into a file of the project, or refusing to before anything is touched.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import msgspec

from clew.config import Config
from clew.context import Context
from clew.edit.edits import FileEdit, check_writable
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.errors import Conflict, InvalidArgument, NotFound, Refused, StoreError
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.graph.graph import Graph
from clew.graph.model import Node
from clew.once import close_parts, lazy
from clew.store.interface import Store
from clew.text.display import shortened
from clew.text.hashing import content_hash
from clew.trace.links.comment import LinkComment, PlacedLink, Target
from clew.trace.links.decisions import ACCEPT, REJECT, Decisions
from clew.trace.links.match.sources import KnownFile, ProjectSources
from clew.trace.links.match.units import LinkUnit
from clew.trace.links.requests import LinkRequest, SuggestionQuery, SuggestionSearch
from clew.trace.links.results import AppliedLink, SuggestionPage
from clew.trace.read.resolve import Resolver
from clew.workspace.file_argument import FileArgument
from clew.workspace.files import read_bytes

if TYPE_CHECKING:
    from clew.trace.links.suggest import LinkSuggester


IMPLEMENTS, VERIFIES = "Implements", "Verifies"
KEYWORDS_OF_TESTS = (VERIFIES, "Validates", "Tests", IMPLEMENTS)
"""The words of a test's comment that are read as a link; another one in the configuration would bind nothing."""


class PlannedLink(msgspec.Struct, frozen=True):
    """A link that may be written: everything about it was looked at."""

    edit: FileEdit
    placed: PlacedLink
    requirement: Node
    written: str
    """The reference as the comment spells it."""

    @property
    def version(self) -> str:
        """Of the file with the link."""
        return content_hash(self.placed.content)


class LinkWriter:
    def __init__(
        self, graph: Graph, config: Config, grammar: IdGrammar, sources: ProjectSources, store: Store | None
    ) -> None:
        self._config = config
        self._grammar = grammar
        self._sources = sources
        self._store = store
        self._resolver = Resolver(graph, grammar)

    def plan(self, wanted: LinkRequest) -> PlannedLink:
        """Plan the comment for a link and its place. Reads the graph and the file, writes nothing."""
        if_version = wanted.if_version
        requirement, target = self.target(wanted.requirement_id)
        file = self._file(wanted.file_path)
        data = read_bytes(self._config.root, file.path, limit=self._config.max_file_bytes)
        if if_version is not None and if_version != content_hash(data):
            raise Conflict(
                f"'{file.path}' changed since it was read.",
                hint="Call suggest_links again: lines may have moved.",
                data={"provided_version": if_version, "current_version": content_hash(data)},
            )
        comment = LinkComment(data, file.path, self._grammar, lambda content: self._sources.records(file, content))
        placed = comment.place(wanted.line, self._keyword(file), target)
        edit = FileEdit(file.path, data, placed.content)
        check_writable(self._config.root, (edit,))
        return PlannedLink(edit, placed, requirement, comment.spelled(target))

    def write(self, link: PlannedLink, *, actor: str) -> None:
        """Write the planned link to its file, unless the file changed since."""
        if not link.placed.already_there:
            purpose = EditPurpose("apply_link", actor, {"requirement_id": link.requirement.id})
            FileTransaction(self._config.root, (link.edit,), purpose).commit(self._store)

    def target(self, requirement_id: str) -> tuple[Node, Target]:
        """The requirement that an id means and the assertions it names, which must all exist."""
        reference = self._grammar.parse_reference(requirement_id.strip())
        if reference is None:
            # An id of another grammar, such as that of a spec, names at most one assertion, and is spelled one way.
            node = self._resolver.find(requirement_id.strip())
            requirement = self._resolver.requirement(requirement_id.strip())
            return requirement, (requirement.id, () if node is requirement or node is None else (node.fields["label"],))
        requirement = self._resolver.requirement(reference.target)
        labels: tuple[str, ...] = requirement.get_field("labels", ())
        for label in reference.labels:
            if label not in labels:
                raise NotFound(
                    f"Requirement '{requirement.id}' has no assertion '{shortened(label)}'.",
                    hint=f"Its assertions are {', '.join(labels)}." if labels else "It has no assertions.",
                )
        return requirement, (requirement.id, reference.labels)

    def _file(self, path: str) -> KnownFile:
        known = self._sources.files().get(FileArgument(self._config.root, path).required())
        if known is None:
            raise Refused(
                f"'{path}' is not a file of tests or code, so a link in it would not be read.",
                hint=self._sources.where(),
            )
        return known

    def _keyword(self, file: KnownFile) -> str:
        if not file.is_test:
            return IMPLEMENTS
        wanted = self._config.elspais.test_keyword.casefold()
        return next((word for word in KEYWORDS_OF_TESTS if word.casefold() == wanted), VERIFIES)


VECTORS_FOLDER = "link-vectors"

Progress = Callable[[int, int, str], None]


class LinkService:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._graph, self._config, self._lock = context.graph, context.config, context.lock
        self._folder = context.derived_folder / VECTORS_FOLDER if context.store is not None else None
        self._sources = ProjectSources(context.graph, context.config, lambda: context.builder.readers)
        self._writer = LinkWriter(context.graph, context.config, context.grammar, self._sources, context.store)
        self._decisions = Decisions(lambda: context.shared, lambda: context.damage)

    def close(self) -> None:
        close_parts(self)

    def suggest(
        self,
        query: SuggestionQuery | None = None,
        *,
        offset: int = 0,
        ends: bool = False,
        progress: Progress | None = None,
    ) -> SuggestionPage:
        """Links that are probably missing. The graph must not change meanwhile: call it under the reading lock."""
        return self._suggester.suggest(_all_of(query or SuggestionQuery()), offset=offset, ends=ends, progress=progress)

    def has_unlinked_tests(self) -> bool:
        """True if there is a test that cites nothing."""
        files = (file for file in self._sources.files().values() if file.is_test)
        sources = (source for file in files if (source := self._sources.source(file)) is not None)
        return any(True for source in sources for _ in self._sources.unlinked(source))

    def reading(self) -> AbstractContextManager[None]:
        """While it is held, the graph does not change."""
        return self._lock.reading()

    def decisions_state(self) -> str:
        """Differs after every decision; a further page of suggestions belongs to one state."""
        return self._decisions.version()

    def apply(self, wanted: LinkRequest, *, actor: str = "clew") -> AppliedLink:
        """Decide about a link. Accepted, it is written and the graph refreshed; otherwise no file is touched.

        Takes the reading lock itself, because refreshing needs the writing one.
        """
        if wanted.decision != ACCEPT:
            return self._decide(wanted, actor)
        with self._lock.reading():
            link = self._writer.plan(wanted)
            unit = self._unit_at(link.edit.path, wanted.line)
            logit = self._logit(unit, link.requirement)
        if not wanted.dry_run:
            self._writer.write(link, actor=actor)
            if not link.placed.already_there:
                self._context.keeper.refresh()
            self._remember(unit, link, actor, logit)
        return _applied(link, dry_run=wanted.dry_run)

    def planned(self, wanted: LinkRequest) -> FileEdit:
        """The edit that `apply` would make, for a caller that edits the file by other means."""
        with self._lock.reading():
            return self._writer.plan(wanted).edit

    def take_back(self, edit: FileEdit, line: int, requirement_id: str, *, actor: str = "clew") -> AppliedLink:
        """Restore the former content of a file that got a link, and delete the decision. A file that somebody changed
        since is refused."""
        back = FileEdit(edit.path, edit.after, edit.before)
        if back.before != back.after:
            FileTransaction(self._config.root, (back,), EditPurpose("undo apply_link", actor)).commit(
                self._context.store
            )
            self._context.keeper.refresh()
        return self._decide(LinkRequest(edit.path, line, requirement_id, "reconsider"), actor)

    def _decide(self, wanted: LinkRequest, actor: str) -> AppliedLink:
        decision, line = wanted.decision, wanted.line
        with self._lock.reading():
            requirement, _ = self._writer.target(wanted.requirement_id)
            file = self._sources.asked(wanted.file_path)[0].path
            unit = self._unit_at(file, line)
            logit = self._logit(unit, requirement)
        if unit is None:
            raise InvalidArgument(
                f"There is no test, function or class at line {line} of '{file}'.",
                hint="Pass file and line as suggest_links gives them.",
            )
        self._decisions.record(unit, requirement, decision, actor=actor, logit=logit)
        done = "is not suggested again while both texts stay as they are" if decision == REJECT else "is open again"
        return AppliedLink(
            success=True,
            decision=decision,
            message=f"The link of {unit.label} to {requirement.id} {done}.",
            file=file,
            line=unit.line,
            requirement_id=requirement.id,
            owner=unit.label,
        )

    def _logit(self, unit: LinkUnit | None, requirement: Node) -> float | None:
        """The logarithm of the odds for a link: as this process suggested it, else as it would suggest it."""
        if unit is None:
            return None
        suggester = self._suggester
        known = suggester.logit_of(unit, requirement)
        if known is None:
            suggester.suggest(SuggestionSearch(unit.path, limit=1), ends=True)
            known = suggester.logit_of(unit, requirement)
        return known

    def _remember(self, unit: LinkUnit | None, link: PlannedLink, actor: str, logit: float | None) -> None:
        if unit is None:
            return
        try:
            self._decisions.record(unit, link.requirement, "accept", actor=actor, logit=logit)
        except StoreError:
            # The link itself is in the file, which is what counts.
            return

    def _unit_at(self, path: str, line: int) -> LinkUnit | None:
        file = self._sources.files().get(path)
        source = self._sources.source(file) if file is not None else None
        units = source.units if source is not None else ()
        return next((unit for unit in units if unit.line <= line <= unit.end_line), None)

    @lazy
    def _suggester(self) -> "LinkSuggester":
        from clew.trace.links.suggest import LinkSuggester

        resolver = Resolver(self._graph, self._context.grammar)
        return LinkSuggester(
            self._graph, self._context.live.embedder, self._sources, self._decisions, self._folder, resolver
        )


def _all_of(query: SuggestionQuery) -> SuggestionSearch:
    return query if isinstance(query, SuggestionSearch) else SuggestionSearch(query.file_path, query.limit)


def _applied(link: PlannedLink, *, dry_run: bool) -> AppliedLink:
    placed = link.placed
    where = placed.owner or link.edit.path
    if placed.already_there:
        message = f"{where} cites {link.written} already."
    else:
        message = f"{where} {'would cite' if dry_run else 'now cites'} {link.written}."
    return AppliedLink(
        success=True,
        decision=ACCEPT,
        message=message,
        file=link.edit.path,
        line=placed.line,
        requirement_id=link.written,
        comment=placed.comment,
        already_linked=placed.already_there,
        owner=placed.owner,
        file_version=link.version,
    )
