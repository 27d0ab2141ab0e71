"""The texts of a requirement that are around its assertions, as its form shows them."""

from clew.errors import ClewError
from clew.project import Project
from clew.trace.edit.text.sections import PREAMBLE, BodySection, sections_of


def sections_of_requirement(project: Project, id: str) -> tuple[BodySection, ...]:
    """Sections of a requirement; none for one of another repository or format, whose sections cannot be edited. The
    caller holds the graph's lock."""
    try:
        return sections_of(project.mutations.record(id))
    except ClewError:
        return ()


def field_of(section: BodySection) -> str:
    """The name of a section's field in the form."""
    return f"section-{section.id.rpartition(':')[2]}"


def label_of(section: BodySection) -> str:
    return "Text" if section.heading == PREAMBLE else section.heading
