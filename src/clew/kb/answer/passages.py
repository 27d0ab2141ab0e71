"""Passages: found spans, kept in scratch space and read from there in bounded parts.

The flow is always from little to more: a search gives previews, evidence gives quotes, an excerpt gives a bounded part,
and no answer carries a whole document. `Caller` says who asks; nobody reaches a passage of somebody else, or one that
is outside of the scope that is asked for.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import TypeVar

import msgspec
from msgspec import UNSET

from clew.errors import InvalidArgument, OverBudget, ScopeViolation
from clew.kb.answer import results
from clew.kb.answer.excerpts import Excerpt, around, read, read_bullets
from clew.kb.answer.scratch import NewPassage, ScratchPassage, ScratchStore
from clew.kb.boundary import Boundary
from clew.kb.ingest.records import ChunkRecord, DocumentRecord
from clew.kb.limits import ITEM_BYTES, ITEM_TOKENS, Flags, LimitReason
from clew.operation.budget import trim
from clew.operation.call import Deadline
from clew.text.display import shortened
from clew.text.instruction_like import flags_of

_LONGEST_TITLE = 160
_CHANGED = "{path} changed after this was found; search again to see what it says now."
_DELETED = "{path} was deleted after this was found; what is shown is what it said."

T = TypeVar("T", bound=msgspec.Struct)


class DocumentState(Enum):
    """The state of a document, compared with the time when a passage of it was found."""

    SAME = "same"
    CHANGED = "changed"
    DELETED = "deleted"


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """The caller of a tool, and the documents it may see."""

    owner: str | None
    """The session of the transport; None where it keeps none."""
    credential: str = ""
    """Names the token that was shown."""
    session: str
    """The handle of the scratch session to write to; empty where nothing is written."""
    scheme: str
    boundary: Boundary
    check: Deadline

    def uri(self, passage: ScratchPassage) -> str:
        return f"{self.scheme}://scratch/{passage.session}/{passage.id}"


class Passages:
    def __init__(
        self,
        scratch: ScratchStore,
        state_of: Callable[[DocumentRecord], DocumentState] = lambda document: DocumentState.SAME,
    ) -> None:
        self._scratch = scratch
        self._state_of = state_of
        """Looks up whether a document changed since it was read."""

    def keep(
        self, section: ChunkRecord, document: DocumentRecord, text: str, anchor: tuple[int, int], caller: Caller
    ) -> ScratchPassage:
        new = NewPassage(
            section_id=section.id,
            version=section.version,
            title=_clipped(section.trail),
            text=text,
            anchor=anchor,
            line=section.line,
            end_line=section.end_line,
            document=document,
        )
        return self._scratch.put(caller.session, new)

    def get(self, id: str, caller: Caller) -> ScratchPassage:
        return self.readable(caller.owner, id, caller.boundary, credential=caller.credential)

    def readable(
        self, owner: str | None, id: str, boundary: Boundary, *, handle: str | None = None, credential: str = ""
    ) -> ScratchPassage:
        """A passage of the owner's own, of a document inside the boundary."""
        passage = self._scratch.get(owner, id, handle=handle, credential=credential)
        if not boundary.admits(passage.document):
            raise ScopeViolation(
                f"The passage '{shortened(id)}' is of a document outside of the scope.",
                hint="Leave scope out, or search again inside the scope you want.",
                data={"reason": "passage_outside_scope", "passage_id": id[:200]},
            )
        return passage

    def read(
        self, id: str, start: int, max_tokens: int, caller: Caller, *, bullets: bool, cited: bool
    ) -> results.ExcerptAnswer:
        passage = self.get(id, caller)
        excerpt = (read_bullets if bullets else read)(passage.text, start, max_tokens)
        return self._excerpt(passage, excerpt, caller, cited=cited)

    def expand(
        self, id: str, before: int, after: int, caller: Caller, anchor: tuple[int | None, int | None] = (None, None)
    ) -> results.ExcerptAnswer:
        """The text around the span for which the passage was found, or around another one."""
        passage = self.get(id, caller)
        first = passage.anchor[0] if anchor[0] is None else anchor[0]
        last = anchor[1] if anchor[1] is not None else passage.anchor[1] if anchor[0] is None else anchor[0]
        if last < first:
            raise InvalidArgument(
                f"The anchor ends at {last}, before it begins at {first}.",
                hint="Pass an anchor_end_char that is not below anchor_start_char.",
            )
        return self._excerpt(passage, around(passage.text, (first, last), before, after), caller, cited=True)

    def _excerpt(
        self, passage: ScratchPassage, excerpt: Excerpt, caller: Caller, *, cited: bool
    ) -> results.ExcerptAnswer:
        citation = results.ExcerptCitation(
            section_id=passage.section_id,
            doc_tag=passage.doc_tag,
            title=passage.title,
            uri=caller.uri(passage),
            line=line_of(passage, excerpt.start),
        )
        return results.ExcerptAnswer(
            passage_id=passage.id,
            excerpt=excerpt.text,
            truncated=excerpt.next_start is not None,
            next_start_char=excerpt.next_start,
            citation=citation if cited else UNSET,
            start_char=excerpt.start,
            end_char=excerpt.end,
            flags=flagged(excerpt.text, *((passage.title,) if cited else ())),
            notes=self.notes_on([passage]) or UNSET,
        )

    def notes_on(self, passages: Iterable[ScratchPassage]) -> tuple[str, ...]:
        """Notes on texts that changed since they were read."""
        documents = {passage.path: passage.document for passage in passages}
        notes = {DocumentState.CHANGED: _CHANGED, DocumentState.DELETED: _DELETED}
        states = {path: self._state_of(each) for path, each in documents.items()}
        return tuple(notes[state].format(path=path) for path, state in states.items() if state in notes)


def fitting(items: Sequence[T], *, share: float = 1.0) -> tuple[tuple[T, ...], LimitReason]:
    """The first items that fit into an answer, or into a share of one."""
    kept = trim(items, max_tokens=int(ITEM_TOKENS * share), max_bytes=int(ITEM_BYTES * share))
    if items and not kept.items:
        raise OverBudget(
            "Not even one item fits into an answer.",
            hint="Ask for shorter previews, or for quotes of fewer tokens.",
            data={"reason": "item_too_large", "max_tokens": ITEM_TOKENS},
        )
    return kept.items, kept.limit_reason.value


def line_of(passage: ScratchPassage, place: int) -> int:
    """The line in the file; the section's first line if the lines of its text are not those of the file."""
    if passage.text.count("\n") != passage.end_line - passage.line:
        return passage.line
    return passage.line + passage.text.count("\n", 0, place)


def flagged(*texts: str) -> Flags:
    """The flags of texts that are shown together: a heading may talk to a model as well as a sentence."""
    return flags_of("\n".join(texts)) or UNSET


def _clipped(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"
