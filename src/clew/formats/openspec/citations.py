"""References to specs in the comments of code and tests."""

from clew.formats.elspais.ids import ParsedReference
from clew.formats.openspec.references import SpecReference, format_reference, parse_reference


def spec_citation(word: str) -> ParsedReference | None:
    """What a word of a list of references cites. One without a scenario counts only where no other words stand beside
    it: `client/server` may as well be a word."""
    reference = parse_reference(word)
    if reference is None:
        return None
    target = format_reference(SpecReference(reference.spec_id, reference.requirement))
    return ParsedReference(target, reference.scenarios, () if reference.scenarios else ("alias",))
