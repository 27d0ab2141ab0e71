"""The sentence of a commit's message that says why, and the message without what is no reason."""

# Implements: REQ-d00361

import re
from collections.abc import Iterator

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
LONGEST_SENTENCE = 280


def body_of(message: str) -> str:
    """The message below its subject, without trailers, ids of reverted commits, and the subject said again."""
    subject, _, rest = message.partition("\n")
    said = re.sub(r"\s*\(#\d+\)$", "", subject.strip())
    kept = (line for line in rest.split("\n") if line.strip(" *-•.") not in (said, subject.strip()))
    return _RULE.sub("", _TRAILER.sub("", "\n".join(kept))).strip()


def sentences_of(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-*•‣◦]\s)", text):
        for start, end in plain_spans(" ".join(paragraph.split())):
            sentence = _LABEL.sub("", " ".join(paragraph.split())[start:end].strip())
            if len(sentence) > 8 and not _NUMBERS.fullmatch(sentence):
                yield sentence


def says_nothing(subject: str) -> bool:
    return _EMPTY.match(subject.strip()) is not None


def reason_in(text: str) -> str:
    """The sentence that says why: the first with words of a reason, else the first of a change, else the first. Empty
    where there is none."""
    found = list(sentences_of(text))
    for words in (_STRONG, _WEAK):
        for sentence in found:
            if words.search(sentence):
                return one_line(sentence, LONGEST_SENTENCE)
    return one_line(found[0], LONGEST_SENTENCE) if found else ""


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
