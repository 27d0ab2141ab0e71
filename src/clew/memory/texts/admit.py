"""Examination of a text before it is stored: its kind, its worth, and repetition of what was just recalled."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument, MissingRationale
from clew.memory.model import LONGEST_NAME, LONGEST_RATIONALE, SHORTEST_RATIONALE, Domain, Memory, MemoryKind
from clew.memory.texts.block import is_line_of, unframed
from clew.memory.texts.scrub import scrub_value
from clew.text.choices import explained
from clew.text.display import one_line
from clew.text.passage_hash import tokens_of
from clew.text.sentences import plain_spans
from clew.text.words import storable

LONGEST_TITLE = 120
MOST_ITEMS = 50
LONGEST_ITEM = 400
LARGEST_METADATA = 16_384
SAYS_NOTHING = re.compile(r"[\s!-/:-@\[-`{-~]+")
"""Such as a dash that was meant to be standard input. Beyond ASCII, a sign may be a word."""
_FEWEST_WORDS = 4
"""A shorter text repeats by chance."""
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]+)(?<=\S)\1(?![\w*])")
_FORM = re.compile(
    r"^[ \t]*(?:(?:[-*+>]|#{1,6})[ \t]+(?!\d))+|['\"`\u2018\u2019\u201c\u201d]"
    r"|[.,;:!?\u2026]+(?=[)\]'\"`*\u2019\u201d]*(?:\s|$))",
    re.MULTILINE,
)
"""Marks of lists, quotations and headings, quotes, and the ends of sentences: who repeats a text may change them,
and it says the same. Any other sign may be the correction: `<`, `!=`, a minus, `C++`."""
_LEAD_IN = re.compile(
    r"^\W*(?:as (?:(?:i|we|was|were|already) )*(?:recalled|remembered|noted|stored|known)(?: (?:before|earlier))?"
    r"|(?:from|according to) (?:the |our |my )?memory|(?:the |our |my )?memory says|(?:i|we) (?:recall|remember)(?:ed)?"
    r"|recalled|remembered|reminder|note)(?:,? that\b)?\s*[:,]?\s+",
    re.IGNORECASE,
)
_TRANSIENT = re.compile(
    r"(?:ok(?:ay)?|done|thanks?(?: you)?|yes|no|sure|great|got it|running|working on it|let me (?:check|see|look).*|"
    r"i(?:'ll| will) (?:now )?(?:check|run|look|start|continue|read).*)[.!\s]*",
    re.IGNORECASE,
)
_KINDS = (
    (MemoryKind.QUESTION, re.compile(r"\?\s*$")),
    (MemoryKind.DECISION, re.compile(r"\b(?:decided|decision|we (?:chose|choose|use|will use)|let'?s|agreed)\b", re.I)),
    (
        MemoryKind.PITFALL,
        re.compile(r"\b(?:pitfall|beware|careful|never|do not|don't|fails? (?:when|if)|breaks)\b", re.I),
    ),
    (MemoryKind.PREFERENCE, re.compile(r"\b(?:prefers?|likes?|wants?|favou?rs?|rather)\b", re.I)),
    (
        MemoryKind.PROCEDURE,
        re.compile(r"\b(?:to (?:build|run|deploy|test|release)|steps?|first,|then run|how to)\b", re.I),
    ),
)


def check_rationale(rationale: str | None) -> str:
    """The reason of a change; every change needs one."""
    given = _without_nul("rationale", rationale or "").strip()
    if not given:
        raise MissingRationale(
            "The argument 'rationale' is missing.",
            hint=f"Say in {SHORTEST_RATIONALE} to {LONGEST_RATIONALE} characters why this should be done.",
        )
    if not SHORTEST_RATIONALE <= len(given) <= LONGEST_RATIONALE:
        raise InvalidArgument(
            f"The argument 'rationale' has {len(given)} characters; {SHORTEST_RATIONALE} to {LONGEST_RATIONALE} are"
            " allowed.",
            hint="Say in a sentence why.",
        )
    return given


def check_text(what: str, text: str, longest: int) -> str:
    """A text that can be stored: not blank, not too long, without NUL."""
    given = _without_nul(what, text)
    if not given.strip():
        raise InvalidArgument(f"The argument '{what}' is empty.", hint="Pass at least one character.")
    if len(given) > longest:
        raise InvalidArgument(
            f"The argument '{what}' has {len(given)} characters; at most {longest} are allowed.", hint="Shorten it."
        )
    return given


def _without_nul(what: str, text: str) -> str:
    if "\0" in text:
        raise InvalidArgument(f"The argument '{what}' holds a NUL character.", hint="Remove the character.")
    return storable(text)


def check_lists(**lists: Sequence[str]) -> None:
    """Refuse more items, or longer ones, than a memory may have."""
    for name, items in lists.items():
        if len(items) > MOST_ITEMS or any(len(item) > LONGEST_ITEM for item in items):
            raise InvalidArgument(
                f"The argument '{name}' has {len(items)} items; at most {MOST_ITEMS} of {LONGEST_ITEM} characters each"
                " are allowed.",
                hint="Name fewer, or shorten them.",
            )


def kind_of(text: str) -> MemoryKind:
    """The sort of statement that a text seems to be."""
    return next((kind for kind, cue in _KINDS if cue.search(text)), MemoryKind.FACT)


def title_of(text: str) -> str:
    """The first sentence, shortened."""
    spans = plain_spans(text)
    first = text[slice(*spans[0])] if spans else text
    return one_line(first, LONGEST_TITLE)


def transient(text: str) -> str | None:
    """The reason why a text is not worth remembering; None if it may be."""
    if _TRANSIENT.fullmatch(text.strip()):
        return "It says nothing that will matter later."
    return None


def just_recalled(text: str, shown: Iterable[Memory]) -> Memory | None:
    """The memory that a text repeats, among those shown in the same session: as it is, after words such as "I recall",
    or as the lines of the block in which it was shown."""
    known = list(shown)
    whole = _repeated(text, known)
    lines = [_repeated(line, known) for line in unframed(text).splitlines() if line.strip()]
    return whole or (lines[0] if lines and all(lines) else None)


def _repeated(text: str, known: Iterable[Memory]) -> Memory | None:
    said = _tokens(_LEAD_IN.sub("", text))
    is_enough = sum(token[0].isalnum() for token in said) >= _FEWEST_WORDS
    # One other word may be the correction: "not", or another amount.
    same = (memory for memory in known if is_enough and _tokens(memory.text) == said)
    return next(same, None) or next((memory for memory in known if is_line_of(memory, text, _FEWEST_WORDS)), None)


def _tokens(text: str) -> list[str]:
    """Words and signs in their order: "A before B" and "B before A" say different things."""
    return tokens_of(_FORM.sub(" ", _EMPHASIS.sub(r"\2", text.casefold())))


class Details(msgspec.Struct, frozen=True):
    """The fields of a memory that metadata may set."""

    title: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)] | None = None
    domain: Domain = "General"
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None
    visibility: Literal["private", "team"] = "team"
    valid_from: str | None = None
    pinned: bool = False


def details_of(metadata: Mapping[str, Any]) -> Details:
    try:
        return msgspec.convert(dict(metadata), Details)
    except msgspec.ValidationError as error:
        raise InvalidArgument(
            f"'metadata': {explained(error, Details, metadata)}.",
            hint=f"It may say {', '.join(Details.__struct_fields__)}.",
        ) from error


def scrubbed_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata besides the details, without secrets."""
    clean: dict[str, Any] = scrub_value(other_metadata(metadata), "metadata", [])
    return clean


def other_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata besides the details."""
    rest: dict[str, Any] = _storable(
        {name: value for name, value in metadata.items() if name not in Details.__struct_fields__}
    )
    size = len(json.dumps(rest))
    if size > LARGEST_METADATA:
        raise InvalidArgument(
            f"'metadata' takes {size} characters; at most {LARGEST_METADATA} are allowed.", hint="Store less there."
        )
    return rest


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return _without_nul("metadata", value)
    if isinstance(value, dict):
        return {_storable(name): _storable(inner) for name, inner in value.items()}
    return [_storable(inner) for inner in value] if isinstance(value, list | tuple) else value
