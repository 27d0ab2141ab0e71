"""basic-memory: a folder of Markdown notes. A note is a memory; a relation to another note is a link.

The kind of a memory is that of its note, or that of its observations where all have the same: `- [decision] ...`.
"""

import re
from pathlib import Path

from clew.exchange.memories import kind_of, left_out, link_line, memory_lines
from clew.exchange.model import Exchange
from clew.exchange.sources import ImportSource, string
from clew.formats.documents.front_matter import read_front_matter
from clew.text.display import counted
from clew.text.lines import TextLines

_OBSERVATION = re.compile(r"\s*[-*] \[([^\]\[]+)\] +\S.*")
_RELATION = re.compile(r"\s*[-*] (?:\"([^\"]+)\"|([\w -]+?))?\s*\[\[([^\]]+)\]\].*")
_TAG = re.compile(r"(?<![\w#&])#([A-Za-z][\w/-]*)")
_PLACED = frozenset({"title", "type", "tags", "permalink", "created", "modified", "date"})


def read(source: ImportSource) -> Exchange:
    lines: list[str] = []
    empty: list[str] = []
    places: dict[str, str] = {}
    relations: list[tuple[str, str, str]] = []
    for path in source.files(".md"):
        text = ImportSource(path).text() if source.is_folder else source.text()
        id, found, cited = _note(source, path, text)
        lines.extend(found)
        empty += [id] if not found else []
        relations += cited
        for name in (id, path.stem, *_names(text)):
            places.setdefault(name.casefold(), id)
    links = [
        link_line(source.name, start, places[target.casefold()], kind)
        for start, kind, target in relations
        if places.get(target.casefold(), start) != start
    ]
    lines.extend(dict.fromkeys(links))
    lost = sum(target.casefold() not in places for _, _, target in relations)
    leads = counted(lost, "relation leads", "relations lead")
    note = f"{leads} to notes that are not there; the texts of the memories still have them."
    return Exchange(memories=tuple(lines), notes=(*left_out(empty), *((note,) if lost else ())))


def _names(text: str) -> list[str]:
    values = read_front_matter(TextLines(text)).values
    return [string(values[name]) for name in ("title", "permalink") if values.get(name)]


def _note(source: ImportSource, path: Path, text: str) -> tuple[str, list[str], list[tuple[str, str, str]]]:
    front = read_front_matter(TextLines(text))
    values = front.values
    body = text.split("\n")[front.after :]
    id = string(values.get("permalink")) or source.relative(path).removesuffix(".md")
    categories = [found[1].strip() for line in body if (found := _OBSERVATION.fullmatch(line))]
    kinds = {kind_of(each) for each in (string(values.get("type")), *categories)} - {"fact"}
    given = values.get("tags") or ()
    tags = [string(tag) for tag in given] if isinstance(given, list) else re.split(r"[,\s]+", string(given))
    tags += [tag for line in body if _OBSERVATION.fullmatch(line) for tag in _TAG.findall(line)]
    lines = memory_lines(
        source.name,
        id,
        "\n".join(body),
        title=string(values.get("title")) or path.stem,
        kind=kinds.pop() if len(kinds) == 1 else "fact",
        at=string(values.get("created") or values.get("date")),
        tags=tags,
        metadata={name: value for name, value in values.items() if name not in _PLACED},
    )
    relations = [_RELATION.fullmatch(line) for line in body]
    cited = [
        (id, (each[1] or each[2] or "relates_to").strip(), each[3].partition("|")[0]) for each in relations if each
    ]
    return id, list(lines), cited
