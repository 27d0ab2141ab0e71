"""From drafts to files: which files are written, and how that can be taken back."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from clew.edit.edits import FileEdit, check_writable, diff_of, inverse_of
from clew.edit.recovery import RecordStore, recover
from clew.edit.targets import read_if_there
from clew.edit.transaction import Purpose, Transaction
from clew.errors import ClewError, ConfigError, FileChanged, NotFound, Refused
from clew.graph.build.builder import Builder
from clew.graph.build.keeper import GraphKeeper
from clew.graph.build.link import Definition
from clew.graph.build.reading import Progress
from clew.graph.changes import History, Patches
from clew.graph.model import Node, NodeKind
from clew.trace.edit.drafts import REVERT, DraftLog, Pending, SavedMutation
from clew.trace.edit.sessions import Saving
from clew.trace.files.bookkeeping import Bookkeeping
from clew.workspace.files import resolve

_DEPENDS_ON_THE_REST = "hash_now"
"""The hash to write follows the rule of the other hashes in the file."""
_MOST_SHOWN = 4_000
"""Characters of a difference that an error repeats."""


class Saved(msgspec.Struct, frozen=True):
    paths: tuple[str, ...]
    """All files that were written."""
    read: tuple[str, ...]
    """Those of them that the graph is made of."""
    safety_branch: str | None
    unnoted: ClewError | None = None
    """Why the store does not know yet that the files are written."""


class Saves:
    def __init__(
        self,
        root: Path,
        builder: Builder,
        keeper: Callable[[], GraphKeeper],
        history: History,
        drafts: DraftLog,
        store: RecordStore | None,
        bookkeeping: Callable[[], Bookkeeping],
    ) -> None:
        self._root = root
        self._bookkeeping = bookkeeping
        self._store = store
        self._builder = builder
        self._keeper = keeper
        self._history = history
        self._drafts = drafts
        self.originals: dict[str, bytes] = {}
        """Files that drafts were made on, as they were read."""
        self._unnoted: tuple[Transaction, str] | None = None
        """The last save and its reason, where its files are in place and the store does not know it."""

    def original(self, path: str) -> bytes:
        """The content of a file as it was read, kept for the next draft on it, and to show both sides should it
        change."""
        data = self._builder.original(path, self.originals.get(path))
        self.originals[path] = data
        return data

    def recover(self) -> bool:
        """Complete or take back saves that were interrupted; whether there were any."""
        if not self._drafts.interrupted():
            return False
        recover(self._root, self._store)
        for id, is_written in self._drafts.interrupted():
            if is_written:
                with self._drafts.finishing(id):
                    pass
            else:
                self._drafts.give_up_save(id)
        return True

    def note(self) -> None:
        """Have the store know of the last save, where that failed. Until it does, nothing else can be written: its
        journal is what completes the save should the process end."""
        if self._unnoted is not None:
            files, reason = self._unnoted
            with self._drafts.finishing(reason=reason) as records:
                files.record(records)
            files.finish()
            self._unnoted = None

    def close(self) -> None:
        """Note the last save. Where that fails, its journal is left to the next process."""
        try:
            self.note()
        finally:
            if self._unnoted is not None:
                self._unnoted[0].release()

    def save(self, pending: Sequence[Pending], *, save_branch: bool, message: str | None) -> Saved:
        """Write the files, or raise and leave all of them alone."""
        edits = self._edits(pending, message)
        mutations = self._mutations(pending, {edit.path: edit.after or b"" for edit in edits})
        written = tuple(edit.path for edit in edits)
        # elspais protects the list it generates from people, not from programs that keep it in step.
        edits = self._bookkeeping().with_index(edits)
        branch = self._branch(edits) if save_branch and edits else None
        through: dict[str, int] = {}
        for each in pending:
            through[each.session] = max(each.number, through.get(each.session, 0))
        purpose = Purpose("save", facts={"mutations": len(pending)}, with_diff=False)
        files = Transaction(self._root, edits, purpose)
        self._drafts.begin_save(Saving(through, len(pending), files.id), mutations)
        reason = message or "save"
        try:
            with self._drafts.finishing(reason=reason) as records:
                self._write(files, edits)
                self._unnoted = files, reason
                files.record(records)
            files.finish()
            self._unnoted = None
        except ClewError:
            if self._unnoted is None:
                self._drafts.give_up_save()
                raise
        return Saved(tuple(edit.path for edit in edits), written, branch, self._noted_late())

    def difference(self, pending: Sequence[Pending], message: str | None) -> tuple[tuple[str, ...], str]:
        """The files that saving would change, and how, as a unified diff. Raises what saving would raise."""
        edits = self._bookkeeping().with_index(self._edits(pending, message))
        return tuple(edit.path for edit in edits), diff_of(edits)

    def _edits(self, pending: Sequence[Pending], message: str | None) -> list[FileEdit]:
        unmade = self._unmade(pending)
        edits = [self._edit(path, unmade) for path in self._history.patches.paths()]
        edits = [edit for edit in edits if edit.before != edit.after]
        check_writable(self._root, edits)
        for edit in edits:
            self._verify(edit)
        return self._bookkeeping().with_entries(edits, message, _renamed(pending))

    def _write(self, files: Transaction, edits: Sequence[FileEdit]) -> None:
        try:
            files.prepare()
            files.carry_out()
        except FileChanged as error:
            edit = next(edit for edit in edits if edit.path == error.data["path"])
            raise _changed_meanwhile(edit, self._present(edit.path)) from error
        except ConfigError as error:
            raise Refused(error.message, hint=error.hint) from error

    def _present(self, path: str) -> bytes | None:
        return read_if_there(resolve(self._root, path))

    def _noted_late(self) -> ClewError | None:
        """A store that was full or busy for a moment is asked once more."""
        try:
            self.note()
        except ClewError as error:
            return error
        return None

    def _unmade(self, pending: Sequence[Pending]) -> set[str]:
        """The files that were made by what is being taken back."""
        reverted = {each.draft.arguments["mutation_id"] for each in pending if each.draft.operation == REVERT}
        if not reverted:
            return set()
        saved = [each for each in self._drafts.saved() if each.draft.id in reverted]
        return {file.path for each in saved for file in each.files if file.made}

    def _edit(self, path: str, unmade: set[str]) -> FileEdit:
        try:
            before: bytes | None = self._builder.original(path)
        except NotFound:
            before = None
        except FileChanged:
            known = self.originals.get(path, b"")
            edit = FileEdit(path, known, self._history.patches.written(path, known))
            raise _changed_meanwhile(edit, self._present(path)) from None
        after = self._history.patches.written(path, before or b"")
        is_removed = not after and before is not None and path in unmade
        return FileEdit(path, before, None if is_removed else after)

    def _branch(self, edits: Sequence[FileEdit]) -> str:
        from clew.trace.safety import branches

        also = [edit.path for edit in edits if edit.before is not None]
        return branches.create(self._root, "save-mutations", datetime.now(UTC), also=also).name

    def _verify(self, edit: FileEdit) -> None:
        """Refuse to write what would not read as the graph has it."""
        linker = self._builder.linker
        for reader in self._builder.readers:
            places = [place for place in linker.places(edit.path) if place[1] == reader.name]
            if not places:
                continue
            drafted = [linker.definition_at(place) for place in places]
            read = reader.contribute(reader.read(edit.after or b"", edit.path), edit.path).definitions
            if _gist(each for each in drafted if each is not None) != _gist(read):
                raise Refused(
                    f"'{edit.path}' would not read as drafted, so nothing was saved.",
                    hint="undo_last_mutation takes back the newest draft; edit the file by hand instead.",
                )

    def _mutations(self, pending: Sequence[Pending], final: Mapping[str, bytes]) -> list[SavedMutation]:
        """Each mutation with the way back, found by applying them one after the other to the files as they were. The
        last one of a file also takes back what was added to its `final` content, such as entries of changelogs."""
        last = {text.slot.path: change.id for change in self._history for text in change.texts}
        patches = Patches()
        saved: list[SavedMutation] = []
        for each, change in zip(pending, self._history, strict=True):
            paths = dict.fromkeys(text.slot.path for text in change.texts)
            before = {path: patches.written(path, self._content(path)) for path in paths}
            for text in change.texts:
                patches.put(text.slot, text.after)
            after = {path: patches.written(path, self._content(path)) for path in paths}
            after |= {path: final[path] for path in paths if last[path] == change.id and path in final}
            files = tuple(inverse_of(path, before[path], after[path], made=self._makes(path, before)) for path in paths)
            saved.append(SavedMutation(each.draft, files))
        return saved

    def _makes(self, path: str, before: Mapping[str, bytes]) -> bool:
        """Whether it is what had nothing before it that makes a file."""
        return not before[path] and not (self._root / path).exists()

    def _content(self, path: str) -> bytes:
        try:
            return self._builder.original(path)
        except NotFound:
            return b""

    def read_again(self, paths: Sequence[str], progress: Progress | None) -> None:
        """Bring the graph in step with what was written."""
        if all(self._builder.knows(path) and (self._root / path).exists() for path in paths):
            self._keeper().read_again(paths)
        else:
            self._keeper().catch_up(progress)


def _renamed(pending: Sequence[Pending]) -> dict[str, str]:
    """The ids of renamed requirements, each with the one that it has in the files."""
    former: dict[str, str] = {}
    for each in pending:
        if each.draft.operation == "rename_node":
            old, new = each.draft.arguments["old_id"], each.draft.arguments["new_id"]
            former[new] = former.pop(old, old)
    return former


def _changed_meanwhile(edit: FileEdit, theirs: bytes | None) -> FileChanged:
    """Both sides of a file that somebody else changed."""
    mine = diff_of([edit])
    other = "The file was deleted.\n" if theirs is None else diff_of([FileEdit(edit.path, edit.before, theirs)])
    return FileChanged(
        f"'{edit.path}' changed on disk since it was read. Nothing was saved; the drafts are kept.",
        hint="refresh_graph reads it and brings the drafts onto the new text; then save again.",
        data={"path": edit.path, "mine": mine[:_MOST_SHOWN], "theirs": other[:_MOST_SHOWN]},
    )


def _gist(definitions: Iterable[Definition]) -> list[bytes]:
    """What definitions say, without where they stand."""
    return sorted(
        msgspec.json.encode(
            (
                _said(each.node),
                [_said(part) for part in each.parts],
                [(cited.kind, cited.target, cited.labels, cited.malformed) for cited in each.citations],
            )
        )
        for each in definitions
        if each.node.kind is not NodeKind.REMAINDER
    )


def _said(node: Node) -> tuple[str, str, dict[str, Any]]:
    fields = {name: value for name, value in node.fields.items() if name != _DEPENDS_ON_THE_REST}
    return node.id, node.title, fields
