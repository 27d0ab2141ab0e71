"""Terms: their definitions in a file, and where they are used.

A term is defined by a line with its name and lines that begin with `: ` directly below it, and used as `*Term*` or
`**Term**`. Definitions stand anywhere but among assertions, in a changelog or among the fields of a requirement. What
is in code is neither.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.journey import JOURNEY_FIELD
from clew.formats.elspais.lines import RequirementLines, plain_heading
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Block, Journey, Requirement
from clew.text.markdown import CODE, FENCE, HEADING, TEXT

_FLAGS = ("collection", "indexed")
_OF_REFERENCE = ("title", "version", "effective date", "url")
_SOURCES = ("reference term", "reference source")
_META = re.compile(rf"({'|'.join((*_FLAGS, *_SOURCES, *_OF_REFERENCE))})\s*:\s*(.*)", re.IGNORECASE)
_NO_NAME = re.compile(r"[:#>|\-*+\d`]")
_CODE = re.compile(r"(`+).*?\1|<!--.*?-->|\]\([^)]*\)|<https?:[^>]*>")
_EMPHASIS = re.compile(r"(?<![\w*_~])(\*\*\*|\*\*|__|\*|_|~~)(?=[^\s*_~])(.+?)(?<=[^\s])\1(?![\w*_~])")
_LONGEST_NAME = 100
SHORTEST_DEFINITION = 10
"""Characters; less explains nothing."""


class GlossaryEntry(msgspec.Struct, frozen=True):
    name: str
    definition: str
    line: int
    collection: bool = False
    indexed: bool = True
    is_reference: bool = False
    """It names a document of somebody else, such as a standard."""
    reference_fields: tuple[tuple[str, str], ...] = ()
    reference_term: str = ""
    reference_source: str = ""

    @property
    def is_trivial(self) -> bool:
        return not self.is_reference and len(self.definition.strip()) < SHORTEST_DEFINITION


class Sentence(msgspec.Struct, frozen=True, gc=False):
    """A line of prose."""

    owner: str
    """The node that it belongs to: an assertion, a section, a journey, or text between them."""
    line: int
    text: str


class TermsOfFile(msgspec.Struct, frozen=True):
    definitions: tuple[GlossaryEntry, ...]
    sentences: tuple[Sentence, ...]


class Use(msgspec.Struct, frozen=True, gc=False):
    """A term, or what looks like one, in a line."""

    written: str
    marking: str
    """The signs around it; empty for none."""


def read_terms(data: bytes, path: str, grammar: IdGrammar) -> TermsOfFile:
    """The definitions of a file, and its prose line by line."""
    lines = RequirementLines(data, grammar.header_prefixes)
    owners = _owners(read(data, grammar).blocks, lines, path, grammar)
    definitions: list[GlossaryEntry] = []
    sentences: list[Sentence] = []
    index = 0
    while index < len(lines):
        owner = owners.get(index)
        if owner is not None and (stop := _definition_stop(lines, owners, index)):
            definitions.append(_definition(lines.text[index:stop], index + 1))
            sentences += [Sentence(owner, at + 1, lines.text[at].lstrip(": ")) for at in range(index + 1, stop)]
            index = stop
            continue
        if owner is not None and lines.kinds[index] in (TEXT, HEADING):
            sentences.append(Sentence(owner, index + 1, lines.text[index]))
        index += 1
    return TermsOfFile(tuple(definitions), tuple(sentences))


def _owners(blocks: Iterable[Block], lines: RequirementLines, path: str, grammar: IdGrammar) -> dict[int, str]:
    """By line: to which node its prose belongs; lines without are headers, fields, changelogs and End markers."""
    found: dict[int, str] = {}
    for block in blocks:
        first, stop = block.span.line - 1, block.span.end_line
        if isinstance(block, Requirement):
            found.update(_of_requirement(block, lines, grammar))
        elif isinstance(block, Journey):
            for index in range(first + 1, stop):
                field = JOURNEY_FIELD.match(lines.text[index])
                is_field = field is not None and (field.signed or field.decorated)
                if not is_field and not lines.text[index].startswith("*End*"):
                    found[index] = block.id
        else:
            begin = first
            for index in range(first, stop):
                # A paragraph is what elspais calls a remainder.
                begin = begin if index and lines.text[index - 1].strip() and index > first else index
                found[index] = f"rem:{grammar.settings.namespace}:{path}:{begin + 1}"
    return found


def _of_requirement(block: Requirement, lines: RequirementLines, grammar: IdGrammar) -> Iterator[tuple[int, str]]:
    number = 0
    if block.preamble:
        wanted = set(block.preamble.split("\n"))
        heading = lines.next_heading(block.span.line, block.span.end_line)
        for index in range(block.span.line, heading):
            if lines.text[index] in wanted and lines.text[index].strip():
                yield index, f"{block.id}:section:0"
        number = 1
    for at, section in enumerate(block.sections, number):
        for index in range(section.span.line, section.span.end_line):
            yield index, f"{block.id}:section:{at}"
    for assertion in block.assertions:
        for index in range(assertion.span.line - 1, assertion.span.end_line):
            yield index, grammar.assertion_id(block.id, assertion.label)


def _definition_stop(lines: RequirementLines, owners: Mapping[int, str], index: int) -> int:
    """The line behind the definition that begins here; 0 where none does."""
    name = lines.text[index].strip()
    following = lines.text[index + 1] if index + 1 < len(lines) else ""
    if not following.startswith(":") or not name or _NO_NAME.match(name) or len(name) > _LONGEST_NAME:
        return 0
    if index and lines.text[index - 1].strip() and lines.kinds[index - 1] != HEADING:
        return 0
    if lines.kinds[index] in (FENCE, CODE) or plain_heading(name) in ("assertions", "changelog"):
        return 0
    stop = index + 1
    while stop in owners and lines.text[stop].startswith((":", "  ")) and lines.text[stop].strip():
        stop += 1
    return stop if stop > index + 1 else 0


def _definition(texts: list[str], line: int) -> GlossaryEntry:
    said: list[str] = []
    meta: dict[str, str] = {}
    for text in texts[1:]:
        own = text.lstrip(":").strip()
        found = _META.fullmatch(own) if text.startswith(":") else None
        if found is not None:
            meta[found[1].casefold()] = found[2].strip()
        elif text.startswith(":") and own.casefold() == "reference":
            meta["reference"] = "true"
        else:
            said.append(own)
    fields = tuple((name.replace(" ", "_"), meta[name]) for name in _OF_REFERENCE if name in meta)
    return GlossaryEntry(
        name=texts[0].strip(),
        definition="\n".join(said),
        line=line,
        collection=meta.get("collection", "").casefold() == "true",
        indexed=meta.get("indexed", "").casefold() != "false",
        is_reference="reference" in meta,
        reference_fields=fields,
        reference_term=meta.get("reference term", ""),
        reference_source=meta.get("reference source", ""),
    )


def name_pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    """Finds these names as whole words, the longest first; None where there are none."""
    spelled = sorted({name for name in names if name}, key=lambda name: (-len(name), name))
    if not spelled:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, spelled))})(?!\w)", re.IGNORECASE)


def uses(text: str, known: frozenset[str], pattern: re.Pattern[str] | None) -> Iterator[Use]:
    """Marked terms of a line, and its known terms (in small letters) without a mark."""
    bare = _CODE.sub(lambda found: " " * len(found[0]), text)
    rest = bare
    for found in _EMPHASIS.finditer(bare):
        yield Use(found[2], found[1])
        # What is inside other emphasis is marked by that.
        rest = rest[: found.start()] + " " * len(found[0]) + rest[found.end() :]
    for plain in pattern.finditer(rest) if pattern is not None else ():
        if plain[0].casefold() in known:
            yield Use(plain[0], "")
