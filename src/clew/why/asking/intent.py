"""What a question is after: a place in the code, a time, a reason, or a fact."""

import re
from enum import StrEnum


class Intent(StrEnum):
    PLACE = "place"
    TIME = "time"
    REASON = "reason"
    FACT = "fact"


_REASON = re.compile(r"\s*(?:why|what for|for what reason)\b", re.IGNORECASE)
_TIME = re.compile(
    r"\s*(?:when\b|since (?:when|which)|(?:in|with|from|since) which (?:version|release)|which (?:version|release) "
    r"(?:added|removed|dropped|introduced|deprecated|fixed))",
    re.IGNORECASE,
)
_DONE = (
    r"built|calculated|called|caught|checked|chosen|computed|converted|created|decided|defined|derived|detected|determined"
    r"|encoded|decoded|found|generated|handled|hashed|implemented|loaded|made|matched|parsed|processed|read|recogni[sz]ed"
    r"|registered|rendered|resolved|run|sent|set|sorted|stored|turned|validated|verified|written"
)
_PLACE = re.compile(
    rf"\s*(?:where\b|(?:in )?which (?:file|function|class|module|method|line)\b"
    rf"|how (?:is|are|does|do)\b.*\b(?:{_DONE}|implement|compute|decide|handle|parse|generate)\b)",
    re.IGNORECASE,
)
_SAYING = re.compile(
    rf"\b(?:{_DONE}|where|which|file|function|class|module|code|implementation|command)\b", re.IGNORECASE
)
_PAST = re.compile(r"(?:change|history|news|release|whats.?new)", re.IGNORECASE)


def intent_of(question: str) -> Intent:
    for pattern, intent in ((_REASON, Intent.REASON), (_TIME, Intent.TIME), (_PLACE, Intent.PLACE)):
        if pattern.match(question):
            return intent
    return Intent.FACT


def saying_words(question: str) -> str:
    """The words of a question that every piece of code answers by being code: *computed*, *implemented*, *file*."""
    return " ".join(_SAYING.findall(question))


def is_of_the_past(path: str) -> bool:
    """True of files that list changes: what they say of a version held then."""
    return _PAST.search(path.rpartition("/")[2]) is not None
