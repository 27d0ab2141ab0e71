"""Sets of true links from the source distributions of packages: which modules a page of documentation refers to, and
which modules a file of tests imports.

What tells the answer is taken out before anything is compared: the names in references of pages, the names of modules
with dots, directives, and the imports of tests. A reference counts where its name says which module is meant: a dotted
name by its path or by what packages offer under their own name, a bare one where only one module defines it.

The packages were divided by the hashes of their names, before anything was measured on them: half for finding out what
helps, half for judging it.
"""

import ast
import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import msgspec

from benchmarks.kb_registry import Pages
from benchmarks.links_registry import FEWEST_CHARACTERS, FEWEST_WORDS, HEADING, OTHER_ROLE, files_of
from clew.trace.links.match.texts import LinkableText, readable
from clew.trace.links.measure import LinkSet

FEWEST_SOURCES = 10
SPLIT_SEED = "links"


class Package(msgspec.Struct, frozen=True):
    """Where the parts of a package are in its archive."""

    pages: Pages
    code: str
    """The folder of the package; its last part is the name that is imported."""
    docs: str = ""
    tests: str = ""


_LISTED = (
    (
        "anyio",
        "4.16.0",
        "59bb03251907983d1603d27c3087ddb1e93299ea2163adcdba37899a4fb12ffb",
        "src/anyio",
        "docs",
        "tests",
    ),
    (
        "APScheduler",
        "3.9.1.post1",
        "b2bea0309569da53a7261bfa0ce19c67ddbfe151bda776a6a907579fdbd3eb2a",
        "apscheduler",
        "docs",
        "tests",
    ),
    (
        "CherryPy",
        "9.0.0",
        "192632e9deebcc9218d619f67bc6281bfcde10fb07764481dcd5885108dbe0fd",
        "cherrypy",
        "docs",
        "cherrypy/test",
    ),
    (
        "flask",
        "3.1.3",
        "0ef0e52b8a9cd932855379197dd8f94047b359ca0a78695144304cb45f87c9eb",
        "src/flask",
        "docs",
        "tests",
    ),
    (
        "jinja2",
        "3.1.6",
        "0137fb05990d35f1275a587e9aee6d56da821fc83491a0fb838183be43f66d6d",
        "src/jinja2",
        "docs",
        "tests",
    ),
    ("mako", "1.4.3", "cd6537fe88d5fec315c55c2f8529bc4ce7a9a352ad7db3eeaa6a66e2dd4ec37a", "mako", "doc", "test"),
    ("markdown", "3.11.3", "81eb91631dc97ad1efbc76019ef0f80fe90ca49ddf81546752d79989c3bfff3e", "markdown", "", "tests"),
    (
        "mistune",
        "3.4.0",
        "2eaf7952af928ca8d33b779762effc1da517b62c6ad85ec8ca957e3b07b9782a",
        "src/mistune",
        "",
        "tests",
    ),
    ("paramiko", "5.1.0", "239b5f9b2a53006cd54f83cf8495ee742083708ead947882c8dd2786de79f39b", "paramiko", "", "tests"),
    (
        "passlib",
        "1.7.4",
        "defd50f72b65c5402ab2c573830a6978e5f202ad0d984793c8dde2c4152ebe04",
        "passlib",
        "docs",
        "passlib/tests",
    ),
    (
        "pyramid",
        "2.1",
        "5a24bc1b5f9e0f0d1c0b6ddd1111e84c15dac44a07e3c1d24e74dd9bb4fc22eb",
        "src/pyramid",
        "docs",
        "tests",
    ),
    (
        "trio",
        "0.35.0",
        "7efb295c78a0ecd1235c5759e620b5da564ca80d2efcb0055423588547248b96",
        "src/trio",
        "docs",
        "src/trio/_tests",
    ),
    (
        "urllib3",
        "2.8.0",
        "63bf2ead4c879426ebf22ef2a781eeb4aa3b4ae798a0435506f8687fd5bb9b63",
        "src/urllib3",
        "docs",
        "test",
    ),
    (
        "watchdog",
        "7.1.0",
        "d3861e255416f49a1384474cb2efa097de165fb330d4c5432ce6708b509ed922",
        "src/watchdog",
        "docs",
        "tests",
    ),
    (
        "werkzeug",
        "3.1.9",
        "55ca7c70a75689be937aa27f8ff4b018f06ff4838fc73045560bf0f5a1291060",
        "src/werkzeug",
        "docs",
        "tests",
    ),
)
"""Name, version and hash, and the folders of code, documentation and tests."""

PACKAGES = {
    name.lower(): Package(Pages(name, version, sha256, "", ()), code, docs, tests)
    for name, version, sha256, code, docs, tests in _LISTED
}

_ROLE = re.compile(r":(?:py:)?(?:class|func|meth|mod|attr|exc|data|obj):`(?:([^`<]*)<)?[~!.]*([^`<>]*)>?`")
_DIRECTIVE = re.compile(r"^[ \t]*\.\. [\w:-]+::.*$|^[ \t]+(?:from|import|class|def) .*$", re.MULTILINE)
_LIST = re.compile(r"change|history|news|whatsnew|release|copyright|licen", re.IGNORECASE)


def is_held_out(name: str) -> bool:
    """Every second package in the order of their hashes."""
    drawn = sorted(PACKAGES, key=lambda each: hashlib.sha256(f"{SPLIT_SEED}{each}".encode()).digest())
    return drawn.index(name) % 2 == 1


