"""Consequences of a change in the files of requirements, as elspais keeps them: entries in changelogs, and the
generated list of all requirements.

Both are written in the same transaction as the change itself, so that the checks of elspais find nothing afterwards.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import msgspec

from clew.context import Context
from clew.edit.edits import FileEdit
from clew.edit.targets import read_if_there
from clew.errors import Refused
from clew.formats.elspais.changelog import NO_HASH, changelog_line, owes_entries
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import ChangelogEntry, Requirement
from clew.formats.elspais.write.edits import SpanEdit, spliced
from clew.formats.elspais.write.sections import with_changelog_entry
from clew.trace.files.index_file import INDEX_FILE, index_text, is_generated, listed
from clew.workspace.files import resolve
from clew.workspace.find import selects
from clew.workspace.git import api as git
from clew.workspace.paths import is_glob


class ChangelogAuthor(msgspec.Struct, frozen=True):
    name: str
    id: str


class Bookkeeping:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._root = context.root
        self._settings = context.config.elspais
        self._grammar = context.grammar

    # Changelogs

    def with_entries(
        self, edits: Sequence[FileEdit], reason: str | None, renamed: Mapping[str, str], *, takes_back: bool = False
    ) -> list[FileEdit]:
        """The edits with a changelog entry for every Active requirement whose text they change. `renamed` gives the
        former ids of requirements with a new one. Edits that take back what was saved lose no entry: it was saved."""
        if not self._settings.changelog.hash_current:
            return list(edits)
        if takes_back:
            edits = [self._with_former_entries(edit, renamed) for edit in edits]
        owing = {edit.path: found for edit in edits if (found := self._owing(edit, renamed))}
        if not owing:
            return list(edits)
        author = self.signed(reason, [record.id for found in owing.values() for record in found])
        return [self._with_entries(edit, owing.get(edit.path, ()), author, reason or "-") for edit in edits]

    def _with_former_entries(self, edit: FileEdit, renamed: Mapping[str, str]) -> FileEdit:
        """The edit with the entries that the file has now, below which a new one follows."""
        before = {record.id: record.changelog for record in self._requirements(edit.before)}
        data = edit.after or b""
        edits: list[SpanEdit] = []
        for record in self._requirements(data):
            known = set(map(changelog_line, record.changelog))
            lines = map(changelog_line, reversed(before.get(renamed.get(record.id, record.id), ())))
            block = data[record.span.start : record.span.end]
            for line in lines:
                if line not in known:
                    block = with_changelog_entry(block, self._grammar, line)
            edits.append(SpanEdit(record.span.start, record.span.end, block))
        return msgspec.structs.replace(edit, after=spliced(data, edits)) if edits else edit

    def signed(self, reason: str | None, ids: Sequence[str]) -> ChangelogAuthor:
        """The author of the entries for these requirements. Refused if the author or the reason is not known."""
        demanded = self._settings.changelog
        if demanded.reason and not (reason or "").strip():
            raise Refused(
                f"The changelog of {', '.join(ids[:5])} needs a reason for the change. Nothing was written.",
                hint="Pass message. `[changelog] hash_current` in .elspais.toml asks for it.",
                data={"reason": "changelog_message_required", "requirement_ids": list(ids)},
            )
        author = author_of(self._root)
        if (demanded.author_name and not author.name) or (demanded.author_id and not author.id):
            raise Refused(
                "The changelog needs the name and the e-mail address of its author, and git knows none.",
                hint="Set them with `git config user.name` and `git config user.email`, or in GIT_AUTHOR_NAME and "
                "GIT_AUTHOR_EMAIL.",
            )
        return author

    def _owing(self, edit: FileEdit, renamed: Mapping[str, str]) -> list[Requirement]:
        """The requirements of a file that need a changelog entry: those whose text an edit changes, and which are or
        were Active."""
        if not selects(self._root, self._context.config.requirements, edit.path):
            return []
        before = {record.id: record for record in self._requirements(edit.before)}
        known = {record.raw.strip() for record in before.values()}
        owing: list[Requirement] = []
        for record in self._requirements(edit.after):
            former = before.get(renamed.get(record.id, record.id))
            is_active = owes_entries(record.status) or (former is not None and owes_entries(former.status))
            if is_active and record.raw.strip() not in known:
                owing.append(record)
        return owing

    def _with_entries(
        self, edit: FileEdit, owing: Sequence[Requirement], author: ChangelogAuthor, reason: str
    ) -> FileEdit:
        data = edit.after or b""
        edits = [
            SpanEdit(
                record.span.start,
                record.span.end,
                self.with_entry(data[record.span.start : record.span.end], record.stored_hash, author, reason),
            )
            for record in owing
        ]
        return msgspec.structs.replace(edit, after=spliced(data, edits)) if edits else edit

    def with_entry(self, block: bytes, hash: str | None, author: ChangelogAuthor, reason: str) -> bytes:
        """The block of a requirement with an entry of today."""
        entry = ChangelogEntry(date.today().isoformat(), hash or NO_HASH, "-", author.name, author.id, reason, 0)
        return with_changelog_entry(block, self._grammar, changelog_line(entry))

    def _requirements(self, data: bytes | None) -> list[Requirement]:
        return [block for block in read(data or b"", self._grammar).blocks if isinstance(block, Requirement)]

    # The list of all requirements

    def with_index(self, edits: Sequence[FileEdit]) -> list[FileEdit]:
        """The edits with the generated list brought in step, where the project has one that elspais wrote."""
        if not edits:
            return []
        path = self._index_path()
        before = read_if_there(resolve(self._root, path)) if path is not None else None
        if path is None or before is None or not is_generated(before):
            return list(edits)
        rows = listed(self._context, {edit.path: edit.after or b"" for edit in edits})
        after = index_text(rows, self._context.config).encode()
        return [*edits, FileEdit(path, before, after, is_product=True)] if after != before else list(edits)

    def _index_path(self) -> str | None:
        """The list of the first folder of requirements that has one."""
        folders = self._context.config.requirements.folders
        paths = (f"{folder}/{INDEX_FILE}" if folder != "." else INDEX_FILE for folder in folders if not is_glob(folder))
        return next((path for path in paths if (self._root / path).is_file()), None)


def author_of(root: Path) -> ChangelogAuthor:
    """The author of commits here: from the environment, else from git's configuration."""

    def setting(variable: str, key: str) -> str:
        return os.environ.get(variable, "") or (git.answer(root, "config", "--get", key) or b"").decode().strip()

    return ChangelogAuthor(setting("GIT_AUTHOR_NAME", "user.name"), setting("GIT_AUTHOR_EMAIL", "user.email"))
