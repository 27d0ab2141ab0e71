"""Questions for a definition, and the sentences that define: `Click is a package ...`, `A group: ...`."""

import re

_ASKED = re.compile(
    r"\s*(?:what|who)(?:\s+(?:exactly|really))?(?:\s+(?:is|are)|'s|\s+does)\s+(?:an?\s+|the\s+)?"
    r"(?P<what>\w[\w .+#/-]{0,60}?)(?:\s+mean)?\s*[?.!]*\s*",
    re.IGNORECASE,
)
_MOST_WORDS = 4
"""A longer subject is a description, which nobody repeats."""
_OPENS, _CLOSES = r"[\s*_`\"'“”(\[]*", r"[\s*_`\"'“”)\]]*"
_VERBS = ("is", "are", "means", "provides")
_SAYS = r"(?:is\s+(?:an?|the|one|used|designed|what|where|something)|are(?!\s+(?:not|now|no)\b)|means|provides)"
"""`The context is now closed` says nothing of what a context is."""


def definition_of(question: str) -> re.Pattern[str] | None:
    """A pattern for sentences that define the subject of the question; None for any other kind of question. Such a
    sentence, item or row begins with the subject."""
    subject = _subject(question)
    if subject is None:
        return None
    words = r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", subject)))
    start = rf"(?:^|[.!?:]\s|\n){_OPENS}(?:[-*+]\s+)?{_OPENS}(?:an?\s+|the\s+)?{_OPENS}"
    verb = rf"\s*[®™©]?{_CLOSES}(?:\([^()]{{0,40}}\)\s*)?{_SAYS}\b"
    return re.compile(rf"{start}{words}s?(?:{verb}|{_CLOSES}[:—–]\s)", re.IGNORECASE)


def phrases_of(question: str) -> tuple[str, ...]:
    """Queries that find such sentences."""
    subject = _subject(question)
    return tuple(f'"{subject} {verb}"' for verb in _VERBS) if subject is not None else ()


def _subject(question: str) -> str | None:
    asked = _ASKED.fullmatch(question)
    return asked["what"] if asked is not None and len(asked["what"].split()) <= _MOST_WORDS else None
