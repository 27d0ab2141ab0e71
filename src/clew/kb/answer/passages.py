"""Passages: what was found, kept in scratch space, and read from there in bounded parts.

The flow is always from little to more: a search gives previews, evidence gives quotes, an excerpt gives a bounded part,
and no answer carries a whole document. `Caller` says who asks; nobody reaches a passage of somebody else, or one that
is outside of the scope that is asked for.

Excerpts: a bounded part of a text, and where the next one begins.

Places are counted in characters (Unicode code points) of the text as it is kept. An excerpt never takes more tokens
(`clew.text.tokens.estimate_tokens`) and bytes than allowed, however it is rendered. Pure, and linear in the size of the
text.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from msgspec import UNSET

from clew.errors import InvalidArgument, OverBudget, ScopeViolation
from clew.kb.answer import results
from clew.kb.answer.scratch import NewPassage, Passage, ScratchStore
from clew.kb.boundary import Boundary
from clew.kb.ingest.records import DocumentRecord, SectionRecord
from clew.operation.budget import trim
from clew.operation.call import Deadline
from clew.search.quote.evidence import fitting_end, window
from clew.text.instruction_like import flags_of
from clew.text.sentences import plain_spans
from clew.text.shortening import shortened
from clew.text.tokens import estimate_tokens

MAX_TOKENS = 800
MAX_BYTES = 32_768

_BULLET = "- "


class Excerpt(msgspec.Struct, frozen=True):
    text: str
    start: int
    end: int
    """It was made of these characters."""
    next_start: int | None
    """Where the rest begins; None where nothing but white space is left."""


def read(text: str, start: int, max_tokens: int) -> Excerpt:
    """The text from `start` on."""
    if start >= len(text):
        return Excerpt("", start, start, None)
    end = _fitting(text, start, len(text), max_tokens)
    if end == start:
        # Nothing but white space fitted, or not even that.
        start += len(text[start:]) - len(text[start:].lstrip())
        end = _fitting(text, start, len(text), max_tokens)
        if end == start < len(text):
            raise _too_small(max_tokens)
    return Excerpt(text[start:end], start, end, _next(text, end))


def read_bullets(text: str, start: int, max_tokens: int) -> Excerpt:
    """The same, one line for each span of the text."""
    lines: list[str] = []
    end: int | None = None
    for first, last in _spans_from(text, start):
        line = _bullet(text, first, last)
        if not _fits("\n".join([*lines, line]), max_tokens):
            if lines:
                break
            last = _fitting_bullet(text, first, last, max_tokens)
            line = _bullet(text, first, last)
            lines.append(line)
            end = last
            break
        lines.append(line)
        end = last
    if end is None:
        return Excerpt("", start, start, None)
    return Excerpt("\n".join(lines), start, end, _next(text, end))


def around(text: str, anchor: tuple[int, int], before_tokens: int, after_tokens: int) -> Excerpt:
    """A place of the text with what stands around it."""
    first = min(max(anchor[0], 0), len(text))
    last = min(max(anchor[1], first), len(text))
    start, end = window(text, first, last, before_tokens, after_tokens)
    end = _fitting(text, start, end, MAX_TOKENS)
    return Excerpt(text[start:end], start, end, _next(text, end))


def _fits(shown: str, max_tokens: int) -> bool:
    return estimate_tokens(shown) <= max_tokens and len(shown.encode("utf-8", "surrogatepass")) <= MAX_BYTES


def _fitting(text: str, start: int, end: int, max_tokens: int) -> int:
    end = fitting_end(text, start, end, max_tokens=max_tokens, max_chars=MAX_BYTES)
    while len(text[start:end].encode("utf-8", "surrogatepass")) > MAX_BYTES:
        end = start + (end - start) * 3 // 4
    return end


def _fitting_bullet(text: str, start: int, end: int, max_tokens: int) -> int:
    """Where a span has to be cut to fit alone; rendering costs a little more than the text itself."""
    room = max_tokens
    while room > 0:
        cut = _fitting(text, start, end, room)
        if cut > start and _fits(_bullet(text, start, cut), max_tokens):
            return cut
        room -= 1
    raise _too_small(max_tokens)


def _spans_from(text: str, start: int) -> Iterator[tuple[int, int]]:
    for first, last in plain_spans(text):
        if last > start and text[max(first, start) : last].strip():
            yield max(first, start), last


def _bullet(text: str, start: int, end: int) -> str:
    return _BULLET + " ".join(text[start:end].split())


def _next(text: str, end: int) -> int | None:
    return end if text[end:].strip() else None


def _too_small(max_tokens: int) -> OverBudget:
    return OverBudget(
        f"Not even one character fits into {max_tokens} tokens.",
        hint="Pass a larger max_tokens.",
        data={"reason": "budget_too_small", "max_tokens": max_tokens},
    )


ITEM_TOKENS = 3_600
ITEM_BYTES = 65_536
"""What the items of one answer may take together, as data."""

_LONGEST_TITLE = 160
_CHANGED = "{path} changed after this was found; search again to see what it says now."

T = TypeVar("T", bound=msgspec.Struct)


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, and within which bounds."""

    owner: str | None
    """The session of the transport; None where it keeps none."""
    credential: str = ""
    """Names the token that was shown."""
    session: str
    """The handle of the scratch session to write to; empty where nothing is written."""
    scheme: str
    boundary: Boundary
    check: Deadline

    def uri(self, passage: Passage) -> str:
        return f"{self.scheme}://scratch/{passage.session}/{passage.id}"


