"""What manifests say of a project: the versions that it needs, its commands, its dependencies, its ports.

Each fact is a line of the file with the words in which people ask for it.
"""

# Implements: REQ-d00870-B

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from clew.why.target import read_text
from clew.workspace.find import PRODUCTS, Selection, scan

if TYPE_CHECKING:
    from clew.project import Project


class ManifestFact(msgspec.Struct, frozen=True):
    path: str
    line: int
    text: str
    """The line, or the lines, as the file has them."""
    about: str
    """Words for it."""
    weight: float = 1.0
    """Less for the settings of a tool."""


_NEEDS = "minimum minimal required needed supported version at least needs requires require support depend"
_RUNS = "command script entry point run start executable function"
_DEPENDS = "dependency dependencies depends depend requires required require needs needed need version library package"
_MOST_BYTES = 400_000
_MOST_FACTS = 400
_OF_TOOLS, _OF_GROUPS = 0.4, 0.8
_DEEPEST = 3
"""Folders above the manifest of a package."""
_KEY = re.compile(r"\s*[\"']?(?P<key>[A-Za-z0-9_.@/-]+)[\"']?\s*[:=]\s*(?P<value>\S.*)$")
_JSON_KEY = re.compile(r'[ \t]*"(?P<key>[^"\\]*)"')
_TABLE = re.compile(r"\s*\[\[?(?P<name>[^\]]+)\]\]?\s*(?:#.*)?$")
_REQUIREMENT = re.compile(r"\s*[\"']?(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*(?:[<>=!~^;@ ].*)?$")
_LISTED = re.compile(r"[\"'](?P<said>[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?[^\"']*)[\"']")
_PROJECT_WORDS = {
    "requires-python": f"python {_NEEDS}",
    "python_requires": f"python {_NEEDS}",
    "rust-version": f"rust {_NEEDS}",
    "build-backend": "build backend system used tool",
    "license": "license licence licensed",
    "name": "name called package project",
    "version": "version current release",
    "description": "description about purpose does",
    "main": "main file entry point package module",
    "type": "type module package",
    "packagemanager": "package manager used",
}


def manifest_facts(project: "Project") -> list[ManifestFact]:
    """The facts of a project's manifests; those at its top first."""
    root = project.config.root
    found: list[ManifestFact] = []
    for path in sorted((each.path for each in scan(root, _SELECTION).files), key=lambda each: (each.count("/"), each)):
        text = read_text(project, path) if path.count("/") <= _DEEPEST else None
        if text is not None and len(text.data) <= _MOST_BYTES:
            found += facts_in(path, "\n".join(text.lines))[: _MOST_FACTS - len(found)]
        if len(found) >= _MOST_FACTS:
            break
    return found


def facts_in(path: str, text: str) -> list[ManifestFact]:
    """The facts of one file; none if it is no manifest."""
    reader = _READERS.get(PurePosixPath(path).name.lower()) or _by_ending(path)
    return [each for each in reader(path, text) if each.text.strip()] if reader is not None else []


def _by_ending(path: str) -> "Callable[[str, str], Iterator[ManifestFact]] | None":
    name = PurePosixPath(path).name.lower()
    if name.startswith("dockerfile") or name.endswith(".dockerfile"):
        return _dockerfile
    if name.startswith("requirements") and name.endswith(".txt"):
        return _requirements
    return _license if re.match(r"(?:licen[cs]e|copying)(?:\.\w+)?$", name) else None


def _toml(path: str, text: str) -> Iterator[ManifestFact]:
    """Keys by their tables; of a list each entry, with the keys above it."""
    table, key = "", ""
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _TABLE.match(line):
            table, key = found["name"].strip(), ""
            continue
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        pair = _KEY.match(line)
        if pair is not None and not (key and line.startswith((" ", "\t"))):
            key, value = pair["key"], _without_comma(pair["value"])
            yield from _pair(path, number, line, table, key, value)
            if not value.startswith("[") or value.endswith("]"):
                key = ""
        elif key and (entry := _LISTED.search(line)):
            yield _entry(path, number, line, table, key, entry["said"])


def _without_comma(value: str) -> str:
    return value.rstrip().removesuffix(",").rstrip()


def _pair(path: str, number: int, line: str, table: str, key: str, value: str) -> Iterator[ManifestFact]:
    short = key.rpartition(".")[2].lower()
    where = f"{table} {key}".lower()
    said = line.strip()
    if short in _PROJECT_WORDS and ("tool" not in table or "poetry" in table):
        yield ManifestFact(path, number, said, _PROJECT_WORDS[short])
    elif "script" in where or "entry-points" in where or "entry_points" in where:
        yield ManifestFact(path, number, said, f"{_RUNS} {key}")
    elif "dependenc" in where:
        entries = _LISTED.findall(value) if value.startswith("[") else [key]
        for entry in entries:
            yield _entry(path, number, line, table, key, entry)
    elif "python" in short and "poetry" in table:
        yield ManifestFact(path, number, said, f"python {_NEEDS}")
    else:
        yield ManifestFact(
            path, number, said, f"setting configuration {table} {key} {value[:80]}".replace("_", " "), _OF_TOOLS
        )


