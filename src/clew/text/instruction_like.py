"""Text in documents that talks to a model instead of to a reader.

Documents are data, whatever they say. A quote that reads like an instruction to a language model is returned like any
other, with its source, and carries the flag `instruction_like`, so that whoever reads it is warned. Nothing is removed
or changed: documentation about prompts is documentation too.

The detector is a short list of phrasings that hardly occur in text for people: it would rather miss one than cry wolf
over every imperative sentence of a manual. It is no defence by itself; that answers never mix quotes with words of the
server is.
"""

import re
from collections.abc import Iterable

INSTRUCTION_LIKE = "instruction_like"

_EARLIER = (
    r"(?:(?:all|any|the|your|of|these|those|my)\s+){0,3}"
    r"(?:previous|prior|preceding|earlier|above|foregoing|other|system)"
)
_ORDERS = r"(?:instructions?|prompts?|rules|directions|guidelines|commands|messages|context|constraints)"
_MODEL = r"(?:ai|a\.i\.|llm|language\s+model|assistant|chatbot|agent|claude|chatgpt|gpt|copilot|gemini)"

_PHRASINGS = (
    # Taking back what the model was told.
    rf"\b(?:ignore|disregard|forget|override|bypass|do\s+not\s+follow)\s+{_EARLIER}\s+{_ORDERS}\b",
    r"\b(?:ignore|disregard|forget)\s+(?:everything|anything|all|what)\b.{0,30}\b(?:above|before|told|said|instructed)\b",
    r"\b(?:new|updated|real|actual)\s+(?:system\s+)?(?:instructions?|prompt)\s*:",
    # Giving the model another part to play.
    rf"\byou\s+are\s+(?:now|no\s+longer)\s+(?:an?\s+|the\s+|in\s+)?(?:\w+\s+){{0,2}}(?:{_MODEL}|mode|persona|character)\b",
    r"\bpretend\s+(?:to\s+be|that\s+you\s+are|you\s+are)\b.{0,40}\b(?:unrestricted|without\s+(?:any\s+)?restrictions?|admin|root)\b",
    # Speaking to a model by its kind.
    rf"\b(?:attention|note\s+to|message\s+(?:to|for)|instructions?\s+(?:to|for)|dear)\s+(?:all\s+|any\s+|the\s+)?{_MODEL}s?\b",
    rf"\b(?:if\s+you\s+are|as)\s+an?\s+{_MODEL}\b.{{0,60}}\b(?:must|should|shall|have\s+to|please|reply|respond|execute|run)\b",
    # Asking for what only a model has, or for secrecy towards its user.
    r"\b(?:reveal|print|output|repeat|show|leak|disclose|send)\s+(?:me\s+|us\s+)?(?:your|the)\s+(?:system|hidden|initial|secret)\s+(?:prompt|instructions?)\b",
    r"\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention\s+(?:this|it)\s+to|alert|warn|notify)\s+(?:to\s+)?the\s+(?:user|human|operator)\b",
    r"\bwithout\s+(?:telling|informing|asking|notifying)\s+the\s+(?:user|human)\b",
    # Marks that divide a conversation.
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>",
    r"\[/?INST\]|<<SYS>>|</?(?:system|system_prompt|assistant|tool_call|function_calls?)>",
    r"^\s*(?:#{1,6}\s*)?(?:system|assistant)\s*:\s+\S",
)  # fmt: skip
_ANY = re.compile("|".join(f"(?:{phrasing})" for phrasing in _PHRASINGS), re.IGNORECASE | re.MULTILINE)


def flags_of(text: str) -> tuple[str, ...]:
    """The flags of a text that is shown; none for nearly all."""
    return (INSTRUCTION_LIKE,) if _ANY.search(text) else ()


def matches(text: str) -> list[tuple[int, int]]:
    """Where a text talks to a model, as characters of it."""
    return [match.span() for match in _ANY.finditer(text)]


def suspicious(shown: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Of ids, each with a text that is shown for it, those whose text is flagged, each once."""
    return tuple(dict.fromkeys(id for id, text in shown if flags_of(text)))
