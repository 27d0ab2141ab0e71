"""Where a piece of a section stands in its file."""

from clew.kb.ingest.records import SectionRecord


def lines_in(section: SectionRecord, text: str, start: int, end: int) -> tuple[int, int]:
    """The first and the last line of text[start:end]; those of the whole section where its text has other lines than
    the file, as that of HTML, notebooks and docstrings has."""
    if text.count("\n") != section.end_line - section.line:
        return section.line, section.end_line
    first = section.line + text.count("\n", 0, start)
    return first, first + text.count("\n", start, end)