def package_sets(name: str) -> Iterator[tuple[str, LinkSet]]:
    """The sets of a package, by kind: `sections` and `pages` of its documentation, `tests`."""
    package = PACKAGES[name]
    files = dict(files_of(package.pages))
    modules = Modules(package, files)
    for kind, links in (
        ("sections", _documented(package, files, modules, whole=False)),
        ("pages", _documented(package, files, modules, whole=True)),
        ("tests", _tested(package, files, modules)),
    ):
        if len(links.answers) >= FEWEST_SOURCES:
            yield kind, links


class Modules:
    """The modules of a package, and which of them a name means."""

    def __init__(self, package: Package, files: Mapping[str, str]) -> None:
        self.name = PurePosixPath(package.code).name
        above = package.code.removesuffix(self.name)
        self.texts = {
            path.removeprefix(above): text
            for path, text in sorted(files.items())
            if path.startswith(f"{package.code}/")
            and path.endswith(".py")
            and not re.search(r"/_?(?:tests?|scaffolds|tutorial)/", path)
        }
        self._exported: dict[str, str] = {}
        self._defined: dict[str, set[str]] = {}
        for path, text in self.texts.items():
            self._read(path, text)
        self.compared = {path: text for path, text in self.texts.items() if len(text) >= FEWEST_CHARACTERS}

    def _read(self, path: str, text: str) -> None:
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return
        package = path.rpartition("/")[0].replace("/", ".")
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                self._defined.setdefault(node.name, set()).add(path)
        if path.endswith("/__init__.py"):
            for node in tree.body:
                if isinstance(node, ast.ImportFrom):
                    module = _absolute(node, package)
                    self._exported |= {
                        f"{package}.{each.asname or each.name}": f"{module}.{each.name}" for each in node.names
                    }

    def meant(self, name: str) -> str | None:
        """The file with what a name means, but for the package itself."""
        name = name.strip("~!.() ")
        if name.startswith(f"{self.name}."):
            return self._by_path(name.split("."))
        owners = self._defined.get(name.split(".")[0], ())
        found = next(iter(owners)) if len(owners) == 1 else None
        return found if found in self.compared else None

    def _by_path(self, parts: list[str]) -> str | None:
        for _ in range(5):
            for length in range(2, len(parts) + 1):
                moved = self._exported.get(".".join(parts[:length]))
                if moved is not None and moved != ".".join(parts[:length]):
                    parts = [*moved.split("."), *parts[length:]]
                    break
            else:
                break
        while len(parts) > 1:
            for path in (f"{'/'.join(parts)}.py", f"{'/'.join(parts)}/__init__.py"):
                if path in self.compared:
                    return path
            parts = parts[:-1]
        return None

    def artefacts(self) -> tuple[LinkableText, ...]:
        return tuple(
            LinkableText(path, _module_name(path), readable(text, path), path, is_file=True)
            for path, text in self.compared.items()
        )


def _module_name(path: str) -> str:
    place = PurePosixPath(path)
    return place.parent.name if place.stem == "__init__" else place.stem


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, node.module] if node.module else parts)


def _documented(package: Package, files: Mapping[str, str], modules: Modules, *, whole: bool) -> LinkSet:
    sources: list[LinkableText] = []
    answers: dict[str, frozenset[str]] = {}
    for path, text in sorted(files.items()):
        if not package.docs or not path.startswith(f"{package.docs}/") or not path.endswith(".rst"):
            continue
        if _LIST.search(path):
            continue
        for id, title, said in [(path, "", text)] if whole else list(_sections(path, text)):
            references = (role[2] for role in _ROLE.finditer(said))
            named = frozenset(found for name in references if (found := modules.meant(name)) is not None)
            shown = _without_names(said, modules.name)
            if named and len(shown.split()) >= FEWEST_WORDS:
                sources.append(LinkableText(id, title, shown))
                answers[id] = named
    return LinkSet(tuple(sources), modules.artefacts(), answers)


def _sections(path: str, text: str) -> Iterator[tuple[str, str, str]]:
    heads = list(HEADING.finditer(text))
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        yield f"{path}#{number}", head[1], text[head.end() : end]


def _without_names(text: str, package: str) -> str:
    shown = _ROLE.sub(lambda role: role[1] or "", text)
    shown = re.sub(rf"\b{package}(?:\.\w+)+", "", _DIRECTIVE.sub("", shown))
    return OTHER_ROLE.sub(r"\1", shown).strip()


def _tested(package: Package, files: Mapping[str, str], modules: Modules) -> LinkSet:
    sources: list[LinkableText] = []
    answers: dict[str, frozenset[str]] = {}
    for path, text in sorted(files.items()):
        name = PurePosixPath(path).name
        if not package.tests or not path.startswith(f"{package.tests}/") or not re.fullmatch(r"test.*\.py", name):
            continue
        named = frozenset(found for name in _imported(text, path) if (found := modules.meant(name)) is not None)
        shown = re.sub(rf"\b{modules.name}(?:\.\w+)+", "", readable(text, path))
        if named and len(shown.split()) >= FEWEST_WORDS:
            # The name of a file of tests is that of a module more often than not.
            sources.append(LinkableText(path, "", shown, path, is_file=True))
            answers[path] = named
    return LinkSet(tuple(sources), modules.artefacts(), answers)


def _imported(text: str, path: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    above = str(PurePosixPath(path).parent).replace("/", ".").removeprefix("src.")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if "." in each.name)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, above)
            yield from (f"{module}.{each.name}" for each in node.names if "." in f"{module}.{each.name}")
