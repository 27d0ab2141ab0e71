"""The clew.toml that fits what was found: small, commented, and the same text for the same findings."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from clew.setup.clients.toml_text import toml_value
from clew.setup.detect.findings import Findings, PageFolder, RequirementFolder, SourceFolder, SpecFolder

_Folder = RequirementFolder | SpecFolder | PageFolder | SourceFolder

_INTRO = """\
# What Clew reads in this project. Written by `clew init`, yours to edit.
# Folders are relative to this file."""

_SERVER = """\
[server]
# toolsets = ["default"]    # which tools `clew serve` lists; `clew tools` shows them all
# names = "portable"        # or "dotted"
# read_only = false         # true hides every tool that changes anything"""

_NOTHING = """\
# Nothing to read was found yet. Add what applies:
# [requirements]            # markdown with headings such as "## REQ-p00001: Title"
# folders = ["spec"]
# [code]
# folders = ["src"]
# [tests]
# folders = ["tests"]
# [specs]                   # OpenSpec or spox
# folders = ["openspec"]
# [docs]
# folders = ["docs"]"""


def proposed_config(findings: Findings, name: str | None = None) -> str:
    """The text of clew.toml. Only what applies is in it; what has a good default is a comment.

    A project keeps the name it has; one without a name gets that of its folder.
    """
    found = [
        _requirements(findings),
        _section('[code]                      # comments such as "# Implements: REQ-d00001-A"', findings.code),
        _tests(findings),
        _section("[specs]                     # OpenSpec or spox", findings.specs),
        _section("[docs]", findings.docs),
    ]
    sections = [section for section in found if section] or [_NOTHING]
    project = f"[project]\nname = {toml_value(name or findings.name)}"
    return "\n\n".join([_INTRO, project, *sections, _SERVER]) + "\n"


def _section(header: str, found: Sequence[_Folder], *more: str) -> str:
    return "\n".join([header, *_folders(found), *more]) if found else ""


def _folders(found: Sequence[_Folder]) -> list[str]:
    return [f"folders = {toml_value([folder.path for folder in found])}"] if found else []


def _requirements(findings: Findings) -> str:
    namespaces = {folder.namespace for folder in findings.requirements if folder.namespace}
    namespace = [f"namespace = {toml_value(*namespaces)}"] if len(namespaces) == 1 and namespaces != {"REQ"} else []
    return _section(
        '[requirements]              # markdown with headings such as "## REQ-p00001: Title"',
        findings.requirements,
        *namespace,
        '# patterns = ["*.md"]',
        '# skip = ["README.md"]',
    )


def _tests(findings: Findings) -> str:
    patterns = _result_patterns(findings)
    lines = _folders(findings.tests) + ([f"results = {toml_value(patterns)}"] if patterns else [])
    return (
        "\n".join(['[tests]                     # comments such as "# Verifies: REQ-d00001-A"', *lines])
        if lines
        else ""
    )


def _result_patterns(findings: Findings) -> list[str]:
    """A folder of JUnit files becomes one pattern, unless that would also catch a file that is none or the whole root.
    Every other report that Clew reads is named by itself."""
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
