"""Sentences of a user that will matter later, recognised by their form alone: corrections and decisions.

Most prompts are requests and hold none. A sentence that is missed is still an episode. One that is wrongly taken would
be shown to every later session, so the forms are narrow.
"""

import re

import msgspec

from clew.memory.model import MemoryKind
from clew.memory.texts.admit import kind_of
from clew.text.sentences import plain_spans

LONGEST = 300
FEWEST_WORDS = 4
MOST = 3
_LARGEST_PROMPT = 4_000
_CODE = re.compile(r"```.*?(?:```|\Z)|^(?: {4}|\t|>).*$", re.DOTALL | re.MULTILINE)
_LEAD = re.compile(
    r"(?:no|nope|wrong|stop)\s*[,.:;!-]+\s*|(?:actually|well|hm+|please|ok(?:ay)?|also|and|but|so|hey)\b[\s,.:;!-]+|"
    r"remember(?:\s*[,:]|\s+that\b)\s*",
    re.I,
)
_REQUEST = re.compile(
    r"\b(?:can|could|would|will) you\b|\bplease (?:fix|add|run|write|look|check|show|make|change|update|explain)\b",
    re.I,
)
_RULE = (
    r"(?:we|i|they|it|this|that|the|you|our|all|every|use|don'?t|do not|never|always|only|must|should|is|are|"
    r"keep|put|call|write|prefer)\b"
)
_VERB = r"(?:use|prefer|want|write|keep|call|put|name|store)"
_HABIT = re.compile(rf"\b(?:(?:we|i)\s+\w+|always|never)\b|^{_VERB}\b", re.I)
_CORRECTIONS = (
    re.compile(rf"(?:no|nope|wrong)\s*[,.:;!-]+\s*(?:please\s+)?{_RULE}", re.I),
    re.compile(rf"actually\s*,?\s+{_RULE}", re.I),
    re.compile(r"(?:please\s+)?(?:never|always)\s+\w+", re.I),
    re.compile(
        rf"(?:.*?\b(?:we|i|this project|the project|our team)\s+(?:\w+\s+)?{_VERB}|(?:please\s+)?{_VERB})\b"
        r".*(?:,\s*not\b|\binstead of\b|\brather than\b|\bnever\b)",
        re.I,
    ),
    re.compile(r"that'?s (?:wrong|not (?:right|how|what))\b.*\b(?:we|it|use|should|must|is|are)\b", re.I),
)
_DECISIONS = (
    re.compile(r".*?\bwe(?:'ve| have)?(?: just| now)? (?:decided|agreed|chose|settled)\b(?! (?:if|whether|yet))", re.I),
    re.compile(r"(?:the )?decision(?: is)?\s*:", re.I),
    re.compile(
        r"let'?s (?:use|go with|keep|stick (?:to|with)|stay with|never|always|not (?:use|add|store|call)|switch to|"
        r"standardi[sz]e on|drop support)\b",
        re.I,
    ),
    re.compile(r"let'?s (?:store|name|prefer|treat|represent)\b.*\bbecause\b", re.I),
    re.compile(r"remember(?:\s*[,:]|\s+that\b)", re.I),
    re.compile(r"(?:from now on|going forward)\b", re.I),
    re.compile(r"(?:we|always|never|use|don'?t|do not|keep)\b.*\bbecause\b", re.I),
)
_OPEN = re.compile(r"\b(?:not sure|maybe|perhaps|i wonder|what if|should we|do we|did we)\b", re.I)


class Statement(msgspec.Struct, frozen=True):
    text: str
    form: str
    """correction or decision."""
    kind: MemoryKind


def statements_in(prompt: str) -> tuple[Statement, ...]:
    """The statements of a prompt that will matter later: none in most prompts, nor in long ones, which are pasted."""
    if len(prompt) > _LARGEST_PROMPT:
        return ()
    prose = _CODE.sub("\n\n", prompt)
    found: dict[str, Statement] = {}
    for start, end in plain_spans(prose):
        sentence = " ".join(prose[start:end].split()).lstrip("-*• ").strip()
        form = _form(sentence)
        if form is not None:
            text = _without_lead(sentence)
            found[text] = Statement(text, form, MemoryKind.DECISION if form == "decision" else _kind(text))
    return tuple(found.values())[:MOST]


def _kind(text: str) -> MemoryKind:
    """The kind of a statement: a habit is a preference, anything else that looks like a fact is one."""
    kind = kind_of(text)
    return MemoryKind.PREFERENCE if kind is MemoryKind.FACT and _HABIT.search(text) else kind


def _form(sentence: str) -> str | None:
    if len(sentence) > LONGEST or len(sentence.split()) < FEWEST_WORDS or sentence.endswith("?"):
        return None
    if _REQUEST.search(sentence) or _OPEN.search(sentence):
        return None
    bare = _without_lead(sentence)
    for form, patterns in (("decision", _DECISIONS), ("correction", _CORRECTIONS)):
        if any(pattern.match(each) for pattern in patterns for each in (sentence, bare)):
            return form if len(bare.split()) >= FEWEST_WORDS - 1 else None
    return None


def _without_lead(sentence: str) -> str:
    """The sentence without the words that only lead to it; what is left is the user's own, letter by letter."""
    while lead := _LEAD.match(sentence):
        sentence = sentence[lead.end() :]
    return sentence
