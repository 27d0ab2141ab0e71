"""The entities of a document, chunk by chunk.

Everything is decided from the document alone, so that reading it again gives the same, whatever else there is.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clew.formats.documents.chunks import Chunk
from clew.formats.documents.inline import code_spans, replace_code
from clew.formats.documents.model import Block, BlockKind, Document
from clew.kb.entities import shapes
from clew.kb.entities.model import LONGEST_NAME, DocumentEntities, EntityKind, MentionCounter, Procedure
from clew.text.keywords import STOP_WORDS

Piece = tuple[BlockKind, str]

_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})[^`\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_OPENED = re.compile(r"\s*(?:`{3,}|~{3,})[ \t]*\{?\.?([\w+-]*)[^\n]*\n?|\s*\.\. [\w-]+::[ \t]*([\w+-]*)[^\n]*\n?")

RECURRING = 2
"""The number of times that a document has a capitalised name before it is a term of it."""
_NAME = re.compile(
    r"(?<![\w/.@#`-])(?:[A-Z][a-z]+|[A-Z]{2,}[a-z]?|[A-Z][a-z]+[A-Z]\w*)(?: (?:[A-Z][a-z]+|[A-Z]{2,}))*(?![\w/@`-])"
)
_OPENS = re.compile(r"(?:^|[.!?:;]\s+|\n\s*|[|(\[\"“*>#-]\s*)$")
_CALENDAR = """
    monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march april
    may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
