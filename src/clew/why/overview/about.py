"""A project's own description: its manifest and the beginning of its README."""

# Implements: REQ-d00440

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from html import unescape
from pathlib import Path
from typing import Any

import msgspec

from clew.errors import ClewError
from clew.formats.documents.model import BlockKind, Document
from clew.text.display import one_line
from clew.workspace.files import read_bytes
from clew.workspace.find import names_in

LARGEST = 1_000_000
"""A manifest or README with more bytes is not looked into."""
_LONGEST_SUMMARY = 400
_FEWEST_WORDS = 6
_READMES = ("readme.md", "readme.rst", "readme.markdown", "readme.txt", "readme")
_NOT_SHOWN = re.compile(r"<!--.*?-->|!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|<[^>]*>", re.DOTALL)
_LINK = re.compile(r"\[([^\]\[]*)\](?:\([^)]*\)|\[[^\]]*\])")
_EMPHASIS = re.compile(r"(\*\*|__|\*|_)(?=\S)(.+?)(?<=\S)\1")
_WORD = re.compile(r"[^\W\d_]{2,}")
_HEADINGS = re.compile(
    r"^(?:table of )?contents$|licen[cs]e|contribut|badge|sponsor|acknowledg|changelog", re.IGNORECASE
)


class AboutProject(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    kind: str = ""
    """Such as `Python package`; empty where no manifest was found."""
    manifest: str = ""
    """The file that says so."""
    version: str = ""
    summary: str = ""
    """One or two sentences: the description of the manifest, or the first paragraph of the README."""
    readme: str = ""
    opening: str = ""
    """The first paragraph of the README."""
    headings: tuple[str, ...] = ()
    """Of the README, as far as they say something about the project."""


def about_project(root: Path, name: str) -> AboutProject:
    """A description of the project. `name` is used if no file gives it one."""
    found = AboutProject(name)
    for file, read in _MANIFESTS.items():
        data = _read(root, file)
        if data is None:
            continue
        # A manifest may be half written; others may still say something.
        with suppress(ValueError, configparser.Error, TypeError, AttributeError, RecursionError):
            fields = read(data.decode("utf-8", "replace"))
            if fields:
                named = {key: one_line(str(value), 200) for key, value in fields.items() if value}
                found = msgspec.structs.replace(found, **named, manifest=file)
                break
    return _with_readme(root, found)


def shown_about(about: AboutProject) -> AboutProject:
    """The description without the parts that only serve to make questions."""
    return msgspec.structs.replace(about, opening="", headings=())


def _with_readme(root: Path, found: AboutProject) -> AboutProject:
    names = {each.lower(): each for each in names_in(root)}
    readme = next((names[each] for each in _READMES if each in names), None)
    data = _read(root, readme) if readme is not None else None
    if readme is None or data is None:
        return found
    from clew.formats.documents.reader import read_document

    document = read_document(data, readme)
    first = next(_paragraphs(document), "")
    # A README that begins with the project's name says more than the one line of the manifest.
    is_about = found.name.rpartition("/")[2].casefold() in first.casefold() or not found.summary
    summary = first if first and is_about else found.summary
    return msgspec.structs.replace(
        found,
        readme=readme,
        summary=one_line(summary, _LONGEST_SUMMARY),
        opening=one_line(first, _LONGEST_SUMMARY),
        headings=tuple(_headings(document)),
    )


def _paragraphs(document: Document) -> Iterator[str]:
    for section in document.sections:
        for block in section.blocks:
            if block.kind is BlockKind.PROSE:
                written = document.text[block.start : block.end]
                text = plain(written)
                if written.lstrip().startswith(("<", ">")):
                    # Pictures, slogans and tips.
                    continue
                if len(_WORD.findall(text)) >= _FEWEST_WORDS and not text.endswith(":"):
                    yield text


def plain(text: str) -> str:
    """A paragraph as it is read: without pictures, marks and the addresses of links."""
    shown = unescape(_LINK.sub(r"\1", _NOT_SHOWN.sub(" ", text)))
    return " ".join(_EMPHASIS.sub(r"\2", shown).lstrip("> ").split())


def _headings(document: Document) -> Iterator[str]:
    """Sections of the README with some text of their own."""
    for section in document.sections[1:]:
        has_text = sum(block.end - block.start for block in section.blocks if block.kind is BlockKind.PROSE) > 80
        title = plain(section.title)
        if has_text and _WORD.search(title) and not _HEADINGS.search(title):
            yield title


# --- manifests --------------------------------------------------------------------------------------------------------


def _read(root: Path, name: str) -> bytes | None:
    try:
        return read_bytes(root, name, limit=LARGEST) if (root / name).is_file() else None
    except ClewError:
        return None


def _pyproject(text: str) -> Mapping[str, Any]:
    whole = tomllib.loads(text)
    table = whole.get("project") or whole.get("tool", {}).get("poetry") or {}
    return {**_name_version_summary(table), "kind": "Python package"} if table else {}


def _setup_cfg(text: str) -> Mapping[str, Any]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    table = dict(parser["metadata"]) if parser.has_section("metadata") else {}
    return {**_name_version_summary(table), "kind": "Python package"} if table.get("name") else {}


def _package_json(text: str) -> Mapping[str, Any]:
    table = json.loads(text)
    spaces = table.get("workspaces")
    kind = "npm workspace" if spaces else "npm package"
    return {**_name_version_summary(table), "kind": kind}


def _cargo(text: str) -> Mapping[str, Any]:
    whole = tomllib.loads(text)
    table = whole.get("package")
    if table is None:
        return {"kind": "Cargo workspace"} if "workspace" in whole else {}
    return {**_name_version_summary(table), "kind": "Rust crate"}


def _go_mod(text: str) -> Mapping[str, Any]:
    named = re.search(r"^module\s+(\S+)", text, re.MULTILINE)
    return {"name": named[1].rpartition("/")[2], "kind": "Go module"} if named else {}


def _composer(text: str) -> Mapping[str, Any]:
    return {**_name_version_summary(json.loads(text)), "kind": "PHP package"}


def _pom(text: str) -> Mapping[str, Any]:
    text = re.sub(r"<(parent|dependencies|build|profiles)>.*?</\1>", "", text, flags=re.DOTALL)
    found = {key: re.search(rf"<{key}>([^<$]+)</{key}>", text) for key in ("name", "artifactId", "description")}
    texts = {key: match[1].strip() for key, match in found.items() if match}
    name = texts.get("name") or texts.get("artifactId")
    return {"name": name, "summary": texts.get("description"), "kind": "Maven project"} if name else {}


def _name_version_summary(table: Mapping[str, Any]) -> dict[str, Any]:
    fields = {"name": table.get("name"), "version": table.get("version"), "summary": table.get("description")}
    # `attr: click.__version__` and `{workspace = true}` are no versions.
    texts = {key: value for key, value in fields.items() if isinstance(value, str)}
    return {key: value for key, value in texts.items() if not (key == "version" and ":" in value)}


_MANIFESTS: Mapping[str, Callable[[str], Mapping[str, Any]]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "package.json": _package_json,
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
    "composer.json": _composer,
    "pom.xml": _pom,
}
"""The first that says something counts."""
