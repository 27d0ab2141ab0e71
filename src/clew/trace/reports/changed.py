"""What changed in a project since a commit: requirements, assertions, tests and places in code.

Requirements and assertions are compared by their text, before and after, to distinguish one that only moved from one
that says something else. Tests and places in code count when git reports a changed line among theirs, or when they
cite something else than before: a citation that was taken out, or edited into a broken one, is easily overlooked.
"""

# Implements: REQ-d00054

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from clew.config import Config
from clew.errors import ClewError, Refused
from clew.formats.elspais.hashes import assertion_line
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Requirement
from clew.graph.build.link import Definition
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.graph.readers.locations import RegisterLocations
from clew.graph.readers.markers import MarkerReader
from clew.graph.readers.project import has_specs, marker_readers
from clew.workspace.files import read_bytes
from clew.workspace.find import selects
from clew.workspace.git import api as git

_CITING = {NodeKind.TEST: "test", NodeKind.CODE: "code"}


class ChangedItem(msgspec.Struct, frozen=True):
    id: str
    kind: str
    """requirement, assertion, test or code."""
    change: str
    """added, changed, moved or removed."""
    title: str
    path: str
    line: int
    """Where it stands, or for what was removed, where it stood."""
    broken: tuple[str, ...] = ()
    """What it cites that does not exist."""
    lost: tuple[str, ...] = ()
    """What a test or a place in code cited before, and does not cite any more."""


class Changed(msgspec.Struct, frozen=True):
    base: str | None
    """What was compared with, as it was asked for; null for the last commit."""
    commit: str | None
    """The commit that this meant: where the branch left the base; null before the first commit."""
    items: tuple[ChangedItem, ...]
    counts: dict[str, int]
    """Items by kind."""
    not_compared: tuple[str, ...] = ()
    """Changed files of which git holds something else than what lies in the folder, because it has a filter for them;
    they may hold items that changed."""


class _Text(msgspec.Struct, frozen=True):
    kind: str
    title: str
    content: str
    """What makes it another when it differs."""
    path: str
    line: int


def changed(graph: Graph, config: Config, grammar: IdGrammar, base: str | None) -> Changed:
    """Refused without git; InvalidArgument for a base that is no revision."""
    root = config.root
    if git.toplevel(root) is None:
        raise Refused(
            git.problem(root) or "This folder is not in a git work tree, so nothing is known about changes.",
            hint="Run `git init` and commit a first state.",
        )
    commit = git.head(root) if base is None else git.fork_of(root, base)
    if base is not None and commit is None:
        raise Refused(
            f"The branch and '{base}' have no commit in common.", hint="Name a revision that this one came from."
        )
    readers = _marker_readers(config, grammar)
    folders = tuple(dict.fromkeys(folder for reader in readers for folder in reader.selection.folders))
    lines = git.uncommitted(root, folders) if base is None else git.changed_since(root, base, folders)
    paths = git.changed_paths(root, commit, config.requirements.folders)
    unknown = git.not_comparable(root, paths)
    compared = [path for path in paths if path not in unknown]
    citing = _Citing(config, grammar, commit, lines)
    changed_files = git.changed_paths(root, commit, folders)
    items = [*_texts_changed(config, grammar, commit, compared), *citing.items(readers, changed_files)]
    broken = _broken(graph)
    items = [_with_broken(item, broken) for item in items]
    items.sort(key=lambda item: (_ORDER[item.kind], item.path, item.line, item.id))
    counts = {kind: sum(1 for item in items if item.kind == kind) for kind in _ORDER}
    unknown = tuple(sorted({*unknown, *(lines.not_compared if lines is not None else ())}))
    return Changed(base, commit, tuple(items), {kind: number for kind, number in counts.items() if number}, unknown)


_ORDER = {"requirement": 0, "assertion": 1, "test": 2, "code": 3}


def _texts_changed(
    config: Config, grammar: IdGrammar, commit: str | None, paths: Iterable[str]
) -> Iterator[ChangedItem]:
    root = config.root
    wanted = [path for path in paths if selects(root, config.requirements, path)]
    then = _collected(grammar, wanted, lambda path: git.content_at(root, commit, path) if commit else None)
    now = _collected(grammar, wanted, lambda path: _present(root, path, config.max_file_bytes))
    for id in sorted(then.keys() | now.keys()):
        before, after = then.get(id), now.get(id)
        shown = after or before
        change = _compared(before, after)
        if shown is not None and change is not None:
            yield ChangedItem(id, shown.kind, change, shown.title, shown.path, shown.line)