"""
_NO_TERM = frozenset(_CALENDAR.split()) | frozenset(
    {"note", "tip", "warning", "important", "example", "true", "false", "none"}
)
_DEFINED = (
    re.compile(r"\*\*([^*\n]{2,60})\*\*(?=\s*(?::|—|–|-\s|(?:is|are|means|stands for)\b))"),
    re.compile(r"\*\*([^*\n]{2,60}):\*\*"),
    re.compile(r"(?:^|[.\s])(?:[Aa]n?|[Tt]he)\s+(?<!\*)\*([^*\n]{2,60})\*(?!\*)\s+(?:is|are|means|says)\b"),
    re.compile(r"(?:^|\n)(?<![*\w])\*([^*\n]{2,60})\*(?!\*)\s+(?:is|are|means)\b"),
    re.compile(r"(?:^|\n)([^\n:|`#>*-][^\n:|]{1,59})\n:\s+\S"),
    re.compile(r"<dfn[^<>]*>([^<>]{2,60})</dfn>"),
)


def pieces_of(document: Document, chunks: Sequence[Chunk]) -> Iterator[list[Piece]]:
    """The blocks of each chunk, or the parts of them that are in it. Both are in the order of the text."""
    blocks = [block for section in document.sections for block in section.blocks]
    first = 0
    for chunk in chunks:
        while blocks[first].end <= chunk.start:
            first += 1
        last = first
        while last < len(blocks) and blocks[last].start < chunk.end:
            last += 1
        yield [piece for block in blocks[first:last] for piece in _of_block(document.text, block, chunk)]


def code_of(text: str) -> tuple[str, str]:
    """The language of a code block, and its code without fences."""
    opened = _OPENED.match(text)
    if opened is None:
        return "", text
    return (opened[1] or opened[2] or "").lower(), text[opened.end() :].rstrip().rstrip("`~")


def _of_block(text: str, block: Block, chunk: Chunk) -> Iterator[Piece]:
    shown = text[max(block.start, chunk.start) : min(block.end, chunk.end)]
    if block.kind is not BlockKind.ITEM:
        yield block.kind, shown
        return
    position = 0
    for code in _FENCED.finditer(shown):
        yield BlockKind.ITEM, shown[position : code.start()]
        yield BlockKind.CODE, code[0]
        position = code.end()
    yield BlockKind.ITEM, shown[position:]


VERSION = 3
"""Changes when the same document would give other entities."""

_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")
_ADDRESS = re.compile(r"\b[a-z][a-z+.-]{0,30}://\S+")
_ABOUT_SETTINGS = re.compile(
    r"\b(?:config\w*|settings?|options?|properties|keys?|parameters?|tables?)\b", re.IGNORECASE
)
_ABOUT_ERRORS = re.compile(
    r"\b(?:troubleshooting|errors?|faq|problems?|messages?|fail(?:s|ed|ures?)?|(?:goes|went) wrong)\b", re.IGNORECASE
)
_CALLING = re.compile(
    r"\b(?:run(?:s|ning)?|with|using|execut(?:e|es|ing)|invok(?:e|es|ing)|type|enter|via)\s+$", re.IGNORECASE
)
_LOOKED_BACK = 20
_LOOKED_AHEAD = 14
_COMMAND_WORD = re.compile(r"\s*(?:command|subcommand)s?\b")
_WHOLE_CODE = re.compile(r"[#\s]*`+([^`]+)`+\s*$")
_DEFINITION = re.compile(r"^\s*(?:async\s+)?(?:def|class|func|fn|function)\s+([A-Za-z_]\w*)", re.MULTILINE)

SETTINGS_LANGUAGES = frozenset({"toml", "ini", "cfg", "conf", "properties", "yaml", "yml", "json", "jsonc", "json5"})
_TABLE = re.compile(r"\s*\[{1,2}\s*([\w.\"'-]+)\s*\]{1,2}\s*(?:[#;].*)?$")
_ASSIGNED = re.compile(r"\s*[#;]?\s?([A-Za-z_][\w.-]*)\s*=(?!=)")
_YAML = re.compile(r"(\s*)(?:- )?([A-Za-z_][\w.-]*)\s*:(?:\s|$)")
_JSON = re.compile(r'"([A-Za-z_][\w.-]*)"\s*:')

LEAST_STEPS = 2
_NUMBERED = re.compile(r"[ \t]*(?:(\d{1,4})|#)[.)][ \t]+")
_STOP = re.compile(r"(?<=[.!?:])\s")


def entities_of(document: Document, chunks: Sequence[Chunk]) -> DocumentEntities:
    """The entities that each chunk mentions, and the procedures of the document. Takes time linear in the text."""
    pieces = list(pieces_of(document, chunks))
    known = recurring(
        found
        for parts in pieces
        for kind, text in parts
        if kind in (BlockKind.PROSE, BlockKind.ITEM, BlockKind.TABLE, BlockKind.HEADING)
        for found in capitalised_names(_prose(text))
    )
    programs, tables = _programs(pieces), _setting_tables(pieces)
    is_about_errors = _ABOUT_ERRORS.search(document.title) is not None
    found = []
    for chunk, parts in zip(chunks, pieces, strict=True):
        titles = _titles(document, chunk.section)
        reading = _Reading(
            MentionCounter(),
            about_settings=_ABOUT_SETTINGS.search(titles) is not None,
            about_errors=is_about_errors or _ABOUT_ERRORS.search(titles) is not None,
            programs=programs,
            tables=tables,
            terms=known,
        )
        for kind, text in parts:
            reading.read(kind, text)
        found.append(reading.tally.mentions())
    return DocumentEntities(tuple(found), tuple(procedures_of(document)))


def _titles(document: Document, section: int) -> str:
    titles = []
    while section >= 0:
        titles.append(document.sections[section].title)
        section = document.sections[section].parent
    return " / ".join(titles)


def _programs(pieces: Sequence[Sequence[Piece]]) -> frozenset[str]:
    """The programs that the document calls in code; in its prose, they tell commands from other code."""
    return frozenset(
        name.split()[0]
        for language, code in _code_blocks(pieces)
        for line in shapes.shell_lines(code, language)
        for entity, name in shapes.in_shell_line(line)
        if entity is EntityKind.COMMAND
    )


def _setting_tables(pieces: Sequence[Sequence[Piece]]) -> frozenset[str]:
    """The outermost names of the settings that the document shows, to distinguish keys in its prose from code."""
    return frozenset(
        key.partition(".")[0]
        for language, code in _code_blocks(pieces)
        if language in SETTINGS_LANGUAGES
        for key in keys_in(code, language)
        if "." in key
    )


def _code_blocks(pieces: Sequence[Sequence[Piece]]) -> Iterator[tuple[str, str]]:
    return (code_of(text) for parts in pieces for kind, text in parts if kind is BlockKind.CODE)


def _prose(text: str) -> str:
    """Prose without code, targets of links and addresses, each as a sign that belongs to no word."""
    return _LINK_TARGET.sub("] ", _ADDRESS.sub("`", replace_code(text, lambda span: "`")))


class _Reading:
    """One chunk."""

    def __init__(
        self,
        tally: MentionCounter,
        *,
        about_settings: bool,
        about_errors: bool,
        programs: frozenset[str],
        tables: frozenset[str],
        terms: frozenset[str],
    ) -> None:
        self.tally = tally
        self._about_settings = about_settings
        self._about_errors = about_errors
        self._programs = programs
        self._tables = tables
        self._terms = terms

    def read(self, kind: BlockKind, text: str) -> None:
        if kind is BlockKind.CODE:
            self._code_block(text)
        elif kind is BlockKind.OUTPUT:
            self._by_shape(text)
        elif kind is not BlockKind.COMMENT:
            self._written(kind, text)

    def _code_block(self, text: str) -> None:
        language, code = code_of(text)
        lines = list(shapes.shell_lines(code, language))
        for line in lines:
            for kind, name in shapes.in_shell_line(line):
                self.tally.add(kind, name)
        if language in SETTINGS_LANGUAGES:
            for key in keys_in(code, language):
                self.tally.add(EntityKind.KEY, key)
        elif not lines:
            self._usage(code)
        for match in _DEFINITION.finditer(code):
            self.tally.add(EntityKind.SYMBOL, match[1])
        shown = "\n".join(lines) if lines else code
        self._by_shape(shown, flags=not lines)
        for name in shapes.pinned_versions(shown):
            self.tally.add(EntityKind.VERSION, name)

    def _usage(self, code: str) -> None:
        """A line such as `program --flag VALUE` shows how a program is called."""
        for line in code.splitlines():
            words = line.split()
            if len(words) > 1 and shapes.FLAG.match(words[1].lstrip("[")) and (name := shapes.command_of(words[:1])):
                self.tally.add(EntityKind.COMMAND, name)

    def _by_shape(self, text: str, *, flags: bool = True) -> None:
        text = _ADDRESS.sub(" ", text)
        for kind, pattern in ((EntityKind.FILE, shapes.FILE), (EntityKind.ERROR, shapes.ERROR)):
            for match in pattern.finditer(text):
                self.tally.add(kind, match[0])
        if flags:
            for match in shapes.FLAG.finditer(text):
                self.tally.add(EntityKind.FLAG, match[0])

    def _written(self, kind: BlockKind, text: str) -> None:
        whole = _WHOLE_CODE.match(text) if kind is BlockKind.HEADING else None
        if whole is not None and self._about_errors and " " in whole[1].strip():
            self.tally.add(EntityKind.ERROR, whole[1])
        for span in code_spans(text):
            before = text[max(0, span.start - _LOOKED_BACK) : span.start]
            self._inline(span.code.strip(), before, text[span.end : span.end + _LOOKED_AHEAD])
        rest = _prose(text)
        self._by_shape(rest)
        self._versions_and_variables(rest)
        for found in capitalised_names(rest):
            if found.name in self._terms:
                self.tally.add(EntityKind.TERM, found.name)
        for name in defined_in(text):
            self.tally.add(EntityKind.DEFINED, name)

    def _inline(self, code: str, before: str, after: str) -> None:
        """A piece of code inside prose."""
        words = code.split()
        if not words:
            return
        if self._is_command(words, code, before, after):
            for kind, name in shapes.in_shell_line(code):
                self.tally.add(kind, name)
            return
        if len(words) > 1 and (key := shapes.assigned_key(code)):
            kind = EntityKind.VARIABLE if shapes.VARIABLE.fullmatch(key) else EntityKind.KEY
            self.tally.add(kind, key)
            return
        if len(words) > 1 and not shapes.is_call(code):
            self._by_shape(code)
            self._versions_and_variables(code)
            return
        name = code.rstrip(",;:")
        about_settings = self._about_settings or name.partition(".")[0] in self._tables
        known = shapes.kind_of_code(name, about_settings=about_settings)
        if known is not None:
            self.tally.add(known, shapes.called(name) if known is EntityKind.SYMBOL else name.partition("=")[0])

    def _is_command(self, words: list[str], code: str, before: str, after: str) -> bool:
        if code.endswith(")"):
            return False
        if _COMMAND_WORD.match(after) or words[0] in self._programs or shapes.is_shell_call(words):
            return True
        return len(words) > 1 and _CALLING.search(before) is not None and shapes.is_command(words)

    def _versions_and_variables(self, text: str) -> None:
        for name in shapes.versions(text):
            self.tally.add(EntityKind.VERSION, name)
        for match in shapes.VARIABLE.finditer(text):
            self.tally.add(EntityKind.VARIABLE, match[0])


def keys_in(code: str, language: str) -> Iterator[str]:
    """The keys of a block; keys of a TOML or INI table have the name of the table before them."""
    if language in ("yaml", "yml"):
        yield from (match[2] for line in code.splitlines() if (match := _YAML.match(line)))
    elif language.startswith("json"):
        yield from (match[1] for match in _JSON.finditer(code))
    else:
        table = ""
        for line in code.splitlines():
            if found := _TABLE.match(line):
                table = found[1].replace('"', "").replace("'", "") + "."
            elif assigned := _ASSIGNED.match(line):
                yield table + assigned[1]


def procedures_of(document: Document) -> Iterator[Procedure]:
    """Numbered items that follow each other below one heading."""
    for number, section in enumerate(document.sections):
        steps: list[Block] = []
        for block in (*section.blocks, None):
            if block is not None and block.kind is BlockKind.ITEM and _NUMBERED.match(document.text, block.start):
                steps.append(block)
                continue
            if block is not None and steps and block.kind in (BlockKind.CODE, BlockKind.OUTPUT):
                # What a step shows may be beside the list.
                continue
            if len(steps) >= LEAST_STEPS:
                yield _procedure(document.text, number, section.title, steps)
            steps = []


def _procedure(text: str, section: int, title: str, steps: Sequence[Block]) -> Procedure:
    names = tuple(_first_sentence(text[step.start : step.end]) for step in steps)
    return Procedure(section, title, names, tuple(step.start for step in steps))


def _first_sentence(item: str) -> str:
    item = _NUMBERED.sub("", item, count=1)
    first = _STOP.split(item.split("\n\n", 1)[0], maxsplit=1)[0]
    return " ".join(first.split())[:LONGEST_NAME]


class CapitalisedName(NamedTuple):
    name: str
    opens: bool
    """True at a place where every word has a capital: at the beginning of a sentence."""


def capitalised_names(text: str) -> Iterator[CapitalisedName]:
    """The capitalised names of prose."""
    for match in _NAME.finditer(text):
        before = text[max(0, match.start() - 3) : match.start()]
        opens = match.start() == 0 or _OPENS.search(before) is not None
        name = match[0]
        first = name.split(" ", 1)[0].lower()
        if opens and first in STOP_WORDS and " " in name:
            # "The Harbour Office" is about the office.
            name, opens = name.split(" ", 1)[1], False
        if name.lower() not in STOP_WORDS and name.lower() not in _NO_TERM and first not in _NO_TERM:
            yield CapitalisedName(name, opens)


def recurring(found: Iterable[CapitalisedName]) -> frozenset[str]:
    """The names that count as terms: those that recur, at least once with a capital that is not the first of a
    sentence."""
    counts: Counter[str] = Counter()
    inside: set[str] = set()
    for each in found:
        counts[each.name] += 1
        if not each.opens:
            inside.add(each.name)
    return frozenset(name for name in inside if counts[name] >= RECURRING)


def defined_in(text: str) -> Iterator[str]:
    """The words that a text defines."""
    for pattern in _DEFINED:
        for match in pattern.finditer(text):
            name = match[1].strip(" .:`")
            if len(name) > 1 and name.lower() not in _NO_TERM and not name.endswith((".", "!", "?")):
                yield name
