"""From a file of the mirror to a change of the memory. Text that comes from a repository has to be accepted by the
user."""

from typing import TYPE_CHECKING

import msgspec

from clew.errors import NotFound
from clew.memory.mirror.markdown import FileFields, said_of
from clew.memory.model import LINKS, Cite, Memory, MemoryLinkKind, MemoryScope, Origin, TrustLevel, new_id
from clew.memory.places import Places, each_once
from clew.memory.storage.changes import ChangeJournal
from clew.memory.texts.admit import title_of
from clew.memory.texts.scrub import scrub
from clew.text.instruction_like import flags_of

if TYPE_CHECKING:
    from clew.memory.storage.library import MemoryReader

ACTOR = "mirror"


def scrubbed(said: FileFields) -> FileFields:
    """The fields of a file, without secrets."""
    return msgspec.structs.replace(
        said,
        text=scrub(said.text).text,
        title=scrub(said.title).text,
        why=scrub(said.why).text,
        notes=scrub(said.notes).text,
        tags=tuple(scrub(tag).text for tag in said.tags),
    )


def remembered(said: FileFields, library: "MemoryReader", changes: ChangeJournal, places: Places) -> Memory:
    """Store a memory for a new file."""
    home = library.home
    about, said = _cites(said.about, places), scrubbed(said)
    with changes.make("import", ACTOR, said.why) as change:
        memory = Memory(
            id=said.id or new_id(),
            kind=said.kind,
            text=said.text,
            title=said.title,
            rationale=said.why,
            recorded_at=change.at,
            scope=MemoryScope(repository=home.repository, folder=home.inside, branch=home.branch()),
            origin=Origin(trust=TrustLevel.DOCUMENT, actor=ACTOR),
            tags=said.tags,
            notes=said.notes,
            importance=said.importance,
            cites=each_once((*about, *places.mentioned(said.text))),
            flags=flags_of(f"{said.title}\n{said.text}"),
        )
        change.put(memory)
    return memory


def edited(before: Memory, said: FileFields, changes: ChangeJournal, places: Places) -> Memory:
    """Change a memory to the present text of its file."""
    known = said_of(before)
    own = {cite.node: cite for cite in before.cites if cite.kind is MemoryLinkKind.ABOUT}
    about = tuple(own.values()) if said.about == known.about else _cites(said.about, places, own)
    said = scrubbed(said)
    title = said.title if said.title != known.title or said.text == known.text else title_of(said.text)
    mentioned = places.mentioned(said.text)
    with changes.make("edit", ACTOR, said.why) as change:
        memory = msgspec.structs.replace(
            change.memory(before.id),
            kind=said.kind,
            text=said.text,
            title=title,
            rationale=said.why,
            tags=said.tags,
            notes=said.notes,
            importance=said.importance,
            cites=each_once((*about, *mentioned)),
            flags=flags_of(f"{title}\n{said.text}"),
            # An earlier acceptance does not cover the new text.
            origin=msgspec.structs.replace(before.origin, trust=TrustLevel.DOCUMENT, accepted_at=None),
        )
        change.put(memory)
    return memory


def forgotten(id: str, library: "MemoryReader", changes: ChangeJournal) -> None:
    """Forget a memory whose file was deleted; it can be restored for 30 days."""
    with changes.make("forget", ACTOR, "its file in the mirror was deleted") as change:
        for link in library.index.links([id]):
            if change.present(LINKS, link.id) is not None:
                change.unlink(link)
        change.delete(id)
        change.details = {"reason": "user_requested"}


def _cites(about: tuple[str, ...], places: Places, known: dict[str, Cite] | None = None) -> tuple[Cite, ...]:
    """Citations of existing places; an earlier citation keeps its content hash."""
    found: list[Cite] = []
    for each in about:
        try:
            cite = places.cite(each)
        except NotFound:
            continue
        found.append((known or {}).get(cite.node, cite))
    return tuple(found)
