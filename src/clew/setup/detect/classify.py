"""From a list of files to findings.

A file belongs to one kind. Where several would fit, the more specific one wins: a spec folder before requirements,
requirements before docs, and whatever lies in a test folder is a test or a test's data.
"""

import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath

import msgspec

from clew.errors import InvalidArgument
from clew.setup.detect import sniff
from clew.setup.detect.findings import (
    FolderContents,
    PageFolder,
    RegisterLocation,
    ReportFile,
    RequirementFolder,
    SourceFolder,
    SpecFolder,
)
from clew.workspace.survey import head, survey

ENTRY_LIMIT = 50_000
"""The number of names after which the search stops and says so."""

MANY_FOLDERS = 10
"""More folders than this below one top folder are reported as the top folder."""

TEST_FOLDERS = frozenset(("__tests__", "e2e", "test", "testing", "tests"))
DOC_FOLDERS = frozenset(("doc", "docs", "documentation", "guide", "guides", "manual", "wiki"))


class _Marked(msgspec.Struct, frozen=True):
    """A markdown file with requirements or journeys in it."""

    path: PurePosixPath
    namespaces: tuple[str, ...]
    journeys: int


def detect(root: Path, *, limit: int = ENTRY_LIMIT) -> FolderContents:
    """Look at a folder. Nothing outside it is read, no link is followed, and no file is read beyond its first 64 kB."""
    if not root.is_dir():
        raise InvalidArgument(f"'{root}' is not a folder.", hint="Name the folder that holds the project.")
    root = root.resolve()
    tree = survey(root, limit)
    paths = [PurePosixPath(path) for path in tree.files]
    outside_tests = [path for path in paths if _folder_named(path, TEST_FOLDERS) is None]
    specs = _spec_folders(outside_tests, _configured(root / ".spox/config.toml", ("paths", "spec_folder")))
    rest = [path for path in outside_tests if not any(path.is_relative_to(spec.path) for spec in specs)]
    marked = [found for path in rest if (found := _marked(root, path))]
    bearing = {found.path for found in marked}
    pages = [path for path in rest if path.suffix.lower() in sniff.PAGES and path not in bearing]
    sources = [path for path in rest if sniff.language(path) and _folder_named(path, DOC_FOLDERS) is None]
    tests = [path for path in paths if sniff.language(path) and _is_test(path)]
    return FolderContents(
        name=root.name or "project",
        elspais_config=(root / ".elspais.toml").is_file(),
        requirements=_requirement_folders(root, marked),
        has_spec=(root / "spec").is_dir(),
        specs=specs,
        registers=_registers(root, rest),
        docs=_page_folders(pages),
        pages=len(pages),
        code=_source_folders(path for path in sources if not _is_test(path)),
        tests=_source_folders(tests, _test_folder),
        results=_results(root, rest),
        nested=tree.nested,
        entries=tree.entries,
        truncated=tree.truncated,
        unreadable=tree.unreadable,
    )


def _folder_named(path: PurePosixPath, names: frozenset[str]) -> str | None:
    """The highest folder on the way to a file that has one of these names."""
    for depth, part in enumerate(path.parts[:-1], start=1):
        if part.lower() in names:
            return "/".join(path.parts[:depth])
    return None


def _top(path: PurePosixPath) -> str:
    return path.parts[0] if len(path.parts) > 1 else "."


def _is_test(path: PurePosixPath) -> bool:
    return _folder_named(path, TEST_FOLDERS) is not None or sniff.is_test_name(path.name)


def _test_folder(path: PurePosixPath) -> str:
    return _folder_named(path, TEST_FOLDERS) or _top(path)


# --- requirements -----------------------------------------------------------------------------------------------------


def _marked(root: Path, path: PurePosixPath) -> _Marked | None:
    if path.suffix.lower() != ".md":
        return None
    text = head(root / path).decode("utf-8", "replace")
    found = _Marked(path, tuple(sniff.requirement_namespaces(text)), sniff.journeys(text))
    return found if found.namespaces or found.journeys else None


def _requirement_folders(root: Path, marked: list[_Marked]) -> tuple[RequirementFolder, ...]:
    """The folders that .elspais.toml names; otherwise, for each top folder, the lowest one with all of its
    requirements."""
    config = root / ".elspais.toml"
    named = _configured(config, ("scanning", "spec", "directories")) or _configured(config, ("spec", "directories"))
    groups: dict[str, list[_Marked]] = {name: [] for name in named if (root / name).is_dir()}
    loose: dict[str, list[_Marked]] = defaultdict(list)
    for found in marked:
        home = next((name for name in groups if found.path.is_relative_to(name)), None)
        (loose[_top(found.path)] if home is None else groups[home]).append(found)
    if len(loose) > 1 or groups:
        loose.pop(".", None)
    for members in loose.values():
        groups[_common_folder([found.path for found in members])] = members
    return tuple(_requirement_folder(path, members) for path, members in sorted(groups.items()))


def _requirement_folder(path: str, members: list[_Marked]) -> RequirementFolder:
    namespaces = Counter(name for found in members for name in found.namespaces)
    return RequirementFolder(
        path=path,
        files=len(members),
        requirements=namespaces.total(),
        journeys=sum(found.journeys for found in members),
        namespace=namespaces.most_common(1)[0][0] if namespaces else "",
    )


