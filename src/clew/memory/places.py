"""Citations of memories: nodes of the graph, files, symbols and lines, with the hash of their text at the time.

Whether a citation still holds is computed whenever it is shown, and never stored:

| state | means |
|---|---|
| fresh | what was cited says the same; it may have been formatted, or its lines shifted |
| changed | it is there and says something else |
| moved | the same text stands elsewhere now |
| gone | it no longer exists |
"""

import re
from collections.abc import Iterator, Sequence
from posixpath import basename, splitext
from typing import Literal

import msgspec

from clew.context import Context
from clew.errors import ClewError, InvalidArgument, NotFound
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.memory.model import Cite, MemoryLinkKind
from clew.text.display import shortened
from clew.text.passage_hash import PassageHash, is_indented, lines_hash, lines_left, passage_hash, says, stands_in
from clew.workspace.files import path_inside, read_bytes

State = Literal["fresh", "changed", "moved", "gone"]

FILE, SYMBOL, LINES = "file:", "symbol:", "lines:"
_DOCUMENT = "doc:"
_LINE_SPAN = re.compile(r"(?P<path>.+?)(?::(?P<a>\d{1,7})(?:-(?P<b>\d{1,7}))?|#L(?P<c>\d{1,7})(?:-L?(?P<d>\d{1,7}))?)")
_SYMBOL_NAME = re.compile(r"(?P<path>.+?)(?:::|#)(?P<name>[^\s#:][^#]*)")
_IDS_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-/#.][A-Za-z0-9]+)+")
_PATHS_IN_TEXT = re.compile(r"(?<![\w/])(?:[\w.-]+/)*[\w-]+\.[A-Za-z]\w{0,5}(?:::\w[\w.]*|:\d{1,6}(?:-\d{1,6})?)?")
_MOST_CITED = 12
_MOST_NAMED = 5
_LONGEST_NAME = 400
_MOST_FILES = 20_000
_MOST_READ = 400
"""Files that are looked into for a passage that is no longer at its place."""

_PIECE = re.compile(r"~\d+$")


