"""Putting memories before an agent that did not search for them: a small block of data, or nothing.

The block says that it is data and not instructions, and each line says where it comes from, how far it is trusted and
whether what it cites has changed. It never ends inside an item, never repeats one in a session, and no text inside it
can end it.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Literal

import msgspec

from clew.memory.model import LONGEST_SNIPPET
from clew.memory.recall.gate import GateHit, can_pass, passes
from clew.memory.recall.ranking import Recall, RecalledMemory, shared_words
from clew.memory.texts.block import SHORT_ENOUGH, Injected, cited, fitting, framed, is_injectable, line_of
from clew.search.quote.evidence import preview
from clew.text.display import one_line
from clew.text.tokens import estimate_tokens

Mode = Literal["auto", "raw", "narrative", "structured", "code_focused"]

CONSIDERED = 12
Strictness = Literal["covering", "fitting", "any"]
"""What is injected: only what covers the query, what may answer it, or the nearest whatever it is."""
FITS = 0.3
"""Cosine from which a memory may answer a question: of the invented project of `make bench-memory`, 32 of the
32 own prompts have such a memory, and 3 of the 40 foreign ones."""
FITS_BY_WORDS = 0.3


class MemoryBlock(msgspec.Struct, frozen=True):
    context: str
    items: tuple[Injected, ...]
    tokens_used: int
    tokens_before: int
    abstained: str | None
    """Reason why the block is empty, if it is."""
    ranked: tuple[RecalledMemory, ...]
    """Memories that were found, injected or not."""
    notes: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    """Doubt about the block that somebody asked for."""


def inject(
    recall: Recall,
    query: str,
    now: datetime,
    *,
    max_tokens: int,
    seen: Collection[str] = (),
    mode: Mode = "auto",
    asked: Strictness = "covering",
    about: str | None = None,
    check: Callable[[], None] = lambda: None,
) -> MemoryBlock:
    """The block for a query. `seen` are the memories that the session was shown before."""
    with recall.held():
        ranked, notes = recall.rank(query, CONSIDERED, about=about, check=check)
        notes = (*notes, *_left_out(ranked, seen, query))
        # What was shown before opens the gate for nothing else.
        fresh = [each for each in ranked if not _was_shown(each, seen) and is_injectable(each.memory)]
        # Words are read only of what they can let through; the best tells how far away it is.
        judged = [each for each in fresh if can_pass(each.cosine)] or fresh[:1]
        decision = None
        if asked != "any" and (fresh or not ranked):
            hits = [
                GateHit(each.memory.id, f"{each.memory.own_title}\n{each.memory.text}", each.cosine) for each in judged
            ]
            decision = passes(query, hits, recall.rarities, lambda ids: recall.beside(ids, seen))
    unsure: tuple[str, ...] = ()
    if decision is not None and not decision.passed and asked == "fitting":
        fresh = [each for each in fresh if fits(each, query)]
        if fresh:
            unsure = ("Unsure: no memory covers the question as a whole; these are the nearest.",)
    elif decision is not None and not decision.passed:
        fresh = []
    if decision is not None and not decision.passed and not fresh:
        return MemoryBlock("", (), 0, 0, f"Nothing was injected: {decision.reason}.", tuple(ranked), notes)
    # A memory is as much like the question as what it replaced.
    alike = {each.superseded_by: each.similarity for each in fresh if each.superseded_by is not None}
    alike = {each.memory.id: max(each.similarity, alike.get(each.memory.id, 0.0)) for each in fresh}
    worth = [each for each in fresh if each.standing != "superseded"]
    best = max((alike[each.memory.id] for each in worth), default=0.0)
    # What is far less like the question than the best result would only take room.
    worth = [each for each in worth if about is not None or alike[each.memory.id] >= best / 2]
    items = fitting([_line(each, query, now, mode) for each in worth], max_tokens)
    if not items:
        return MemoryBlock("", (), 0, 0, f"Nothing was injected: {_absence(ranked, seen)}.", tuple(ranked), notes)
    context = framed(items)
    return MemoryBlock(
        context=context,
        items=tuple(items),
        tokens_used=estimate_tokens(context),
        tokens_before=sum(item.tokens_before for item in items),
        abstained=None,
        ranked=tuple(ranked),
        notes=notes,
        unsure=unsure,
    )


def fits(ranked: RecalledMemory, query: str) -> bool:
    """True if a memory may answer somebody who asked: it is near in meaning, or has many of the words."""
    if ranked.found.unit is None or (ranked.cosine is not None and ranked.cosine >= FITS):
        return True
    return shared_words(query, ranked.memory) >= FITS_BY_WORDS


def _left_out(ranked: Collection[RecalledMemory], seen: Collection[str], query: str) -> tuple[str, ...]:
    """A note on what fits and was shown before."""
    shown = [each.memory.tag for each in ranked if _was_shown(each, seen) and fits(each, query)]
    if not shown:
        return ()
    return (f"Left out, because this session was shown them: {', '.join(shown)}. again=true shows them.",)


def _absence(ranked: Collection[RecalledMemory], seen: Collection[str]) -> str:
    """The reason why none of the results is shown."""
    if not ranked:
        return "there are no memories"
    unseen = [each.memory for each in ranked if not _was_shown(each, seen)]
    if any(not memory.is_accepted for memory in unseen):
        return "what fits came from a file, and nobody accepted it yet (`clew memory accept`)"
    if any(memory.flags for memory in unseen):
        return "what fits looks like instructions"
    return "all that fits was shown before in this session"


def _was_shown(ranked: RecalledMemory, seen: Collection[str]) -> bool:
    """True if a memory, or the one that replaced it, was shown in the session."""
    return ranked.memory.id in seen or ranked.superseded_by in seen


def _line(ranked: RecalledMemory, query: str, now: datetime, mode: Mode) -> Injected:
    memory = ranked.memory
    whole = estimate_tokens(memory.text)
    if mode == "raw" or whole <= SHORT_ENOUGH:
        said = memory.text
    elif mode == "structured":
        said = memory.title
    else:
        said = preview(query, memory.text).text or one_line(memory.text, LONGEST_SNIPPET)
    about = [cited(cite.node, cite.state, cite.now) for cite in ranked.cites]
    return line_of(memory, said, about, now)
