"""The passages of a file that a citation can name: a function or class, and a section of a document."""

import re

_PIECE = re.compile(r"~\d+$")


def symbol_text(text: str, path: str, name: str) -> str | None:
    """The lines of a function or class, by its name or its names from the outermost on; None where there is none."""
    from clew.formats.code.comments import tokens
    from clew.formats.code.definitions.scan import definitions
    from clew.formats.code.languages import family_for

    family = family_for(path)
    if family is None:
        return None
    for each in definitions(text, tokens(text, family), family):
        if name in (each.qualname, each.names[-1]):
            return "\n".join(text.splitlines()[each.line - 1 : each.end_line])
    return None


def section_text(text: str, path: str, name: str) -> tuple[str, str] | None:
    """The key and the text of a section, by its key, its anchor or another name that links may use; without what stands
    below headings of its own. None where there is none."""
    from clew.formats.documents.reader import read_document

    # A long section is indexed in several pieces, of which the later ones have a number.
    wanted = _PIECE.sub("", name)
    document = read_document(text.encode("utf-8", "surrogatepass"), path)
    sections = document.sections
    found = next((each for each in sections if wanted == each.key), None) or next(
        (each for each in sections if wanted in (each.anchor, *each.labels)), None
    )
    return None if found is None else (found.key, document.text[found.start : found.end])