class CiteState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A citation as it is shown."""

    node: str
    state: State
    now: str | None = None
    """Its present place, if it moved."""


class Places:
    """Finds and checks places for one question: a file is read once for all citations."""

    def __init__(self, context: Context, inside: str) -> None:
        self._context = context
        self._inside = inside
        """The project's folder inside the repository; citations name files from the repository's root."""
        self._texts: dict[str, str | None] = {}
        self._files: tuple[str, ...] | None = None
        self._saying: dict[str, str] | None = None
        self._is_current = False
        """True if the graph was brought up to date with the files."""

    # From a written reference to a citation

    def cite(self, given: str, kind: MemoryLinkKind = MemoryLinkKind.ABOUT) -> Cite:
        """The citation of an id, a path, `path:12-20` or `path::name`. NotFound if it does not exist."""
        found = self._find(given.strip(), kind) or self._named(given.strip(), kind)
        if found is None:
            raise NotFound(
                f"There is nothing called '{shortened(given)}' to cite.",
                hint="Name a requirement or another id of the graph, a file, lines (path:12-20) or a symbol"
                " (name, Class.name or path::name).",
            )
        return found

    def mentioned(self, text: str) -> tuple[Cite, ...]:
        """Citations of what a text names: ids of the graph, and files that exist."""
        # A pattern looks at a word again from each of its letters, so a word longer than any name is left out.
        named = " ".join(word for word in text.split() if len(word) <= _LONGEST_NAME)
        words = dict.fromkeys([*_IDS_IN_TEXT.findall(named), *_PATHS_IN_TEXT.findall(named)])
        found: dict[str, Cite] = {}
        for word in list(words)[: _MOST_CITED * 4]:
            cite = self._find(word.rstrip("."), MemoryLinkKind.CITES)
            if cite is not None:
                found.setdefault(cite.node, cite)
        return each_once(tuple(found.values()))[:_MOST_CITED]

    def nodes_at(self, given: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The ids of citations of a place, and the beginnings of those of places inside it."""
        cite = self.cite(given)
        if cite.node.startswith(SYMBOL):
            return (cite.node,), (f"{cite.node}.",)
        if not cite.node.startswith(FILE):
            return (cite.node, *self._parts(cite.node)), ()
        path = cite.node.removeprefix(FILE)
        own = self._own(path) or path
        inside = ((SYMBOL, f"{path}::"), (LINES, f"{path}#"), ("test:", f"{own}::"), ("code:", f"{own}:"))
        sections = f"{_DOCUMENT}{own}"
        return (cite.node, sections), (f"{sections}#", *(prefix + name for prefix, name in inside))

    def _parts(self, id: str) -> list[str]:
        """The assertions, scenarios or criteria of a requirement."""
        graph = self._context.graph
        with self._context.lock.reading():
            steps = graph.memory.neighbours((id,), (EdgeKind.STRUCTURES,), "in")
            return [step.id for step in steps]

    def _find(self, given: str, kind: MemoryLinkKind) -> Cite | None:
        if not given or "\0" in given:
            return None
        given = given.removeprefix(FILE).removeprefix(SYMBOL).removeprefix(LINES)
        for find in (self._whole_file, self._lines, self._symbol, self._section):
            cite = find(given, kind)
            if cite is not None:
                return cite
        node = self._node(given)
        return None if node is None else Cite(node=node.id, kind=kind, passage=self._passage_of(node))

    def _whole_file(self, given: str, kind: MemoryLinkKind) -> Cite | None:
        path = self._path(given)
        text = self._text(path) if path else None
        if path is None or text is None:
            return None
        return Cite(node=FILE + path, kind=kind, passage=passage_hash(text, indented=is_indented(path)))

    def _lines(self, given: str, kind: MemoryLinkKind) -> Cite | None:
        match = _LINE_SPAN.fullmatch(given)
        path = self._path(match["path"]) if match else None
        text = self._text(path) if path else None
        if match is None or text is None:
            return None
        first = int(match["a"] or match["c"])
        last = int(match["b"] or match["d"] or first)
        said = text.splitlines()[first - 1 : last]
        if not 1 <= first <= last or not any(line.strip() for line in said):
            raise InvalidArgument(
                f"Lines {first} to {last} of {path} say nothing.", hint="Cite lines that hold text, counted from 1."
            )
        passage = lines_hash(text, first, last, indented=is_indented(path or ""))
        return Cite(node=f"{LINES}{path}#L{first}-L{last}", kind=kind, passage=passage)

    def _symbol(self, given: str, kind: MemoryLinkKind) -> Cite | None:
        match = _SYMBOL_NAME.fullmatch(given)
        path = self._path(match["path"]) if match else None
        text = self._text(path) if path else None
        if match is None or path is None or text is None:
            return None
        name = match["name"].replace("::", ".")
        span = symbol_text(text, path, name)
        if span is None:
            return None
        passage = passage_hash(span, indented=is_indented(path))
        return Cite(node=f"{SYMBOL}{path}::{name}", kind=kind, passage=passage)

    def _named(self, given: str, kind: MemoryLinkKind) -> Cite | None:
        """The citation of a symbol by its name alone. InvalidArgument if it may mean several."""
        if not given or len(given) > _LONGEST_NAME or any(sign in given for sign in " \0/"):
            return None
        names = self._context.parts.symbols_meant(given)
        if len(names) > 1:
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            raise InvalidArgument(
                f"'{shortened(given)}' has {len(names)} definitions: {', '.join(names[:_MOST_NAMED])}{more}.",
                hint="Name the one that is meant, as path::name.",
            )
        path, _, name = names[0].partition("::") if names else ("", "", "")
        return self._symbol(f"{self._repository_path(path)}::{name}", kind) if names else None

    def _section(self, given: str, kind: MemoryLinkKind) -> Cite | None:
        own, _, name = given.removeprefix(_DOCUMENT).partition("#")
        path = self._path(_unspelled(own)) if name or given.startswith(_DOCUMENT) else None
        text = self._text(path) if path else None
        if path is None or text is None:
            return None
        if not name:
            return Cite(node=FILE + path, kind=kind, passage=passage_hash(text))
        found = section_text(text, path, name)
        if found is None:
            return None
        return Cite(node=f"{_DOCUMENT}{own}#{found[0]}", kind=kind, passage=passage_hash(found[1]))

    def _node(self, id: str) -> Node | None:
        """A node of the graph, by its id or any other spelling that the grammar of ids accepts."""
        if not self._is_current:
            # Once for all citations of a question, and not at all where none is of the graph.
            self._context.keeper.ensure()
            self._is_current = True
        graph, grammar = self._context.graph, self._context.grammar
        with self._context.lock.reading():
            node = graph.memory.get_node(id)
            if node is not None or (reference := grammar.parse_reference(id)) is None:
                return node
            labels = reference.labels
            part = grammar.assertion_id(reference.target, labels[0]) if len(labels) == 1 else reference.target
            return graph.memory.get_node(part) or graph.memory.get_node(reference.target)

    # Whether a citation still holds

    def state(self, cite: Cite) -> CiteState:
        try:
            state, now = self._state(cite)
        except ClewError:
            # What cannot be read now counts as gone.
            state, now = "gone", None
        return CiteState(cite.node, state, now)

    def _state(self, cite: Cite) -> tuple[State, str | None]:
        passage = cite.passage
        if cite.node.startswith((FILE, SYMBOL, LINES)):
            return self._state_of_text(cite.node, passage)
        if cite.node.startswith(_DOCUMENT):
            return self._state_of_section(cite.node, passage)
        node = self._node(cite.node)
        if node is not None:
            return ("fresh" if self._passage_of(node).hash == passage.hash else "changed"), None
        moved = self._nodes_by_hash().get(passage.hash)
        return ("moved", moved) if moved else ("gone", None)

    def _state_of_section(self, node: str, passage: PassageHash) -> tuple[State, str | None]:
        own, _, key = node.removeprefix(_DOCUMENT).partition("#")
        path = self._repository_path(_unspelled(own))
        text = self._text(path)
        found = section_text(text, path, key) if text is not None else None
        if found is not None and says(found[1], passage):
            return "fresh", None
        # Under another heading, or in another document.
        where = path if text is not None and stands_in(text, passage) else self._holding(path, passage, whole=False)
        if where is not None:
            return "moved", FILE + where
        return ("gone" if found is None else "changed"), None

    def _state_of_text(self, node: str, passage: PassageHash) -> tuple[State, str | None]:
        path, symbol = _path_and_symbol(node)
        text = self._text(path)
        if text is not None:
            if symbol is None and not node.startswith(LINES):
                return ("fresh" if says(text, passage) else "changed"), None
            span = symbol_text(text, path, symbol) if symbol is not None else None
            if span is not None:
                return ("fresh" if says(span, passage) else "changed"), None
            if stands_in(text, passage):
                return "fresh", None
        elsewhere = self._holding(path, passage, whole=node.startswith(FILE))
        if elsewhere is not None:
            return "moved", FILE + elsewhere
        left = text is not None and (lines_left(text, passage) or len(passage.lines) == 1)
        return ("changed" if left and symbol is None else "gone"), None

    def _holding(self, path: str, passage: PassageHash, *, whole: bool) -> str | None:
        """Another file with the passage: one of the same name first, then any of the same kind."""
        if passage.tokens < 3:
            return None
        name, ending = basename(path), splitext(path)[1]
        others = [other for other in self._all_files() if other != path and splitext(other)[1] == ending]
        others.sort(key=lambda other: basename(other) != name)
        for other in others[:_MOST_READ]:
            text = self._text(other)
            if text is not None and (says(text, passage) if whole else stands_in(text, passage)):
                return other
        return None

    def _nodes_by_hash(self) -> dict[str, str]:
        """The nodes to which a citation may have moved, by the hash of their text."""
        if self._saying is None:
            graph = self._context.graph
            kinds = (NodeKind.TEST, NodeKind.ASSERTION, NodeKind.REQUIREMENT)
            with self._context.lock.reading():
                nodes = [node for kind in kinds for node in graph.memory.nodes_by_kind(kind)]
                self._saying = {self._passage_of(node).hash: node.id for node in nodes}
        return self._saying

    # Texts

    def _passage_of(self, node: Node) -> PassageHash:
        """The text of a node: its own one, or else its lines in its file."""
        body = node.get_field("body")
        if node.kind is NodeKind.ASSERTION:
            return passage_hash(node.title)
        if isinstance(body, str) and body:
            return passage_hash(f"{node.title}\n{body}")
        source = node.source
        text = self._text(self._repository_path(source.path)) if source is not None else None
        if source is None or text is None:
            return passage_hash(node.title)
        passage = "\n".join(text.splitlines()[source.line - 1 : source.end_line])
        return passage_hash(passage, indented=is_indented(source.path))

    def _path(self, given: str) -> str | None:
        """A file of the project, by its path from the repository's root; None where there is none."""
        try:
            own = path_inside(self._context.root, given)
            if self._inside and not (self._context.root / own).is_file():
                # Citations name files from the repository's root.
                own = path_inside(self._context.root, self._own(given) or given)
            return self._repository_path(own) if (self._context.root / own).is_file() else None
        except (ClewError, OSError, ValueError):
            return None

    def _repository_path(self, own: str) -> str:
        return f"{self._inside}/{own}" if self._inside else own

    def _own(self, path: str) -> str | None:
        """The path relative to the project's folder, of one relative to the repository's root; None outside of the
        project."""
        if not self._inside:
            return path
        return path.removeprefix(f"{self._inside}/") if path.startswith(f"{self._inside}/") else None

    def _text(self, path: str) -> str | None:
        if path not in self._texts:
            own = self._own(path)
            try:
                data = read_bytes(self._context.root, own, limit=self._context.config.max_file_bytes) if own else None
            except (ClewError, OSError):
                data = None
            self._texts[path] = None if data is None else data.decode("utf-8", "replace").replace("\r\n", "\n")
        return self._texts[path]

    def _all_files(self) -> Iterator[str]:
        if self._files is None:
            from clew.workspace.survey import survey

            self._files = survey(self._context.root, _MOST_FILES).files
        return (self._repository_path(path) for path in self._files)


