"""The specs service: questions about specs and open changes.

Every method reads the graph and returns frozen values. What is written goes through `archive`.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from clew.context import Context
from clew.edit.edits import FileEdit
from clew.edit.transaction import FileTransaction
from clew.errors import Conflict, InvalidArgument, NotFound
from clew.formats.openspec.apply.conflicts import ConflictFound, ConflictKind, conflicts, repeated_additions
from clew.formats.openspec.apply.dependencies import dependencies, order
from clew.formats.openspec.apply.touches import Baseline, Touching, by_place
from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.layout import Layout, Root, new_change_folder, root_for, spec_path
from clew.formats.openspec.records import SectionKind
from clew.formats.openspec.references import requirement_id, scenario_id
from clew.formats.openspec.rules.rules import Dialect, Issue
from clew.formats.openspec.settings import SETTINGS, ProjectSettings, read_settings
from clew.graph.readers.locations import spec_roots
from clew.once import lazy
from clew.operation.budget import EVERYTHING
from clew.specs import results, tasks, validation, views
from clew.specs.archive import ChangeArchiver, archived, first_seen, forget, joined, rebased, record_anew
from clew.specs.git_bases import GitBase, GitBases
from clew.specs.library import (
    ChangeEntry,
    SpecLibrary,
    UnreadableFile,
    find_deltas,
    find_requirement,
    find_scenario,
    library,
    unreadable_files,
)
from clew.specs.requests import ArchiveRequest
from clew.text.display import shortened
from clew.workspace.files import read_bytes, resolve

if TYPE_CHECKING:
    # Searching needs much that the other questions do not.
    from clew.specs.search import SpecIndex

SECTIONS = ("proposal", "tasks", "design", "deltas")


OWN_RULES = "own"
"""The rules of the tool whose folder it is, and Clew's own."""


def _dialect(named: str) -> Dialect | None:
    return None if named == OWN_RULES else Dialect(named)


