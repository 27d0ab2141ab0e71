"""The contents of a folder, as far as Clew can read them. Paths are relative to the folder, with forward slashes."""

import msgspec


class RequirementFolder(msgspec.Struct, frozen=True):
    """Markdown with requirement headings such as `## REQ-p00001: Title`."""

    path: str
    files: int
    requirements: int
    """Counted in the first 64 kB of each file."""
    journeys: int
    namespace: str
    """The most frequent prefix of the ids; empty where no requirement was seen."""


class SpecFolder(msgspec.Struct, frozen=True):
    path: str
    kind: str
    """openspec or spox."""
    specs: int
    changes: int
    """Open ones."""


class RegisterLocation(msgspec.Struct, frozen=True):
    path: str
    """The file, or the folder of a register that is kept in one file per requirement."""
    layout: str
    """file or directory."""
    format: str


class PageFolder(msgspec.Struct, frozen=True):
    path: str
    files: int


class SourceFolder(msgspec.Struct, frozen=True):
    path: str
    files: int
    languages: tuple[str, ...]
    """The most frequent first."""


class ReportFile(msgspec.Struct, frozen=True):
    path: str
    kind: str
    """junit, pytest-json, coverage-json or lcov; coverage for reports on executed lines that Clew does not read."""


class FolderContents(msgspec.Struct, frozen=True):
    name: str
    """The folder's own name; `project` for a folder that has none, such as the root of a disk."""
    elspais_config: bool
    requirements: tuple[RequirementFolder, ...]
    has_spec: bool
    """True if there is a folder `spec`, which is read if no other is named."""
    specs: tuple[SpecFolder, ...]
    registers: tuple[RegisterLocation, ...]
    docs: tuple[PageFolder, ...]
    """Folders of documents by their usual names."""
    pages: int
    """Documents anywhere in the project."""
    code: tuple[SourceFolder, ...]
    tests: tuple[SourceFolder, ...]
    results: tuple[ReportFile, ...]
    nested: tuple[str, ...]
    """Folders that are projects of their own and were left alone."""
    entries: int
    truncated: bool
    """True if the search stopped at its limit before it had seen everything."""
    unreadable: int

    @property
    def nothing(self) -> bool:
        """True if Clew could read nothing here."""
        parts = (self.requirements, self.specs, self.registers, self.pages, self.code, self.tests, self.results)
        return not any(parts)
