"""The link service: suggestions, decisions about them, and links written into files."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from clew.context import Context
from clew.errors import InvalidArgument, StoreError
from clew.once import Once
from clew.trace.links.decisions import ACCEPT, REJECT, Decision, Decisions
from clew.trace.links.match.sources import ProjectSources
from clew.trace.links.match.units import LinkUnit
from clew.trace.links.results import AppliedLink, SuggestionPage
from clew.trace.links.writing import LinkWriter, PlannedLink

if TYPE_CHECKING:
    # Needs numpy, which a link that is only written does not.
    from clew.trace.links.suggest import LinkSuggester

VECTORS_FOLDER = "link-vectors"

Progress = Callable[[int, int, str], None]


class LinkService:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._graph, self._config, self._lock = context.graph, context.config, context.lock
        self._folder = context.state_folder / VECTORS_FOLDER if context.store is not None else None
        self._sources = ProjectSources(context.graph, context.config, lambda: context.builder.readers)
        self._writer = LinkWriter(context.graph, context.config, context.grammar, self._sources, context.store)
        self._decisions = Decisions(context.store)
        self._suggester = Once(self._make_suggester)

    def suggest(
        self,
        path: str | None = None,
        *,
        offset: int = 0,
        limit: int = 20,
        patient: bool = False,
        progress: Progress | None = None,
    ) -> SuggestionPage:
        """Links that are probably missing. The graph must not change meanwhile: call it under the reading lock."""
        return self._suggester.get().suggest(path, offset=offset, limit=limit, patient=patient, progress=progress)

    def decisions_state(self) -> str:
        """Differs after every decision; a further page of suggestions belongs to one state."""
        return self._decisions.version()

    def apply(
        self,
        path: str,
        line: int,
        requirement_id: str,
        *,
        decision: Decision = "accept",
        if_version: str | None = None,
        dry_run: bool = False,
        actor: str = "clew",
    ) -> AppliedLink:
        """Decide about a link. Accepted, it is written and the graph refreshed; otherwise no file is touched.

        Takes the reading lock itself, because refreshing needs the writing one.
        """
        if decision != ACCEPT:
            return self._decide(path, line, requirement_id, decision, actor)
        with self._lock.reading():
            link = self._writer.plan(path, line, requirement_id, if_version=if_version)
            unit = self._unit_at(link.edit.path, line)
        if not dry_run:
            self._writer.write(link, actor=actor)
            if not link.placed.already_there:
                self._context.keeper.refresh()
            self._remember(unit, link, actor)
        return _applied(link, dry_run=dry_run)

    def _decide(self, path: str, line: int, requirement_id: str, decision: Decision, actor: str) -> AppliedLink:
        with self._lock.reading():
            requirement, _ = self._writer.target(requirement_id)
            file = self._sources.asked(path)[0].path
            unit = self._unit_at(file, line)
        if unit is None:
            raise InvalidArgument(
                f"There is no test, function or class at line {line} of '{file}'.",
                hint="Pass file and line as suggest_links gives them.",
            )
        self._decisions.record(unit, requirement, decision, actor=actor)
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

    def _remember(self, unit: LinkUnit | None, link: PlannedLink, actor: str) -> None:
        if unit is None:
            return
        try:
            self._decisions.record(unit, link.requirement, "accept", actor=actor)
        except StoreError:
            # The link itself is in the file, which is what counts.
            return

    def _unit_at(self, path: str, line: int) -> LinkUnit | None:
        file = self._sources.files().get(path)
        source = self._sources.source(file) if file is not None else None
        units = source.units if source is not None else ()
        return next((unit for unit in units if unit.line <= line <= unit.end_line), None)

    def _make_suggester(self) -> "LinkSuggester":
        from clew.trace.links.suggest import LinkSuggester

        return LinkSuggester(self._graph, self._config, self._sources, self._decisions, self._folder)


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