def _common_folder(paths: list[PurePosixPath]) -> str:
    common = paths[0].parent
    while not all(path.is_relative_to(common) for path in paths):
        common = common.parent
    return str(common)


def _configured(config: Path, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Folders that another tool's configuration names, as far as they are relative and stay inside the project."""
    try:
        value: object = tomllib.loads(head(config).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return ()
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    items = value if isinstance(value, list) else [value]
    folders = [PurePosixPath(item) for item in items if isinstance(item, str) and item]
    return tuple(str(folder) for folder in folders if not folder.is_absolute() and ".." not in folder.parts)


# --- specs and registers ----------------------------------------------------------------------------------------------


def _spec_folders(paths: list[PurePosixPath], configured: tuple[str, ...]) -> tuple[SpecFolder, ...]:
    below: dict[tuple[str, str], list[tuple[str, ...]]] = defaultdict(list)
    for path in paths:
        folder = _folder_named(path, frozenset(("openspec",)))
        if folder is not None:
            below[folder, "openspec"].append(path.relative_to(folder).parts)
            continue
        folder = next((name for name in configured if path.is_relative_to(name)), None)
        folder = folder or _folder_named(path, frozenset(("specs",)))
        if folder is not None:
            below[folder, "spox"].append(path.relative_to(folder).parts)
    found = [
        _openspec_folder(folder, inner) if kind == "openspec" else _spox_folder(folder, inner)
        for (folder, kind), inner in sorted(below.items())
    ]
    return tuple(spec for spec in found if spec.specs or spec.changes)


def _openspec_folder(folder: str, inner: list[tuple[str, ...]]) -> SpecFolder:
    specs = sum(1 for parts in inner if parts[0] == "specs" and len(parts) > 2 and parts[-1] == "spec.md")
    changes = {parts[1] for parts in inner if parts[0] == "changes" and len(parts) > 2 and parts[1] != "archive"}
    return SpecFolder(folder, "openspec", specs, len(changes))


def _spox_folder(folder: str, inner: list[tuple[str, ...]]) -> SpecFolder:
    specs = sum(1 for parts in inner if len(parts) == 2 and parts[1] == "spec.md" and not parts[0].startswith("_"))
    changes = {parts[1] for parts in inner if parts[0] == "_changes" and len(parts) > 2}
    return SpecFolder(folder, "spox", specs, len(changes))


def _registers(root: Path, paths: list[PurePosixPath]) -> tuple[RegisterLocation, ...]:
    found = []
    for path in paths:
        if path.name in ("project.req", "index.req"):
            tag = sniff.register_format(head(root / path))
            if tag:
                whole = path.name == "project.req"
                found.append(
                    RegisterLocation(str(path if whole else path.parent), "file" if whole else "directory", tag)
                )
    return tuple(found)


# --- docs, code, tests, results ---------------------------------------------------------------------------------------


def _page_folders(pages: list[PurePosixPath]) -> tuple[PageFolder, ...]:
    counts = Counter(folder for path in pages if (folder := _folder_named(path, DOC_FOLDERS)))
    return tuple(PageFolder(folder, count) for folder, count in sorted(_collapsed(counts).items()))


def _source_folders(
    paths: Iterable[PurePosixPath], folder_of: Callable[[PurePosixPath], str] = _top
) -> tuple[SourceFolder, ...]:
    """The folders of sources. Files outside of folders, such as a setup script, count only if there is no folder at
    all."""
    listed = list(paths)
    counts = _collapsed(Counter(folder_of(path) for path in listed))
    if len(counts) > 1:
        counts.pop(".", None)
    languages: dict[str, Counter[str]] = {folder: Counter() for folder in counts}
    for path in listed:
        own = folder_of(path)
        folder = max(
            (each for each in counts if own == each or own.startswith(f"{each}/")), key=len, default=_top(path)
        )
        if folder in counts:
            languages[folder][sniff.language(path) or ""] += 1
    return tuple(
        SourceFolder(folder, count, tuple(name for name, _ in languages[folder].most_common()))
        for folder, count in sorted(counts.items())
    )


def _collapsed(counts: Mapping[str, int]) -> dict[str, int]:
    """A repository of many packages has a test folder in each; the folder above is named instead."""
    below: dict[str, list[str]] = defaultdict(list)
    for folder in counts:
        below[folder.partition("/")[0]].append(folder)
    result: dict[str, int] = {}
    for top, folders in below.items():
        if len(folders) > MANY_FOLDERS:
            result[top] = sum(counts[folder] for folder in folders)
        else:
            for folder in folders:
                # What lies in another one of them is counted with it.
                outer = min((each for each in folders if folder.startswith(f"{each}/")), key=len, default=folder)
                result[outer] = result.get(outer, 0) + counts[folder]
    return result


def _results(root: Path, paths: list[PurePosixPath]) -> tuple[ReportFile, ...]:
    found = []
    for path in paths:
        if sniff.may_be_result(path.name):
            kind = sniff.result_kind(path.name, head(root / path))
            if kind:
                found.append(ReportFile(str(path), kind))
    return tuple(found)