def _path_and_symbol(node: str) -> tuple[str, str | None]:
    if node.startswith(SYMBOL):
        path, _, name = node.removeprefix(SYMBOL).partition("::")
        return path, name
    return node.removeprefix(FILE).removeprefix(LINES).partition("#L")[0], None


# Implements: REQ-d00304-B
def each_once(cites: Sequence[Cite]) -> tuple[Cite, ...]:
    """Each node once. A file that a text only mentions is left out where a part of it is cited: an edit elsewhere in
    the file does not concern the memory."""
    once = tuple({cite.node: cite for cite in reversed(cites)}.values())[::-1]
    parts = {_file_of_part(cite.node) for cite in once}
    return tuple(cite for cite in once if cite.kind is MemoryLinkKind.ABOUT or cite.node not in parts)


def _file_of_part(node: str) -> str | None:
    """The file, as a citation names it, of which a node is a part."""
    if node.startswith((SYMBOL, LINES)):
        return FILE + _path_and_symbol(node)[0]
    own, mark, _ = node.removeprefix(_DOCUMENT).partition("#")
    return FILE + _unspelled(own) if mark and node.startswith(_DOCUMENT) else None


def _unspelled(path: str) -> str:
    """The path of a document in an id, where `#` and `%` are spelled otherwise."""
    return path.replace("%23", "#").replace("%25", "%")


