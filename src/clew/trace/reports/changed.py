"""Changes in a project since a commit: requirements, assertions, tests and places in code, and the requirements and
tests that each change concerns, as a table for reviewers.

Requirements and assertions are compared by their text, before and after, to distinguish one that only moved from one
that says something else. Tests and places in code count when git reports a changed line among theirs, or when they
cite something else than before: a citation that was taken out, or edited into a broken one, is easily overlooked. One
that left a file and is in another under the same name, with the same citations, has moved.
"""

# Implements: REQ-d00054
# Implements: REQ-d00526-C

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

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
from clew.text.display import counted, one_line
from clew.trace.read.resolve import Subject
from clew.trace.reports.impact import Impact, Proof, impact
from clew.trace.reports.suspect import Suspect
from clew.workspace.files import read_bytes
from clew.workspace.find import selects
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history

_CITING = {NodeKind.TEST: "test", NodeKind.CODE: "code"}

MOST_ROWS = 200
MOST_NAMED = 3
_REMOVED = "removed"
_WORDS = {"code": ("piece of code", "pieces of code")}
_HEADING = "| change | what | proved by | links to look at | stands for |"


class ChangedItem(msgspec.Struct, frozen=True):
    id: str
    kind: str
    """requirement, assertion, test or code."""
    change: str
    """added, changed, moved or removed."""
    title: str
    path: str
    line: int
    """The line, or for something that was removed, its former line."""
    broken: tuple[str, ...] = ()
    """The targets that it cites and that do not exist."""
    lost: tuple[str, ...] = ()
    """The targets that a test or a place in code cited before, and does not cite any more."""


class ChangeReport(msgspec.Struct, frozen=True):
    base: str | None
    """The base of the comparison, as it was asked for; null for the last commit."""
    commit: str | None
    """The commit that this meant: where the branch left the base; null before the first commit."""
    items: tuple[ChangedItem, ...]
    counts: dict[str, int]
    """Items by kind."""
    not_compared: tuple[str, ...] = ()
    """Changed files of which git holds something else than what lies in the folder, because it has a filter for them;
    they may hold items that changed."""
    other_files: tuple[str, ...] = ()
    """Changed files in which no item changed, such as source files that cite nothing; what was removed included."""


class _Text(msgspec.Struct, frozen=True):
    kind: str
    title: str
    content: str
    """The content that is compared."""
    path: str
    line: int


def changed(graph: Graph, config: Config, grammar: IdGrammar, base: str | None) -> ChangeReport:
    """The changes since a base. Refused without git; InvalidArgument for a base that is not a revision."""
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
    known = {*unknown, *(item.path for item in items)}
    others = tuple(path for path in git.changed_paths(root, commit, (".",)) if path not in known)
    shown = {kind: number for kind, number in counts.items() if number}
    return ChangeReport(base, commit, tuple(items), shown, unknown, others)


def others_changed(found: ChangeReport) -> str:
    """A line about changed files without an item; empty if there are none."""
    if not found.other_files:
        return ""
    named = ", ".join(found.other_files[:MOST_NAMED])
    more = len(found.other_files) - MOST_NAMED
    counted_files = counted(len(found.other_files), "changed file")
    return f"{counted_files} without any of them: {named}" + (f" and {more} more" if more > 0 else "")


_ORDER = {"requirement": 0, "assertion": 1, "test": 2, "code": 3}


def _texts_changed(
    config: Config, grammar: IdGrammar, commit: str | None, paths: Iterable[str]
) -> Iterator[ChangedItem]:
    root = config.root
    wanted = [path for path in paths if selects(root, config.requirements, path)]
    then = _collected(grammar, wanted, _contents(root, commit, wanted).get)
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


class _Place(NamedTuple):
    """A test or a place in code, in a commit or now."""

    node: Node
    name: str
    """The name that stays when its file is renamed: that of the test or the function; empty for the file itself."""
    cited: frozenset[str]
    text: bytes

    @property
    def identity(self) -> tuple[NodeKind, str, frozenset[str]]:
        return self.node.kind, self.name, self.cited


_Places = Mapping[tuple[str, int], _Place]
"""By name and number among those of this name in a file, which stay when lines move."""


