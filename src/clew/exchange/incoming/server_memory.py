"""The JSONL file of the reference memory server of MCP: entities with observations, and relations between them.

A relation to an entity that is not in the file is a sentence in the text of the memory that has it; one between two
such entities is a memory of its own.
"""

from typing import Any

import msgspec

from clew.errors import FormatError
from clew.exchange.memories import kind_of, link_line, memory_lines
from clew.exchange.model import Exchange
from clew.exchange.sources import ImportSource, json_of, listing, mapping, string
from clew.text.display import counted, shortened

_HINT = 'A line is {"type": "entity", ...} or {"type": "relation", ...}. Nothing was changed.'
_READ = frozenset({"type", "name", "entityType", "observations"})


class _Entity(msgspec.Struct, frozen=True):
    kind: str
    observations: tuple[str, ...]
    others: dict[str, Any]
    """Further keys of the file."""


class _Relation(msgspec.Struct, frozen=True):
    start: str
    end: str
    kind: str

    @property
    def id(self) -> str:
        """Its parts with a mark between them that no name has: other parts may give the same sentence."""
        return "\0".join((self.start, self.kind, self.end))

    def sentence(self) -> str:
        return " ".join(filter(None, (self.start, self.kind, self.end)))


def read(source: ImportSource) -> Exchange:
    entities: dict[str, _Entity] = {}
    relations: list[_Relation] = []
    for number, line in enumerate(source.data().removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        value = mapping(json_of(line, source.name, number), f"Line {number}")
        match value.get("type"):
            case "entity":
                name = _name(value.get("name"))
                if not name:
                    raise FormatError(f"Line {number} of '{source.name}' has no name.", hint=_HINT)
                if name in entities:
                    raise FormatError(
                        f"Line {number} of '{source.name}' names '{shortened(name)}' a second time; names are unique.",
                        hint="Join the two lines, or rename one. Nothing was changed.",
                    )
                said = tuple(string(each) for each in listing(value.get("observations") or [], f"Line {number}"))
                others = {key: each for key, each in value.items() if key not in _READ}
                entities[name] = _Entity(string(value.get("entityType")), said, others)
            case "relation":
                words = (_name(value.get(key)) for key in ("from", "to", "relationType"))
                relations.append(_Relation(*words))
            case other:
                raise FormatError(f"Line {number} of '{source.name}' has the type {other!r}.", hint=_HINT)
    relations = list(dict.fromkeys(relations))
    known: list[_Relation] = []
    open_ended: dict[str, list[str]] = {name: [] for name in entities}
    """By entity, the sentences about others that are not in the file."""
    alone: list[_Relation] = []
    for each in relations:
        inside = [name for name in (each.start, each.end) if name in entities]
        match inside:
            case [name]:
                open_ended[name].append(each.sentence())
            case []:
                alone.append(each)
            case _:
                known.append(each)
    lines = [line for name, entity in entities.items() for line in _memory(source.name, name, entity, open_ended[name])]
    for each in alone:
        lines.extend(memory_lines(source.name, each.id, each.sentence()))
    lines.extend(dict.fromkeys(link_line(source.name, each.start, each.end, each.kind) for each in known))
    left = len(relations) - len(known)
    leads = counted(left, "relation leads", "relations lead")
    note = f"{leads} to entities that are not in the file; they are kept with the memories."
    return Exchange(memories=tuple(lines), notes=(note,) if left else ())


def _name(value: Any) -> str:
    return string(value).replace("\0", "")


def _memory(source: str, name: str, entity: _Entity, sentences: list[str]) -> list[str]:
    title = f"{name} ({entity.kind})" if entity.kind else name
    cited = ("", "Relations:", *(f"- {each}" for each in sentences)) if sentences else ()
    text = "\n".join((title, *(f"- {each}" for each in entity.observations), *cited))
    tags = (entity.kind,)
    return list(
        memory_lines(source, name, text, title=name, kind=kind_of(entity.kind), tags=tags, metadata=entity.others)
    )
