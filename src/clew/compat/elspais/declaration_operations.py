"""Toolset trace: changes of named declarations in the settings of elspais."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.compat.elspais.declarations import DeclarationChange, Declarations
from clew.errors import InvalidArgument
from clew.formats.elspais.write.declarations import Settings
from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, Toolset
from clew.text.controls import control_in
from clew.text.display import shortened
from clew.trace.edit.mutations.mutation import path_of_file

Words = Annotated[list[Annotated[str, Meta(min_length=1, max_length=200)]], Meta(max_length=200)] | None
Id = Annotated[str, Meta(min_length=1, max_length=2_000, description="Such as decl:REQ:.elspais.toml:scopes:board")]
Name = Annotated[
    str, Meta(min_length=1, max_length=200, description="Letters, digits, '_' and '-'; case does not count")
]
Version = Annotated[str | None, Meta(description="Refuse unless it has this version")]


class ScopeKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys that elspais allows in a scope."""

    level: Words = None
    not_level: Words = None
    status: Words = None
    not_status: Words = None
    match_status_roles: bool | None = None
    values: Words = None


ScopeSettings = Annotated[
    dict[str, Any],
    Meta(description="level, not_level, status, not_status, values: lists of words; match_status_roles: true or false"),
]


def _checked(settings: Settings) -> Settings:
    """The settings, without null values."""
    try:
        scope = msgspec.convert(settings, ScopeKeys)
    except msgspec.ValidationError as error:
        raise InvalidArgument(
            f"'settings' cannot be those of a scope: {error}.",
            hint="A scope has level, not_level, status, not_status, match_status_roles and values.",
        ) from None
    written = {name: value for name, value in msgspec.structs.asdict(scope).items() if value is not None}
    for word in (word for value in written.values() if isinstance(value, list) for word in value):
        if (found := control_in(word)) is not None:
            raise InvalidArgument(
                f"'settings' holds {found} in '{shortened(repr(word))}'.", hint="A word is one line without them."
            )
    return written


class DeclarationOperation(Operation, toolset=Toolset.TRACE, needs=Freshness.NONE):
    """An operation on the settings file. It is written at once: unlike requirements it has no drafts."""


class AddDeclaration(
    DeclarationOperation,
    tool="mutate_add_declaration",
    title="Declare a scope",
    later=True,
    writes=True,
    idempotent=False,
):
    """Declares a scope, a named selection of elspais's reports, in .elspais.toml, at once. Clew's own answers do not
    use scopes. get_node with file:REQ:.elspais.toml lists them."""

    config_file_id: Annotated[str, Meta(min_length=1, max_length=2_000, description="Such as file:REQ:.elspais.toml")]
    table: Annotated[str, Meta(max_length=200, description="scopes")]
    name: Name
    settings: ScopeSettings
    if_version: Version = None

    def run(self, call: Call) -> DeclarationChange:
        file = path_of_file(self.config_file_id)
        return Declarations(call.project).add(file, self.table, self.name, _checked(self.settings), self.if_version)


class UpdateDeclaration(
    DeclarationOperation, tool="mutate_update_declaration", title="Change a scope", later=True, writes=True
):
    """Gives a scope these settings and no others, at once: a setting that is left out is removed. Comments and all
    other lines of the file stay."""

    declaration_id: Id
    settings: ScopeSettings
    if_version: Version = None

    def run(self, call: Call) -> DeclarationChange:
        return Declarations(call.project).update(self.declaration_id, _checked(self.settings), self.if_version)


class RenameDeclaration(
    DeclarationOperation,
    tool="mutate_rename_declaration",
    title="Rename a scope",
    later=True,
    writes=True,
    idempotent=False,
):
    """Gives a scope another name, at once and in its place. Jobs that ask for a report by the old name do not
    follow."""

    declaration_id: Id
    new_name: Name
    if_version: Version = None

    def run(self, call: Call) -> DeclarationChange:
        return Declarations(call.project).rename(self.declaration_id, self.new_name, self.if_version)


class DeleteDeclaration(
    DeclarationOperation,
    tool="mutate_delete_declaration",
    title="Remove a scope",
    later=True,
    writes=True,
    destructive=True,
    idempotent=False,
):
    """Removes a scope from the settings file, at once. A comment above it stays. Jobs that ask for a report by its name
    fail from then on."""

    declaration_id: Id
    if_version: Version = None

    def run(self, call: Call) -> DeclarationChange:
        return Declarations(call.project).remove(self.declaration_id, self.if_version)
