"""Targets that are texts: a section of a document, a spec, an open change of specs, or a requirement in one."""

from typing import TYPE_CHECKING

from clew.errors import NotFound
from clew.formats.openspec.references import requirement_id
from clew.text.display import shortened

if TYPE_CHECKING:
    from clew.formats.documents.model import Section
    from clew.operation.call import Call
    from clew.why.target import Target


def find_section(call: "Call", text: str, path: str, anchor: str) -> "Target":
    """A section of a document, by the anchor of a link to it, or by its heading. NotFound if there is no such
    section."""
    from clew.formats.documents.outline import slug
    from clew.formats.documents.reader import read_document
    from clew.why.target import Target, read_text

    content = read_text(call.project, path)
    sections = read_document(content.data, path).sections if content is not None else ()
    wanted = slug(anchor.rpartition("/")[2])
    for each in sections:
        if anchor in (each.anchor, each.key, *each.labels) or wanted in (each.anchor, slug(each.title)):
            return Target(
                asked=text,
                kind="section",
                name=f"{path}#{anchor}",
                title=each.title,
                path=path,
                first=each.line,
                last=_last_line(sections, each),
            )
    raise NotFound(
        f"Not known: {path} has no section '{shortened(anchor)}'.", hint=f"`clew kb show {path}` lists them."
    )


def _last_line(sections: "tuple[Section, ...]", section: "Section") -> int:
    """Last line of a section, those below it included."""
    last, inside = section.end_line, {sections.index(section)}
    for number, each in enumerate(sections):
        if each.parent in inside:
            inside.add(number)
            last = max(last, each.end_line)
    return last


def find_spec(call: "Call", text: str) -> "Target | None":
    """A spec, an open change, or a requirement that an open change adds."""
    from clew.why.target import Target

    project = call.project
    if " " in text:
        return None
    with project.context.lock.reading():
        library = project.specs.library
        entry = library.specs.get(text.removeprefix("spec:"))
        if entry is not None:
            return Target(asked=text, kind="spec", name=entry.outline.id, title=entry.outline.title, path=entry.path)
        change = library.changes.get(text.removeprefix("change:"))
        if change is not None:
            path = f"{change.folder}/proposal.md"
            found = path if (project.config.root / path).is_file() else next(iter(change.delta_paths.values()), None)
            return Target(asked=text, kind="change", name=change.change.id, path=found)
        for change in library.changes.values():
            for delta in change.change.deltas:
                for each in (*delta.modified, *delta.added):
                    if requirement_id(delta.spec_id, each.slug) == text:
                        line = each.span.line
                        end = line + each.raw.rstrip("\n").count("\n")
                        path = change.delta_paths[delta.spec_id]
                        return Target(
                            asked=text, kind="change", name=text, title=each.name, path=path, first=line, last=end
                        )
    return None
