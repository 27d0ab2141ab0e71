"""Sets of true links that nobody here made: what authors of packages wrote down about their own code.

The archives are fetched from the Python package registry when the benchmark runs, and checked against their hashes.

- `sqlite`: sentences of SQLite's documentation, each of which a comment names as evidence for a place in the C code
  (`EVIDENCE-OF: R-12345-67890 ...`), and the files of that code without these comments;
- `s2n`: sections of the standards of TLS, as far as comments of a C library quote them
  (`= https://www.rfc-editor.org/rfc/rfc8446#section-5.2`), and the files of that library without these comments;
- `scrapy`: sections of the documentation of Scrapy, and the modules that they refer to by name, the names taken out.
"""

import io
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from benchmarks.kb_registry import Pages, archive
from clew.trace.links.match.texts import LinkableText, readable
from clew.trace.links.measure import LinkSet

CACHE = Path("~/.cache/clew-bench").expanduser()

SQLITE = Pages(
    "apsw",
    "3.9.2-r1",
    "dab96fd164dde9e59f7f27228291498217fa0e74048e2c08c7059d7e39589270",
    "sqlite3/sqlite3.c",
    (),
)
S2N = Pages(
    "awscrt",
    "0.38.0",
    "4a8423c4a76390c6e5c4f386e3e367dccdcf67d6d1a0bc1c59776bb14cdc2ad9",
    "crt/s2n/tls/",
    (),
)
SCRAPY = Pages("scrapy", "2.9.0", "564c972b56e54b83141f395ce3f6a25bfe2093d61d13f9b81d05384e19db98da", "", ())

_FILE = re.compile(r"/\*{5,} (Begin file|Continuing where we left off in|Include|End of) (\S+\.[ch]).*?\*/")
_EVIDENCE = re.compile(r"EVIDENCE-OF: (R-\d+-\d+)((?:(?!EVIDENCE-OF|\*/|\n\s*\*\*[ \t]*\n).)*)", re.DOTALL)
_QUOTED = re.compile(r"=[ ]*(https://\S+)[^\n]*\n((?:[ \t]*(?:\*|//)[ \t]*#[^\n]*\n)+)")
_QUOTE_MARK = re.compile(r"^[ \t]*(?:\*|//)[ \t]*#", re.MULTILINE)
HEADING = re.compile(r"^(\S.*)\n([=\-~^])\2{2,}[ \t]*$", re.MULTILINE)
_ROLE = re.compile(r":(?:py:)?(?:class|func|meth|mod|attr|exc|data|obj):`(?:([^`<]*)<)?[~!.]?([^`<>]*)>?`")
_DIRECTIVE = re.compile(r"^\.\. [\w:-]+::.*$|^[ \t]+(?:from|import|class|def) .*$", re.MULTILINE)
_DOTTED = re.compile(r"\bscrapy(?:\.\w+)+")
OTHER_ROLE = re.compile(r":\w+:`([^`]*)`")
_IMPORTED = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
FEWEST_WORDS, FEWEST_CHARACTERS = 25, 300


def sqlite() -> LinkSet:
    text = next(content for name, content in files_of(SQLITE) if name.endswith(SQLITE.folder))
    sentences: dict[str, str] = {}
    answers: dict[str, set[str]] = {}
    targets: list[LinkableText] = []
    for name, content in sorted(_parts(text).items()):
        for id, said in _EVIDENCE.findall(content):
            sentences.setdefault(id, " ".join(said.replace("**", " ").split()))
            answers.setdefault(id, set()).add(name)
        code = readable(_EVIDENCE.sub(" ", content), name)
        targets.append(LinkableText(name, PurePosixPath(name).stem, code, name, is_file=True))
    # In the order of their numbers, which are drawn by lot.
    sources = tuple(LinkableText(id, "", said) for id, said in sorted(sentences.items()))
    return LinkSet(sources, tuple(targets), {id: frozenset(found) for id, found in answers.items()})


