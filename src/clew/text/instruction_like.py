"""Text that talks to a language model instead of to a reader.

What a project's files say is data, whatever it says. A text that reads like an instruction to a language model is shown
like any other, and the answer that shows it says so, so that the reader is warned. Nothing is removed or changed:
documentation about prompts is documentation too.

The detector is a list of phrasings that hardly occur in text for people: it would rather miss one than cry wolf over
every imperative sentence of a manual. It is no defence by itself; that answers never mix quotes with words of the
server is.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

INSTRUCTION_LIKE: Final = "instruction_like"

_MODEL = (
    r"(?:ai|a\.i\.|llms?|language\s+models?|assistants?|chatbots?|agents?|claude|chatgpt|gpt(?:-?\d\w*)?|copilot|"
    r"gemini)"
)
_EARLIER = r"(?:previous(?:ly)?|prior|preceding|earlier|above|foregoing|former|initial|original|existing)"
_PROMPTS = r"(?:prompts?|instructions?)"
_ORDERS = rf"(?:{_PROMPTS}|directives?|guidelines|programming)"
_MORE_ORDERS = (
    r"(?:rules|directions?|commands|orders|messages|context|constraints|restrictions|assignments?|tasks?|questions?|"
    r"text|input|conversation|information|polic(?:y|ies))"
)
_FIRST_LETTER = r"[idfobnscpy](?<!\w\w)"
"""Of a word that begins a dropping. It is read by itself, because most places of a text have another letter: those are
passed by without looking at any word."""
_DROP = (
    r"(?:(?<=i)gnor(?:e|ing)|(?<=f)orget|(?<=o)verr(?:ide|ule)|(?<=b)ypass|(?<=n)eglect|(?<=c)ancel"
    r"|(?<=d)(?:is(?:regard|card|miss)|o(?:\s+not|n't)\s+(?:follow|listen\s+to))"
    r"|(?<=s)(?:kip|top\s+following)|(?<=p)ay\s+no\s+attention\s+to)\s+(?:about\s+)?"
    r"(?:(?:all|any|the|your|of|these|those|my|every|our)\s+){0,4}"
)
"""Behind its first letter."""
_SUBJECTS = ("shall", "must", "should", "will", "would", "may", "can", "could", "not", "to", "or", "and", "we", "they")
_NOT_OF_A_SUBJECT = "".join(rf"(?<!\b{word}\s\w)" for word in _SUBJECTS)
"""A specification says of its subject what it does: "shall ignore earlier messages" is no order to a model. Behind the
first letter as well."""
_SAY = (
    r"(?:reveal|print|output|repeat|show|leak|disclose|send|tell|give|display|write|return|share|spell\s*check|"
    r"translate|summari[sz]e|expose|dump|list|copy)\s+(?:out\s+)?(?:to\s+)?(?:me\s+|us\s+)?(?:all\s+(?:of\s+)?)?"
)
_FEW = r"[^.!?\n]{0,60}"


class InstructionRule(NamedTuple):
    words: tuple[str, ...]
    """One of them, in lower case, is in every text that the pattern finds: most texts have none and cost no more."""
    source: str
    """In lower case."""

    def found(self, text: str) -> Iterator[re.Match[str]]:
        """Matches of the pattern in a text, in any case."""
        # In ASCII a letter has one other case and the same place, and a pattern that ignores case takes three times as
        # long.
        if text.isascii():
            return _compiled(self.source, re.MULTILINE).finditer(text.lower())
        return _compiled(self.source, re.MULTILINE | re.IGNORECASE).finditer(text)


@cache
def _compiled(source: str, flags: int) -> re.Pattern[str]:
    """Compiled when a text first has one of the words: a server that starts does not wait for it."""
    return re.compile(source, flags)


def _rule(words: str, source: str) -> InstructionRule:
    return InstructionRule(tuple(words.split("|")), source)


RULES: Final = (
    # Revoking earlier instructions.
    _rule(
        "ignor|disregard|forget|overr|bypass|neglect|discard|dismiss|skip|cancel|follow|listen|attention",
        rf"{_FIRST_LETTER}(?:{_DROP}(?:{_EARLIER}(?:\s+\w+){{0,3}}\s+{_ORDERS}"
        rf"|(?:your|system)\s+(?:\w+\s+)?(?:{_ORDERS}|rules|restrictions))\b"
        rf"|{_NOT_OF_A_SUBJECT}{_DROP}{_EARLIER}(?:\s+\w+){{0,3}}\s+{_MORE_ORDERS}\b"
        rf"|(?<=y)ou\s+(?:must|should|shall|will|can|have\s+to|need\s+to)\s+(?:now\s+)?"
        rf"{_FIRST_LETTER}{_DROP}{_EARLIER}\s+(?:\w+\s+)?{_MORE_ORDERS}\b)",
    ),
    _rule(
        "ignore|disregard|forget",
        r"\b(?:ignore|disregard|forget)\s+(?:everything|anything|all|what(?:ever)?)\b[^.!?\n]{0,40}"
        r"\b(?:above|before(?:hand)?|told|said|instructed|so\s+far|prior|previous(?:ly)?|earlier|learned|until\s+now)\b"
        r"|\bforget\s+everything\s*[,.!]"
        r"|\b(?:ignore|disregard|forget)\s+(?:all\s+of\s+)?(?:the\s+)?(?:above|previous)\b"
        r"(?=\s*(?:[.,;:!?]|$|and\b|then\b|now\b|instead\b))",
    ),
    _rule(
        "instruction|prompt|directive|new task|new rules|new role",
        rf"\b(?:new|updated|real|actual|secret|special)\s+(?:system\s+)?(?:{_PROMPTS}|task|directives?)\s*"
        r"(?::|\bfor\s+you\b|\bfollow\b)"
        r"|\b(?:here\s+(?:are|is)|these\s+are|follow)\s+(?:your|my|the)\s+new\s+"
        r"(?:instructions?|rules|task|role|directives?)\b",
    ),
    _rule(
        "vergiss|vergessen|ignorier|missachte",
        r"\b(?:vergiss|vergessen\s+sie|ignorier(?:e|en\s+sie)?|missachte)\b[^.!?\n]{0,40}"
        r"\b(?:anweisung|aufgabe|instruktion|befehl|auftr|regel|davor|vorher|bisher|oben|obig|zuvor)|\bvergiss\s+alles\b",
    ),
    _rule(
        "olvid|oubli|ignor|dimentica|esque",
        r"\b(?:ignora|olvid[ae]|oubliez?|ignorez|dimentica|esqueça)\b[^.!?\n]{0,30}"
        r"\b(?:instrucciones|instructions|instruções|istruzioni|anteriores|pr[ée]c[ée]dent|consignes|antes)",
    ),
    # Giving the model another part to play.
    _rule(
        "are now|are no longer|'re now|'re no longer",
        rf"\byou(?:'re|\s+are)\s+(?:now|no\s+longer)\s+(?:an?\s+|the\s+|in\s+)?(?:\w+\s+){{0,3}}"
        rf"(?:{_MODEL}|mode|persona|character|dan|jailbroken|unrestricted|free|bound)\b",
    ),
    _rule(
        "from now on",
        rf"\bfrom\s+now\s+on,?\s+(?:you|your)\b{_FEW}\b(?:are|will|must|shall|act|answer|respond|reply|pretend|only)\b",
    ),
    _rule(
        "pretend",
        r"\bpretend\s+(?:to\s+be|that\s+you(?:'re|\s+are)|you(?:'re|\s+are))\b"
        rf"{_FEW}\b(?:unrestricted|restrictions?|limits?|filters?|rules|admin|root|evil|dan|anything|unethical|hacker)\b"
        r"|\bpretend\s+(?:to\s+have\s+)?forgot(?:ten)?\b",
    ),
    _rule(
        "act as|fungieren",
        r"\bi\s+want\s+you\s+to\s+act\s+as\b|\bich\s+möchte,\s+dass\s+(?:du|sie)\s+als\b[^.!?\n]{0,60}\bfungier",
    ),
    _rule(
        "anything now|developer mode|jailbreak|dan mode|dan can|must obey",
        r"\bdo\s+anything\s+now\b|\bdeveloper\s+mode\s+(?:enabled|on|activated)\b|\b(?:jailbreak(?:ed)?|dan)\s+mode\b"
        r"|\bdan\s+can\s+(?:do|override|bypass|say)\b|\byou\s+must\s+obey\b",
    ),
    _rule(
        "ethical|moral|content polic|content filter|content restriction|content guideline|safety guideline|"
        "safety restriction|safety filter|safety polic|openai",
        r"\b(?:without|no|free\s+of|ignoring)\s+(?:any\s+)?(?:ethical|moral|content|safety|openai(?:'s)?)\s+"
        r"(?:guidelines|restrictions|constraints|limits|limitations|filters|polic(?:y|ies)|considerations)\b"
        rf"{_FEW}\b(?:you|respond|answer|reply)\b",
    ),
    _rule(
        "anything|bypass|ignore",
        r"\byou\s+(?:can|will|must|are\s+able\s+to|have\s+to)\s+(?:now\s+)?"
        r"(?:do\s+anything|say\s+anything|ignore\s+(?:all|any)\s+(?:rules|filters|restrictions|guidelines))",
    ),
    # Speaking to a model by its kind.
    _rule(
        "attention|note to|message to|message for|instruction|dear|hello",
        r"\b(?:attention|note\s+to|message\s+(?:to|for)|instructions?\s+(?:to|for)|dear|hello)\s+"
        rf"(?:all\s+|any\s+|the\s+)?{_MODEL}\b(?=\s*[:,.!-]|\s+(?:you|please|reading|must|should|processing))",
    ),
    _rule(
        "if you are a|as an ai|as an a.i|as an llm|as an assistant|as an agent|as a language|as a chatbot|as a gpt|"
        "as a copilot",
        rf"\b(?:if\s+you\s+are|as)\s+an?\s+{_MODEL}\b{_FEW}"
        r"\b(?:must|should|shall|have\s+to|please|reply|respond|execute|run)\b",
    ),
    # Waiting to be read by what has tools to call.
    _rule(
        "read this|reading this|recall this|retrieve this|load this|process this|read the|reading the|recall the|"
        "retrieve the|load the|process the",
        r"\b(?:when(?:ever)?|once|after|if|as\s+soon\s+as|upon)\s+(?:you\s+)?"
        r"(?:read(?:ing)?|recall|retrieve|load|process)\s+(?:this|the)\s+(?:note|memory|text|comment|entry|passage)\b"
        r"[,:]?\s+(?:you\s+(?:must|should|have\s+to)\s+|please\s+|immediately\s+|always\s+|first\s+){0,2}"
        r"(?:call|invoke|execute|run|use|forget|delete|remove|merge|send|post|upload|reply|respond|answer|fetch|open)\b",
    ),
    # Asking for what only a model has, or for secrecy towards its user.
    _rule(
        "prompt|instruction|system message|initial message|hidden text|secret rules",
        rf"\b{_SAY}(?:your|the|its)\s+(?:(?:full|entire|complete|exact|original|very)\s+)?"
        r"(?:system|hidden|initial|secret|original|previous|prior|earlier|starting|first|internal|confidential)\s+"
        rf"(?:{_PROMPTS}|message|context|rules|text)\b"
        rf"|\b{_SAY}(?:your|(?:the\s+)?(?:above|previous|prior|preceding))\s+{_PROMPTS}\b"
        rf"|\bwhat\s+(?:is|are|was|were)\s+your\s+(?:(?:exact|full|original|system|hidden|initial|secret)\s+){{0,2}}"
        rf"{_PROMPTS}\b",
    ),
    _rule(
        "the user|the human|the operator|your user|your human|your operator",
        r"\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention\s+(?:this|it)\s+to|alert|warn|notify)\s+(?:to\s+)?"
        r"(?:the|your)\s+(?:user|human|operator)\b"
        r"|\bwithout\s+(?:telling|informing|asking|notifying)\s+the\s+(?:user|human)\b",
    ),
    # Marks that divide a conversation, and letters that only a machine sees.
    InstructionRule(
        ("<|",),
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>",
    ),
    _rule(
        "inst]|<<sys>>|system>|system_prompt>|assistant>|tool_call>|function_call|system:|system :|assistant:|"
        "assistant :",
        r"\[/?inst\]|<<sys>>|</?(?:system|system_prompt|assistant|tool_call|function_calls?)>"
        r"|^[ \t]*(?:#{1,6}[ \t]*)?(?:system|assistant)[ \t]*:[ \t]+\S",
    ),
    _rule("\U000e0020|\U000e0065|\U000e0061", "(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007e]{4}"),
)  # fmt: skip


def flags_of(text: str) -> tuple[str, ...]:
    """The flags of a shown text; none for nearly all texts."""
    return _flags_of_short(text) if len(text) <= _SHORT else _flags_of(text)


def any_flagged(texts: Collection[str]) -> bool:
    """True if any of the texts has a flag."""
    # Every answer is asked about. To begin with each of its texts anew takes longer than to go through them all; and
    # what stands between them is in no word.
    if not _has_words("\0".join(texts)):
        return False
    # Written out, because an answer may have thousands of texts.
    for text in texts:  # noqa: SIM110
        if _flags_of_short(text) if len(text) <= _SHORT else _flags_of(text):
            return True
    return False


def _flags_of(text: str) -> tuple[str, ...]:
    return (INSTRUCTION_LIKE,) if any(True for rule in rules_for(text) for _ in rule.found(text)) else ()


def _has_words(text: str) -> bool:
    """True if any rule can match in a text; for nearly every answer this is the only test."""
    folded = text.lower().replace("\n", " ")
    return _words().pattern.search(folded) is not None or bool(_with_other_letters(folded))


_SHORT = 4_000
_flags_of_short = lru_cache(maxsize=4_096)(_flags_of)
"""Titles, statements and bodies of requirements are shown again and again."""


def rules_for(text: str) -> list[InstructionRule]:
    """The rules that may match a text: none for most texts."""
    folded = text.lower().replace("\n", " ")
    words, at = _words(), -1
    rules = set(_with_other_letters(folded))
    while (found := words.pattern.search(folded, at + 1)) is not None:
        at = found.start()
        for word, begin, numbers in words.by_letter[folded[at]]:
            if begin <= at and folded.startswith(word, at - begin):
                rules |= numbers
    return [RULES[number] for number in sorted(rules)]


def _with_other_letters(folded: str) -> list[int]:
    """The numbers of those rules whose words with non-ASCII letters are in a text."""
    if folded.isascii():
        return []
    return [number for number, words in enumerate(_other_words()) if any(word in folded for word in words)]


@cache
def _other_words() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(word for word in rule.words if not word.isascii()) for rule in RULES)


_RARE_LETTERS = "<kbqwygvmhcdn"
"""The rarest first: every word of a rule in ASCII has one of them."""


class _Word(NamedTuple):
    text: str
    begin: int
    """Number of letters before its rarest one."""
    rules: frozenset[int]
    """Their numbers."""


class _Words(NamedTuple):
    pattern: re.Pattern[str]
    """Finds the rarest letter of a word of any rule, where the whole word stands around it: at most places of a text
    there is none of those letters."""
    by_letter: Mapping[str, Sequence[_Word]]


@cache
def _words() -> _Words:
    by_letter: dict[str, list[_Word]] = {letter: [] for letter in reversed(_RARE_LETTERS)}
    for text in sorted({word for rule in RULES for word in rule.words if word.isascii()}):
        letter = next(letter for letter in _RARE_LETTERS if letter in text)
        rules = frozenset(number for number, rule in enumerate(RULES) if text in rule.words)
        by_letter[letter].append(_Word(text, text.index(letter), rules))
    letters = (f"{letter}(?:{_ends(words)})" for letter, words in by_letter.items())
    return _Words(re.compile("|".join(letters)), by_letter)


def _ends(words: Sequence[_Word]) -> str:
    """Finds the rest of a word behind its rarest letter, by the next letter first."""
    by_next: dict[str, list[str]] = {}
    for text, begin, _ in words:
        end = re.escape(text[begin + 2 :]) + (f"(?<={re.escape(text)})" if begin else "")
        by_next.setdefault(text[begin + 1 : begin + 2], []).append(end)
    return "|".join(f"{re.escape(letter)}(?:{'|'.join(ends)})" for letter, ends in by_next.items())


def matches(text: str) -> list[tuple[int, int]]:
    """Spans of a text that address a model, in characters."""
    return sorted(found.span() for rule in rules_for(text) for found in rule.found(text))


def suspicious(shown: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The ids whose text is flagged, each once, from pairs of an id and a shown text."""
    return tuple(dict.fromkeys(id for id, text in shown if flags_of(text)))
