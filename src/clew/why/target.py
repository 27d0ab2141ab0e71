"""Resolves a target: a file, lines of it, a symbol, an id of the graph, a memory or a commit."""

import difflib
import posixpath
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from clew.derived.code_file import FiledSymbol
from clew.errors import ClewError, InvalidArgument, NotFound
from clew.formats.code.outline import Outline, Symbol, decoded, enclosing, holds_code, outline_of
from clew.graph.model import Node, NodeKind
from clew.text.display import counted, shortened
from clew.trace.read.resolve import Resolver
from clew.workspace.file_argument import FileArgument
from clew.workspace.files import path_inside, read_bytes
from clew.workspace.git import api as git
from clew.workspace.paths import raw

if TYPE_CHECKING:
    from clew.code.targets import Meaning
    from clew.operation.call import Call
    from clew.project import Project

_LINES = re.compile(
    r"(?P<path>.+?)(?::(?P<a>\d{1,9})(?:-(?P<b>\d{1,9})|:\d{1,9})?|#L(?P<c>\d{1,9})(?:-L?(?P<d>\d{1,9}))?)"
)
_NAMED = re.compile(r"(?P<path>[^:]+?)::(?P<name>[^\s:].*)")
_HEX = re.compile(r"[0-9a-fA-F]{4,64}")
_MEMORY = re.compile(
    r"memory:.+|\[?node_[0-9a-f]{4,32}\]?|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
)
_DEFINABLE = re.compile(r"[^\W\d]\w{2,}(?:(?:\.|::)[^\W\d]\w*){0,4}")
_SHORT_ID = re.compile(r"[0-9a-f]{8,32}")
_MOST_CANDIDATES = 8
_HELP = "Name a file, FILE:LINE, FILE:START-END, a symbol, an id or a commit. `clew search` finds them by words."


class Target(msgspec.Struct, frozen=True, kw_only=True):
    asked: str
    kind: str
    """file, lines, symbol, name, commit, memory, section, spec, change, deleted file, number (an issue), commits (a
    range), removed symbol, text (in the history), or the kind of a node."""
    name: str
    title: str = ""
    path: str | None = None
    first: int = 0
    last: int = 0
    """The lines that it covers; 0 where it is the whole file."""
    node: Node | None = None
    symbol: Symbol | None = None
    commit: str | None = None
    others: tuple[str, ...] = ()
    """Other meanings of the name."""
    definitions: tuple[FiledSymbol, ...] = ()
    """The definitions of a name that may mean several; it is a target of kind `name` then."""

    @property
    def place(self) -> str:
        if self.path is None:
            return ""
        if not self.first:
            return self.path
        return f"{self.path}:{self.first}" + (f"-{self.last}" if self.last > self.first else "")


class TargetText:
    """A file as it is in the folder."""

    def __init__(self, data: bytes, path: str) -> None:
        self.data = data
        self._text, self._path = decoded(data), path
        lines = self._text.split("\n")
        self.lines = tuple(lines[:-1] if lines[-1] == "" else lines)

    @cached_property
    def outline(self) -> Outline:
        return outline_of(self._text, self._path)


def read_text(project: "Project", path: str) -> TargetText | None:
    """The text of a file; None if it cannot be read, or if it is hidden and not tracked by git, such as a store of
    Clew, a file of git or an .env."""
    root = project.config.root
    try:
        data = read_bytes(root, path, limit=project.config.max_file_bytes)
        real = path_inside(root, path)
    except ClewError:
        return None
    if _is_hidden(root, real):
        return None
    return TargetText(data, path)


