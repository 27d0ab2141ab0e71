"""Section "decisions and pitfalls": memories about the target, and whether they still hold."""

import re
from collections.abc import Iterator, Sequence

from clew.errors import ClewError
from clew.memory.model import Cite, Memory, MemoryKind
from clew.text.display import one_line
from clew.why.answer import Basis, EvidenceSection, Fact, section
from clew.why.inquiry import Inquiry

_FIRST = (MemoryKind.DECISION, MemoryKind.PITFALL)
_SPAN = re.compile(r"lines:(?P<path>.+)#L(?P<a>\d+)-L(?P<b>\d+)")
_ABSENT = "Nothing was remembered about it."


def decided(inquiry: Inquiry, recorded: Sequence[Fact] = ()) -> EvidenceSection:
    """The section, with decisions that commits record below the memories. Called without the graph's lock, because
    changed files may have to be read for the state of a citation."""
    memory = inquiry.project.memory
    if not memory.exists:
        return section("decided", recorded, absent=_ABSENT)
    try:
        if memory.doubt is not None:
            return section("decided", recorded, absent="", note=f"Not shown: {memory.doubt}")
        view = memory.view(inquiry.call)
        ids = view.recall.ids_at(_place(inquiry))
        states = view.recall.standing_of(view.library.get_many(ids).values())
    except ClewError as error:
        return section("decided", recorded, absent="", note=f"Not known: {error.message}")
    found: list[tuple[bool, bool, Fact]] = []
    for each, standing, _, _ in states:
        basis = _basis(inquiry, each)
        if basis is not None:
            fact = _fact(each, standing, basis)
            found.append((each.kind not in _FIRST, standing != "current", fact))
    found.sort(key=lambda item: item[:2])
    return section("decided", [*(fact for _, _, fact in found), *recorded], absent=_ABSENT, most=5)


def _place(inquiry: Inquiry) -> str:
    target = inquiry.target
    if target.node is not None:
        return target.node.id
    return target.path or target.name


def _fact(memory: Memory, standing: str, basis: Basis) -> Fact:
    state = "" if standing == "current" else f" ({standing}: {_STATES.get(standing, '')})"
    why = f" Because: {one_line(memory.rationale, 120)}" if memory.kind in _FIRST else ""
    return Fact(f"{memory.kind.value}{state}: {one_line(memory.text, 240)}{why}", basis, f"memory:{memory.id[:8]}")


_STATES = {"stale": "what it cites changed since", "superseded": "something newer replaces it"}


def _basis(inquiry: Inquiry, memory: Memory) -> Basis | None:
    """Stated if it is about the target itself, inferred if it is about its surroundings, None for its neighbours in the
    same file."""
    if inquiry.target.node is not None or not inquiry.target.first:
        return "stated"
    found = {basis for cite in memory.cites if (basis := _of_cite(inquiry, cite)) is not None}
    return "stated" if "stated" in found else "inferred" if found else None


def _of_cite(inquiry: Inquiry, cite: Cite) -> Basis | None:
    target, (first, last) = inquiry.target, inquiry.span
    path = target.path or ""
    if (span := _SPAN.fullmatch(cite.node)) and span["path"].endswith(path):
        return "stated" if int(span["a"]) <= last and int(span["b"]) >= first else None
    if cite.node.startswith("symbol:"):
        place, _, name = cite.node.removeprefix("symbol:").partition("::")
        return _of_symbol(inquiry, name) if place.endswith(path) else None
    return "inferred" if cite.node.startswith("file:") and cite.node.endswith(path) else None


def _of_symbol(inquiry: Inquiry, name: str) -> Basis | None:
    """True if a memory is about a symbol around the target, or about the target itself."""
    first, last = inquiry.span
    symbols = inquiry.text.outline.symbols if inquiry.text is not None else ()
    for each in symbols:
        if name in (each.qualname, each.name) and each.line <= last and each.end_line >= first:
            own = inquiry.target.kind == "symbol" and (each.line, each.end_line) == (first, last)
            return "stated" if own else "inferred"
    return None


def memory_lines(inquiry: Inquiry) -> Iterator[Fact]:
    """A memory that is itself the target."""
    view = inquiry.project.memory.view(inquiry.call)
    memory = view.library.get(inquiry.target.name)
    yield Fact(f"{memory.kind.value}: {one_line(memory.text, 600)}", "stated", f"memory:{memory.id[:8]}")
    yield Fact(f"Because: {one_line(memory.rationale, 300)}", "stated", f"memory:{memory.id[:8]}")
    by = memory.origin.actor or memory.origin.trust.value
    at = f"memory:{memory.id[:8]}"
    yield Fact(f"remembered by {one_line(by, 60)} on {memory.recorded_at[:10]}", "recorded", at)
    places = view.places()
    for cite in map(places.state, memory.cites):
        yield Fact(f"is about {cite.node} ({cite.state})", "stated", cite.node)
