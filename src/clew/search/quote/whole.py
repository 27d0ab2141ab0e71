"""Whole units of a text, as quotes show them: an item of a list, a definition, a row of a table with its head, a block
of code with what announces it, a paragraph.

A unit never begins or ends inside one of these and never holds a part of its neighbour. What is too long for a quote is
looked into, and what has nothing inside is cut at sentences or lines; then the cut is shown. A heading and a short
paragraph go with what follows them where both fit. A list whose items are short is one unit with its introduction.
Lists of links, badges and logs are no units.
"""

# Implements: REQ-d00402-L+M

import re
from collections.abc import Iterator, Sequence

import msgspec

from clew.search.quote.blocks import BlockForm, TextBlock, blocks_of, table_rows
from clew.search.quote.evidence import Quote, QuoteLimits, fitting_end
from clew.text.lines import TextLines
from clew.text.sentences import sentences
from clew.text.tokens import CHARACTERS_PER_TOKEN_AT_MOST, estimate_tokens

CUT = "…"
"""Shown where a unit goes on before or after what is quoted."""
_MARK_TOKENS, _MARK_CHARACTERS = 4, 4
"""Of two such marks."""
_SHORT = 24
"""Tokens up to which a paragraph goes with the next one, and an item with its neighbours in one short list."""
_LEAD_SHARE = 2
"""A lead may take one part of so many of a quote."""
_DEEPEST = 8


class Whole(msgspec.Struct, frozen=True, gc=False):
    """text[start:end], shown behind its `lead`: the head of its table, or the term that it explains a part of."""

    start: int
    end: int
    form: BlockForm
    lead: tuple[int, int] | None = None
    cut_before: bool = False
    cut_after: bool = False
    above: int = -1
    """The place of the unit that introduces it among all units; -1 for none."""
    place: int = 0


def whole_units(text: str, limits: QuoteLimits) -> list[Whole]:
    """The units of a text, in its order."""
    return _Units(text, limits).all()


def quote_text(text: str, quote: Quote) -> str:
    """A quote as it is shown: its lead, itself, and marks where it is cut."""
    said = text[quote.start : quote.end]
    said = f"{CUT} {said}" if quote.cut_before else said
    said = f"{said} {CUT}" if quote.truncated else said
    return said if quote.lead is None else f"{text[quote.lead[0] : quote.lead[1]]}\n{said}"


