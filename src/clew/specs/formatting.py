"""Specs brought into one form on disk: all of them or none, and only where they say the same afterwards."""

from collections.abc import Mapping
from pathlib import Path

from clew.edit.edits import FileEdit, check_writable, diff_of
from clew.edit.transaction import Purpose, Transaction
from clew.formats.openspec.canonical import formatted, says_the_same
from clew.specs.results import Formatted
from clew.store.interface import Store
from clew.workspace.files import read_bytes


def format_specs(
    project: Path, places: Mapping[str, str], store: Store | None, *, write: bool, limit: int
) -> Formatted:
    """`places` are the files by the ids of their specs."""
    edits: list[FileEdit] = []
    skipped: list[str] = []
    for spec_id, path in places.items():
        before = read_bytes(project, path, limit=limit)
        try:
            after = formatted(before)
        except UnicodeDecodeError:
            skipped.append(path)
            continue
        if after == before:
            continue
        if says_the_same(before, after, spec_id):
            edits.append(FileEdit(path, before, after))
        else:
            skipped.append(path)
    check_writable(project, edits)
    if edits and write:
        Transaction(project, edits, Purpose("specs format", "clew", {"files": len(edits)})).commit(store)
    return Formatted(
        files=tuple(edit.path for edit in edits),
        looked_at=len(places),
        diff=diff_of(edits),
        written=bool(edits) and write,
        skipped=tuple(skipped),
    )
