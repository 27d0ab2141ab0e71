"""Answers of the link tools."""

import msgspec


class Suggestion(msgspec.Struct, frozen=True):
    """A link that is not there and probably should be."""

    source_id: str
    source_kind: str
    """test or code."""
    source_label: str
    file: str
    line: int
    """The value for apply_link's `line`."""
    requirement_id: str
    requirement_title: str
    assertion_id: str | None
    """The assertion of the requirement that is most likely meant."""
    assertion_confidence: float | None
    """That it is a link to this assertion."""
    confidence: float
    """That it is a link to the requirement. Once the page says `calibrated`, of links at 0.8 about 80 % are right."""
    confidence_band: str
    """high from 0.8 on, medium from 0.5 on, else low."""
    reason: str
    """The strongest of the reasons."""
    reasons: tuple[str, ...]
    file_version: str
    """For apply_link's `if_version`: refuses when the file changed since."""
    test_id: str | None = None
    """As elspais names it; None for code, like the next two."""
    test_label: str | None = None
    test_file: str | None = None


class SuggestionPage(msgspec.Struct, frozen=True):
    suggestions: tuple[Suggestion, ...]
    """The most likely first."""
    count: int
    total: int
    considered: int
    """Tests and pieces of code that cite nothing yet."""
    rejected: int
    """Pairs left out because somebody rejected them."""
    with_meaning: bool
    """True if texts were compared by meaning too; false if by words alone."""
    calibrated: bool = False
    """True if confidences were fitted to decisions about suggestions of this project; if not, they only give an
    order."""
    notes: tuple[str, ...] = ()
    truncated: bool = False
    next_cursor: str | None = None


class AppliedLink(msgspec.Struct, frozen=True):
    success: bool
    decision: str
    """accept, reject or reconsider."""
    message: str
    file: str
    line: int
    requirement_id: str
    comment: str = ""
    """The line as written, without indentation; empty where nothing was."""
    already_linked: bool = False
    owner: str | None = None
    """The function, class or test that has the link; None for the file as a whole."""
    file_version: str = ""
    """Of the file as it is now."""


class Reviewed(msgspec.Struct, frozen=True):
    accepted: int
    rejected: int
    skipped: int
    left: int
    """Suggestions that nobody looked at."""