class _Citing:
    """The former and present citations of tests and places in code. They are read from the files, because the graph has
    no node for a place whose citations are all broken."""

    def __init__(self, config: Config, grammar: IdGrammar, commit: str | None, lines: git.ChangedLines | None) -> None:
        self._config = config
        self._grammar = grammar
        self._commit = commit
        self._lines = lines if lines is not None else git.ChangedLines({})

    def items(self, readers: Iterable[MarkerReader], paths: Iterable[str]) -> Iterator[ChangedItem]:
        compared = list(self._compared(readers, [path for path in paths if path not in self._lines.not_compared]))
        gone: dict[tuple[NodeKind, str, frozenset[str]], list[_Place]] = {}
        for _, before, after in compared:
            for key, place in before.items():
                if key not in after:
                    gone.setdefault(place.identity, []).append(place)
        for path, before, after in compared:
            for key, place in after.items():
                origin = _taken(gone.get(place.identity, []), place) if key not in before else None
                if origin is not None:
                    yield _item(place.node, "moved" if origin.text == place.text else "changed")
                    continue
                lost = before[key].cited - place.cited if key in before else frozenset[str]()
                if lost or self._is_touched(place.node):
                    yield _item(place.node, "added" if self._is_new(path) else "changed", lost)
        for place in chain.from_iterable(gone.values()):
            yield _item(place.node, "removed", place.cited)

    def _compared(self, readers: Iterable[MarkerReader], paths: list[str]) -> Iterator[tuple[str, _Places, _Places]]:
        """The changed files with their former and their present content."""
        root, limit = self._config.root, self._config.max_file_bytes
        files = [(reader, path) for reader in readers for path in paths if selects(root, reader.selection, path)]
        then = _contents(root, self._commit, {path for _, path in files if not self._is_new(path)})
        for reader, path in files:
            old = then.get(path)
            before = self._places(reader, old if old is not None and len(old) <= limit else None, path)
            yield path, before, self._places(reader, _present(root, path, limit), path)

    def _places(self, reader: MarkerReader, data: bytes | None, path: str) -> _Places:
        found: dict[tuple[str, int], _Place] = {}
        if data is None:
            return found
        counts: Counter[str] = Counter()
        lines = data.splitlines()
        for definition in reader.contribute(reader.read(data, path), path).definitions:
            node = definition.node
            named = node.id if node.kind is NodeKind.TEST and "::" in node.id else node.title
            name = "" if named == Path(path).name else named.replace(path, "", 1)
            source = node.source if name else None
            text = b"\n".join(lines[source.line - 1 : source.end_line] if source is not None else lines)
            found[name, counts[name]] = _Place(node, name, self._cited(definition), text)
            counts[name] += 1
        return found

    def _cited(self, definition: Definition) -> frozenset[str]:
        return frozenset(
            self._grammar.assertion_id(each.target, label) if label else each.target
            for each in definition.citations
            for label in each.labels or ("",)
        )

    def _is_new(self, path: str) -> bool:
        return self._lines.ranges.get(path) == git.WHOLE_FILE

    def _is_touched(self, node: Node) -> bool:
        source = node.source
        return source is not None and self._lines.touch(source.path, source.line, source.end_line)


def _taken(gone: list[_Place], place: _Place) -> _Place | None:
    """Find and remove the former state of a place among the removed ones. Unnamed places must have similar files."""
    same = (each for each in gone if each.text == place.text)
    alike = (each for each in gone if place.name or _are_alike(each.text, place.text))
    found = next(chain(same, alike), None)
    if found is not None:
        gone.remove(found)
    return found


def _are_alike(one: bytes, other: bytes) -> bool:
    """True if two files share half of their lines, which is git's test for a renamed file."""
    lines, others = set(one.splitlines()), set(other.splitlines())
    return 2 * len(lines & others) >= max(len(lines), len(others))


def _contents(root: Path, commit: str | None, paths: Iterable[str]) -> dict[str, bytes | None]:
    """The contents of files in a commit, by path, with one call of git for all of them."""
    asked = sorted(paths)
    if commit is None or not asked:
        return {}
    return dict(zip(asked, git_history.contents_at(root, [(commit, path) for path in asked]), strict=True))


def _item(node: Node, change: str, lost: Iterable[str] = ()) -> ChangedItem:
    source = node.source
    path, line = (source.path, source.line) if source is not None else ("", 0)
    return ChangedItem(node.id, _CITING[node.kind], change, node.title, path, line, lost=tuple(sorted(lost)))


