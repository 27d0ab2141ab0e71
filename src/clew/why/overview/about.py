"""A project's own description: its manifest and the beginning of its README."""

# Implements: REQ-d00440

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from html import unescape
from itertools import islice
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
_PARAGRAPHS = 40
"""Of a README, so many are looked at."""
_NEAR = 2
"""Headings that may come before the paragraph that says what a project is: its title, and news."""
_READMES = ("readme.md", "readme.rst", "readme.markdown", "readme.txt", "readme")
_NOT_SHOWN = re.compile(r"<!--.*?-->|!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|<[^>]*>", re.DOTALL)
_SUBSTITUTION = re.compile(r"(?<![\w|])\|[^\s|](?:[^|\n]{0,60}[^\s|])?\|_{0,2}(?![\w|])")
"""Of reStructuredText: mostly badges."""
_RST_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]+>`__?")
_SHORT_LINK = re.compile(r"\[([^\]\[]+)\](?![\[(:])")
_SLOGAN = re.compile(r"<h[1-3]\b[^>]*>(.*?)</h[1-3]>", re.DOTALL | re.IGNORECASE)
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
    """One or two sentences: those of the README that begin "NAME is", else the description of the manifest, else the
    README's own beginning."""
    readme: str = ""
    opening: str = ""
    """The paragraph of the README that introduces the project; empty where none does."""
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
    if found.manifest == "setup.py":
        found = msgspec.structs.replace(found, summary=_docstring(root, found.name))
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
    paragraphs = list(islice(_paragraphs(document), _PARAGRAPHS))
    said = next((text for text, section in paragraphs if section <= _NEAR and _introduces(text, found.name)), "")
    opening = said or _beginning(paragraphs)
    summary = said or found.summary or _slogan(document.text) or opening
    return msgspec.structs.replace(
        found,
        readme=readme,
        summary=one_line(summary, _LONGEST_SUMMARY),
        opening=one_line(opening, _LONGEST_SUMMARY),
        headings=tuple(_headings(document)),
    )


def _introduces(text: str, name: str) -> bool:
    """`Gin is a web framework` for gin; news, badges and sponsors may come before it in a README."""
    words = re.split(r"[\W_]+", name.rpartition("/")[2])
    named = r"[\W_]*".join(map(re.escape, filter(None, words)))
    return bool(named) and re.match(rf"\W*(?:the )?{named}(?: \w+)? (?:is|are) (?:an?|the)\b", text, re.I) is not None


def _beginning(paragraphs: list[tuple[str, int]]) -> str:
    """The first paragraph above the second heading. What is below others is about parts, or about who pays."""
    return next((text for text, section in paragraphs if section <= 1), "")


def _slogan(text: str) -> str:
    """The first heading in HTML that is a sentence."""
    slogans = (plain(each) for each in _SLOGAN.findall(text))
    return next((each for each in slogans if len(_WORD.findall(each)) >= _FEWEST_WORDS), "")


def _paragraphs(document: Document) -> Iterator[tuple[str, int]]:
    """Paragraphs as they are read, each with the number of its section, where 0 is above the first heading."""
    headed = 0
    for section in document.sections:
        headed += section.level > 0
        for block in section.blocks:
            if block.kind is BlockKind.PROSE:
                written = document.text[block.start : block.end]
                text = plain(_without_short_links(written, document.text))
                if written.lstrip().startswith(("<", ">")):
                    # Pictures, slogans and tips.
                    continue
                if len(_WORD.findall(text)) >= _FEWEST_WORDS and not text.endswith(":"):
                    yield text, headed


def _without_short_links(written: str, document: str) -> str:
    """`[WSGI]` without its brackets, where the document says elsewhere what it leads to."""
    return _SHORT_LINK.sub(lambda found: found[1] if f"\n[{found[1]}]:" in document else found[0], written)


def plain(text: str) -> str:
    """A paragraph as it is read: without pictures, marks and the addresses of links."""
    shown = _NOT_SHOWN.sub(" ", _RST_LINK.sub(r"\1", _SUBSTITUTION.sub(" ", text)))
    shown = unescape(_LINK.sub(r"\1", shown))
    return " ".join(_EMPHASIS.sub(r"\2", shown).lstrip("> ").split())


def _headings(document: Document) -> Iterator[str]:
    """Sections of the README with some text of their own."""
    for section in document.sections[1:]:
        told = (block for block in section.blocks if block.kind in (BlockKind.PROSE, BlockKind.CODE))
        has_text = sum(block.end - block.start for block in told) > 80
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


def _setup_py(text: str) -> Mapping[str, Any]:
    """The name alone: the rest is what running the file would say."""
    named = re.search(r"^\s*name\s*=\s*(['\"])([\w.-]+)\1", text, re.MULTILINE | re.IGNORECASE)
    return {"name": named[2], "kind": "Python package"} if named else {}


def _docstring(root: Path, name: str) -> str:
    """The first line of the package's docstring, which stands for the description where a program makes that."""
    package = name.replace("-", "_")
    data = _read(root, f"{package}/__init__.py") or _read(root, f"src/{package}/__init__.py") or b""
    said = re.match(r'(?:\s*#[^\n]*\n|\s+)*[rR]?"""\s*([^\n"]+)', data.decode("utf-8", "replace"))
    return one_line(said[1].strip(), _LONGEST_SUMMARY) if said else ""


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
    "setup.py": _setup_py,
    "package.json": _package_json,
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
    "composer.json": _composer,
    "pom.xml": _pom,
}
"""The first that says something counts."""
