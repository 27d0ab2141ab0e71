"""A memory as a Markdown file: its properties in the front matter, its text below."""

import json
import re
import uuid
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.formats.documents.front_matter import read_front_matter
from clew.formats.documents.outline import slug
from clew.memory.model import LONGEST_NAME, LONGEST_NOTES, LONGEST_TEXT, Memory, MemoryKind, MemoryLinkKind
from clew.memory.places import FILE, LINES, SYMBOL
from clew.memory.texts.admit import check_lists, check_rationale, check_text, kind_of, title_of
from clew.text.display import shortened
from clew.text.lines import TextLines

ENDING = ".md"
FROM_A_FILE = "Read from a file of the mirror"
_KEY = re.compile(r"([A-Za-z_]+):\s*(\S.*?)\s*$")
_LONGEST_SLUG = 48


class FileFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a memory that a user may edit in its file."""

    id: str | None
    kind: MemoryKind
    text: str
    title: str
    why: str
    tags: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    notes: str = ""
    importance: float = 0.5


def said_of(memory: Memory) -> FileFields:
    return FileFields(
        id=memory.id,
        kind=memory.kind,
        text=memory.text.strip(),
        title=memory.title,
        why=memory.rationale,
        tags=memory.tags,
        about=tuple(_place(cite.node) for cite in memory.cites if cite.kind is MemoryLinkKind.ABOUT),
        notes=memory.notes,
        importance=memory.importance,
    )


def rendered(memory: Memory) -> str:
    """The file of a memory; the same for the same memory, wherever it is written."""
    said = said_of(memory)
    fields: dict[str, Any] = {"id": said.id, "kind": said.kind.value}
    if said.title != title_of(said.text):
        fields["title"] = said.title
    fields["why"] = said.why
    fields |= {"tags": list(said.tags)} if said.tags else {}
    fields |= {"about": list(said.about)} if said.about else {}
    fields |= {"notes": said.notes} if said.notes else {}
    fields |= {"importance": said.importance} if said.importance != 0.5 else {}
    fields["recorded"] = memory.recorded_at
    fields |= {"superseded": memory.retired_at} if memory.retired_at else {}
    lines = [f"{name}: {_spelled(value)}" for name, value in fields.items()]
    return "\n".join(("---", *lines, "---", "", said.text, ""))


def file_name(memory: Memory) -> str:
    return f"{slug(memory.title)[:_LONGEST_SLUG].strip('-')}{end_of_name(memory.id)}"


def end_of_name(id: str) -> str:
    """The end of a file's name, by which the file of a memory is known whatever its title was."""
    return f"-{id[:8]}{ENDING}"


def parsed(text: str) -> FileFields:
    """The fields in a file. InvalidArgument if it describes no memory."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = TextLines(text)
    front = read_front_matter(lines)
    values = {**front.values, **_exact(lines.bare[1 : front.after])}
    body = check_text("text", "\n".join(lines.bare[front.after :]).strip(), LONGEST_TEXT)
    id, kind = values.get("id"), values.get("kind")
    if id is not None and not _is_id(id):
        raise InvalidArgument(f"The id '{shortened(str(id))}' is not that of a memory.", hint="Leave it out.")
    if kind is not None and kind not in list(MemoryKind):
        raise InvalidArgument(f"There is no kind '{shortened(str(kind))}'.", hint=f"Use {', '.join(MemoryKind)}.")
    said = FileFields(
        id=str(uuid.UUID(str(id))) if id is not None else None,
        kind=MemoryKind(kind) if kind is not None else kind_of(body),
        text=body,
        title=_text(values, "title", LONGEST_NAME) or title_of(body),
        why=check_rationale(_text(values, "why", LONGEST_TEXT) or FROM_A_FILE),
        tags=_texts(values, "tags"),
        about=_texts(values, "about"),
        notes=_text(values, "notes", LONGEST_NOTES),
        importance=_share(values.get("importance", 0.5)),
    )
    check_lists(tags=said.tags, about=said.about)
    return said


def _exact(lines: list[str]) -> dict[str, Any]:
    """The values that are written as JSON, which is how Clew writes all of them."""
    found: dict[str, Any] = {}
    for line in lines:
        match = _KEY.fullmatch(line)
        if match is not None and match[2][0] in '"[':
            try:
                found[match[1]] = json.loads(match[2])
            except ValueError:
                continue
    return found


def _spelled(value: Any) -> str:
    is_plain = isinstance(value, str) and re.fullmatch(r"[\w][\w.:+-]*", value)
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _place(node: str) -> str:
    return node.removeprefix(FILE).removeprefix(SYMBOL).removeprefix(LINES)


def _is_id(value: object) -> bool:
    try:
        return str(uuid.UUID(str(value))) == str(value).lower()
    except ValueError:
        return False


def _text(values: dict[str, Any], name: str, longest: int) -> str:
    value = values.get(name)
    return check_text(name, str(value), longest) if value not in (None, "") else ""


def _texts(values: dict[str, Any], name: str) -> tuple[str, ...]:
    value = values.get(name) or []
    items = value if isinstance(value, list) else [value]
    return tuple(check_text(name, str(item), LONGEST_TEXT) for item in items if str(item).strip())


def _share(value: object) -> float:
    if isinstance(value, int | float) and 0 <= value <= 1:
        return float(value)
    raise InvalidArgument(f"The importance is '{shortened(str(value))}'; 0 to 1 is allowed.", hint="Correct it.")
