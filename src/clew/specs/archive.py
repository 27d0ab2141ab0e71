"""Applying and archiving changes on disk.

Every file must still be the one in which conflicts were looked for. The specs that change and the move of the folder
into the archive are one transaction over files: all of it happens or nothing, and it never overwrites what others
wrote.

For committed deltas, git knows the requirements as they were when the delta was written (`git_bases`). For others
the store remembers the requirements as they were when the change was first seen in this working copy. It also remembers
that a change was brought up to date (`clew change rebase`), which counts for more than both.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path

import msgspec

from clew.edit.edits import FileEdit, FolderMove, folder_contents
from clew.edit.targets import read_if_there
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.errors import Conflict, Refused, StoreError, StoreReadOnly, StoreUnreachable
from clew.formats.openspec.apply.conflicts import ConflictFound, ConflictKind, difference, summary
from clew.formats.openspec.apply.delta import Applied, ConflictDecisions, apply_change
from clew.formats.openspec.apply.dependencies import dependencies, order
from clew.formats.openspec.apply.touches import Baseline, places, promises, record
from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.layout import SPEC_FILE, FileRoleKind, Root, classify, root_for, spec_path
from clew.formats.openspec.reader import write
from clew.formats.openspec.rules.change import check_whole
from clew.specs.library import ChangeEntry, SpecLibrary
from clew.specs.requests import ArchiveRequest
from clew.specs.results import ArchiveReport
from clew.store.interface import Damaged, Store
from clew.text.display import counted
from clew.workspace.files import read_bytes, resolve
from clew.workspace.find import files_below, names_in
from clew.workspace.paths import display, raw

_DATED = 11
"""Characters of `2026-01-31-`."""
_UNUSABLE = frozenset({"spec_at_root", "delta_misnamed", "specs_not_skipped", "metadata_flag"})
"""Findings that make it uncertain what a change as a whole is meant to do."""


class ChangeArchiver:
    def __init__(self, root: Path, roots: Sequence[Root], max_bytes: int, store: Store | None) -> None:
        self._root = root
        self._roots = roots
        self._max_bytes = max_bytes
        self._store = store

    def run(
        self,
        known: SpecLibrary,
        request: ArchiveRequest,
        found: Sequence[ConflictFound],
        today: date,
        *,
        actor: str,
        skip_specs: bool,
        unknown_base: str = "",
    ) -> ArchiveReport:
        """Apply a change and by default archive it. A refusal names every reason and changes nothing. `found` are the
        conflicts of the change; `unknown_base` says why conflicts may be missing."""
        change_id = request.change_id
        entry = known.change(change_id)
        target = self._target(entry, today) if request.move else None
        _check_confirmed(request)
        remarks = _check_tasks(entry.change, request)
        if unknown_base and not skip_specs:
            remarks = (*remarks, f"The base is not known: {unknown_base}.")
        self._check_files(entry)
        applied: tuple[Applied, ...] = ()
        paths: dict[str, str] = {}
        if not skip_specs:
            paths = {delta.spec_id: _path(known, entry.root, delta.spec_id) for delta in entry.change.deltas}
            check_order(known, change_id)
            # The user chose the change's side, so it wins whatever the base is.
            if unknown_base and not (request.accept_base or request.take == "change" or request.dry_run):
                raise Refused(
                    f"The base of '{change_id}' is not known: {unknown_base}.",
                    hint=f"Look at what it would replace (`clew change diff {change_id}`), and pass --accept-base "
                    "(accept_base=true). In a shallow clone `git fetch --unshallow` finds the base.",
                )
            sides = decided(entry.change, found, request.take)
            applied = apply_change(entry.change, self._files(known, paths), sides, entry.root.layout)
            _refuse(entry.change, applied)
        writing = [each for each in applied if each.changes_file]
        if not request.dry_run:
            self._write(entry, writing, paths, target, actor)
            if target is not None:
                forget(change_id, self._store)
        return ArchiveReport(
            change_id=change_id,
            dry_run=request.dry_run,
            applied=bool(writing) and not request.dry_run,
            archived_to=target if not request.dry_run else None,
            files=tuple(paths[each.spec_id] for each in writing),
            summary="".join((summary(applied) if applied else "", *(f"({each})\n" for each in remarks))),
            diff="\n".join(difference(each, paths[each.spec_id]) for each in writing),
            warnings=(
                *remarks,
                *(f"{each.spec_id}: {warning}" for each in applied for warning in each.warnings),
            ),
        )

    # What stands against it

    def _target(self, entry: ChangeEntry, today: date) -> str:
        name = entry.folder.rpartition("/")[2]
        dated = name if _is_dated(name) else f"{today.isoformat()}-{name}"
        target = f"{entry.root.archive}/{dated}"
        if resolve(self._root, target).exists():
            raise Conflict(f"'{target}' exists already.", hint="Rename the change, or remove the older one.")
        return target

    def _check_files(self, entry: ChangeEntry) -> None:
        """Refuse an archive if the deltas on the disk are not those that were read and applied."""
        for delta in entry.change.deltas:
            path = entry.delta_paths[delta.spec_id]
            if read_if_there(resolve(self._root, path)) != write(delta.document):
                raise _changed(path)
        unread = self._deltas_in(entry.folder) - set(entry.delta_paths.values())
        if unread:
            raise Conflict(
                f"'{min(unread)}' was not read, so it would be archived without being applied.",
                hint="Run the command again if it is new; `clew check` says why a file cannot be read.",
            )

    def _deltas_in(self, folder: str) -> set[str]:
        """The deltas that lie in the folder of a change now."""
        below = files_below(Path(self._root, raw(folder), "specs"))
        found = (path for path in below if path.name == SPEC_FILE)
        paths = (display(path.relative_to(self._root).as_posix()) for path in found)
        placed = ((path, classify(path, self._roots)) for path in paths)
        return {path for path, place in placed if place is not None and place.kind is FileRoleKind.DELTA}

    # Doing it

    def _files(self, known: SpecLibrary, paths: Mapping[str, str]) -> dict[str, bytes]:
        """The files as they are now. In one that is another than the graph has, nobody looked for conflicts."""
        found: dict[str, bytes] = {}
        for id, path in paths.items():
            there = resolve(self._root, path).exists()
            entry = known.spec(id) if id in known.unread_specs else known.specs.get(id)
            if there:
                found[id] = read_bytes(self._root, path, limit=self._max_bytes)
            if found.get(id) != (write(entry.spec.document) if entry is not None else None):
                raise _changed(path)
        return found

    def _write(
        self, entry: ChangeEntry, writing: list[Applied], paths: Mapping[str, str], target: str | None, actor: str
    ) -> None:
        steps: list[FileEdit | FolderMove] = [
            # The folders of a removed spec are removed as well, unless they hold anything else.
            FileEdit(paths[each.spec_id], each.before, each.after, prune=entry.root.specs)
            for each in writing
        ]
        if target is not None:
            contents = folder_contents(Path(self._root, raw(entry.folder)))
            # After the contents are known: what appears from now on is a difference that stops the transaction.
            self._check_files(entry)
            steps.append(FolderMove(entry.folder, target, contents))
        purpose = EditPurpose(f"apply {entry.change.id}", actor, {"change_id": entry.change.id})
        FileTransaction(self._root, steps, purpose).commit(self._store)


def archived(project: Path, roots: Sequence[Root], change_id: str) -> bool:
    """True if the archive has a change of this id."""
    root, name = root_for(roots, change_id), change_id.rpartition("/")[2]
    folder = Path(project, raw(root.archive))
    with suppress(OSError):
        return any(name in (each, _undated(each)) for each in names_in(folder))
    return False


def _changed(path: str) -> Conflict:
    return Conflict(f"'{path}' changed since it was read.", hint="Run the command again. Nothing was changed.")


def _check_tasks(change: ChangeProposal, request: ArchiveRequest) -> tuple[str, ...]:
    """Refuse an archive with open tasks; a preview returns the refusal as a note."""
    tasks = change.tasks
    if tasks is None or tasks.completed == tasks.total or not request.move or request.unfinished:
        return ()
    refusal = Refused(
        f"{tasks.total - tasks.completed} of {tasks.total} tasks of '{change.id}' are not done.",
        hint="Finish them, or archive it unfinished (--yes, unfinished=true).",
    )
    if not request.dry_run:
        raise refusal
    return (str(refusal),)


def _check_confirmed(request: ArchiveRequest) -> None:
    if not request.dry_run and not request.confirm:
        raise Refused(
            "Applying a change writes files, and nobody confirmed it.",
            hint="Pass confirm=true, or dry_run=true to see what would be written.",
        )


def _refuse(change: ChangeProposal, applied: tuple[Applied, ...]) -> None:
    refusals = [f"{each.spec_id}: {refusal}" for each in applied for refusal in each.refusals]
    refusals += [f"{issue.file}: {issue.message}" for issue in check_whole(change) if issue.code in _UNUSABLE]
    if refusals:
        raise Refused(
            f"'{change.id}' cannot be applied: {' '.join(refusals)}",
            hint="Correct the change; validate_change lists its errors. Nothing was changed.",
            data={"refusals": refusals},
        )


def _path(known: SpecLibrary, root: Root, spec_id: str) -> str:
    entry = known.specs.get(spec_id)
    return entry.path if entry is not None else spec_path(root, spec_id)


def _undated(name: str) -> str:
    return name[_DATED:] if _is_dated(name) else name


def _is_dated(name: str) -> bool:
    with suppress(ValueError):
        date.fromisoformat(name[: _DATED - 1])
        return name[_DATED - 1 : _DATED] == "-"
    return False


SIDES = ("spec", "change")
_SHOWN = 5
"""Conflicts that a refusal names."""


def check_order(known: SpecLibrary, change_id: str) -> None:
    """Refuse a change that needs a requirement, or a free name, which another open change has yet to provide."""
    changes = known.open_changes()
    needed = dependencies(changes, known.in_force())
    waiting = [each for each in needed if each.then == change_id]
    if not waiting:
        return
    reasons = "; ".join(f"it {each.reason} ({each.requirement!r} of {each.spec_id!r})" for each in waiting[:_SHOWN])
    firsts = ", ".join(sorted({f"'{each.first}'" for each in waiting}))
    _, circular = order(changes, needed)
    hint = (
        "They wait for each other: remove the common part from one of them."
        if change_id in circular
        else f"Archive {firsts} first. `clew change conflicts` shows the order."
    )
    raise Refused(f"'{change_id}' has to wait for {firsts}: {reasons}.", hint=hint)


def decided(change: ChangeProposal, found: Sequence[ConflictFound], take: str | None) -> dict[str, ConflictDecisions]:
    """The side that each requirement in conflict takes; refused if the caller did not decide."""
    if not found:
        return {}
    if take not in SIDES:
        raise _undecided(change.id, found)
    chosen: dict[str, dict[str, frozenset[str]]] = {}
    for each in found:
        added = frozenset(each.scenarios) if each.kind is ConflictKind.SCENARIO_LOST else frozenset()
        names = chosen.setdefault(each.spec_id, {})
        names[each.requirement] = names.get(each.requirement, frozenset()) | added
    for delta in change.deltas:
        names = chosen.get(delta.spec_id, {})
        for rename in delta.renamed:
            # A renamed requirement is decided under both of its names.
            if rename.old in names or rename.new in names:
                both = names.get(rename.old, frozenset()) | names.get(rename.new, frozenset())
                names[rename.old] = names[rename.new] = both
    if take == "spec":
        return {id: ConflictDecisions(spec=frozenset(names)) for id, names in chosen.items()}
    return {id: ConflictDecisions(change=names) for id, names in chosen.items()}


def _undecided(change_id: str, found: Sequence[ConflictFound]) -> Refused:
    messages = list(dict.fromkeys(each.message for each in found))
    more = f" And {len(messages) - _SHOWN} more." if len(messages) > _SHOWN else ""
    before = sorted(
        {id for each in found if each.kind is ConflictKind.SAME_REQUIREMENT for id in each.changes} - {change_id}
    )
    wait = f"Archive {', '.join(map(repr, before))} first, as change_conflicts orders them. " if before else ""
    return Refused(
        f"'{change_id}' has {counted(len(found), 'conflict')}: {' '.join(messages[:_SHOWN])}{more}",
        hint=(
            f"{wait}change_conflicts shows both sides. Bring the change up to date and run `clew change rebase"
            f" {change_id}`, or say which side to take: spec or change (--take, take)."
        ),
        data={"conflicts": len(found)},
    )


log = logging.getLogger(__name__)

COLLECTION = "change_baselines"
REBASED = "change_rebased"
"""The kind of records of the specs that were in force when somebody brought a change up to date."""
_ACTOR = "clew"


def first_seen(
    known: SpecLibrary, store: Store | None, is_archived: Callable[[str], bool]
) -> tuple[Mapping[str, Sequence[Baseline]], tuple[str, ...]]:
    """The baselines of every open change, and why they may be missing. Requirements that are touched for the first time
    are recorded now; those of changes that were archived without Clew are dropped. A change that is merely absent keeps
    its record, because it may be on another branch. If the store cannot be used, nothing is recorded."""
    if store is None:
        return {}, ("There is no store, so the state in which a change was written is not known.",)
    remembered: dict[str, Sequence[Baseline]] = {}
    fresh: Mapping[str, Sequence[Baseline]] = {}
    damaged: Damaged = {}
    try:
        remembered |= {item.id: _decoded(item.data) for item in store.scan(COLLECTION, damaged=damaged)}
        over = [id for id in remembered if id not in known.changes and is_archived(id)]
        # Of a change whose record is damaged nothing is written: a rescue may find what it said.
        fresh = {id: found for id, found in _fresh(known, remembered).items() if id not in damaged}
        if fresh or over:
            with store.transaction(actor=_ACTOR, reason="changes seen for the first time") as transaction:
                for id, baselines in fresh.items():
                    before = transaction.get(COLLECTION, id)
                    # Another process may have been first.
                    seen = {**_by_place(baselines), **_by_place(_decoded(before.data) if before is not None else ())}
                    remembered[id] = tuple(seen.values())
                    transaction.put(COLLECTION, id, msgspec.to_builtins(remembered[id]))
                for id in over:
                    del remembered[id]
                    if transaction.get(COLLECTION, id) is not None:
                        transaction.delete(COLLECTION, id)
    except (StoreReadOnly, StoreUnreachable) as error:
        # What is known can be used; what is touched for the first time is recorded by a process that may write.
        log.info("The first state of changes could not be recorded: %s", error)
        return {**remembered, **fresh}, () if isinstance(error, StoreReadOnly) else (str(error),)
    except StoreError as error:
        log.warning("The first state of changes is not known: %s", error)
        return {}, (str(error),)
    return remembered, tuple(map(str, damaged.values()))


def record_anew(change_id: str, known: SpecLibrary, store: Store | None, base: Sequence[Baseline]) -> tuple[str, ...]:
    """Compare a change with the specs as they are now from here on, and no longer with its `base`; returns the
    requirements that had moved."""
    if store is None:
        raise StoreError("There is no store for it.", hint="Make the folder .clew of the project writable.")
    specs = known.in_force()
    present = record(known.change(change_id).change, specs, promises(known.open_changes(), specs))
    seen = _by_place(base)
    with store.transaction(actor=_ACTOR, reason=f"{change_id} is up to date") as transaction:
        for collection in (COLLECTION, REBASED):
            transaction.put(collection, change_id, msgspec.to_builtins(present))
    return tuple(each.name for each in present if each.place in seen and seen[each.place].hash != each.hash)


def rebased(store: Store | None) -> Mapping[str, Sequence[Baseline]]:
    """The requirements that were in force when somebody brought changes up to date, by change."""
    if store is None:
        return {}
    damaged: Damaged = {}
    try:
        found = {item.id: _decoded(item.data) for item in store.scan(REBASED, damaged=damaged)}
    except StoreError as error:
        log.warning("The records of changes that were brought up to date cannot be read: %s", error)
        return {}
    for each in damaged.values():
        log.warning("The records of changes that were brought up to date cannot be read: %s", each)
    return found


def joined(*sources: Sequence[Baseline]) -> tuple[Baseline, ...]:
    """Baselines of one change from several sources; for each place the first counts."""
    found: dict[tuple[str, str], Baseline] = {}
    for source in sources:
        for each in source:
            found.setdefault(each.place, each)
    return tuple(found.values())


def forget(change_id: str, store: Store | None) -> None:
    """A change that is archived has no baseline any more, and neither has one that begins under the same name."""
    try:
        kept = (COLLECTION, REBASED) if store is not None else ()
        for collection in kept:
            if store is not None and store.get(collection, change_id) is not None:
                with store.transaction(actor=_ACTOR, reason="the change is over") as transaction:
                    transaction.delete(collection, change_id)
    except StoreError as error:
        # The files are written; that the baseline is still there must not look as if they were not.
        log.warning("What '%s' touched when it was written is still remembered: %s", change_id, error)


def _fresh(known: SpecLibrary, remembered: Mapping[str, Sequence[Baseline]]) -> dict[str, tuple[Baseline, ...]]:
    """Baselines of the requirements that a change touches for the first time. Specs are read only if there are any."""
    changes = known.open_changes()
    seen = {change.id: {each.place for each in remembered.get(change.id, ())} for change in changes}
    new = [change for change in changes if not places(change) <= seen[change.id]]
    if not new:
        return {}
    in_force = known.in_force()
    brought = promises(changes, in_force)
    found = {
        change.id: tuple(each for each in record(change, in_force, brought) if each.place not in seen[change.id])
        for change in new
    }
    return {id: baselines for id, baselines in found.items() if baselines}


def _by_place(baselines: Sequence[Baseline]) -> dict[tuple[str, str], Baseline]:
    return {each.place: each for each in baselines}


def _decoded(data: object) -> tuple[Baseline, ...]:
    return msgspec.convert(data, tuple[Baseline, ...])