def _entry(path: str, number: int, line: str, table: str, key: str, said: str) -> ManifestFact:
    group = f"{table} {key}".replace(".", " ").replace("-", " ")
    is_own = table in ("project", "package", "dependencies", "tool.poetry.dependencies")
    text = line.strip().rstrip(",")
    return ManifestFact(path, number, text, f"{_DEPENDS} {group} {said}", 1.0 if is_own else _OF_GROUPS)


def _package_json(path: str, text: str) -> Iterator[ManifestFact]:
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    if not isinstance(data, dict):
        return
    lines = text.splitlines()
    places: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        if found := _JSON_KEY.match(line):
            places.setdefault(found["key"], []).append(at)

    def place(key: str, after: int = 0) -> int:
        at = places.get(key, [])
        return next(iter(at[bisect_left(at, after) :]), -1)

    for group, value in data.items():
        at = place(group)
        if isinstance(value, dict):
            for key, said in value.items():
                own = place(key, max(at, 0))
                if own < 0 or isinstance(said, dict | list):
                    continue
                yield ManifestFact(path, own + 1, lines[own].strip().rstrip(","), f"{_words_of(group)} {key} {said}")
        elif at >= 0 and isinstance(value, str) and group.lower() in _PROJECT_WORDS:
            yield ManifestFact(path, at + 1, lines[at].strip().rstrip(","), _PROJECT_WORDS[group.lower()])


def _words_of(group: str) -> str:
    if "ependenc" in group:
        return f"{_DEPENDS} {'development' if group.startswith('dev') else ''}"
    if group == "scripts":
        return _RUNS
    return f"node {_NEEDS}" if group == "engines" else group


def _go_mod(path: str, text: str) -> Iterator[ManifestFact]:
    for number, line in enumerate(text.splitlines(), start=1):
        said = line.strip()
        if re.match(r"go \d", said):
            yield ManifestFact(path, number, said, f"go {_NEEDS}")
        elif re.match(r"(?:require\s+)?[\w.-]+\.[\w./-]+ v\d", said):
            yield ManifestFact(path, number, said, f"{_DEPENDS} {said}")


def _requirements(path: str, text: str) -> Iterator[ManifestFact]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith(("#", "-")) and _REQUIREMENT.match(line):
            yield ManifestFact(path, number, line.strip(), f"{_DEPENDS} {line}")


def _dockerfile(path: str, text: str) -> Iterator[ManifestFact]:
    words = {
        "FROM": "docker image base container",
        "EXPOSE": "port docker exposed container listens",
        "ENV": "environment variable docker container",
        "CMD": f"{_RUNS} docker container",
        "ENTRYPOINT": f"{_RUNS} docker container",
    }
    for number, line in enumerate(text.splitlines(), start=1):
        about = words.get(line.split(" ", 1)[0].upper())
        if about is not None:
            yield ManifestFact(path, number, line.strip(), f"{about} {line}")


def _compose(path: str, text: str) -> Iterator[ManifestFact]:
    inside = ""
    for number, line in enumerate(text.splitlines(), start=1):
        said = line.strip()
        if said.endswith(":"):
            inside = said.rstrip(":")
        elif inside == "ports" or said.startswith("image:"):
            about = "port ports docker listens published" if inside == "ports" else "docker image service"
            yield ManifestFact(path, number, said, f"{about} {said}")


def _makefile(path: str, text: str) -> Iterator[ManifestFact]:
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        target = re.match(r"([A-Za-z][\w-]*)\s*:(?!=)", line)
        if target is not None:
            recipe = lines[number : number + 2]
            shown = "\n".join([line, *(each for each in recipe if each.startswith("\t"))])
            yield ManifestFact(path, number, shown, f"{_RUNS} make target {target[1]} {shown}")


def _version_file(path: str, text: str) -> Iterator[ManifestFact]:
    language = "python" if "python" in path else "node" if "n" in PurePosixPath(path).name[:2] else ""
    yield ManifestFact(path, 1, text.strip()[:80], f"{language} version used developed")


def _license(path: str, text: str) -> Iterator[ManifestFact]:
    title = next((line.strip() for line in text.splitlines() if line.strip()), "")
    yield ManifestFact(path, 1, title[:200], _PROJECT_WORDS["license"])


_READERS: dict[str, Callable[[str, str], Iterator[ManifestFact]]] = {
    "pyproject.toml": _toml,
    "cargo.toml": _toml,
    "setup.cfg": _toml,
    "package.json": _package_json,
    "go.mod": _go_mod,
    "compose.yaml": _compose,
    "compose.yml": _compose,
    "docker-compose.yml": _compose,
    "docker-compose.yaml": _compose,
    "makefile": _makefile,
    ".python-version": _version_file,
    ".nvmrc": _version_file,
    ".node-version": _version_file,
}

_SELECTION = Selection(
    folders=(".",),
    patterns=(
        *(*_READERS, "Cargo.toml", "Makefile", "Dockerfile*", "*.Dockerfile", "requirements*.txt"),
        *("LICENSE*", "LICENCE*", "COPYING*"),
    ),
    skip=(*PRODUCTS, "tests", "test", "fixtures", "examples"),
    gitignore=True,
    assumed=True,
)