def symbol_text(text: str, path: str, name: str) -> str | None:
    """The lines of a function, class or constant, by its name or its qualified name; None if there is none."""
    from clew.formats.code.comments import tokens
    from clew.formats.code.definitions.scan import definitions
    from clew.formats.code.languages import family_for
    from clew.formats.code.outline import outline_of

    family = family_for(path)
    if family is None:
        return None
    for each in definitions(text, tokens(text, family), family):
        if name in (each.qualname, each.names[-1]):
            return "\n".join(text.splitlines()[each.line - 1 : each.end_line])
    # Constants and attributes are found by the reader of the language alone, which takes longer.
    symbols = outline_of(text, path).symbols
    found = next((each for each in symbols if name == each.qualname), None) or next(
        (each for each in symbols if name == each.name), None
    )
    return None if found is None else "\n".join(text.splitlines()[found.line - 1 : found.end_line])


def section_text(text: str, path: str, name: str) -> tuple[str, str] | None:
    """The key and the text of a section, by its key, its anchor or another name that links may use; without what stands
    below headings of its own. None where there is none."""
    from clew.formats.documents.reader import read_document

    # A long section is indexed in several pieces, of which the later ones have a number.
    wanted = _PIECE.sub("", name)
    document = read_document(text.encode("utf-8", "surrogatepass"), path)
    sections = document.sections
    found = next((each for each in sections if wanted == each.key), None) or next(
        (each for each in sections if wanted in (each.anchor, *each.labels)), None
    )
    return None if found is None else (found.key, document.text[found.start : found.end])