def _compared(before: _Text | None, after: _Text | None) -> str | None:
    if before is None:
        return "added"
    if after is None:
        return "removed"
    if before.content != after.content:
        return "changed"
    return "moved" if before.path != after.path and before.kind == "requirement" else None


def _present(root: Path, path: str, limit: int) -> bytes | None:
    try:
        return read_bytes(root, path, limit=limit)
    except ClewError:
        return None


def _collected(grammar: IdGrammar, paths: Iterable[str], content: Callable[[str], bytes | None]) -> Mapping[str, _Text]:
    found: dict[str, _Text] = {}
    for path in paths:
        data = content(path)
        for block in read(data, grammar).blocks if data is not None else ():
            if isinstance(block, Requirement):
                found.setdefault(block.id, _Text("requirement", block.title, block.raw, path, block.span.line))
                for assertion in block.assertions:
                    line = assertion_line(assertion.label, assertion.text)
                    text = _Text("assertion", assertion.text, line, path, assertion.span.line)
                    found.setdefault(grammar.assertion_id(block.id, assertion.label), text)
    return found


def _marker_readers(config: Config, grammar: IdGrammar) -> tuple[MarkerReader, ...]:
    return marker_readers(
        config, grammar, specs=has_specs(config), register=bool(RegisterLocations(config.root).found())
    )


class _Citing:
    """What tests and places in code cited in a commit, and what they cite now. They are read from the files: the graph
    has no node for a place whose citations lead nowhere."""

    def __init__(self, config: Config, grammar: IdGrammar, commit: str | None, lines: git.ChangedLines | None) -> None:
        self._config = config
        self._grammar = grammar
        self._commit = commit
        self._lines = lines if lines is not None else git.ChangedLines({})

    def items(self, readers: Iterable[MarkerReader], paths: Iterable[str]) -> Iterator[ChangedItem]:
        root = self._config.root
        known = [path for path in paths if path not in self._lines.not_compared]
        for reader in readers:
            for path in known:
                if selects(root, reader.selection, path):
                    yield from self._of_file(reader, path)

    def _of_file(self, reader: MarkerReader, path: str) -> Iterator[ChangedItem]:
        root, limit = self._config.root, self._config.max_file_bytes
        is_new = self._lines.ranges.get(path) == git.WHOLE_FILE
        old = git.content_at(root, self._commit, path) if self._commit and not is_new else None
        before = _defined(reader, old if old is not None and len(old) <= limit else None, path)
        after = _defined(reader, _present(root, path, limit), path)
        for key, definition in after.items():
            former = before.get(key)
            lost = self._cited(former) - self._cited(definition) if former is not None else set()
            if lost or self._is_touched(definition.node):
                yield _item(definition.node, "added" if is_new else "changed", lost)
        for key, definition in before.items():
            if key not in after:
                yield _item(definition.node, "removed", self._cited(definition))

    def _cited(self, definition: Definition) -> set[str]:
        return {
            self._grammar.assertion_id(each.target, label) if label else each.target
            for each in definition.citations
            for label in each.labels or ("",)
        }

    def _is_touched(self, node: Node) -> bool:
        source = node.source
        return source is not None and self._lines.touch(source.path, source.line, source.end_line)


def _defined(reader: MarkerReader, data: bytes | None, path: str) -> dict[tuple[str, int], Definition]:
    """The tests and places of a file by a name that stays when lines move: that of the test, or that of the function
    with its number among those that cite."""
    found: dict[tuple[str, int], Definition] = {}
    counts: Counter[str] = Counter()
    for definition in reader.contribute(reader.read(data, path), path).definitions if data is not None else ():
        node = definition.node
        name = node.id if node.kind is NodeKind.TEST and "::" in node.id else node.title
        found[name, counts[name]] = definition
        counts[name] += 1
    return found


def _item(node: Node, change: str, lost: set[str]) -> ChangedItem:
    source = node.source
    path, line = (source.path, source.line) if source is not None else ("", 0)
    return ChangedItem(node.id, _CITING[node.kind], change, node.title, path, line, lost=tuple(sorted(lost)))


def _broken(graph: Graph) -> dict[tuple[str, str], list[str]]:
    """What does not exist, by who cites it and in which file."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in sorted(graph.memory.broken, key=lambda each: (each.path, each.line, each.target_id)):
        found.setdefault((each.source_id, each.path), []).append(each.target_id)
    return found


def _with_broken(item: ChangedItem, broken: Mapping[tuple[str, str], list[str]]) -> ChangedItem:
    cited = broken.get((item.id, item.path)) if item.change != "removed" else None
    return msgspec.structs.replace(item, broken=tuple(dict.fromkeys(cited))) if cited else item
