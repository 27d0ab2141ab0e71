"""The sentence of a commit's message that says why, and the message without what is no reason."""

# Implements: REQ-d00361

import re
from collections.abc import Iterator

from clew.formats.sessions.trailers import without_records
from clew.text.display import one_line
from clew.text.sentences import plain_spans

_TRAILER = re.compile(
    r"^(?:This reverts commit [0-9a-f]+\.?$|[A-Z][\w-]*-(?:by|with|to|id|session|checkpoint|url)|change-id"
    r"|generated[ -]with|🤖|\(cherry picked from).*$",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = re.compile(r"^(?:[-*•‣◦]+|\d{1,3}[.)])\s+")
_RULE = re.compile(r"^[-=*_\s]{3,}$", re.MULTILINE)
_STRONG = re.compile(
    r"\b(?:because|since|so that|in order to|otherwise|instead of|rather than|in favou?r of|decid\w+|chos\w+|agreed"
    r"|reject\w*|trade-?off|the reason|reason for|due to|caus\w+|leads? to|led to|avoid\w*|prevent\w*|ensur\w+"
    r"|no longer|used to|broke\w*|breaks?|regress\w+|makes? sure|turns out|would|could not|cannot|can't|didn't"
    r"|doesn't)\b",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"\b(?:fix\w*|allow\w*|support\w*|deprecat\w+|drop\w*|remov\w+|replac\w+|switch\w*|bug\w*|crash\w*|leak\w*|fail\w*"
    r"|error\w*|wrong\w*|slow\w*|race|needs?|must|should|want\w*|require\w*|closes?|resolves?)\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"(?:wip|fixup!|squash!|amend!|merge|bump|release|typos?|flakes?|lint\w*|cleanup|clean up|refactor\w*|update[sd]?"
    r"|fix(?:es|ed)?|changes?|misc|minor|oops|test(?:s|ing)?|v?\d+\.\d[\w.]*)[\s.!:]*(?:[\w/.-]+)?$",
    re.IGNORECASE,
)
"""Subjects that say nothing about a reason."""
_NUMBERS = re.compile(
    r"(?:(?:clos\w+|fix\w*|resolv\w+|refs?|references|see|issues?|pr|pull request|part of|related to|and|also)\b[:\s]*"
    r"|[\w./-]*[#!]\d+[,;.\s]*|https?://\S+\s*|[A-Z]{2,10}-\d+[,;.\s]*)+",
    re.IGNORECASE,
)
"""Sentences of nothing but numbers of issues."""
_ITEMS = re.compile(r"^\s*[-*•]\s", re.MULTILINE)
_IDENTIFIER = re.compile(r"[^\W\d]\w+")
_SHORTEST = 5
_STRONG_RANK = 3
LONGEST_SENTENCE = 280


def body_of(message: str) -> str:
    """The message below its subject, without trailers, ids of reverted commits, and the subject said again."""
    subject, _, rest = without_records(message).partition("\n")
    said = re.sub(r"\s*\(#\d+\)$", "", subject.strip())
    kept = (line for line in rest.split("\n") if line.strip(" \t\r*-•.") not in (said, subject.strip()))
    return _RULE.sub("", _TRAILER.sub("", "\n".join(kept))).strip()


def sentences_of(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-*•‣◦]\s)", text):
        for start, end in plain_spans(" ".join(paragraph.split())):
            sentence = _LABEL.sub("", " ".join(paragraph.split())[start:end].strip())
            if len(sentence) > 8 and not _NUMBERS.fullmatch(sentence):
                yield sentence


def says_nothing(subject: str) -> bool:
    return _EMPTY.match(subject.strip()) is not None


def says_why(sentence: str) -> bool:
    """True for a sentence with words of a reason."""
    return _STRONG.search(sentence) is not None


def reason_in(text: str, about: frozenset[str] = frozenset()) -> str:
    """The sentence that says why: one with words of a reason, rather one that is about these words; else one of a
    change; else the first. Of a list, as squashed commits leave it, only an item with words of a reason or about these.
    Empty where there is none."""
    found = list(sentences_of(text))
    is_list = len(_ITEMS.findall(text)) > 1
    ranked = sorted(range(len(found)), key=lambda place: (-_rank(found[place], about, is_list=is_list), place))
    if not ranked or (is_list and _rank(found[ranked[0]], about, is_list=True) < _STRONG_RANK):
        return ""
    return one_line(found[ranked[0]], LONGEST_SENTENCE)


def _rank(sentence: str, about: frozenset[str], *, is_list: bool) -> int:
    shared = bool(about & words_of(sentence))
    if _STRONG.search(sentence):
        return _STRONG_RANK + shared
    if is_list:
        return _STRONG_RANK if shared else 0
    return 1 + shared if _WEAK.search(sentence) else 0


def words_of(text: str) -> frozenset[str]:
    """The words of a text that tell what it is about."""
    parts = (part for word in _IDENTIFIER.findall(text) for part in (word, *word.split("_")))
    return frozenset(part.casefold() for part in parts if len(part) >= _SHORTEST)


def whole_message(message: str, longest: int) -> str:
    """The message below its subject on one line; a longer one loses the paragraphs behind, the one with the reason
    last."""
    paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", body_of(message)) if each.strip()]
    reason = reason_in(body_of(message))[:60]
    kept: list[str] = []
    left = longest
    for paragraph in sorted(paragraphs, key=lambda each: reason[:40] not in each if reason else False):
        if len(paragraph) <= left or not kept:
            kept.append(paragraph)
            left -= len(paragraph) + 1
    shown = [each for each in paragraphs if each in kept]
    text = one_line(" ".join(shown), longest)
    return text if len(shown) == len(paragraphs) else f"{text} (shortened)"
