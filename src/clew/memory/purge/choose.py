"""Choice of the memories that a purge takes out: those that were named, and those merged from them or into them."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import InvalidArgument, NotFound
from clew.memory.model import CHANGES, MEMORIES, Memory, MemoryKind
from clew.memory.purge.requests import PurgeRequest
from clew.memory.purge.traces import Traces, pieces_of, texts_in
from clew.memory.storage.changes import ChangeRecord, spelled_time
from clew.memory.storage.units import unit_of
from clew.text.display import shortened
from clew.text.words import storable

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

SHORTEST_TEXT = 3
_PAGE = 2_000
_SAID = ("text", "title", "notes", "metadata")
"""The fields of a memory that hold written text, besides its reason, which others may have as well."""
_WHOLES = ("text", "title", "notes")
"""Fields in which a short text is searched as a whole: other values are often one word."""


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The memories that will be purged."""

    ids: frozenset[str]
    titles: tuple[str, ...]
    """Of some of them, as they are now or were last."""
    changes: dict[str, ChangeRecord]
    """The changes that touched one of them, by their hash."""
    orphans: tuple[str, ...]
    """Memories that were merged into one of them and hold none of its text: they are brought back."""
    others: tuple[str, ...]
    """Memories that hold some of the same text and stay."""
    shared: frozenset[str]
    """Parts of the text that they contain, in small letters."""
    traces: Traces
    text_hashes: frozenset[str]
    """Hashes of their present and former texts in the search index."""
    everything: bool = False


class _Images:
    """Every value that memories had, by id, and their changes."""

    def __init__(self, view: "MemoryView") -> None:
        self.by_id: dict[str, list[dict[str, Any]]] = {}
        self.live: set[str] = set()
        store = view.service.home.store
        for event in _events(view, MEMORIES):
            images = self.by_id.setdefault(event.id, [])
            images += [image for image in (event.after, event.before) if image is not None and image not in images]
            (self.live.discard if event.after is None else self.live.add)(event.id)
        self.by_id = {id: images for id, images in self.by_id.items() if images}
        self.changes = {
            record.id: msgspec.convert(record.data, ChangeRecord) for record in store.scan(CHANGES) if record.data
        }

    def holding(self, traces: Traces) -> set[str]:
        inside = traces.inside_texts
        return {
            id
            for id, images in self.by_id.items()
            if inside.in_value(images) or traces.in_value([image.get(name) for image in images for name in _WHOLES])
        }

    def pieces(self, ids: Collection[str]) -> list[str]:
        """The texts by which traces of memories are found: whole texts, however short, and long texts of other
        fields."""
        images = [image for id in ids for image in self.by_id.get(id, ())]
        wholes = (str(image.get("text", "")).strip() for image in images)
        rest = (piece for image in images for piece in pieces_of([image.get(name) for name in _SAID]))
        return list(dict.fromkeys((*(text for text in wholes if len(text) >= SHORTEST_TEXT), *rest)))

    def text_hashes(self, ids: Collection[str]) -> Iterator[str]:
        for id in ids:
            yield from (unit_of(msgspec.convert(image, Memory)).text_hash() for image in self.by_id.get(id, ()))

    def traces(self, ids: Collection[str], text: str | None) -> Traces:
        return Traces(self.pieces(ids), anywhere=(text,) if text else ())

    def said_by(self, ids: Collection[str], traces: Traces) -> frozenset[str]:
        """The pieces that these memories contain, in small letters."""
        return frozenset().union(*(traces.pieces_in(text) for id in ids for text in texts_in(self.by_id[id])))

    def related(self, id: str) -> set[str]:
        """The memories that were merged into one, or into which it was merged."""
        found: set[str] = set()
        for change in self.changes.values():
            merged, sources = change.details.get("merged"), change.details.get("sources", ())
            if id == merged:
                found.update(sources)
            elif id in sources and merged:
                found.add(merged)
        return found