class _Units:
    def __init__(self, text: str, limits: QuoteLimits) -> None:
        self._text = text
        self._limits = limits
        self._lines = TextLines(text)
        # A quote of a few characters has no room for more.
        self._has_marks = limits.max_quote_tokens > 4 * _MARK_TOKENS and limits.max_quote_chars > 4 * _MARK_CHARACTERS
        self._found: list[Whole] = []

    def all(self) -> list[Whole]:
        self._walk(blocks_of(self._lines, 0, len(self._lines)), None, 0)
        return self._found

    # Blocks beside each other

    def _walk(self, blocks: Sequence[TextBlock], lead: tuple[int, int] | None, depth: int) -> None:
        """The units of some blocks: a run of items or definitions at once, everything else with what leads to it."""
        at = 0
        waiting: list[TextBlock] = []
        while at < len(blocks):
            block = blocks[at]
            if block.form is BlockForm.HEADING:
                self._flush(waiting, lead, depth)
                waiting = [block]
                at += 1
                continue
            if block.form in (BlockForm.ITEM, BlockForm.DEFINITION):
                after = at
                while after < len(blocks) and blocks[after].form is block.form:
                    after += 1
                waiting = self._run(waiting, blocks[at:after], lead, depth)
                at = after
                continue
            together = [*waiting, block]
            if waiting and not self._fits(*self._span(together), lead):
                # What announces it stays with it, and what is before that goes alone.
                kept = waiting[-1:] if self._goes_on(waiting[-1]) else []
                kept = kept if kept and self._fits(*self._span([*kept, block]), lead) else []
                self._flush(waiting[: len(waiting) - len(kept)], lead, depth)
                together = [*kept, block]
            waiting = together
            at += 1
            if not self._goes_on(block):
                self._flush(waiting, lead, depth)
                waiting = []
        if not self._joined_to_last(waiting, lead):
            self._flush(waiting, lead, depth)

    def _joined_to_last(self, waiting: Sequence[TextBlock], lead: tuple[int, int] | None) -> bool:
        """True if a short paragraph at the end was added to the paragraph before it: it says one thing more of it."""
        if len(waiting) != 1 or not self._goes_on(waiting[0]) or not self._found:
            return False
        start, end = self._span(waiting)
        last = self._found[-1]
        is_next = not self._text[last.end : start].strip() and last.form is BlockForm.PROSE and last.lead == lead
        if not is_next or last.cut_before or last.cut_after or not self._fits(last.start, end, lead):
            return False
        self._found[-1] = msgspec.structs.replace(last, end=end)
        return True

    def _goes_on(self, block: TextBlock) -> bool:
        """True if a paragraph goes with what follows it: it is short, or announces something."""
        if block.form is not BlockForm.PROSE:
            return False
        start, end = self._span([block])
        return self._text[start:end].endswith(":") or self._tokens(start, end) <= _SHORT

    def _run(
        self, waiting: list[TextBlock], run: Sequence[TextBlock], lead: tuple[int, int] | None, depth: int
    ) -> list[TextBlock]:
        """Items or definitions beside each other: one unit with their introduction if all are short, else one each."""
        whole = [*waiting, *run]
        spans = [self._span([each]) for each in run]
        if self._fits(*self._span(whole), lead) and (len(run) == 1 or self._are_short(spans)):
            # What a heading and a few short items say, such as a default, belongs to the text that follows.
            if whole[0].form is BlockForm.HEADING and self._tokens(*self._span(whole)) <= 2 * _SHORT:
                return whole
            self._flush(whole, lead, depth)
            return []
        self._flush(waiting, lead, depth)
        above = len(self._found) - 1 if waiting else -1
        for each in run:
            first = len(self._found)
            self._block(each, lead, depth)
            self._found[first:] = [
                msgspec.structs.replace(unit, above=above) if unit.above < 0 else unit for unit in self._found[first:]
            ]
        return []

    def _are_short(self, spans: Sequence[tuple[int, int]]) -> bool:
        return all(self._tokens(start, end) <= _SHORT // 2 for start, end in spans)

    def _flush(self, blocks: Sequence[TextBlock], lead: tuple[int, int] | None, depth: int) -> None:
        """The blocks as one unit where they fit, else each by itself. Headings alone say nothing."""
        if not any(each.form is not BlockForm.HEADING for each in blocks):
            return
        start, end = self._span(blocks)
        if len(blocks) > 1 and self._fits(start, end, lead):
            self._add(start, end, blocks[-1].form, lead)
            return
        if len(blocks) > 1 and blocks[0].form is BlockForm.HEADING:
            self._headed(blocks, lead, depth)
            return
        above = -1
        for each in blocks:
            first = len(self._found)
            self._block(each, lead, depth)
            if above >= 0 and first < len(self._found) and self._found[first].above < 0:
                self._found[first] = msgspec.structs.replace(self._found[first], above=above)
            above = len(self._found) - 1

    def _headed(self, blocks: Sequence[TextBlock], lead: tuple[int, int] | None, depth: int) -> None:
        """What is below a heading and does not fit with it: the heading is in the title of the quote."""
        self._flush(blocks[1:], lead, depth)

    # One block

    def _block(self, block: TextBlock, lead: tuple[int, int] | None, depth: int) -> None:
        start, end = self._span([block])
        if start >= end:
            return
        if self._fits(start, end, lead):
            self._add(start, end, block.form, lead)
        elif block.form is BlockForm.TABLE:
            self._rows(block)
        elif block.inner < block.after and depth < _DEEPEST:
            self._inside(block, lead, depth)
        else:
            self._cut(start, end, block.form, lead)

    def _inside(self, block: TextBlock, lead: tuple[int, int] | None, depth: int) -> None:
        """The parts of what is too long: the text of an item up to the first thing in it, then the things in it."""
        lines, inner = self._lines, block.inner
        if block.form is BlockForm.ITEM:
            while inner < block.after and not lines.is_blank(inner) and not self._opens(inner):
                inner += 1
        head = self._span([TextBlock(BlockForm.PROSE, block.first, inner, inner)])
        own = head if self._may_lead(head) else None
        rest = blocks_of(lines, inner, block.after)
        if not rest:
            self._cut(*self._span([block]), block.form, lead)
            return
        if own is None or block.form is BlockForm.ITEM:
            self._cut(*head, block.form, lead)
            self._walk(rest, own if own is not None else lead, depth + 1)
            return
        # A term says nothing by itself: it is shown with each part of what explains it.
        self._walk(rest, own, depth + 1)

    def _opens(self, line: int) -> bool:
        found = blocks_of(self._lines, line, line + 1)
        return bool(found) and found[0].form is not BlockForm.PROSE

    def _rows(self, table: TextBlock) -> None:
        head, rows = table_rows(self._lines, table)
        lead = self._lines_span(*head) if head is not None else None
        if lead is not None and not self._may_lead(lead):
            lead = None
        above = len(self._found) - 1
        for first, after in rows:
            start, end = self._lines_span(first, after)
            if self._fits(start, end, lead):
                self._add(start, end, BlockForm.TABLE, lead, above)
            else:
                self._cut(start, end, BlockForm.TABLE, lead)

    def _cut(self, start: int, end: int, form: BlockForm, lead: tuple[int, int] | None) -> None:
        """A text that is too long, at its sentences, or at the lines of code; the cuts are marked."""
        if start >= end:
            return
        if self._fits(start, end, lead):
            self._add(start, end, form, lead)
            return
        places = list(self._seams(start, end, form))
        first = start
        for place, following in zip(places, [*places[1:], end], strict=True):
            if place > first and not self._fits(first, following, lead, marked=True):
                self._piece(first, place, start, end, form, lead)
                first = place
        self._piece(first, end, start, end, form, lead)

    def _seams(self, start: int, end: int, form: BlockForm) -> Iterator[int]:
        if form is BlockForm.CODE:
            yield from (start + found.end() for found in re.finditer(r"\n", self._text[start:end]))
        else:
            yield from (start + piece.start for piece in sentences(self._text[start:end])[1:])
        yield end

    def _piece(
        self, first: int, after: int, start: int, end: int, form: BlockForm, lead: tuple[int, int] | None
    ) -> None:
        """One piece of what was cut; a sentence that is too long by itself is cut at its words."""
        while first < after:
            said = self._text[first:after]
            first += len(said) - len(said.lstrip())
            last = first + len(said.strip())
            if not self._fits(first, last, lead, marked=True):
                tokens, characters = self._room(lead, marked=True)
                last = fitting_end(self._text, first, last, max_tokens=max(1, tokens), max_chars=max(1, characters))
                last = max(last, first + 1)
            if first >= last:
                return
            marks = self._has_marks
            self._add(first, last, form, lead, cut_before=marks and first > start, cut_after=marks and last < end)
            first = last

    # Measures

    def _add(
        self,
        start: int,
        end: int,
        form: BlockForm,
        lead: tuple[int, int] | None,
        above: int = -1,
        *,
        cut_before: bool = False,
        cut_after: bool = False,
    ) -> None:
        if not says_nothing(self._text[start:end], form):
            self._found.append(Whole(start, end, form, lead, cut_before, cut_after, above))

    def _span(self, blocks: Sequence[TextBlock]) -> tuple[int, int]:
        return self._lines_span(blocks[0].first, blocks[-1].after)

    def _lines_span(self, first: int, after: int) -> tuple[int, int]:
        """The characters of some lines, without the space around them."""
        start, end = self._lines.starts[first], self._lines.end(after - 1)
        said = self._text[start:end]
        return start + len(said) - len(said.lstrip()), start + len(said.rstrip())

    def _tokens(self, start: int, end: int) -> int:
        return estimate_tokens(self._text[start:end])

    def _fits(self, start: int, end: int, lead: tuple[int, int] | None, *, marked: bool = False) -> bool:
        tokens, characters = self._room(lead, marked=marked)
        if end - start > min(characters, tokens * CHARACTERS_PER_TOKEN_AT_MOST):
            return False
        return self._tokens(start, end) <= tokens

    def _may_lead(self, span: tuple[int, int]) -> bool:
        limits = self._limits
        characters = (span[1] - span[0]) * _LEAD_SHARE
        return characters <= limits.max_quote_chars and self._tokens(*span) * _LEAD_SHARE <= limits.max_quote_tokens

    def _room(self, lead: tuple[int, int] | None, *, marked: bool) -> tuple[int, int]:
        """Tokens and characters for a unit, beside its lead and the marks of cuts."""
        tokens, characters = self._limits.max_quote_tokens, self._limits.max_quote_chars
        if lead is not None:
            tokens -= self._tokens(*lead) + 1
            characters -= lead[1] - lead[0] + 1
        marked = marked and self._has_marks
        return (tokens - _MARK_TOKENS, characters - _MARK_CHARACTERS) if marked else (tokens, characters)


_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?|\|[\w -]+\||<img[^>]*>")
_LINK = re.compile(r"\[(?P<text>[^\[\]]*)\](?:\([^()\s]*(?:[ \t]+\"[^\"]*\")?\)|\[[^\]]*\])|<?[a-z]++://[^\s>)]+>?")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LOGGED = re.compile(
    r"[ \t]*(?:\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE)\b[\]: ])"
)
_FEWEST_LOGGED = 3
_WORDS_BESIDE = 2
"""A text with fewer words of its own beside each link is a list of links."""


def says_nothing(text: str, form: BlockForm) -> bool:
    """True of badges, lists of links and logs: they lead somewhere, or tell of one day, and answer nothing."""
    lines = [line for line in text.splitlines() if line.strip()]
    logged = sum(_LOGGED.match(line) is not None for line in lines)
    if len(lines) >= _FEWEST_LOGGED and logged * 2 > len(lines):
        return True
    if form is BlockForm.CODE:
        return False
    if "[" not in text and "://" not in text and "|" not in text and "<" not in text:
        return False
    without = _TAG.sub(" ", _IMAGE.sub(" ", text))
    links, rest = len(_LINK.findall(without)), _LINK.sub(" ", without)
    if "`" in rest:
        return False
    beside = len(_WORD.findall(rest))
    if not links:
        return not _WORD.search(without) and without != text
    return beside < links * _WORDS_BESIDE and (links > 1 or form is BlockForm.ITEM or beside == 0)
