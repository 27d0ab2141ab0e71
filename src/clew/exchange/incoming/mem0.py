"""An export of mem0: a list of memories, or an object with `results` or `memories`."""

from clew.errors import FormatError
from clew.exchange.memories import kind_of, left_out, memory_lines
from clew.exchange.model import Exchange
from clew.exchange.sources import ImportSource, listing, mapping, string
from clew.text.display import shortened

_LISTS = ("results", "memories")
_PLACED = frozenset({"id", "memory", "text", "data", "created_at", "categories", "metadata"})


def read(source: ImportSource) -> Exchange:
    document = source.json()
    if isinstance(document, dict):
        name = next((name for name in _LISTS if name in document), None)
        if name is None:
            raise FormatError(
                f"'{source.name}' has neither 'results' nor 'memories'.",
                hint="Export with get_all, or name a list of memories. Nothing was changed.",
            )
        document = document[name]
    lines: list[str] = []
    seen: set[str] = set()
    empty: list[str] = []
    for number, raw in enumerate(listing(document, f"'{source.name}'"), start=1):
        each = mapping(raw, f"Memory {number}")
        text = string(each.get("memory") or each.get("text") or each.get("data"))
        if not text.strip():
            empty.append(string(each.get("id")) or f"number {number}")
            continue
        id = string(each.get("id")) or text
        if id in seen:
            raise FormatError(
                f"The id '{shortened(id)}' is used by more than one memory; an id names one.",
                hint="Give each memory an id of its own in the source. Nothing was changed.",
            )
        seen.add(id)
        own = each.get("metadata") if isinstance(each.get("metadata"), dict) else {}
        words = [string(word) for word in each.get("categories") or ()]
        kinds = (kind_of(word) for word in (string((own or {}).get("type")), *words))
        lines.extend(
            memory_lines(
                source.name,
                id,
                text,
                kind=next((kind for kind in kinds if kind != "fact"), "fact"),
                at=string(each.get("created_at")),
                tags=words,
                metadata={**(own or {}), **{name: value for name, value in each.items() if name not in _PLACED}},
            )
        )
    if empty and not lines:
        raise FormatError(
            f"No memory of '{source.name}' has a text.", hint="A memory has the field 'memory'. Nothing was changed."
        )
    return Exchange(memories=tuple(lines), notes=left_out(empty))
