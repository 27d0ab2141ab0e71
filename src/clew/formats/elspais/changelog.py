"""The changelog of a requirement: what `.elspais.toml` asks of it, and what a requirement lacks.

elspais demands entries of requirements whose status is Active, whatever other statuses count as active besides.
"""

from collections.abc import Iterator

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.records import ChangelogEntry, Requirement
from clew.formats.elspais.toml_values import TomlValues

FIRST_WITH_CHANGELOG = 4
"""The version of `.elspais.toml` from which on elspais demands entries unless the file says otherwise."""
NO_HASH = "________"
"""Hash in the entry of a requirement that has no hash."""

_NOTHING = ("", "-")


class ChangelogSettings(msgspec.Struct, frozen=True):
    hash_current: bool = False
    """Every change of an Active requirement has an entry, and the newest names the hash in the End marker."""
    present: bool = False
    """Every Active requirement has an entry."""
    reason: bool = True
    """True if an entry needs a reason; likewise the others."""
    author_name: bool = True
    author_id: bool = True
    change_order: bool = False


def read_changelog(values: TomlValues) -> ChangelogSettings:
    """Changelog settings of a settings file. Without the table, the defaults of elspais for a file of that version."""
    _, table = values.table("changelog")
    version = values.integer("version", default=0, least=0, most=1_000_000)
    return ChangelogSettings(
        hash_current=values.flag("changelog.hash_current", default=bool(table) or version >= FIRST_WITH_CHANGELOG),
        present=values.flag("changelog.present", default=False),
        reason=values.flag("changelog.require.reason", default=True),
        author_name=values.flag("changelog.require.author_name", default=True),
        author_id=values.flag("changelog.require.author_id", default=True),
        change_order=values.flag("changelog.require.change_order", default=False),
    )


def owes_entries(status: str) -> bool:
    return status.casefold() == "active"


def changelog_line(entry: ChangelogEntry) -> str:
    """The line of an entry, as elspais writes it."""
    id = f"<{entry.author_id}>" if "@" in entry.author_id else entry.author_id
    reason = " ".join(entry.reason.split())
    return f"- {entry.date} | {entry.hash} | {entry.change_order or '-'} | {entry.author} ({id}) | {reason}"


def changelog_problems(record: Requirement, settings: ChangelogSettings) -> Iterator[Diagnostic]:
    """Diagnostics for the changelog of an Active requirement."""
    if not (settings.hash_current or settings.present) or not owes_entries(record.status):
        return
    advice = "save_mutations and `clew fix` write entries; each takes a message."
    line = record.hash_line or record.span.line
    if not record.changelog:
        message = f"{record.id} is {record.status} and has no changelog entry. {advice}"
        yield Diagnostic("elspais.changelog_missing", "error", message, line)
    if not settings.hash_current or not record.changelog:
        return
    newest, stored = record.changelog[0], record.stored_hash
    if newest.hash and stored and newest.hash != stored:
        message = f"The newest changelog entry of {record.id} names the hash {newest.hash}, not {stored}. {advice}"
        yield Diagnostic("elspais.changelog_stale", "error", message, newest.line)
    for entry in record.changelog:
        if lacking := ", ".join(_lacking(entry, settings)):
            message = f"The changelog entry of {record.id} from {entry.date or 'no date'} lacks: {lacking}. Add it."
            yield Diagnostic("elspais.changelog_incomplete", "error", message, entry.line)


def _lacking(entry: ChangelogEntry, settings: ChangelogSettings) -> Iterator[str]:
    for name, is_required, value in (
        ("reason", settings.reason, entry.reason),
        ("author's name", settings.author_name, entry.author),
        ("author's id", settings.author_id, entry.author_id),
        ("change order", settings.change_order, entry.change_order),
    ):
        if is_required and value in _NOTHING:
            yield name
