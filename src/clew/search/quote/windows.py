"""Windows: parts of a text as long as one quote may be, scored by what they say about a question and by their position.

`evidence` quotes single sentences by the words they share with the question. An answer seldom repeats the question: it
uses other words, it is beside the sentence that does, in the code block below it, or under a heading that says what
it is about. So here a text is cut into windows, each of as many whole sentences, items, rows and code blocks as fit
into one quote. A window is worth the sum of

- how well its passage was found, in proportion to the best one;
- how much of the question is in the window or in the headings above it, by the rarity of the words and by how much
  the words are alike (`WordOverlap`);
- how much of it is in the window alone, which tells the windows of one passage apart;
- twice how near the window is to the question in meaning, where its vector is there;
- and, where the question asks what something is, whether the window says so (`definitions`).

A window that follows a better one gets a share of its worth. The first three find what has the words of the question,
the last what is meant by them, and each finds answers that the other does not. Weights of half or twice these hardly
change what is found (`make bench-kb`).

How likely a window is to answer (`Quote.score`) follows from what it is worth without the first of these, by two curves
that were fitted to the questions for tuning, those that nothing answers included. More is asked of the answer to a
question that consists of names (`names.naming`): in documentation that has the answer, the names are beside it. So
it is of one whose other words stand nowhere beside each other as the question has them (`names.word_pairs`). Words that
stand only in a document that the text shows (`samples`) make nothing likely.

The same word counts in full, one like it in part. Words are the same when their stems are. How much others are alike,
from 0 to 1, is what the vectors of words say; without those no other word counts.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from clew.search.quote.blocks import BlockForm
from clew.search.quote.certainty import QuoteSupport
from clew.search.quote.evidence import Quote, QuoteLimits, checked, fitting_end
from clew.search.quote.samples import outside, samples, stripped, without
from clew.search.quote.structure import structure
from clew.search.quote.whole import Whole, whole_units
from clew.text.sentences import TextKind, is_term, sentences
from clew.text.stem import stem
from clew.text.tokens import CHARACTERS_PER_TOKEN_AT_MOST, estimate_tokens
from clew.text.words import split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.embed.word_vectors import WordVectors


_ALMOST = 0.999
"""As much as another word can count: only the same one is the same."""


class Overlap(msgspec.Struct, frozen=True):
    """The share of a question that is in a text, from 0 to 1."""

    same: float
    """In its very words."""
    alike: float
    """In those and in words like them."""


class WordOverlap:
    """A question, for texts whose words are given in advance."""

    def __init__(
        self,
        question: str,
        rarities: Mapping[str, float],
        words: Iterable[str],
        vectors: "WordVectors | None" = None,
    ) -> None:
        """`rarities` are the counting terms of the question with their weights; `words` are all words of the texts, as
        `split` gives them."""
        import numpy as np

        asked = {stem(word): word for word in reversed(split(question).words)}
        self._terms = {term: place for place, term in enumerate(rarities)}
        weights = np.fromiter(rarities.values(), np.float64, len(rarities))
        self._weights = weights / (weights.sum() or 1.0)
        self._place = {word: place for place, word in enumerate(dict.fromkeys(words))}
        self._alike = self._compared([asked.get(term, term) for term in rarities], [*self._place], vectors)

    def _compared(
        self, asked: Sequence[str], words: Sequence[str], vectors: "WordVectors | None"
    ) -> "NDArray[np.float32]":
        """A row for each word, a column for each term."""
        import numpy as np

        if vectors is None:
            alike = np.zeros((len(words), len(asked)), np.float32)
        else:
            alike = np.clip(vectors.of(words) @ vectors.of(asked).T, 0.0, _ALMOST)
        for row, word in enumerate(words):
            column = self._terms.get(stem(word), self._terms.get(word))
            if column is not None:
                alike[row, column] = 1.0
        return alike

    def best(self, words: Iterable[str]) -> "NDArray[np.float32]":
        """The likeness of the most similar word, for each term of the question."""
        places = [self._place[word] for word in dict.fromkeys(words)]
        best: NDArray[np.float32] = self._alike[places].max(axis=0, initial=0.0)
        return best

    def share(self, best: "NDArray[np.float32]") -> Overlap:
        return Overlap(min(1.0, float(self._weights @ (best >= 1.0))), min(1.0, float(self._weights @ best)))


_RULER = re.compile(r"[ \t]*\r?\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\||$)", re.MULTILINE)
"""Follows the head of a table."""
_SPACE = re.compile(r"\s*+")
_TARGET = re.compile(
    r"^ {0,3}\[[^\]\n^][^\]\n]*+\]:[ \t]*+(?:<[^<>\n]*+>|(?:[a-z]++://|[./#])\S*+)"
    r"(?:[ \t]++(?:\"[^\"\n]*+\"|'[^'\n]*+'|\([^()\n]*+\)))?+[ \t]*+\r?$",
    re.MULTILINE,
)
"""`[name]: https://example.org "Title"`: where a link of Markdown leads to, which no reader sees. A footnote
(`[^1]:`), and a line that goes on with words, are read."""

_LEAST_ALIKE = 0.15
"""Any two words are a little alike: a text that has no word of the question says something of it from here on."""
_LEAST_NEAR = 0.3
"""Likewise two texts in meaning."""
_OF_PASSAGE, _WITH_HEADINGS, _ALONE, _MEANT, _DEFINES = 1.0, 1.0, 1.0, 2.0, 1.0
_CONTINUES = 0.4
_FOLLOWS = (BlockForm.PROSE, BlockForm.CODE)
"""Units that continue the one before them."""
_MARKS = re.compile(r"[\s*_`|,.;:]+")
"""Marks and spaces that do not change the meaning of a text."""
_LINK_TO = re.compile(r"\[([^\[\]]*)\](?:\([^()\s]*\)|\[[^\]]*\])")
_HEADING_LINE = re.compile(r"\A {0,3}#{1,6}[ \t].*\n|^ {0,3}[-*+][ \t]+")


class Curve(NamedTuple):
    """The map from the score of a window to the probability that it answers."""

    steepness: float
    middle: float
    """The worth at which a window is as likely to answer as not."""
    least: float
    """The least worth of a window that may be an answer."""
    named: float
    """The addition to that for a question of names: its answer has the names, which others lack."""
    unheard: float
    """The addition to that for a question whose other words stand nowhere in pairs."""

    def at(self, worth: float, asked: "WeightedQuestion") -> float:
        return 1.0 / (1.0 + math.exp(-self.steepness * (worth - self._demand(asked) - self.middle)))

    def may_answer(self, worth: float, asked: "WeightedQuestion") -> bool:
        return worth >= self.least + self._demand(asked)

    def _demand(self, asked: "WeightedQuestion") -> float:
        return self.named * asked.naming + self.unheard * asked.lacks_word_pairs


BY_MEANING = Curve(1.45, 2.78, 1.25, 1.2, 0.5)
BY_WORDS = Curve(2.16, 1.8, 0.8, 0.6, 0.25)
LEAST_NEAR = 0.28
"""The least likeness in meaning of an answer, whatever words it shares with the question."""


class WeightedQuestion(msgspec.Struct, frozen=True):
    """A question with facts about its words."""

    text: str
    rarities: Mapping[str, float]
    """The terms of the question that count, each with its weight."""
    vectors: "WordVectors | None" = None
    """By which words are compared; without them only the same word counts."""
    is_calibrated: bool = True
    """True if likeness in meaning is on the scale that the curves were fitted to: that of the encoder that comes with
    Clew. On another scale it orders windows, and words alone decide how likely they are to answer."""
    naming: float = 0.0
    """The share of names in it (`names.naming`), from 0 to 1."""
    lacks_word_pairs: bool = False
    """True if it has pairs of words (`names.word_pairs`), and none of them is in the documents."""
    definition: re.Pattern[str] | None = None
    """A pattern for sentences that define the thing in question (`definitions`), if it asks what something is."""


class Passage(msgspec.Struct, frozen=True):
    text: str
    headings: str
    """The headings above it, outermost first."""
    share: float
    """Its score in proportion to the best one; from 0 to 1."""
    likeness: "Sequence[float] | NDArray[np.float32] | None" = None
    """Likeness in meaning between each of its windows and the question, for windows of the usual size; None if it is
    not known."""


class _Cut(msgspec.Struct, frozen=True):
    """A whole unit of a passage, and its words with those of its lead."""

    passage: int
    unit: Whole
    start: int
    end: int
    words: list[str]
    own: list[str] | None = None
    """Without those of documents that it shows; None where it shows none."""


class _Window(msgspec.Struct, frozen=True):
    cut: _Cut
    likely: float
    """The probability that it answers."""
    may_answer: bool
    says_something: bool
    """True if it says anything about the question at all."""
    worth: float
    evidence: QuoteSupport

    def rank(self) -> tuple[bool, float, int, int]:
        return not self.may_answer, -self.worth, self.cut.passage, self.cut.start


def window_evidence(
    asked: WeightedQuestion, passages: Sequence[Passage], limits: QuoteLimits | None = None
) -> tuple[Quote, ...]:
    """The best windows, those that may answer first. Windows without a word of the question come in only if no other
    does."""
    limits = checked(limits or QuoteLimits())
    above = [_words(passage.headings) for passage in passages]
    cuts = [cut for number, passage in enumerate(passages) for cut in _cuts(number, passage.text, limits)]
    words = (word for each in (*above, *(cut.words for cut in cuts)) for word in each)
    overlaps = WordOverlap(asked.text, asked.rarities, words, asked.vectors)
    headings = [overlaps.best(each) for each in above]
    usual = _usual_likeness(passages)
    meant = [_likeness(passage, usual) for passage in passages]
    weighed = [
        _weighed(cut, passages[cut.passage], headings[cut.passage], overlaps, meant[cut.passage], asked) for cut in cuts
    ]
    candidates = _continued(weighed)
    speaking = [candidate for candidate in candidates if candidate.says_something] or candidates
    best = islice(_different(sorted(speaking, key=_Window.rank), passages), limits.max_quotes)
    return tuple(_quote(each, others) for each, others in best)


def _different(ranked: Iterable[_Window], passages: Sequence[Passage]) -> Iterator[tuple[_Window, list[_Window]]]:
    """The windows without those that repeat a better one, which has them as further places: pages repeat a step for
    each system. One different word may say the opposite."""
    taken: dict[str, tuple[_Window, list[_Window]]] = {}
    for each in ranked:
        cut = each.cut
        said = repeated(passages[cut.passage].text[cut.start : cut.end])
        known = taken.setdefault(said, (each, []))
        if known[0] is not each:
            known[1].append(each)
    yield from taken.values()


def repeated(text: str) -> str:
    """What is compared to find copies of a text: without headings, marks of emphasis, and where its links lead to."""
    return _MARKS.sub(" ", _LINK_TO.sub(r"\1", _HEADING_LINE.sub("", text))).strip()


def _words(text: str) -> list[str]:
    """The words of a text, and its identifiers whole."""
    words, compounds = split(_TARGET.sub("", text))
    return words + compounds


class _Portion(NamedTuple):
    """As much of a piece as fits into a quote."""

    start: int
    end: int
    introduces: bool
    """True if it only leads to what follows: a heading, the head of a table, a line that ends with a colon, a name that
    is explained below it."""
    is_heading: bool = False


def windows(text: str, limits: QuoteLimits) -> Iterator[tuple[int, int]]:
    """A text in quotable parts: whole pieces as long as they fit, and parts of a piece that is too long. An
    introduction stays with the piece after it."""
    return ((group[0].start, group[-1].end) for group in _windows(text, limits))


def _cuts(number: int, text: str, limits: QuoteLimits) -> Iterator[_Cut]:
    """The units of a passage without lines of structure. One without a word, such as a list of addresses, says
    nothing."""
    lines, documents = structure(text), samples(text)
    for place, unit in enumerate(whole_units(text, limits)):
        lead = _words(text[unit.lead[0] : unit.lead[1]]) if unit.lead is not None else []
        for first, last in outside(lines, unit.start, unit.end):
            start, end = stripped(text, first, last)
            if start < end and (said := _words(text[start:end])):
                own = [*lead, *_words(without(documents, text, start, end))] if documents else None
                yield _Cut(number, msgspec.structs.replace(unit, place=place), start, end, [*lead, *said], own)


def _windows(text: str, limits: QuoteLimits) -> Iterator[list[_Portion]]:
    """The portions of each window."""
    portions = list(_portions(text, limits))
    first = 0
    for place, portion in enumerate(portions):
        if place == first or _fits(text, portions[first].start, portion.end, limits):
            continue
        end = place
        while end - 1 > first and portions[end - 1].introduces:
            end -= 1
        if not _fits(text, portions[end].start, portion.end, limits):
            end = place
        yield portions[first:end]
        first = end
    if portions:
        yield portions[first:]


def _portions(text: str, limits: QuoteLimits) -> Iterator[_Portion]:
    for piece in sentences(text):
        is_head = piece.kind is TextKind.ROW and _RULER.match(text, piece.end) is not None
        is_heading = piece.kind is TextKind.HEADING
        introduces = is_head or is_heading or text[piece.end - 1] == ":" or is_term(text, piece.start, piece.end)
        start, end = piece.start, piece.end
        while not _fits(text, start, end, limits):
            cut = fitting_end(text, start, end, max_tokens=limits.max_quote_tokens, max_chars=limits.max_quote_chars)
            cut = max(cut, start + 1)
            yield _Portion(start, cut, False)
            start = _end_of_space(text, cut, end)
        if start < end:
            yield _Portion(start, end, introduces, is_heading)


def _end_of_space(text: str, start: int, end: int) -> int:
    """The end of text[start:end] without the space after it, without a copy: a piece may be megabytes long."""
    space = _SPACE.match(text, start, end)
    return space.end() if space else start


def _weighed(
    cut: _Cut,
    passage: Passage,
    headings: "NDArray[np.float32]",
    overlaps: WordOverlap,
    meant: "_Likeness",
    asked: WeightedQuestion,
) -> _Window:
    import numpy as np

    own = overlaps.best(cut.words)
    alone, together = overlaps.share(own), overlaps.share(np.maximum(own, headings))
    said = _WITH_HEADINGS * together.alike + _ALONE * alone.alike
    defines = asked.definition is not None and asked.definition.search(passage.text, cut.start, cut.end) is not None
    said += _DEFINES * defines
    near = meant(cut)
    by_words = not near.is_known or not asked.is_calibrated
    meaning = _MEANT * near.likeness
    vouched = said if cut.own is None else said - _shown(cut.words, cut.own, headings, overlaps)
    curve, score = (BY_WORDS, vouched) if by_words else (BY_MEANING, vouched + meaning)
    is_meant = near.is_known and near.likeness >= _LEAST_NEAR
    says_something = together.same > 0 or together.alike >= _LEAST_ALIKE or is_meant
    worth = _OF_PASSAGE * passage.share + said + meaning
    may_answer = (by_words or near.likeness >= LEAST_NEAR) and curve.may_answer(score, asked)
    evidence = QuoteSupport(
        same=together.same,
        telling=together.same * sum(asked.rarities.values()),
        near=None if by_words else near.likeness,
        may_answer=may_answer,
        names=asked.naming > 0,
        defines=defines,
    )
    return _Window(cut, curve.at(score, asked), may_answer, says_something, worth, evidence)


def _shown(words: list[str], own: list[str], headings: "NDArray[np.float32]", overlaps: WordOverlap) -> float:
    """The share of the question's weight that a window has only in sample documents. It may still be the best place,
    but the text itself does not say it."""
    import numpy as np

    whole, rest = overlaps.best(words), overlaps.best(own)
    alone = overlaps.share(whole).alike - overlaps.share(rest).alike
    together = overlaps.share(np.maximum(whole, headings)).alike - overlaps.share(np.maximum(rest, headings)).alike
    return _ALONE * alone + _WITH_HEADINGS * together


def _continued(weighed: Sequence[_Window]) -> list[_Window]:
    """The windows, each with a share of the worth of what introduces it, because the answer often follows the sentence
    with the words of the question. An item or a row is introduced by what is above all of them, not by its neighbour,
    which is about something else."""
    places = {(each.cut.passage, each.cut.unit.place): each for each in weighed}
    found = []
    for each in weighed:
        unit = each.cut.unit
        above = unit.above if unit.above >= 0 else unit.place - 1 if unit.form in _FOLLOWS else -1
        before = places.get((each.cut.passage, above))
        if before is not None and before is not each:
            shared = (1 - _CONTINUES) * each.worth + _CONTINUES * before.worth
            says_something = each.says_something or before.may_answer
            found.append(msgspec.structs.replace(each, worth=max(each.worth, shared), says_something=says_something))
        else:
            found.append(each)
    return found


class _Near(NamedTuple):
    """Likeness in meaning between a window and the question."""

    likeness: float
    is_known: bool
    """Or only what is usual, where no vector of the window was made yet: those that have one would else be before
    better ones that wait for theirs."""


_Likeness = Callable[[_Cut], _Near]


def _usual_likeness(passages: Sequence[Passage]) -> float:
    known = [float(each) for passage in passages if passage.likeness is not None for each in passage.likeness]
    return sum(known) / len(known) if known else 0.0


def _likeness(passage: Passage, usual: float) -> _Likeness:
    """Similarity in meaning of the windows of a passage: that of the nearest overlapping window with a vector."""
    known = passage.likeness if passage.likeness is not None else ()
    spans = list(zip(windows(passage.text, QuoteLimits()), known, strict=False))

    def near(cut: _Cut) -> _Near:
        found = [float(each) for (start, end), each in spans if start < cut.end and cut.start < end]
        return _Near(max(found), True) if found else _Near(usual, False)

    return near


def _fits(text: str, start: int, end: int, limits: QuoteLimits) -> bool:
    # What is longer than any text of so many tokens need not be read to know that.
    longest = min(limits.max_quote_chars, limits.max_quote_tokens * CHARACTERS_PER_TOKEN_AT_MOST)
    return end - start <= longest and estimate_tokens(text[start:end]) <= limits.max_quote_tokens


def _quote(found: _Window, others: Sequence[_Window]) -> Quote:
    cut, unit = found.cut, found.cut.unit
    return Quote(
        passage=cut.passage,
        start=cut.start,
        end=cut.end,
        score=found.likely,
        truncated=unit.cut_after,
        context_start=cut.start,
        context_end=cut.end,
        may_answer=found.may_answer,
        lead=unit.lead,
        cut_before=unit.cut_before,
        also=tuple((each.cut.passage, each.cut.start, each.cut.end) for each in others),
        certainty=found.evidence.certainty,
        is_related=found.evidence.is_related,
    )
