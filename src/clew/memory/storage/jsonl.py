"""Memories as lines of JSON: what is written is read back as it was.

A line is a memory or a link between two of them. What happened to memories stays behind, as do forgotten ones, and
whether somebody used them. The id of the repository is left out: memories belong to the one they are read into.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from clew.errors import InvalidArgument
from clew.memory.model import (
    LONGEST_NAME,
    LONGEST_NOTES,
    LONGEST_RATIONALE,
    LONGEST_TEXT,
    MEMORIES,
    Link,
    Memory,
    MemoryKind,
    TrustLevel,
)
from clew.memory.scope import MemoryFilters
from clew.memory.storage.changes import moment_of
from clew.memory.storage.library import normal_id
from clew.memory.texts.admit import check_lists, check_text, scrubbed_metadata
from clew.memory.texts.scrub import scrub
from clew.text.controls import escaped_json
from clew.text.instruction_like import flags_of
from clew.text.words import storable

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

_PAGE = 500
_FOLDER = re.compile(r"(?:[^/\x00-\x1f\\]+(?:/[^/\x00-\x1f\\]+)*)?")
_LONGEST_NODE = 1_000


class ExportedLines(msgspec.Struct, frozen=True, kw_only=True):
    memories: int
    private: int
    """Number of them that only their owner sees."""
    links: int
    lines: tuple[str, ...]


class ImportedLines(msgspec.Struct, frozen=True, kw_only=True):
    added: int
    unchanged: int
    """Were there already."""
    kept: tuple[str, ...]
    """Memories that say something else here than in the file; they stay as they are."""
    links: int
    reversal_hash: str | None
    """Undoes the import; null where nothing was new."""
    truncated: bool = False


class _Lines(NamedTuple):
    memories: list[Memory]
    links: list[Link]


def exported(view: "MemoryView", filters: MemoryFilters, *, private: bool) -> ExportedLines:
    """All memories that may be seen, in the order in which they were recorded, and the links between them."""
    memories = [memory for memory in _all(view, filters) if private or memory.scope.visibility == "team"]
    memories.sort(key=lambda memory: (memory.recorded_at, memory.id))
    ids = {memory.id for memory in memories}
    links = [
        link
        for link in view.library.index.links(sorted(ids), inward=False)
        if link.source in ids and link.target in ids
    ]
    links.sort(key=lambda link: link.id)
    lines = [*(_line("memory", _portable(memory)) for memory in memories), *(_line("link", link) for link in links)]
    return ExportedLines(
        memories=len(memories),
        private=sum(memory.scope.visibility == "private" for memory in memories),
        links=len(links),
        lines=tuple(lines),
    )


def _all(view: "MemoryView", filters: MemoryFilters) -> Iterator[Memory]:
    offset = 0
    while page := view.library.latest(_PAGE, filters, offset):
        yield from (memory for memory, _ in page if memory.kind is not MemoryKind.EPISODE)
        offset += len(page)


def _portable(memory: Memory) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(memory)
    return {**values, "scope": {name: value for name, value in values["scope"].items() if name != "repository"}}


def _line(kind: str, value: Any) -> str:
    return escaped_json(msgspec.json.encode({kind: value}).decode())


def imported(view: "MemoryView", text: str, *, as_document: bool, dry_run: bool = False) -> ImportedLines:
    """Remember what lines say, all of them or none. `as_document` is for files of others: what they say is not injected
    before somebody accepts it. With `dry_run` nothing is written."""
    lines = _read(view, text)
    store = view.service.home.store
    known = store.get_many(MEMORIES, (memory.id for memory in lines.memories))
    present = {id: msgspec.convert(record.data, Memory) for id, record in known.items()}
    new = [memory for memory in lines.memories if memory.id not in present]
    kept = [memory.id for memory in lines.memories if _differs(memory, present.get(memory.id), as_document)]
    if as_document:
        new = [_of_a_document(memory) for memory in new]
    there = {*(memory.id for memory in lines.memories)}
    ends = view.library.index.visible({end for link in lines.links for end in (link.source, link.target)}, view.viewer)
    links = [link for link in lines.links if {link.source, link.target} <= there | set(ends)]
    had = {link.id for link in view.library.index.links([memory.id for memory in lines.memories], inward=False)}
    links = [link for link in links if link.id not in had]
    if not new and not links:
        return ImportedLines(added=0, unchanged=len(present) - len(kept), kept=tuple(kept), links=0, reversal_hash=None)
    if dry_run:
        same = len(present) - len(kept)
        return ImportedLines(added=len(new), unchanged=same, kept=tuple(kept), links=len(links), reversal_hash=None)
    with view.changes.make("import", view.actor, "read from a file") as change:
        for memory in new:
            change.put(memory)
        for link in links:
            change.link(link)
    view.units.follow()
    return ImportedLines(
        added=len(new),
        unchanged=len(present) - len(kept),
        kept=tuple(kept),
        links=len(links),
        reversal_hash=change.hash,
    )


def _differs(memory: Memory, here: Memory | None, as_document: bool) -> bool:
    """True if a memory differs from the line. A later change of a memory from another file, such as its acceptance, is
    no difference."""
    if here is None or not as_document:
        return here is not None and here != memory
    return (here.text, here.title) != (memory.text, memory.title)


def _of_a_document(memory: Memory) -> Memory:
    return msgspec.structs.replace(
        memory, origin=msgspec.structs.replace(memory.origin, trust=TrustLevel.DOCUMENT, accepted_at=None)
    )


def _read(view: "MemoryView", text: str) -> _Lines:
    found = _Lines([], [])
    for number, line in _numbered(text):
        try:
            value = msgspec.json.decode(line)
            if not isinstance(value, dict) or set(value) not in ({"memory"}, {"link"}):
                raise InvalidArgument("It is neither a memory nor a link.", hint="See `clew memory export`.")
            if "link" in value:
                found.links.append(_checked_link(value["link"]))
            else:
                found.memories.append(_checked(value["memory"], view.service.home.repository))
        except (msgspec.DecodeError, RecursionError) as error:
            raise InvalidArgument(
                f"Line {number} cannot be read: {error}.", hint="Correct the file. Nothing was written."
            ) from error
        except InvalidArgument as error:
            raise InvalidArgument(
                f"Line {number}: {error.message}", hint="Correct the file. Nothing was written."
            ) from error
    twice = len(found.memories) - len({memory.id for memory in found.memories})
    if twice:
        raise InvalidArgument(f"{twice} ids come twice.", hint="Correct the file. Nothing was written.")
    return found


def _numbered(text: str) -> Iterable[tuple[int, str]]:
    # Not by splitlines, which also ends a line where a text holds U+2028.
    lines = storable(text).removeprefix("\ufeff").split("\n")
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _checked(value: Any, repository: str) -> Memory:
    scope = value.get("scope") if isinstance(value, dict) else None
    if isinstance(scope, dict):
        value = {**value, "scope": {**scope, "repository": repository}}
    memory = msgspec.convert(value, Memory)
    if normal_id(memory.id) != memory.id:
        raise InvalidArgument(f"'{memory.id}' is not an id of a memory.", hint="")
    if not _FOLDER.fullmatch(memory.scope.folder) or ".." in memory.scope.folder.split("/"):
        raise InvalidArgument(f"'{memory.scope.folder}' is not a folder of a repository.", hint="")
    for share in (memory.importance, memory.confidence):
        if share is not None and not 0 <= share <= 1:
            raise InvalidArgument(f"{share} is not between 0 and 1.", hint="")
    for time in (memory.recorded_at, memory.valid_from, memory.valid_to, memory.retired_at):
        if time is not None:
            moment_of(time)
    check_lists(tags=memory.tags, cites=tuple(cite.node[:_LONGEST_NODE] for cite in memory.cites))
    text = scrub(check_text("text", memory.text, LONGEST_TEXT)).text
    return msgspec.structs.replace(
        memory,
        text=text,
        title=scrub(check_text("title", memory.title, LONGEST_NAME)).text,
        rationale=scrub(memory.rationale[:LONGEST_RATIONALE]).text,
        notes=scrub(memory.notes[:LONGEST_NOTES]).text,
        tags=tuple(scrub(tag).text for tag in memory.tags),
        metadata=scrubbed_metadata(memory.metadata),
        flags=tuple(dict.fromkeys((*memory.flags, *flags_of(text)))),
    )


def _checked_link(value: Any) -> Link:
    link = msgspec.convert(value, Link)
    if not 0 <= link.weight <= 1 or not 0 <= link.confidence <= 1:
        raise InvalidArgument("The weight of a link is not between 0 and 1.", hint="")
    return msgspec.structs.replace(
        link, source=normal_id(link.source), target=normal_id(link.target), origin=scrub(link.origin).text
    )
