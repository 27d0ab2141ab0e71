"""What the words of a statement give away. Words are matched as words: breakfast is not fast."""

import re
from collections.abc import Iterator, Mapping, Sequence

from clew.register.rules.codes import Finding, finding
from clew.text.counting import counted

_NOT_PROSE = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}://\S+"
    r"|`[^`]*`"
    r"|(?<!\w)(?:must|should|could|wont)-priorit(?:y|ies)(?!\w)",
    re.IGNORECASE,
)
"""Addresses, code and labels such as must-priority: they hold words without meaning them."""

_WEASELS: Mapping[str, str] = {
    "etc": "list everything that is meant",
    "and/or": "say whether both, either or exactly one is meant",
    "user-friendly": "name the task, and the time or the errors that are acceptable",
    "easy to use": "name the task, and the time or the errors that are acceptable",
    "robust": "name the faults it has to survive",
    "fast": "give a time limit and the load under which it holds",
    "efficient": "give the resource and its limit",
    "flexible": "list what can be changed, and by whom",
    "approximately": "give the bounds",
    "as appropriate": "say when",
    "if possible": "say when it is required and what happens otherwise",
    "tbd": "decide it now, or leave it out",
    "to be determined": "decide it now, or leave it out",
    "various": "list them",
    "some": "say which or how many",
    "many": "say how many",
    "few": "say how many",
    "minimal": "give the limit",
    "maximal": "give the limit",
    "state-of-the-art": "name the standard or the measure",
    "seamless": "say what the user does not notice",
}
_HEDGES = ("perhaps", "probably", "maybe", "possibly", "might", "roughly", "potentially")
_MODALS = ("shall", "must", "should", "will")

LONG_STATEMENT_WORDS = 80
_EXCERPT_WORDS = 4


def _any_word(words: Sequence[str]) -> re.Pattern[str]:
    """Any of the words or phrases, whole: neither a letter nor a hyphen may touch it."""
    longest_first = sorted(words, key=len, reverse=True)
    joined = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first)
    return re.compile(rf"(?<![\w-])(?:{joined})(?![\w-])", re.IGNORECASE)


_WEASEL, _HEDGE, _MODAL = _any_word(tuple(_WEASELS)), _any_word(_HEDGES), _any_word(_MODALS)
_AND = re.compile(r"\sand\s", re.IGNORECASE)


def prose(statement: str) -> str:
    return _NOT_PROSE.sub(" ", statement)


def check_statement(id: str, statement: str) -> Iterator[Finding]:
    text = statement.strip()
    if not text:
        yield finding("0005", id, "The statement is empty.")
        return
    count = len(text.split())
    if count < 5:
        yield finding("0006", id, f"The statement has {counted(count, 'word')}; 5 are the least.")
    if count > LONG_STATEMENT_WORDS:
        yield finding(
            "0007", id, f"The statement has {count} words; over {LONG_STATEMENT_WORDS} nobody reads it whole."
        )
    spoken = prose(statement)
    modals = list(_MODAL.finditer(spoken))
    if not modals:
        yield finding("0008", id, "The statement has none of shall, must, should and will, so it requires nothing.")
    yield from _weasels(id, spoken)
    if reason := _compound(spoken, modals):
        yield finding("0010", id, f"The statement asks for more than one thing: {reason}.")
    if "?" in statement:
        yield finding("0011", id, "The statement holds a question mark: a requirement answers, it does not ask.")
    hedges = list(dict.fromkeys(match[0].lower() for match in _HEDGE.finditer(spoken)))
    if len(hedges) > 1:
        yield finding("0022", id, f"The statement hedges: {_listed(hedges)}.")


def _weasels(id: str, spoken: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for match in _WEASEL.finditer(spoken):
        term = " ".join(match[0].lower().split())
        if term not in seen:
            seen.add(term)
            place = _around(spoken, match.start(), match.end())
            advice = _WEASELS[term]
            yield finding(
                *("0009", id, f"'{term}' cannot be tested ('{place}'): {advice}."),
                hint=f"Instead of '{term}', {advice}.",
            )


def _compound(spoken: str, modals: Sequence[re.Match[str]]) -> str:
    """Why a statement is more than one; empty where it is not."""
    if ";" in spoken:
        parts = [part.strip() for part in spoken.split(";") if part.strip()]
        return f"a semicolon joins {len(parts)} parts ({_quoted(_beginning(part) for part in parts)})"
    if len(modals) > 1:
        clauses = _quoted(_beginning(spoken[match.start() :]) for match in modals)
        return f"{len(modals)} modal verbs require something each ({clauses})"
    joins = list(_AND.finditer(spoken))
    if len(joins) > 1:
        places = _quoted(_around(spoken, match.start() + 1, match.end() - 1) for match in joins)
        return f"'and' joins {len(joins) + 1} things ({places}); a list 'a, b, and c' would be one"
    return ""


def _beginning(text: str) -> str:
    words = text.split()
    return " ".join(words[:_EXCERPT_WORDS]).rstrip(",.;") + (" ..." if len(words) > _EXCERPT_WORDS else "")


def _around(text: str, start: int, end: int) -> str:
    """A match with a word or two on either side."""
    before, after = text[max(0, start - 40) : start].split(), text[end : end + 40].split()
    return " ".join((*before[-2:], text[start:end], *after[:2]))


def _quoted(parts: Iterator[str]) -> str:
    return ", ".join(f"'{part}'" for part in parts)


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
