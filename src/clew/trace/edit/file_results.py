"""Answers of the tools that change files."""

import msgspec

from clew.trace.safety.branches import SafetyBranch


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    success: bool = True
    changed: bool
    """False where the files said so already, or nothing was to be written."""
    message: str
    requirement_id: str
    files: tuple[str, ...]
    """The files that were written, relative to the project."""
    diff: str
    """The changes in them, made or planned, as a unified diff."""
    safety_branch: str | None
    """Holds the state before; null where none was asked for."""
    version: str | None
    """Of the requirement, afterwards."""
    dry_run: bool = False
    truncated: bool = False


class MoveResult(FileChange, frozen=True, kw_only=True):
    source_file: str
    dest_file: str
    source_empty: bool
    """No requirement is left in the file that it came from."""


class RewriteResult(FileChange, frozen=True, kw_only=True):
    model: str
    """The model that wrote the new text."""


class SafetyBranches(msgspec.Struct, frozen=True):
    branches: tuple[SafetyBranch, ...]
    """Latest first."""
    count: int
    total: int
    note: str | None = None
    """The reason why there can be none."""
    truncated: bool = False
    next_cursor: str | None = None


class RestoreReport(msgspec.Struct, frozen=True):
    success: bool
    message: str
    branch: str
    files_restored: tuple[str, ...]
    """Files that have their earlier content again."""
    files_restored_total: int
    files_removed: tuple[str, ...]
    """Files that were not there then; the safety branch below holds them."""
    files_removed_total: int
    safety_branch: str | None
    """Holds the state before the restoration; null where nothing had to be done."""
    truncated: bool = False


class RenameResult(msgspec.Struct, frozen=True):
    success: bool
    message: str
    source_file: str
    dest_file: str