def choose(view: "MemoryView", wanted: PurgeRequest) -> Chosen:
    """The memories that a purge takes out. NotFound where there are none."""
    if not wanted.ids and not wanted.has_conditions and not wanted.all_:
        raise InvalidArgument(
            "It was not said what to purge.", hint="Name ids, or pass --text, --kind, --before or --all; see --help."
        )
    text = None if wanted.text_ is None else storable(wanted.text_).strip()
    if text is not None and len(text) < SHORTEST_TEXT:
        raise InvalidArgument(
            f"'{shortened(text)}' has {len(text)} characters; at least {SHORTEST_TEXT} are needed to purge by text.",
            hint="Name the memories by their ids.",
        )
    images = _Images(view)
    ids = _named(view, wanted, text, images)
    if not ids and text is None and not wanted.all_:
        raise NotFound("No memory fits, so nothing was purged.", hint="`clew memory list` shows what there is.")
    traces = images.traces(ids, text)
    family = set() if wanted.all_ else _family(ids, images, traces) - ids
    if family:
        # What a memory says that stays, as one that was merged with these may, is not looked for elsewhere.
        shared = images.said_by(images.by_id.keys() - ids - family, Traces(images.pieces(family)))
        merged = [piece for piece in images.pieces(family) if traces.in_text(piece) or piece.casefold() not in shared]
        traces, ids = Traces([*images.pieces(ids), *merged], anywhere=(text,) if text else ()), ids | family
    # What a hook saw word for word is a copy.
    ids |= {id for id in images.holding(traces) if images.by_id[id][-1].get("kind") == MemoryKind.EPISODE.value}
    changes = {hash: change for hash, change in images.changes.items() if ids & _memories_of(change)}
    others = images.holding(traces) - ids
    latest = [images.by_id[id][-2 if len(images.by_id[id]) > 1 else -1] for id in sorted(ids)[:10]]
    return Chosen(
        ids=frozenset(ids),
        titles=tuple(str(image.get("title", "")) for image in latest),
        changes=changes,
        orphans=_orphans(ids, images),
        others=tuple(sorted(others)),
        shared=images.said_by(others, traces),
        traces=traces,
        text_hashes=frozenset(images.text_hashes(ids)),
        everything=wanted.all_,
    )


def _named(view: "MemoryView", wanted: PurgeRequest, text: str | None, images: _Images) -> set[str]:
    if wanted.all_:
        return set(images.by_id)
    named = {view.library.any_named(id) for id in wanted.ids}
    if not wanted.has_conditions:
        return named
    held = Traces((), anywhere=(text,)) if text else None
    before = spelled_time(wanted.before)
    return {
        id
        for id, values in images.by_id.items()
        if (not named or id in named)
        and (not wanted.forgotten or id not in images.live)
        and (held is None or held.in_value(values))
        and _fits(msgspec.convert(values[-1], Memory), wanted, before)
    }


def _fits(memory: Memory, wanted: PurgeRequest, before: str | None) -> bool:
    return (
        wanted.kind in (None, memory.kind.value)
        and wanted.session in (None, memory.origin.session)
        and wanted.agent in (None, memory.scope.agent)
        and (before is None or memory.recorded_at < before)
    )


def _family(ids: set[str], images: _Images, traces: Traces) -> set[str]:
    """The memories that were merged from these, or into them, and hold some of their text."""
    holding = images.holding(traces)
    found, todo = set(ids), list(ids)
    while todo:
        new = (images.related(todo.pop()) & holding) - found
        found |= new
        todo += new
    return found


def _orphans(ids: set[str], images: _Images) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for change in images.changes.values():
        if change.details.get("merged") in ids:
            sources = change.details.get("sources", ())
            found.update(dict.fromkeys(id for id in sources if id not in ids and id not in images.live))
    return tuple(id for id in found if id in images.by_id)


def _memories_of(change: ChangeRecord) -> set[str]:
    """The memories that a change touched, also by a link."""
    ends = (end for collection, id, _ in change.touched if collection != MEMORIES for end in id.split(".")[::2])
    return {*change.memories, *ends}


def _events(view: "MemoryView", collection: str) -> Iterator[Any]:
    after, store = 0, view.service.home.store
    while page := store.events(collection=collection, after=after, limit=_PAGE):
        yield from page
        after = page[-1].seq