class SpecsService:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._graph = context.graph
        self._roots = spec_roots(context.config)
        """The folders of specs."""
        self._git = GitBases(context.root)

    @property
    def library(self) -> SpecLibrary:
        """The specs and open changes. Changes that are seen for the first time are remembered."""
        self.remember()
        return self._known()

    def _known(self) -> SpecLibrary:
        def unreadable() -> Iterator[UnreadableFile]:
            return unreadable_files(self._context.builder.diagnostics(), self._roots)

        return self._graph.derived("specs.library", lambda graph: library(graph, unreadable()))

    # Specs

    def list_specs(self, *, offset: int = 0, limit: int = 50) -> results.SpecList:
        found = self._summaries()
        page = found[offset : offset + limit]
        return results.SpecList(page, len(page), len(found), truncated=offset + limit < len(found))

    def catalogue(self, *, offset: int = 0, limit: int = 300) -> results.Catalogue:
        """Every spec on one short line."""
        found = self._graph.derived("specs.catalogue", lambda graph: views.catalogue(self._summaries()))
        return results.Catalogue(found[offset : offset + limit], len(found), truncated=offset + limit < len(found))

    def dashboard(self) -> results.Dashboard:
        """Overview of specs, open changes, and problems that need attention."""
        known = self.library
        specs = self._summaries()
        found, _ = self._found_conflicts(known)
        return results.Dashboard(
            specs=specs,
            changes=tuple(map(views.change_summary, known.changes.values())),
            conflicts=tuple(map(views.conflict, found)),
            invalid_changes=tuple(id for id in known.changes if not self.validate_changes(id).valid),
            requirements=sum(each.requirements for each in specs),
            scenarios=sum(each.scenarios for each in specs),
            tested=sum(
                self._graph.metrics(requirement_id(id, each.slug)).get("tested", 0)
                for id, entry in known.specs.items()
                for each in entry.outline.requirements
            ),
        )

    def _summaries(self) -> tuple[results.SpecSummary, ...]:
        known = self.library
        return self._graph.derived("specs.summaries", lambda graph: views.summaries(known))

    def requirements(
        self,
        spec_id: str,
        *,
        requirement: str | None = None,
        detail: str = "names",
        offset: int = 0,
        limit: int = 100,
    ) -> results.SpecRequirements:
        """The requirements of a spec, or one of them; with `detail` more than their names."""
        entry = self.library.spec(spec_id)
        spec = entry.spec
        wanted = spec.requirements if requirement is None else (find_requirement(spec, requirement),)
        whole = detail != "names" and requirement is None
        return results.SpecRequirements(
            spec_id=spec.id,
            title=spec.title or spec.id,
            path=entry.path,
            purpose=entry.outline.purpose if whole else None,
            sections=tuple(map(views.section, spec.document.of_kind(SectionKind.OTHER))) if whole else None,
            requirements=tuple(views.outline(each, detail) for each in wanted[offset : offset + limit]),
            total=len(wanted),
            truncated=offset + limit < len(wanted),
        )

    def scenario(self, spec_id: str, requirement: str, scenario: str | None = None) -> results.ScenarioAnswer:
        """One scenario in full; the first of the requirement if none is named."""
        entry = self.library.spec(spec_id)
        found = find_requirement(entry.spec, requirement)
        if scenario is None and not found.scenarios:
            raise NotFound(
                f"Requirement '{found.name}' has no scenario.", hint="validate_spec lists requirements without one."
            )
        chosen = found.scenarios[0] if scenario is None else find_scenario(found, scenario)
        when, then = " AND ".join(chosen.when), chosen.then
        metrics = self._graph.metrics(requirement_id(spec_id, found.slug))
        return results.ScenarioAnswer(
            spec_id=spec_id,
            requirement=found.name,
            requirement_description=found.statement,
            name=chosen.name,
            when=when,
            then=then,
            scenario_name=chosen.name,
            when_clause=when,
            then_clauses=then,
            scenario=results.ScenarioDetail(
                name=chosen.name,
                slug=chosen.slug,
                given=chosen.given,
                when=chosen.when,
                then=then,
                raw=chosen.raw.rstrip(),
                line=chosen.span.line,
                end_line=chosen.span.end_line,
            ),
            reference=scenario_id(spec_id, found.slug, chosen.slug),
            path=entry.path,
            tested=chosen.slug not in metrics.get("untested_labels", (chosen.slug,)),
        )

    def validate_specs(
        self, spec_id: str | None, dialect: str = OWN_RULES, *, strict: bool = False
    ) -> results.Validation:
        return validation.validate_specs(self.library, spec_id, self._roots, _dialect(dialect), strict=strict)

    # Changes

    def list_changes(self, *, offset: int = 0, limit: int = 50) -> results.ChangeList:
        entries = list(self.library.changes.values())
        page = tuple(views.change_summary(entry) for entry in entries[offset : offset + limit])
        return results.ChangeList(page, len(page), len(entries), truncated=offset + limit < len(entries))

    def change(
        self,
        change_id: str,
        section: str | None = None,
        *,
        texts: int = 0,
        spec_id: str | None = None,
        requirement: str | None = None,
    ) -> results.ChangeDetail:
        """A change, or one section of it; the first `texts` operations with their whole text. `spec_id` and
        `requirement` limit the deltas to these."""
        if section is not None and section not in SECTIONS:
            raise InvalidArgument(
                f"A change has no section '{shortened(section)}'.", hint=f"Sections are: {', '.join(SECTIONS)}."
            )
        entry = self.library.change(change_id)
        change = entry.change
        wanted = SECTIONS if section is None else (section,)
        detail = results.ChangeDetail(
            change_id=change_id,
            proposal=views.proposal(entry) if "proposal" in wanted else None,
            tasks=views.tasks(entry) if "tasks" in wanted else None,
            design=change.design if "design" in wanted else None,
            deltas=views.deltas(find_deltas(change, spec_id), requirement, texts) if "deltas" in wanted else None,
        )
        if section is not None and getattr(detail, section) is None:
            raise NotFound(f"Change '{change_id}' has no {section}.", hint=f"Write {section}.md in {entry.folder}.")
        return detail

    def validate_changes(
        self, change_id: str | None, dialect: str = OWN_RULES, *, strict: bool = False
    ) -> results.Validation:
        return validation.validate_changes(self.library, change_id, _dialect(dialect), strict=strict)

    def problems(self) -> tuple[tuple[tuple[str, Issue], ...], tuple[tuple[str, Issue], ...]]:
        """The issues of all specs, and those of all open changes, each with the path of its file."""
        known = self._known()
        of_specs, _ = validation.spec_issues(known, None, self._roots, None)
        of_changes = (
            (f"{entry.folder}/{file}", issue)
            for entry in known.changes.values()
            for file, issue in validation.change_issues(known, entry, None)
        )
        return tuple(of_specs), tuple(of_changes)

    # Conflicts

    def conflicts(self, change_id: str | None = None, *, offset: int = 0, limit: int = 50) -> results.ConflictList:
        """Conflicts of open changes with each other and with the specs: of one change, or of all."""
        known = self.library
        if change_id is not None:
            known.change(change_id)
        changes = known.open_changes()
        places = by_place(changes)
        found, notes = self._found_conflicts(known, places)
        chosen = [each for each in found if change_id is None or change_id in each.changes]
        needed = dependencies(changes, known.in_force(), places)
        ordered, circular = order(changes, needed)
        page = tuple(views.conflict(each) for each in chosen[offset : offset + limit])
        repeated = (said for ids, said in repeated_additions(places) if change_id is None or change_id in ids)
        return results.ConflictList(
            conflicts=page,
            total=len(chosen),
            dependencies=tuple(
                results.DependencyReport(each.first, each.then, each.spec_id, each.requirement, each.reason)
                for each in needed
                if change_id is None or change_id in (each.first, each.then)
            ),
            order=ordered,
            circular=circular,
            notes=(*notes, *repeated),
            truncated=offset + limit < len(chosen),
        )

    def _found_conflicts(
        self, known: SpecLibrary, places: Touching | None = None
    ) -> tuple[tuple[ConflictFound, ...], tuple[str, ...]]:
        recorded, notes = self._bases(known)
        return conflicts(known.open_changes(), known.in_force(), recorded, places), notes

    def _bases(self, known: SpecLibrary) -> tuple[Mapping[str, Sequence[Baseline]], tuple[str, ...]]:
        """The base of each open change: as it was brought up to date, else from git, else as it was when it was first
        seen here."""
        seen, notes = self._first_seen(known)
        said = rebased(self._context.shared)
        found: dict[str, Sequence[Baseline]] = {}
        for id, base in self._git_bases(known, known.changes).items():
            found[id] = joined(said.get(id, ()), base.baselines, seen.get(id, ()))
            if (base.unknown or base.squashed) and id not in said:
                notes = (*notes, f"The base of '{id}' is unknown: {_unknown(base)}.")
        return found, notes

    def _git_bases(self, known: SpecLibrary, changes: Mapping[str, ChangeEntry]) -> dict[str, GitBase]:
        def path(entry: ChangeEntry, spec_id: str) -> str:
            there = known.specs.get(spec_id)
            return there.path if there is not None else spec_path(entry.root, spec_id)

        return self._git.of(changes, path)

    def change_status(self, change_id: str) -> results.ChangeProgress:
        """Progress, validity and conflicts of one change."""
        tasks = self.change(change_id).tasks
        found = self.conflicts(change_id, limit=EVERYTHING)
        return results.ChangeProgress(
            change_id,
            results.TaskProgress(tasks.completed, tasks.total) if tasks is not None else results.TaskProgress(0, 0),
            self.validate_changes(change_id),
            found.conflicts,
            found.dependencies,
            found.circular,
            found.notes,
        )

    def mark_task(self, change_id: str, task: str, *, done: bool, dry_run: bool = False) -> tasks.MarkedTask:
        """Mark a task of an open change as done or open."""
        entry = self.library.change(change_id)
        config = self._context.config
        return tasks.mark(
            config.root, self._context.store, change_id, entry.folder, task,
            done=done, dry_run=dry_run, limit=config.max_file_bytes,
        )  # fmt: skip

    def rebase(self, change_id: str) -> results.Rebased:
        """Note that a change was brought up to date: it is compared with the specs as they are now."""
        known = self.library
        known.change(change_id)
        base = self._bases(known)[0].get(change_id, ())
        moved = record_anew(change_id, known, self._context.shared, base)
        valid = validation.validate_changes(known, change_id, None, strict=False)
        return results.Rebased(change_id, moved, valid.valid, valid.errors)

    def remember(self) -> None:
        """Record the baselines of changes, once for each state of the graph."""
        self._graph.derived("specs.remembered", lambda graph: self._first_seen(self._known()))

    def _first_seen(self, known: SpecLibrary) -> tuple[Mapping[str, Sequence[Baseline]], tuple[str, ...]]:
        context = self._context
        return first_seen(known, context.shared, lambda id: archived(context.root, self._roots, id))

    # Searching

    @lazy
    def index(self) -> "SpecIndex":
        from clew.specs.search import SpecIndex

        return SpecIndex(self._context.parts.engine, self._context.parts.make_vectors)

    # What a change means, and how one is written

    def meaning(self, change_id: str) -> results.ChangeMeaning:
        """The effect of a change on the specs in force, by requirement, scenario and step."""
        from clew.specs.meaning import spec_change

        known = self.library
        entry = known.change(change_id)
        specs = {delta.spec_id: known.specs.get(delta.spec_id) for delta in entry.change.deltas}
        found = [
            spec_change(delta, there.spec if (there := specs[delta.spec_id]) is not None else None)
            for delta in entry.change.deltas
        ]
        return results.ChangeMeaning(change_id, tuple(found))

    def artefacts(self, change_id: str) -> results.Artefacts:
        from clew.specs import artefacts

        entry = self.library.change(change_id)
        return artefacts.status(entry, self._settings(entry), self._context)

    def instructions(self, artefact: str, change_id: str) -> results.Instructions | results.ApplyInstructions:
        from clew.specs import artefacts

        entry = self.library.change(change_id)
        if artefact.strip().casefold() == artefacts.APPLY:
            return artefacts.applying(entry, self._settings(entry), self._context)
        return artefacts.instructions(artefact, entry, self._settings(entry), self._context)

    def _settings(self, entry: ChangeEntry) -> ProjectSettings:
        """OpenSpec's settings of the project for authors of changes; the defaults if there are none."""
        home = entry.root.specs.rpartition("/")[0]
        if entry.root.layout is Layout.OPENSPEC:
            for path in (f"{home}/{name}".lstrip("/") for name in SETTINGS):
                if (self._context.root / path).is_file():
                    limit = self._context.config.max_file_bytes
                    return read_settings(read_bytes(self._context.root, path, limit=limit))
        return ProjectSettings()

    # Writing: none of these may be called while the graph is locked for reading

    def unarchive(self, change_id: str, *, keep_specs: bool, dry_run: bool) -> results.Unarchived:
        """Take an archived change back."""
        from clew.specs.unarchive import unarchive

        context = self._context
        context.keeper.refresh()
        done = unarchive(context.root, self._roots, change_id, context.store, keep_specs=keep_specs, dry_run=dry_run)
        if not dry_run:
            context.keeper.refresh()
        return done

    def format(self, spec_id: str | None, *, write: bool) -> results.Formatted:
        """Bring specs into one form."""
        from clew.specs.formatting import format_specs

        context = self._context
        context.keeper.refresh()
        with context.lock.reading():
            known = self.library
            chosen = known.specs.values() if spec_id is None else (known.spec(spec_id),)
            places = {each.outline.id: each.path for each in chosen}
        done = format_specs(context.root, places, context.store, write=write, limit=context.config.max_file_bytes)
        if done.written:
            context.keeper.refresh()
        return done

    def archive(
        self, request: ArchiveRequest, *, actor: str = "clew", skip_specs: bool = False
    ) -> results.ArchiveReport:
        """Apply a change to the specs and by default archive it; with `skip_specs` only archive it."""
        context = self._context
        # Even where nobody follows the files: what is not seen would be overwritten.
        context.keeper.refresh()
        with context.lock.reading():
            known = self.library
            entry = known.change(request.change_id)
            found, _ = self._found_conflicts(known)
            (base,) = self._git_bases(known, {request.change_id: entry}).values()
            is_said = request.change_id in rebased(context.shared)
        ordered, _ = order(known.open_changes(), dependencies(known.open_changes(), known.in_force()))
        own = [
            each for each in found if request.change_id in each.changes and not _is_for_later(each, request, ordered)
        ]
        archiver = ChangeArchiver(context.root, self._roots, context.config.max_file_bytes, context.store)
        unknown = "" if is_said or not _needs_base(entry.change) else _unknown(base)
        report = archiver.run(
            known, request, own, date.today(), actor=actor, skip_specs=skip_specs, unknown_base=unknown
        )
        if not request.dry_run:
            context.keeper.refresh()
        return report

    def new_change(self, change_id: str, title: str = "") -> tuple[str, ...]:
        """Begin a change; returns the files."""
        context = self._context
        files = new_change(context.root, self._roots, change_id, title, date.today())
        forget(change_id, context.shared)
        context.keeper.refresh()
        return files


