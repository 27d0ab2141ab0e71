"""The file of reviewed links: which citation was looked at with which text of what it cites.

One line for each citation, sorted, so that a review changes as few lines as it has to and two branches merge:

    REQ-d00001-A 4f0c2a9be817 verifies test:tests/test_hours.py::test_two_digits

What is cited, the hash of its text at the review, how it is cited, and by whom, which goes to the end of the line.
White space and percent signs in what is cited, and control characters and percent signs in who cites, are spelled
`%0A;`. Lines that begin with `#` are comments. A citation that is there with two hashes, as after a merge of two
reviews, is reviewed with either.
"""

import re
from collections.abc import Iterable

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.text.display import shortened

REVIEWS_VERSION = 2
"""Goes up whenever the same bytes give other records."""

HEADER = "# Links that were reviewed, each with the hash of what it cites. `clew review` writes this file.\n"
HASH_DIGITS = 12

_LINE = re.compile(r"(\S+) ([0-9a-f]{8,64}) ([a-z_]+) (.+)")
_IN_A_WORD = re.compile(r"[\s\x00-\x1f\x7f%]")
_IN_A_LINE = re.compile(r"[\x00-\x1f\x7f%]|\A\s|\s\Z")
_SPELLED = re.compile(r"%([0-9A-F]{2,6});")
_MOST_REPORTED = 20


class Review(msgspec.Struct, frozen=True, gc=False, array_like=True, order=True):
    """One citation as it was reviewed."""

    cited: str
    """The id of a requirement, an assertion or a step."""
    citing: str
    """The citing node, under a name that does not change when lines are inserted above."""
    kind: str
    """Kind of the citation, such as `verifies`."""
    hash: str


class ReviewRecords(msgspec.Struct, frozen=True, array_like=True):
    reviews: tuple[Review, ...]
    comments: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def read_reviews(data: bytes) -> ReviewRecords:
    """The reviews of a file. Never fails: what cannot be read becomes a diagnostic."""
    reviews: list[Review] = []
    comments: list[str] = []
    diagnostics: list[Diagnostic] = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        text = line.removesuffix("\r")
        if not text.strip():
            continue
        match = _LINE.fullmatch(text)
        if text.startswith("#"):
            comments.append(text)
        elif match is not None:
            reviews.append(Review(_plain(match[1]), _plain(match[4]), match[3], match[2]))
        elif len(diagnostics) < _MOST_REPORTED:
            message = (
                f"{shortened(text)!r} is not `cited hash kind citing`; it is passed over."
                " Resolve the merge, or remove the line."
            )
            diagnostics.append(Diagnostic("reviews.unreadable_line", "warning", message, number))
    return ReviewRecords(tuple(reviews), tuple(comments), tuple(diagnostics))


def render_reviews(reviews: Iterable[Review], comments: Iterable[str] = ()) -> bytes:
    """The file of these reviews, with its comments on top."""
    above = [f"{comment}\n" for comment in comments] or [HEADER]
    lines = [
        f"{_spelled(_IN_A_WORD, review.cited)} {review.hash} {review.kind} {_spelled(_IN_A_LINE, review.citing)}\n"
        for review in sorted(reviews)
    ]
    return "".join((*above, *lines)).encode("utf-8", "replace")


def _spelled(strange: re.Pattern[str], text: str) -> str:
    return strange.sub(lambda match: f"%{ord(match[0]):02X};", text)


def _plain(text: str) -> str:
    return _SPELLED.sub(lambda match: chr(min(int(match[1], 16), 0x10FFFF)), text) if "%" in text else text
