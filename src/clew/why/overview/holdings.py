"""Contents of a project's folder, by the names of its files: languages, documents and tests. No file is opened."""

# Implements: REQ-d00440

from collections import Counter
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from clew.config import Config
from clew.setup.detect import sniff
from clew.workspace.find import scan
from clew.workspace.survey import survey

if TYPE_CHECKING:
    from clew.project import Project

MOST_NAMES = 20_000
"""Read at most this many names; of a larger project, those nearest to its root."""
_MOST_SHOWN = 3


class Holdings(msgspec.Struct, frozen=True):
    languages: dict[str, int]
    """Source files of each language, the most frequent first; tests included."""
    documents: int
    document_places: tuple[str, ...]
    """Places of the documents: single ones at the top by name, folders with their number."""
    test_files: int
    test_places: tuple[str, ...]
    packages: int
    """Folders below the root with a manifest of their own."""
    truncated: bool = False

    @property
    def source_files(self) -> int:
        return sum(self.languages.values())


_MANIFESTS = frozenset(
    ("pyproject.toml", "setup.cfg", "package.json", "Cargo.toml", "go.mod", "composer.json", "pom.xml")
)


def holdings(project: "Project") -> Holdings:
    """Current contents of the folder. Folders are listed again only if a name may have come or gone."""
    config = project.config
    return project.names.get_or_make(lambda: _looked_up(config.root, config))


def _looked_up(root: Path, config: Config) -> tuple[Holdings, dict[str, int]]:
    """Contents of the folder, and the times of the folders that were listed."""
    tree = survey(root, MOST_NAMES)
    paths = [PurePosixPath(path) for path in tree.files]
    languages = Counter(name for path in paths if (name := sniff.language(path)) is not None)
    selected = scan(root, config.documents), scan(root, config.tests)
    documents, tests = ([entry.path for entry in each.files] for each in selected)
    packages = {path.parent for path in paths if path.name in _MANIFESTS and len(path.parts) > 1}
    held = Holdings(
        languages=dict(languages.most_common()),
        documents=len(documents),
        document_places=_places(documents),
        test_files=len(tests),
        test_places=_places(tests),
        packages=len(packages),
        truncated=tree.truncated,
    )
    return held, {**tree.marks, **selected[0].marks, **selected[1].marks}


def _places(paths: list[str]) -> tuple[str, ...]:
    """The folders with most of the files, and single files of the project's own folder."""
    folders = Counter(f"{path.split('/')[0]}/" for path in paths if "/" in path)
    single = sorted((path for path in paths if "/" not in path), key=lambda path: (not _is_readme(path), path))
    top = single if len(single) <= _MOST_SHOWN or _is_readme(single[0]) else [f"the top folder ({len(single):,})"]
    shown = [*top[:_MOST_SHOWN], *(f"{folder} ({number:,})" for folder, number in folders.most_common(_MOST_SHOWN))]
    return tuple(shown[: _MOST_SHOWN + 1])


def _is_readme(path: str) -> bool:
    return path.lower().startswith("readme")
