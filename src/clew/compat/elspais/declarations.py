"""Declarations in the settings of elspais, as nodes: `decl:REQ:.elspais.toml:scopes:board`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from clew.config import ELSPAIS_LOCAL_TOML, ELSPAIS_TOML
from clew.edit.edits import FileEdit
from clew.errors import ClewError, Conflict, InvalidArgument, NotFound
from clew.formats.elspais.write import declarations as text
from clew.text.hashing import content_hash
from clew.workspace.files import read_bytes

if TYPE_CHECKING:
    from clew.project import Project

PREFIX = "decl:"
FILES = (ELSPAIS_TOML, ELSPAIS_LOCAL_TOML)
"""The second is laid over the first, and is a machine's own."""


class Declaration(msgspec.Struct, frozen=True):
    file: str
    name: str
    settings: Mapping[str, Any]

    @property
    def version(self) -> str:
        return content_hash(msgspec.json.encode((self.file, self.name, self.settings)), size=8)


class DeclarationChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a change of a declaration."""

    success: bool
    message: str
    declaration_id: str
    """The declaration after the change; the one that was removed, after a removal."""
    version: str | None = None
    """Null after a removal."""
    shadowed_by: str | None = None
    """The file that declares the name too, and counts; then nothing changed for elspais's reports."""
    diff: str


class Declarations:
    def __init__(self, project: "Project") -> None:
        self._project = project

    def in_file(self, file: str) -> list[Declaration]:
        found = text.declared(self._data(file), file)
        return [Declaration(file, name, settings) for name, settings in found.items()]

    def file_version(self, file: str) -> str:
        return content_hash(self._data(file), size=8)

    def find(self, id: str) -> Declaration:
        """The declaration of an id; the namespace in it may be left out."""
        for file in FILES:
            place, found, name = id.removeprefix(PREFIX).partition(f"{file}:{text.TABLE}:")
            if found and place in ("", f"{self._namespace}:"):
                data = self._data(file)
                own = text.spelled(data, file, name)
                return Declaration(file, own, text.declared(data, file)[own])
        known = ", ".join(self.id(each) for file in FILES for each in self._known(file)) or "none"
        raise NotFound(f"There is no declaration '{id}'.", hint=f"There are: {known}.")

    def id(self, declaration: Declaration) -> str:
        return f"{PREFIX}{self._namespace}:{declaration.file}:{text.TABLE}:{declaration.name}"

    def add(
        self, file: str, table: str, name: str, settings: text.Settings, if_version: str | None
    ) -> DeclarationChange:
        if table != text.TABLE:
            raise InvalidArgument(
                f"Nothing is declared in a table '{table}'.", hint=f"Declarations are in: {text.TABLE}."
            )
        self._check(f"file:{self._namespace}:{file}", self.file_version(file), if_version)
        data = self._data(file)
        diff = self._write(file, data, text.add(data, file, name, settings), "mutate_add_declaration")
        return self._told(Declaration(file, name, settings), f"[{text.TABLE}.{name}] is declared", diff)

    def update(self, id: str, settings: text.Settings, if_version: str | None) -> DeclarationChange:
        found = self._guarded(id, if_version)
        data = self._data(found.file)
        made = text.update(data, found.file, found.name, settings)
        diff = self._write(found.file, data, made, "mutate_update_declaration")
        now = Declaration(found.file, found.name, settings)
        return self._told(now, f"[{text.TABLE}.{found.name}] is changed", diff)

    def rename(self, id: str, new_name: str, if_version: str | None) -> DeclarationChange:
        found = self._guarded(id, if_version)
        data = self._data(found.file)
        made = text.rename(data, found.file, found.name, new_name)
        diff = self._write(found.file, data, made, "mutate_rename_declaration")
        now = Declaration(found.file, new_name, found.settings)
        return self._told(now, f"[{text.TABLE}.{found.name}] is now [{text.TABLE}.{new_name}]", diff)

    def remove(self, id: str, if_version: str | None) -> DeclarationChange:
        found = self._guarded(id, if_version)
        data = self._data(found.file)
        made = text.remove(data, found.file, found.name)
        diff = self._write(found.file, data, made, "mutate_delete_declaration")
        said = self._told(found, f"[{text.TABLE}.{found.name}] is removed", diff)
        return msgspec.structs.replace(said, version=None)

    @property
    def _namespace(self) -> str:
        return self._project.config.elspais.namespace

    def _known(self, file: str) -> list[Declaration]:
        try:
            return self.in_file(file)
        except ClewError:
            return []

    def _data(self, file: str) -> bytes:
        if file not in FILES:
            raise NotFound(f"'{file}' is not a settings file.", hint=f"Settings are in: {', '.join(FILES)}.")
        config = self._project.config
        return read_bytes(config.root, file, limit=config.max_file_bytes)

    def _guarded(self, id: str, if_version: str | None) -> Declaration:
        found = self.find(id)
        self._check(self.id(found), found.version, if_version)
        return found

    def _check(self, id: str, version: str, wanted: str | None) -> None:
        if wanted and wanted != version:
            raise Conflict(
                f"'{id}' has version {version}, not {wanted} as if_version demands.",
                hint="get_versions tells the present one; repeat the call if it is still right.",
                data={"node_id": id, "current_version": version},
            )

    def _write(self, file: str, before: bytes, after: bytes, operation: str) -> str:
        return self._project.files.write([FileEdit(file, before, after)], operation)

    def _told(self, now: Declaration, message: str, diff: str) -> DeclarationChange:
        over = next(
            (
                each.file
                for each in self._known(ELSPAIS_LOCAL_TOML)
                if now.file == ELSPAIS_TOML and each.name.casefold() == now.name.casefold()
            ),
            None,
        )
        shadow = f", but {over} declares the name too, and counts" if over else ""
        return DeclarationChange(
            success=True,
            message=f"{message}{shadow}.",
            declaration_id=self.id(now),
            version=now.version,
            shadowed_by=over,
            diff=diff,
        )