def _broken(graph: Graph) -> dict[tuple[str, str], list[str]]:
    """The missing targets, by the citing node and its file."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in sorted(graph.memory.broken, key=lambda each: (each.path, each.line, each.target_id)):
        found.setdefault((each.source_id, each.path), []).append(each.target_id)
    return found


def _with_broken(item: ChangedItem, broken: Mapping[tuple[str, str], list[str]]) -> ChangedItem:
    cited = broken.get((item.id, item.path)) if item.change != "removed" else None
    return msgspec.structs.replace(item, broken=tuple(dict.fromkeys(cited))) if cited else item


class ChangedImpact(msgspec.Struct, frozen=True):
    changed: ChangeReport
    impacts: tuple[Impact | None, ...]
    """One for each item; null for what was removed."""


def with_impact(graph: Graph, found: ChangeReport, doubts: Sequence[Suspect]) -> ChangedImpact:
    return ChangedImpact(found, tuple(_impact_of(graph, item, doubts) for item in found.items))


def _impact_of(graph: Graph, item: ChangedItem, doubts: Sequence[Suspect]) -> Impact | None:
    if item.change == _REMOVED or graph.get_node(item.id) is None:
        return None
    return impact(graph, Subject(item.id, item.kind, item.title, (item.id,)), doubts, limit=MOST_NAMED)


def as_markdown(found: ChangedImpact) -> str:
    items = found.changed.items
    if not items:
        others = others_changed(found.changed)
        return "No requirement, test or citing code changed." + (f"\n\n{others}." if others else "")
    kinds = ", ".join(counted(number, *_WORDS.get(kind, (kind,))) for kind, number in found.changed.counts.items())
    lines = [f"{kinds} changed.", "", _HEADING, "|---|---|---|---|---|"]
    lines += [_row(item, effect) for item, effect in list(zip(items, found.impacts, strict=True))[:MOST_ROWS]]
    if len(items) > MOST_ROWS:
        lines += ["", f"{len(items) - MOST_ROWS} more; `clew changed` lists all."]
    lines += [f"\nNot compared, because git has a filter for it: `{path}`" for path in found.changed.not_compared]
    return "\n".join(lines)


def _row(item: ChangedItem, effect: Impact | None) -> str:
    name = item.title if item.kind in ("code", "test") else f"{item.id} {item.title}"
    cells = [item.change, "<br>".join((_cell(name), f"`{_code(f'{item.path}:{item.line}')}`", *_citations(item)))]
    cells += list(_effects(effect)) if effect is not None else ["", "", ""]
    return f"| {' | '.join(cells)} |"


def _citations(item: ChangedItem) -> Iterator[str]:
    if item.broken:
        yield f"**cites {_listed(item.broken)}, which {'does' if len(item.broken) == 1 else 'do'} not exist**"
    if item.lost:
        yield f"no longer cites {_listed(item.lost)}"


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return ", ".join(f"`{_code(one_line(id, 100))}`" for id in ids[:MOST_NAMED]) + more


def _effects(effect: Impact) -> Iterator[str]:
    proofs = [f"`{_code(proof.id.rpartition('::')[2])}`" + _result(proof) for proof in effect.proofs]
    yield _some(proofs, effect.proofs_total, "**no test**")
    doubts = [f"`{_code(doubt.citing)}`" for doubt in effect.becomes_suspect]
    yield _some(doubts, effect.becomes_suspect_total, "none")
    above = [f"`{_code(each.id)}`" for each in effect.stands_for]
    yield _some(above, effect.stands_for_total, "")


def _result(proof: Proof) -> str:
    return f" ({proof.result})" if proof.result else ""


def _some(named: list[str], total: int, nothing: str) -> str:
    if not named:
        return nothing
    more = f" and {total - len(named)} more" if total > len(named) else ""
    return "<br>".join(named) + more


def _cell(text: str) -> str:
    """Text of a file, which shows as it is: no table, no HTML, no link."""
    plain = one_line(text, 160)
    return "".join(f"\\{sign}" if sign in "\\|<>[]*_`#@!" else sign for sign in plain)


def _code(text: str) -> str:
    return text.replace("`", "'").replace("|", "\\|").replace("\n", " ")
