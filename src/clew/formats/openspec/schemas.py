"""`openspec/schemas/NAME/schema.yaml`: the artefacts that a project wants its changes to have, in an order of its own.

Of YAML this reads what OpenSpec documents for the file, as `settings` does. What breaks one of OpenSpec's rules is a
problem, and a schema with one is not used.
"""

import re
from collections.abc import Iterator, Mapping

import msgspec

from clew.formats.openspec.settings import SettingsLines

FOLDER, FILE, TEMPLATES = "schemas", "schema.yaml", "templates"
MOST_ARTEFACTS = 1_000
NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}")
"""Pattern of a schema's name, which is that of its folder."""


class SchemaArtefact(msgspec.Struct, frozen=True):
    id: str
    generates: str
    """Its file below the folder of a change, or a glob for several."""
    description: str = ""
    template: str = ""
    """The name of a file below `templates`."""
    instruction: str = ""
    requires: tuple[str, ...] = ()


class Applying(msgspec.Struct, frozen=True):
    """Rules for carrying out a change."""

    requires: tuple[str, ...] = ()
    """Artefacts that have to exist before."""
    tracks: str = ""
    """The file with the tasks, below the folder of a change, or a glob; none where no tasks are counted."""
    instruction: str = ""


class Schema(msgspec.Struct, frozen=True):
    name: str
    description: str = ""
    artefacts: tuple[SchemaArtefact, ...] = ()
    applying: Applying = Applying()
    problems: tuple[str, ...] = ()


def read_schema(data: bytes) -> Schema:
    """The schema in a file. Never fails: what cannot be read is among the problems."""
    lines = SettingsLines(data.decode("utf-8", "replace").removeprefix("\ufeff").splitlines())
    values: dict[str, str] = {}
    artefacts: list[SchemaArtefact] = []
    applying = Applying()
    while (key := lines.next_key(0)) is not None:
        name, written = key
        if name == "artifacts" and not written:
            artefacts = list(_artefacts(lines))
        elif name == "apply" and not written:
            applying = _apply(lines)
        else:
            values[name] = lines.value(written, 0)
    schema = Schema(values.get("name", ""), values.get("description", ""), tuple(artefacts), applying)
    faults = (*lines.problems, *_faults(schema, values))
    return msgspec.structs.replace(schema, problems=faults)


def _artefacts(lines: SettingsLines) -> Iterator[SchemaArtefact]:
    indent = lines.indent()
    while indent >= 0 and (depth := lines.open_item(indent)):
        values: dict[str, str] = {}
        requires: tuple[str, ...] = ()
        while (key := lines.next_key(depth)) is not None:
            name, written = key
            if name == "requires":
                requires = lines.texts(written, depth)
            else:
                values[name] = lines.value(written, depth)
        known = {name: values.get(name, "") for name in ("id", "generates", "description", "template", "instruction")}
        yield SchemaArtefact(**known, requires=requires)


def _apply(lines: SettingsLines) -> Applying:
    requires: tuple[str, ...] = ()
    values: dict[str, str] = {}
    indent = lines.indent()
    while indent > 0 and (key := lines.next_key(indent)) is not None:
        name, written = key
        if name == "requires":
            requires = lines.texts(written, indent)
        else:
            values[name] = lines.value(written, indent)
    tracks = values.get("tracks", "")
    return Applying(requires, "" if tracks in ("null", "~") else tracks, values.get("instruction", "").strip())


def _faults(schema: Schema, values: Mapping[str, str]) -> Iterator[str]:
    """Faults that OpenSpec refuses too."""
    if not schema.name:
        yield "it has no name"
    if not re.fullmatch(r"0*[1-9][0-9]{0,8}", values.get("version", "")):
        yield "its version is not a positive number"
    if not 0 < len(schema.artefacts) <= MOST_ARTEFACTS:
        yield f"it names {len(schema.artefacts)} artifacts; 1 to {MOST_ARTEFACTS} are allowed"
        return
    known = {each.id for each in schema.artefacts}
    if len(known) < len(schema.artefacts):
        yield "two artifacts have the same id"
    for each in schema.artefacts:
        for key, path in (("generates", each.generates), ("template", each.template)):
            if not path or _leads_out(path):
                yield f"{key} of artifact {each.id!r} is {path!r}, and no path inside its folder"
        yield from (
            f"artifact {each.id!r} requires {one!r}, which is none" for one in each.requires if one not in known
        )
    applying = schema.applying
    yield from (f"apply requires {one!r}, which is not an artifact" for one in applying.requires if one not in known)
    if _leads_out(applying.tracks):
        yield f"apply tracks {applying.tracks!r}, and no path inside its folder"
    if circle := _in_a_circle(schema.artefacts):
        yield f"{', '.join(circle)} require one another"


def _leads_out(path: str) -> bool:
    return path.startswith(("/", "\\")) or ".." in re.split(r"[\\/]+", path) or ":" in path[:2]


def _in_a_circle(artefacts: tuple[SchemaArtefact, ...]) -> list[str]:
    """The artefacts that can never be written, because each waits for another of them."""
    waiting = {each.id: set(each.requires) for each in artefacts}
    while ready := [id for id, needed in waiting.items() if not needed & waiting.keys()]:
        for id in ready:
            del waiting[id]
    return list(waiting)
