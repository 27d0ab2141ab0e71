"""References that follow: after a requirement or an assertion gets another name, its citations are rewritten.

A reference in a spec file or in a comment of code or a test follows. One in the name of a test cannot: the name stays,
and the reference is broken until somebody renames the test.
"""

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from clew.formats.elspais.ids.grammar import IdGrammar, ParsedReference
from clew.formats.elspais.records import Reference
from clew.formats.elspais.write.references import with_rewritten
from clew.graph.build.link import Citation, Place
from clew.graph.changes import Slot
from clew.trace.edit.text.draft import ChangeDraft, DraftBlock

_LOSSLESS = "surrogateescape"

_KEYWORD = re.compile(r"implements|refines|verifies|validates|tests", re.IGNORECASE)
_PART_OF_ID = re.compile(r"[\w-]")
_MORE_OF_ID = re.compile(r"[\w+]|-\w")


class ReferenceTarget(msgspec.Struct, frozen=True, gc=False):
    """The target and the labels of a reference."""

    target: str
    labels: tuple[str, ...] = ()

    def written(self, grammar: IdGrammar) -> str:
        joined = grammar.settings.label_multi_separator.join(self.labels)
        return grammar.assertion_id(self.target, joined) if joined else self.target


Turn = Callable[[ReferenceTarget], ReferenceTarget]
"""From what a reference names to what it shall name."""


def follow(draft: ChangeDraft, id: str, turn: Turn) -> None:
    """Rewrite every reference to an id. A reference that cannot be rewritten is noted in the draft."""
    spec, comments = _sorted_out(draft, draft.linker.citations_of(id))
    for place in spec:
        turn_references(draft, draft.block_at(place), lambda aim: turn(aim) if aim.target == id else aim)
    for citations in comments.values():
        aim = ReferenceTarget(id, citations[0].labels)
        if turn(aim) != aim and not rewrite_comment(draft, citations, turn(aim)):
            draft.notes.append(_left_behind(citations[0]))


def fixed_references(draft: ChangeDraft, id: str) -> list[Citation]:
    """The references to an id that cannot be rewritten."""
    _, comments = _sorted_out(draft, draft.linker.citations_of(id))
    return [citations[0] for citations in comments.values() if _comment(draft, citations[0], "") is None]


def turn_references(draft: ChangeDraft, block: DraftBlock, turn: Turn) -> DraftBlock:
    """Rewrite the references of a block."""
    grammar = draft.grammar

    def rewrite(parsed: ParsedReference) -> str | None:
        aim = ReferenceTarget(parsed.target, parsed.labels)
        turned = turn(aim)
        return turned.written(grammar) if turned != aim else None

    references = tuple(_turned(reference, turn) for reference in block.record.references)
    expected = msgspec.structs.replace(block.record, references=references)
    return draft.write(block, with_rewritten(block.data, grammar, rewrite), expected, "", hashed=False)


def _turned(reference: Reference, turn: Turn) -> Reference:
    if reference.malformed:
        return reference
    aim = turn(ReferenceTarget(reference.target, reference.labels))
    return msgspec.structs.replace(reference, target=aim.target, labels=aim.labels)


def rewrite_comment(draft: ChangeDraft, citations: list[Citation], aim: ReferenceTarget) -> bool:
    """Rewrite a reference in a comment, for all nodes that cite by it; False if it cannot be rewritten there."""
    text = aim.written(draft.grammar)
    found = _comment(draft, citations[0], text)
    if found is None:
        return False
    draft.put_text(*found)
    for citation in citations:
        turned = msgspec.structs.replace(citation, target=aim.target, labels=aim.labels, written=text, malformed=False)
        place = draft.linker.place_of(citation.source)
        definition = draft.definition(place) if place is not None else None
        if place is not None and definition is not None:
            cited = tuple(turned if each == citation else each for each in definition.citations)
            draft.exchange(place, msgspec.structs.replace(definition, citations=cited))
    return True


def _comment(draft: ChangeDraft, citation: Citation, text: str) -> tuple[Slot, bytes] | None:
    """The line of a comment, and how it reads with another reference in the place of this one."""
    place = draft.linker.place_of(citation.source)
    if place is None or place[1] not in draft.context.commenting:
        return None
    parsed = draft.grammar.parse_reference(citation.written)
    if not citation.malformed and (parsed is None or parsed.target != citation.target):
        return None
    slot = draft.line(citation.path, citation.line)
    if slot is None:
        return None
    line = with_reference(draft.text(slot).decode("utf-8", _LOSSLESS), citation.written, text)
    return (slot, line.encode("utf-8", _LOSSLESS)) if line is not None else None


def _sorted_out(
    draft: ChangeDraft, citations: Iterable[Citation]
) -> tuple[list[Place], dict[tuple[str, int, str], list[Citation]]]:
    """The spec blocks with some of these citations, and the comments with the others."""
    spec: dict[Place, None] = {}
    comments: dict[tuple[str, int, str], list[Citation]] = {}
    for citation in citations:
        place = draft.linker.place_of(citation.source)
        if place is not None and place[1] == draft.context.reader.name:
            spec[place] = None
        else:
            comments.setdefault((citation.path, citation.line, citation.written), []).append(citation)
    return list(spec), comments


def _left_behind(citation: Citation) -> str:
    return f"{citation.path}:{citation.line} says {citation.written}, which cannot be rewritten; it is left broken."


def with_reference(line: str, written: str, text: str) -> str | None:
    """The line with one reference replaced; None if the reference is not there.

    What is before the keyword is code. A line without keyword continues the list of the line above.
    """
    keyword = _KEYWORD.search(line)
    done = keyword.end() if keyword is not None else 0
    pieces = [line[:done]]
    for start in _places(line, written, done):
        pieces += (line[done:start], text)
        done = start + len(written)
    return "".join((*pieces, line[done:])) if len(pieces) > 1 else None


def _places(line: str, written: str, first: int) -> Iterator[int]:
    """The positions of a reference as a whole word. A pattern for each reference would take longer to compile than to
    use."""
    start = line.find(written, first)
    while start >= 0:
        end = start + len(written)
        is_whole = start == first or _PART_OF_ID.match(line, start - 1) is None
        if is_whole and _MORE_OF_ID.match(line, end) is None:
            yield start
        start = line.find(written, end)
