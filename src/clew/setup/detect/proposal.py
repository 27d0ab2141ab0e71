"""The proposed clew.toml for a folder: small, commented, and the same text for the same contents."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from clew.setup.clients.toml_text import toml_value
from clew.setup.detect.findings import FolderContents

_INTRO = """\
# What Clew reads in this project. Written by `clew init`, yours to edit.
# Documents, code and tests are read in the whole project, as without this file: everything with a usual name that git
# does not ignore. Name folders, relative to this file, to read less:
# [docs]
# folders = ["docs"]
# [code]                    # comments such as "# Implements: REQ-d00001-A"
# folders = ["src"]
# [tests]                   # comments such as "# Verifies: REQ-d00001-A"
# folders = ["tests"]"""

_SERVER = """\
[server]
# toolsets = ["default"]    # which tools `clew serve` lists; `clew tools` shows them all
# names = "portable"        # or "dotted"
# read_only = false         # true hides every tool that changes anything"""

_NOTHING = """\
# No requirements or specs were found yet. Where they are elsewhere than here:
# [requirements]            # markdown with headings such as "## REQ-p00001: Title"
# folders = ["spec"]
# [specs]                   # OpenSpec or spox
# folders = ["openspec"]"""


def proposed_config(findings: FolderContents, name: str | None = None) -> str:
    """The text of clew.toml. Settings that apply are set; those with a good default are comments.

    A project keeps the name it has; one without a name gets that of its folder.
    """
    found = [
        _requirements(findings),
        _section("[specs]                     # OpenSpec or spox", [folder.path for folder in findings.specs]),
        _tests(findings),
    ]
    sections = [section for section in found if section] or [_NOTHING]
    project = f"[project]\nname = {toml_value(name or findings.name)}"
    return "\n\n".join([_INTRO, project, *sections, _SERVER]) + "\n"


def _section(header: str, paths: Sequence[str], *more: str) -> str:
    # What lies in a folder is read with it.
    tops = [path for path in paths if not any(path != other and _is_below(path, other) for other in paths)]
    return "\n".join([header, f"folders = {toml_value(tops)}", *more]) if paths else ""


def _is_below(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(f"{folder}/")


def _requirements(findings: FolderContents) -> str:
    namespaces = {folder.namespace for folder in findings.requirements if folder.namespace}
    namespace = [f"namespace = {toml_value(*namespaces)}"] if len(namespaces) == 1 and namespaces != {"REQ"} else []
    paths = [folder.path for folder in findings.requirements]
    if findings.has_spec and paths and "spec" not in paths:
        # It would be read without this file.
        paths.append("spec")
    return _section(
        '[requirements]              # markdown with headings such as "## REQ-p00001: Title"',
        paths,
        *namespace,
        '# patterns = ["*.md"]',
        '# skip = ["README.md"]',
    )


def _tests(findings: FolderContents) -> str:
    patterns = _result_patterns(findings)
    return f"[tests]                     # reports of test runs\nresults = {toml_value(patterns)}" if patterns else ""


def _result_patterns(findings: FolderContents) -> list[str]:
    """The patterns of reports. A folder of JUnit files becomes one pattern, unless that would match other files or the
    whole root; every other report is named by itself."""
    other = {PurePosixPath(result.path).parent for result in findings.results if result.kind == "coverage"}
    folders: dict[PurePosixPath, list[str]] = defaultdict(list)
    for result in findings.results:
        if result.kind == "junit":
            folders[PurePosixPath(result.path).parent].append(result.path)
    patterns = [result.path for result in findings.results if result.kind not in ("junit", "coverage")]
    for folder, paths in folders.items():
        broad = {f"{folder}/*{PurePosixPath(path).suffix}" for path in paths}
        patterns.extend(paths if folder == PurePosixPath() or folder in other else broad)
    return sorted(patterns)