def _parts(text: str) -> dict[str, str]:
    """The files that one large file was made from."""
    found: dict[str, str] = {}
    present, position = None, 0
    for mark in _FILE.finditer(text):
        if present is not None:
            found[present] = found.get(present, "") + text[position : mark.start()]
        position = mark.end()
        if mark[1] == "End of":
            present = None
        elif mark[1] != "Include":
            present = mark[2]
    return found


def s2n() -> LinkSet:
    sections: dict[str, dict[str, None]] = {}
    answers: dict[str, set[str]] = {}
    targets: list[LinkableText] = []
    for name, text in sorted(files_of(S2N)):
        if PurePosixPath(name).parent != PurePosixPath(S2N.folder) or not name.endswith(".c"):
            continue
        for section, quoted in _QUOTED.findall(text):
            sections.setdefault(section, {})[" ".join(_QUOTE_MARK.sub("", quoted).split())] = None
            answers.setdefault(section, set()).add(name)
        code = readable(_QUOTED.sub(" ", text), name)
        targets.append(LinkableText(name, PurePosixPath(name).stem, code, name, is_file=True))
    sources = tuple(LinkableText(section, "", " ".join(quotes)) for section, quotes in sorted(sections.items()))
    return LinkSet(sources, tuple(targets), {section: frozenset(found) for section, found in answers.items()})


def scrapy() -> LinkSet:
    files = dict(files_of(SCRAPY))
    modules = {
        name: text
        for name, text in sorted(files.items())
        if name.startswith("scrapy/")
        and name.endswith(".py")
        and "/templates/" not in name
        and len(text) >= FEWEST_CHARACTERS
    }
    exported = _exported(files)
    sources: list[LinkableText] = []
    answers: dict[str, frozenset[str]] = {}
    for name, text in sorted(files.items()):
        if not name.startswith("docs/topics/") or not name.endswith(".rst"):
            continue
        heads = list(HEADING.finditer(text))
        for number, head in enumerate(heads):
            section = text[head.end() : heads[number + 1].start() if number + 1 < len(heads) else len(text)]
            body = _ROLE.sub(lambda role: role[1] or "", section)
            body = OTHER_ROLE.sub(r"\1", _DOTTED.sub("", _DIRECTIVE.sub("", body))).strip()
            named = {_module(role[2].strip("~!."), modules, exported) for role in _ROLE.finditer(section)} - {None}
            if named and len(body.split()) >= FEWEST_WORDS:
                id = f"{PurePosixPath(name).stem}#{number}"
                sources.append(LinkableText(id, head[1], body))
                answers[id] = frozenset(module for module in named if module is not None)
    targets = [
        LinkableText(name, PurePosixPath(name).stem, readable(text, name), name, is_file=True)
        for name, text in modules.items()
    ]
    return LinkSet(tuple(sources), tuple(targets), answers)


def _exported(files: dict[str, str]) -> dict[str, str]:
    """What packages offer under their own name, and where it comes from."""
    found: dict[str, str] = {}
    for name, text in files.items():
        if name.startswith("scrapy/") and name.endswith("/__init__.py"):
            package = name.removesuffix("/__init__.py").replace("/", ".")
            for module, names in _IMPORTED.findall(text):
                found |= {f"{package}.{each}": f"{module}.{each}" for each in re.findall(r"\w+", names)}
    return found


def _module(dotted: str, modules: dict[str, str], exported: dict[str, str]) -> str | None:
    """The file with what a dotted name means, but for the package itself."""
    if not dotted.startswith("scrapy."):
        return None
    parts = dotted.split(".")
    for length in (2, 3):
        if (moved := exported.get(".".join(parts[:length]))) is not None:
            parts = [*moved.split("."), *parts[length:]]
            break
    while len(parts) > 1:
        for name in (f"{'/'.join(parts)}.py", f"{'/'.join(parts)}/__init__.py"):
            if name in modules:
                return name
        parts.pop()
    return None


def files_of(pages: Pages) -> Iterator[tuple[str, str]]:
    """The files of an archive, by their paths below its only folder."""
    with tarfile.open(fileobj=io.BytesIO(archive(pages, CACHE))) as packed:
        for member in packed:
            content = packed.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name.partition("/")[2], content.read().decode("utf-8", "replace")
