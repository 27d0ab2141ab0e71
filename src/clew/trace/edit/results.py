"""Answers of the mutation tools. Field names are those that users of elspais know."""

from collections.abc import Mapping
from typing import Any

import msgspec


class MutationEntry(msgspec.Struct, frozen=True):
    """One mutation, for audit and undo."""

    id: str
    timestamp: str
    """UTC, ISO 8601."""
    operation: str
    target_id: str
    before_state: Mapping[str, Any]
    """The state that it replaced."""
    after_state: Mapping[str, Any]
    affects_hash: bool
    """True if the assertions changed, and with them the hash of the requirement."""


class MutationResult(msgspec.Struct, frozen=True):
    success: bool
    mutation: MutationEntry
    message: str
    version: str | None = None
    """Of the requirement after the mutation, for `if_version`; null where it is gone."""
    label: str | None = None
    assertion_id: str | None = None
    """Of an assertion that was added or renamed."""
    notes: tuple[str, ...] = ()
    """Things that did not change by themselves, such as the names of tests."""
    truncated: bool = False


class UndoResult(msgspec.Struct, frozen=True):
    success: bool
    mutation: MutationEntry
    message: str
    reverts_saved: bool
    """The mutation is in the files already: a new draft takes it back, which has to be saved."""
    current_tip: str
    truncated: bool = False


class UndoToResult(msgspec.Struct, frozen=True):
    success: bool
    mutations_undone: int
    mutations: tuple[MutationEntry, ...]
    """Newest first."""
    message: str
    current_tip: str
    truncated: bool = False


class DraftConflict(msgspec.Struct, frozen=True):
    """A draft that no longer applies, because the files changed. It is kept until it is undone."""

    mutation: MutationEntry
    reason: str
    mine: Mapping[str, Any]
    """The requirement with the draft."""
    theirs: Mapping[str, Any]
    """The requirement in the files now."""


class LogPage(msgspec.Struct, frozen=True):
    mutations: tuple[MutationEntry, ...]
    """Newest first."""
    count: int
    total: int
    current_tip: str
    """The id of the newest pending mutation; empty where nothing is pending."""
    conflicts: tuple[DraftConflict, ...] = ()
    truncated: bool = False
    next_cursor: str | None = None


class SaveResult(msgspec.Struct, frozen=True):
    success: bool
    saved_count: int
    files_modified: tuple[str, ...]
    message: str
    saved_mutations: tuple[str, ...] = ()
    """Ids, oldest first; undo_to_mutation takes them back."""
    safety_branch: str | None = None
    conflicts: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Always empty, as are the two before: what cannot be saved is an error that saves nothing."""
    diff: str | None = None
    """The planned changes as a unified diff; null after they were written."""
    truncated: bool = False