def _is_hidden(root: Path, path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/")) and not git.is_tracked(root, path)


def find_target(call: "Call", asked: str, until: float) -> Target:
    """The target of a question; `until` is the time by which the answer is due. Raises NotFound if nothing here has
    that name."""
    text = asked.strip()
    if not text or "\0" in text:
        raise InvalidArgument(f"'{shortened(asked)}' names nothing.", hint=_HELP)
    code = (partial(_lines, until=until), partial(_named, until=until))
    from clew.why import past_target

    past = (partial(past_target.number, until=until), past_target.between)
    for find in (_memory, _node, _path, *code, _commit_id, _memory_id, _section, *past):
        if (found := find(call, text)) is not None:
            return found
    found, limits = _symbol(call, text, until)
    if found is not None:
        return found
    for find in (_revision, _spec, partial(_deleted, until=until)):
        if (found := find(call, text)) is not None:
            return found
    found, looked = past_target.removed(call, text, until)
    if found is not None:
        return found
    raise _unknown(call, text, limits, looked)


def _unknown(call: "Call", text: str, limits: "_Limits", looked: str) -> NotFound:
    """The error that says what was looked through."""
    refusal = _refused_file(call, text)
    near = f"{refusal.message} {refusal.hint} " if refusal is not None else limits.outside or near_names(call, text)
    if limits.unread:
        return NotFound(
            f"Not known yet: nothing that was read so far is called '{shortened(text)}'.", hint=limits.unread[0]
        )
    without_git = f" {note}" if (note := git.unused(call.root)) else ""
    said = f"Not known: nothing in this project is called '{shortened(text)}'{looked}."
    return NotFound(said, hint=f"{near}{_HELP}{without_git}")


def _memory(call: "Call", text: str) -> Target | None:
    if not _MEMORY.fullmatch(text) or not call.project.memory.exists:
        return None
    memory = call.project.memory.view(call).library.named(text.removeprefix("memory:"))
    return Target(asked=text, kind="memory", name=f"memory:{memory.id}", title=memory.title)


def _node(call: "Call", text: str) -> Target | None:
    project = call.project
    with project.context.lock.reading():
        graph = project.graph
        resolver = Resolver(graph, project.context.grammar)
        node = resolver.find(text) if not text.startswith(("symbol:", "file:", "lines:")) else None
        if node is None and not text.startswith("test:") and "::" in text:
            node = graph.memory.get_node(f"test:{text}")
    if node is None or node.kind in (NodeKind.FILE, NodeKind.ENTITY):
        return None
    source = node.source
    return Target(
        asked=text,
        kind=node.kind.value,
        name=node.id,
        title=node.title.partition("\n")[0],
        path=source.path if source else None,
        first=source.line if source else 0,
        last=source.end_line if source else 0,
        node=node,
    )


def file_argument(call: "Call", text: str) -> FileArgument:
    """The file that an argument of a call names; a person's relative path begins in the folder of the command."""
    return FileArgument(call.project.config.root, text, folder=call.folder if call.surface == "cli" else None)


def _quotable(call: "Call", file: FileArgument) -> str | None:
    """The path of a file whose text may be quoted."""
    if file.path is None:
        return None
    root = call.project.config.root
    with call.project.context.lock.reading():
        if not _is_hidden(root, file.path) and not is_ignored(call.project, file.path):
            return file.path
    file.refusal = NotFound(
        f"'{shortened(file.text)}' is hidden or ignored by git, so nothing is quoted from it.",
        hint="Name a file of the project.",
    )
    return None


def _refused_file(call: "Call", text: str) -> ClewError | None:
    """The reason why a text that names nothing else is no file to quote from; raised if it can only be a file."""
    file = file_argument(call, text.removeprefix("file:"))
    _quotable(call, file)
    if text.startswith("file:"):
        raise file.refusal or NotFound(
            f"Not known: there is no file '{shortened(file.text)}' in this project.",
            hint=f"{near_names(call, file.text)}Name a file of the project.",
        )
    return file.refusal


def _of_file(asked: str, path: str) -> Target:
    return Target(asked=asked, kind="file", name=path, path=path)


def _path(call: "Call", text: str) -> Target | None:
    path = _shown_file(call, text.removeprefix("file:"))
    return None if path is None else _of_file(text, path)


def _shown_file(call: "Call", text: str) -> str | None:
    return _quotable(call, file_argument(call, text))


def is_ignored(project: "Project", path: str) -> bool:
    """True if git ignores a file, such as one with secrets, and no node of the graph is in it. The caller holds the
    graph's lock."""
    root = project.config.root
    if any(True for _ in project.graph.memory.nodes_in_file(path)) or git.is_tracked(root, path):
        return False
    return git.toplevel(root) is not None and bool(git.ignored(root, [raw(path)]))


def _lines(call: "Call", text: str, until: float) -> Target | None:
    from clew.code.targets import symbol_at

    match = _LINES.fullmatch(text.removeprefix("lines:"))
    path = _shown_file(call, match["path"]) if match else None
    if match is None or path is None:
        return None
    first = int(match["a"] or match["c"])
    last = int(match["b"] or match["d"] or first)
    content = read_text(call.project, path)
    count = len(content.lines) if content is not None else 0
    if not 1 <= first <= last or last > count:
        raise NotFound(
            f"Not known: {path} has {count} lines, so there is no line {last if 1 <= first <= last else first}.",
            hint=f"Lines are counted from 1; `clew why {path}` tells about the file.",
        )
    assert content is not None  # noqa: S101 - it has lines
    symbols = symbols_of(call.project, path, content, until)
    around = enclosing(symbols, first, last)
    symbol = (symbol_at(symbols, first) if first == last else None) or (around[-1] if around else None)
    title = content.lines[first - 1].strip()[:120] if first == last else ""
    return Target(
        asked=text,
        kind="lines",
        name=f"{path}:{first}" + (f"-{last}" if last > first else ""),
        title=title,
        path=path,
        first=first,
        last=last,
        symbol=symbol,
    )


def symbols_of(project: "Project", path: str, content: TargetText, until: float) -> Sequence[Symbol]:
    """The definitions in a file, as they are kept; read from the text where they are not kept yet."""
    if not holds_code(path):
        return ()
    project.code.ensure(_left(until))
    return project.code.file.symbols_of(path) or content.outline.symbols


def _left(until: float) -> float:
    return max(until - time.monotonic(), 0.0)


def _named(call: "Call", text: str, until: float) -> Target | None:
    match = _NAMED.fullmatch(text.removeprefix("symbol:"))
    path = _shown_file(call, match["path"]) if match else None
    content = read_text(call.project, path) if path is not None else None
    if match is None or path is None or content is None:
        return None
    symbols = symbols_of(call.project, path, content, until)
    name = match["name"].replace("::", ".")
    found = _of_meaning(call, text, call.project.uses.meaning(f"{path}::{name}"))
    if found is None:
        close = difflib.get_close_matches(name, [each.qualname for each in symbols], n=3)
        raise NotFound(
            f"Not known: {path} defines no '{shortened(name)}'.",
            hint=f"Did you mean {', '.join(close)}?" if close else f"`clew why {path}` tells about the file.",
        )
    return found


def _of_meaning(call: "Call", asked: str, meaning: "Meaning") -> Target | None:
    """The symbol that is meant, or all of the name where several are meant as much; None where there is none."""
    symbol = meaning.symbol
    readable = [each for each in meaning.found if read_text(call.project, each.path) is not None]
    if symbol is not None and symbol in readable:
        others = tuple(f"{each.path}:{each.at}" for each in readable if each != symbol)
        return _of_symbol(asked, symbol.path, symbol, others[:_MOST_CANDIDATES])
    if not readable:
        return None
    count = counted(len(readable), "definition")
    notes = f"{count} in this project" + "".join(f"; imported from {each} as well" for each in meaning.outside[:3])
    return Target(asked=asked, kind="name", name=asked, title=notes, definitions=tuple(readable))


def _of_symbol(asked: str, path: str, symbol: Symbol, others: tuple[str, ...] = ()) -> Target:
    return Target(
        asked=asked,
        kind="symbol",
        name=f"{path}::{symbol.qualname}",
        title=symbol.head,
        path=path,
        first=symbol.line,
        last=symbol.end_line,
        symbol=symbol,
        others=others,
    )


def _commit_id(call: "Call", text: str) -> Target | None:
    return _revision(call, text) if _HEX.fullmatch(text) and not text.isalpha() else None


def _revision(call: "Call", text: str) -> Target | None:
    if " " in text or text.startswith("-"):
        return None
    commit = git.commit_of(call.root, text)
    return None if commit is None else Target(asked=text, kind="commit", name=commit[:12], commit=commit)


class _Limits(NamedTuple):
    """The reasons for which a name may not be found."""

    unread: tuple[str, ...] = ()
    outside: str = ""


def _symbol(call: "Call", text: str, until: float) -> tuple[Target | None, _Limits]:
    from clew.code.targets import said_outside

    if " " in text or "/" in text:
        return None, _Limits()
    unread = call.project.code.ensure(_left(until))
    meaning = call.project.uses.meaning(text)
    outside = "".join(f"{each} " for each in said_outside(meaning))
    return _of_meaning(call, text, meaning), _Limits(unread, outside)


def _section(call: "Call", text: str) -> Target | None:
    """A section of a document, by its path and the name of its heading."""
    name, _, anchor = text.removeprefix("doc:").partition("#")
    path = _shown_file(call, name)
    if path is None or not anchor:
        return None
    from clew.why.texts import find_section

    return find_section(call, text, path, anchor)


def _spec(call: "Call", text: str) -> Target | None:
    from clew.why.texts import find_spec

    return find_spec(call, text)


def _memory_id(call: "Call", text: str) -> Target | None:
    """A memory by the first digits of its id, as lists show it."""
    if not _SHORT_ID.fullmatch(text):
        return None
    with suppress(NotFound):
        return _memory(call, f"memory:{text}")
    return None


def _deleted(call: "Call", text: str, until: float) -> Target | None:
    path = posixpath.normpath(text.replace("\\", "/"))
    if path.startswith(("..", "/")) or (" " in text and "/" not in text):
        return None
    if call.project.history.ensure(max(until - time.monotonic(), 0.0)).head is None:
        return None
    history = call.project.history.history
    found = next((each for each in (path, *_module_paths(text)) if history.of_path(each, 1)), None)
    return Target(asked=text, kind="deleted file", name=found, path=found) if found is not None else None


def _module_paths(text: str) -> tuple[str, ...]:
    """The files that a dotted name may have meant as a module."""
    if _DEFINABLE.fullmatch(text) is None or "." not in text:
        return ()
    path = text.replace(".", "/")
    return tuple(f"{root}{path}{end}" for root in ("", "src/", "lib/") for end in (".py", "/__init__.py"))


def near_names(call: "Call", text: str) -> str:
    """Names that are almost the same."""
    project = call.project
    with project.context.lock.reading():
        known = [node.id for node in project.graph.memory.nodes_by_kind(NodeKind.REQUIREMENT)]
    known += [each.path for each in project.code.file.files()]
    close = difflib.get_close_matches(text[:80], known, n=3, cutoff=0.7)
    return f"Did you mean {', '.join(close)}? " if close else ""