def _is_for_later(found: ConflictFound, request: ArchiveRequest, ordered: Sequence[str]) -> bool:
    """True for a conflict of two open changes of which the requested one comes first: the other one meets it then, as
    a requirement that moved."""
    if found.kind is not ConflictKind.SAME_REQUIREMENT:
        return False
    waiting = [id for id in ordered if id in found.changes]
    return len(waiting) == len(found.changes) and waiting[0] == request.change_id


def _unknown(base: GitBase) -> str:
    """The reason why a base is unknown; empty for a known one."""
    if not (base.unknown or base.squashed):
        return ""
    reasons = []
    if base.unknown:
        missing = ", ".join(base.unknown)
        reasons.append(f"the history of this clone is cut off, and does not have the commit that added {missing}")
    if base.squashed:
        reasons.append(
            f"one commit added {', '.join(base.squashed)} and changed the same requirements, as squashing does"
        )
    return "; ".join(reasons)


def _needs_base(change: ChangeProposal) -> bool:
    """True if a change replaces anything: one that only adds cannot bring an old text back."""
    return any(delta.modified or delta.removed or delta.renamed for delta in change.deltas)


def new_change(project: Path, roots: Sequence[Root], change_id: str, title: str, today: date) -> tuple[str, ...]:
    """Begin a change: a folder with a proposal and tasks to fill in. Returns the files."""
    root = root_for(roots, change_id)
    folder = new_change_folder(root, change_id)
    if resolve(project, folder).exists():
        raise Conflict(f"'{folder}' exists already.", hint="Choose another id.")
    heading = " ".join(title.split()) or folder.rpartition("/")[2].replace("-", " ").capitalize()
    files = {
        f"{folder}/proposal.md": f"# {heading}\n\n## Why\n\n## What Changes\n\n## Impact\n",
        f"{folder}/tasks.md": "## 1. Implementation\n\n- [ ] 1.1 \n",
    }
    if root.layout is Layout.OPENSPEC:
        files[f"{folder}/.openspec.yaml"] = f"schema: spec-driven\ncreated: {today.isoformat()}\n"
    FileTransaction(project, [FileEdit(path, None, text.encode()) for path, text in files.items()]).commit()
    return tuple(files)