class Passages:
    def __init__(
        self, scratch: ScratchStore, has_changed: Callable[[DocumentRecord], bool] = lambda document: False
    ) -> None:
        self._scratch = scratch
        self._has_changed = has_changed
        """Whether a document says something else by now."""

    def keep(
        self, section: SectionRecord, document: DocumentRecord, text: str, anchor: tuple[int, int], caller: Caller
    ) -> Passage:
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

    def get(self, id: str, caller: Caller) -> Passage:
        return self.readable(caller.owner, id, caller.boundary, credential=caller.credential)

    def readable(
        self, owner: str | None, id: str, boundary: Boundary, *, handle: str | None = None, credential: str = ""
    ) -> Passage:
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
        """What stands around the span for which the passage was found, or around another one."""
        passage = self.get(id, caller)
        first = passage.anchor[0] if anchor[0] is None else anchor[0]
        last = anchor[1] if anchor[1] is not None else passage.anchor[1] if anchor[0] is None else anchor[0]
        if last < first:
            raise InvalidArgument(
                f"The anchor ends at {last}, before it begins at {first}.",
                hint="Pass an anchor_end_char that is not below anchor_start_char.",
            )
        return self._excerpt(passage, around(passage.text, (first, last), before, after), caller, cited=True)

    def _excerpt(self, passage: Passage, excerpt: Excerpt, caller: Caller, *, cited: bool) -> results.ExcerptAnswer:
        citation = results.Citation(
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

    def notes_on(self, passages: Iterable[Passage]) -> tuple[str, ...]:
        """What has to be said of texts that were read a while ago."""
        documents = {passage.path: passage.document for passage in passages}
        return tuple(_CHANGED.format(path=path) for path, each in documents.items() if self._has_changed(each))


def fitting(items: Sequence[T], *, share: float = 1.0) -> tuple[tuple[T, ...], results.LimitReason]:
    """The first items that fit into an answer, or into a share of one."""
    kept = trim(items, max_tokens=int(ITEM_TOKENS * share), max_bytes=int(ITEM_BYTES * share))
    if items and not kept.items:
        raise OverBudget(
            "Not even one item fits into an answer.",
            hint="Ask for shorter previews, or for quotes of fewer tokens.",
            data={"reason": "item_too_large", "max_tokens": ITEM_TOKENS},
        )
    return kept.items, kept.limit_reason.value


def line_of(passage: Passage, place: int) -> int:
    """The line of the file; that of the section's beginning where its text has other lines than the file."""
    if passage.text.count("\n") != passage.end_line - passage.line:
        return passage.line
    return passage.line + passage.text.count("\n", 0, place)


def flagged(*texts: str) -> results.Flags:
    """The flags of what is shown together: a heading talks to a model as well as a sentence does."""
    return flags_of("\n".join(texts)) or UNSET


def _clipped(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"
