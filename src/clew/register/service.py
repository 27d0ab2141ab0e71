"""The register of a project: every question and every change, for whichever surface asks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.errors import InvalidArgument
from clew.formats.register.model import Requirement
from clew.register import results
from clew.register.change import changes
from clew.register.change.adopt import AdoptReport, RenumberReport, adopt, renumber
from clew.register.change.batch import apply_batch
from clew.register.change.candidates import candidates
from clew.register.change.draft import Author, Draft, author_of
from clew.register.change.evidence import NO_GIT, LinkedFiles, read_log, record_run, record_test, verify
from clew.register.change.imports import import_all, place_all
from clew.register.change.transaction import check_purpose
from clew.register.git import remap as remapping
from clew.register.git import revisions
from clew.register.git.merge import Merged, merge_branch, side_of
from clew.register.git.merge_ids import known_ids
from clew.register.reading import MOST_IMPORT_BYTES, RegisterReading
from clew.register.reports import staleness
from clew.register.requests import (
    Addition,
    Adoption,
    Batch,
    Deletion,
    ImportedFile,
    LinkChange,
    OtherEvidence,
    SavedRun,
    SingleTest,
    Splitting,
    Update,
)
from clew.register.rules.duplicates import resemblances
from clew.workspace.files import read_bytes
from clew.workspace.paths import raw

if TYPE_CHECKING:
    from clew.operation.call import Call


class RegisterService(RegisterReading):
    """The register of a project: queries and changes. Each change is one transaction."""

    def add(self, by: Author, new: Addition) -> results.Added:
        """A single new requirement, with a warning for each that it resembles."""

        def added(draft: Draft) -> results.Added:
            made = changes.add(draft, new)
            alike = resemblances(draft.requirements[made.id], draft.requirements.values())
            return msgspec.structs.replace(made, warnings=(*made.warnings, *alike))

        return self.file.transaction(by, added)

    def update(self, by: Author, wanted: Update, *, expected: str | None = None) -> results.Updated:
        """`expected` is the version of the file on which the change is based; another version is refused."""
        return self.file.transaction(by, lambda draft: changes.update(draft, wanted), expected=expected)

    def preview_update(self, by: Author, wanted: Update) -> tuple[str, str]:
        """The difference that an update would make, and the version of the file that it is made from."""
        return self.file.difference(by, lambda draft: changes.update(draft, wanted))

    def delete(self, by: Author, wanted: Deletion, *, again: bool = False) -> results.Deleted:
        """Retire or remove a requirement. `again` allows to retire one that is retired already, with one more
        reason."""
        return self.file.transaction(by, lambda draft: changes.delete(draft, wanted, again=again))

    def link(self, by: Author, wanted: LinkChange) -> results.Linked:
        return self.file.transaction(by, lambda draft: changes.link(draft, wanted))

    def split(self, by: Author, wanted: Splitting) -> results.Split:
        return self.file.transaction(by, lambda draft: changes.split(draft, wanted))

    def batch(self, by: Author, wanted: Batch) -> results.BatchReport:
        return self.file.transaction(
            by, lambda draft: apply_batch(draft, wanted.mutations, wanted.reason, self._commit)
        )

    def set_purpose(self, by: Author, purpose: str, reason: str) -> str | None:
        """Set the purpose of the project; an empty text removes it."""
        check_purpose(purpose)

        def change(draft: Draft) -> str | None:
            if (purpose or None) != draft.purpose:
                draft.purpose = purpose or None
                draft.record("purpose changed" if purpose else "purpose removed", reason)
            return draft.purpose

        return self.file.transaction(by, change)

    def import_text(self, by: Author, wanted: ImportedFile, data: bytes) -> results.RegisterImport:
        found = candidates(data.decode("utf-8", "replace"), wanted.format)
        if wanted.dry_run:
            return import_all(Draft(self.register, by), found, dry_run=True, strict=wanted.strict)
        return self.file.transaction(
            by, lambda draft: import_all(draft, found, source=wanted.source, strict=wanted.strict)
        )

    def check_placing(self, call: "Call", wanted: Sequence[Requirement], *, source: str) -> None:
        """Raise the errors of `place`, and write nothing."""
        place_all(Draft(self.register, author_of(call)), wanted, source)

    def place(
        self, call: "Call", wanted: Sequence[Requirement], *, source: str, expected: str, before: Callable[[], None]
    ) -> None:
        """Import requirements of another tool under their own ids. `before` is called when all of them are accepted,
        before anything is written."""

        def change(draft: Draft) -> None:
            place_all(draft, wanted, source)
            before()

        self.file.transaction(author_of(call), change, expected=expected)

    def read_source(self, source: str, besides: Sequence[str] = ()) -> bytes:
        """The text of a file that a caller names. It has to be in the project, or in one of the folders that the user
        allows."""
        place = Path(source)
        for folder in (Path(each).resolve() for each in besides if place.is_absolute()):
            real = place.resolve()
            if real.is_relative_to(folder):
                return read_bytes(folder, real.relative_to(folder).as_posix(), limit=MOST_IMPORT_BYTES)
        return read_bytes(self.root, source, limit=MOST_IMPORT_BYTES)

    def record_test(self, by: Author, wanted: SingleTest) -> results.Recorded:
        commit = self._tree.head()
        if commit is None:
            raise InvalidArgument(
                "There is no commit to record the test against.",
                hint="Commit first; outside of git use req_verify with by=inspection.",
            )
        files = self._linked((self.show(wanted.id).id,))
        return self.file.transaction(
            by, lambda draft: record_test(draft, wanted, commit, files.get(draft.find(wanted.id).id))
        )  # fmt: skip

    def record_run(
        self, by: Author, wanted: SavedRun, log: bytes, names: Mapping[str, Sequence[str]] | None = None
    ) -> results.RunReport | None:
        """The evidence in a log; None if no test's name carries an id. `names` gives the ids that other tests
        verify."""
        tallies = read_log(log, names or {})
        if not tallies:
            return None
        commit = self._commit()
        if wanted.dry_run:
            return record_run(Draft(self.register, by), tallies, wanted, commit)
        files = self._linked(tuple(tallies))
        return self.file.transaction(by, lambda draft: record_run(draft, tallies, wanted, commit, files))

    def verify(self, by: Author, wanted: OtherEvidence) -> results.Verified:
        commit = self._commit()
        return self.file.transaction(by, lambda draft: verify(draft, wanted, commit))

    def adopt(self, by: Author, wanted: Adoption) -> AdoptReport:
        commit = self._commit()
        return self.file.transaction(by, lambda draft: adopt(draft, wanted, commit))

    def renumber(self, by: Author, base: str, *, dry_run: bool = False) -> RenumberReport:
        """Move requirements whose ids belong to others in a revision, and name the files that still cite the old
        ids."""
        before = revisions.register_at(self.file, self._around, self._around.revision(base))
        done = self.file.transaction(by, lambda draft: renumber(draft, before, base, dry_run=dry_run))
        cited = self.everything_cited().places() if done.renumbered else {}
        markers = {
            old: tuple(f"{path}:{mention.line}" for path, mention in cited[old])
            for old in done.renumbered
            if old in cited
        }
        return msgspec.structs.replace(done, markers=markers)

    def remap(self, written: Sequence[str], path: str = ".", *, apply: bool = False) -> remapping.RemapReport:
        if tuple(written) == (remapping.OF_MERGE,):
            return self._remap_merged(apply=apply)
        new = remapping.parse_remap(written, self.register)
        return remapping.remap(self.root, self.mentions(path), new, MOST_IMPORT_BYTES, apply=apply)

    def _remap_merged(self, *, apply: bool) -> remapping.RemapReport:
        """The citations in code from the other side of a merge, for the ids that the merge reassigned."""
        merging = self._tree.commit_of("MERGE_HEAD")
        ours, theirs = ("HEAD", merging) if merging else ("HEAD^1", self._tree.commit_of("HEAD^2"))
        if theirs is None:
            raise InvalidArgument(
                "HEAD is not a merge, and none is under way.", hint="Name the ids: --remap REQ-0003=REQ-0007."
            )
        mine = self._tree.revision(ours)
        new = known_ids(self.register, revisions.register_at(self.file, self._around, theirs))
        files = {path for paths in self.markers_at(theirs, new).values() for path in paths} if new else set()
        sides = {
            path: (self._tree.content_at(mine, path), self._tree.content_at(theirs, path) or b"")
            for path in sorted(files)
            if (self.root / raw(path)).is_file()
        }
        return remapping.remap_merged(self.root, sides, self._scanner.cited, new, MOST_IMPORT_BYTES, apply=apply)

    def merge_branch(self, by: Author, theirs: str | None) -> Merged:
        """Merge another branch's register, and tell git that it is merged if nothing is left to decide."""
        merged = merge_branch(self.file, self._around, theirs, by)
        if not merged.conflicts:
            self._around.add(self.file.place.name)
        return merged

    def side_of(self, version: bytes, path: str) -> str | None:
        """The commit that git merges, found from the arguments of a merge driver."""
        return side_of(self._tree, version, path)

    def markers_at(self, commit: str, ids: Iterable[str]) -> dict[str, list[str]]:
        """By id, the files of a commit whose code or tests cite it."""
        found: dict[str, list[str]] = {id: [] for id in ids}
        words = (spelled for id in found for spelled in (id, id.replace("-", "_")))
        for path, data in self._tree.files_that_say(commit, words).items():
            for id in {mention.id for mention in self._scanner.cited(data, path)} & found.keys():
                found[id].append(path)
        return found

    def _commit(self) -> str:
        return self._tree.head() or NO_GIT

    def _linked(self, ids: Sequence[str]) -> dict[str, LinkedFiles]:
        carriers = self.mentions().carriers()
        found = {id: staleness.linked_files(carriers.get(id, ()), self._content) for id in ids}
        return {id: files for id, files in found.items() if files is not None}
