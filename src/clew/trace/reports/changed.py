"""What changed in a project since a commit: requirements, assertions, tests and places in code.

Requirements and assertions are compared by their text, before and after, so that one that only moved is told from one
that says something else. Tests and places in code count when git reports a changed line among theirs.
"""

# Implements: REQ-d00054

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from clew.config import Config
from clew.errors import ClewError, Refused
from clew.formats.elspais.hashes import assertion_line
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Requirement
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
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
    folders = tuple(dict.fromkeys((*config.tests.folders, *config.code.folders)))
    lines = git.uncommitted(root, folders) if base is None else git.changed_since(root, base, folders)
    paths = git.changed_paths(root, commit, config.requirements.folders)
    unknown = git.not_comparable(root, paths)
    compared = [path for path in paths if path not in unknown]
    items = [*_texts_changed(config, grammar, commit, compared), *_lines_changed(graph, lines)]
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


def _lines_changed(graph: Graph, lines: git.ChangedLines | None) -> Iterator[ChangedItem]:
    for path, ranges in lines.ranges.items() if lines is not None else ():
        for node in graph.nodes_in_file(path):
            if node.kind in _CITING and _is_touched(lines, node):
                change = "added" if ranges == git.WHOLE_FILE else "changed"
                line = node.source.line if node.source is not None else 0
                yield ChangedItem(node.id, _CITING[node.kind], change, node.title, path, line)


def _is_touched(lines: git.ChangedLines | None, node: Node) -> bool:
    return (
        lines is not None
        and node.source is not None
        and lines.touch(node.source.path, node.source.line, node.source.end_line)
    )
