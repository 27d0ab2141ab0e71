"""The JSONL file of the reference memory server of MCP: entities with observations, and relations between them."""

from clew.errors import FormatError
from clew.exchange.memories import kind_of, link_line, memory_lines
from clew.exchange.model import Exchange
from clew.exchange.sources import Source, json_of, listing, mapping, string

_HINT = 'A line is {"type": "entity", ...} or {"type": "relation", ...}. Nothing was changed.'


def read(source: Source) -> Exchange:
    lines: list[str] = []
    names: set[str] = set()
    relations: list[tuple[str, str, str]] = []
    for number, line in enumerate(source.data().removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        value = mapping(json_of(line, source.name, number), f"Line {number}")
        match value.get("type"):
            case "entity":
                name, kind = string(value.get("name")), string(value.get("entityType"))
                if not name or name in names:
                    problem = "has no name" if not name else f"names '{name}' a second time"
                    raise FormatError(f"Line {number} of '{source.name}' {problem}.", hint=_HINT)
                names.add(name)
                said = [string(each) for each in listing(value.get("observations") or [], f"Line {number}")]
                text = "\n".join((f"{name} ({kind})" if kind else name, *(f"- {each}" for each in said)))
                lines.extend(memory_lines(source.name, name, text, title=name, kind=kind_of(kind), tags=(kind,)))
            case "relation":
                ends = (string(value.get("from")), string(value.get("to")))
                relations.append((*ends, string(value.get("relationType"))))
            case other:
                raise FormatError(f"Line {number} of '{source.name}' has the type {other!r}.", hint=_HINT)
    known = [each for each in relations if {each[0], each[1]} <= names]
    lines.extend(dict.fromkeys(link_line(source.name, start, end, kind) for start, end, kind in known))
    lost = len(relations) - len(known)
    notes = (f"{lost} relations lead to entities that are not in the file; they are not imported.",) if lost else ()
    return Exchange(memories=tuple(lines), notes=notes)
