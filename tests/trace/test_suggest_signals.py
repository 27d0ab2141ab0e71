"""What the single signals of a suggestion make of texts of all sizes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clew.trace.links.match.index import NameIndex, TermIndex
from clew.trace.links.match.matching import Candidates, Contrast
from clew.trace.links.match.meaning import Vectors
from clew.trace.links.match.texts import MOST_SENTENCES, LinkableText, names, statements

SUBJECTS = ("bell", "lamp", "tide")


class OneSubject:
    """An encoder to which all texts are much alike, and which sees their own subject only faintly."""

    name = "one subject"
    dimensions = 8
    max_tokens = 100

    def takes(self, text: str) -> bool:
        return True

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = np.zeros((len(texts), self.dimensions), np.float32)
        found[:, 0] = 1
        for row, text in enumerate(texts):
            found[row, 4 + len(text) % 4] = 0.05
            for number, subject in enumerate(SUBJECTS, start=1):
                found[row, number] = 0.2 * (subject in text)
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


# Verifies: REQ-d00055-K
def test_a_word_that_is_frequent_on_either_side_counts_little() -> None:
    candidates = [{"return": 1.0, f"own{number}": 1.0} for number in range(30)]
    others = [{"shall": 1.0, "return": 1.0} if number == 0 else {"shall": 1.0} for number in range(30)]
    others[1]["own1"] = 1.0
    index = TermIndex(candidates, others)

    assert index.rarity("own1") > 10 * index.rarity("return")
    assert index.rarity("own1") > 10 * index.rarity("shall")
    assert index.rarity("never seen") >= index.rarity("own1")


# Verifies: REQ-d00055-K
def test_a_side_of_a_single_text_still_leaves_rare_words_apart_from_frequent_ones() -> None:
    candidates = [{"keep": 1.0, f"own{number}": 1.0} for number in range(30)]
    index = TermIndex(candidates, [{"keep": 1.0, "own1": 1.0}])

    assert index.rarity("own1") > 5 * index.rarity("keep")


# Verifies: REQ-d00055-K
def test_what_all_texts_have_in_common_in_meaning_counts_little(tmp_path: Path) -> None:
    vectors = Vectors(OneSubject(), tmp_path)
    rules = [f"{'the ' * number}{subject} rule" for subject in SUBJECTS for number in range(8)]
    tests = [f"{'some ' * number}{subject} test" for subject in SUBJECTS for number in range(8)]
    plain = vectors.of(rules) @ vectors.of(tests).T
    space = Contrast(vectors, [rules, tests])
    apart = space.of(rules) @ space.of(tests).T
    same = np.repeat(np.arange(3), 8)[:, None] == np.repeat(np.arange(3), 8)

    assert plain.min() > 0.9, "to the encoder everything is alike"
    assert apart[same].min() > 0.5
    assert apart[~same].max() < 0.1
    assert np.allclose(np.linalg.norm(space.of(rules), axis=1), 1, atol=1e-5)
    assert np.isfinite(Contrast(vectors, [["one text"], []]).of(["one text", "another"])).all()


# Verifies: REQ-d00055-L
def test_of_a_long_requirement_sentences_from_all_of_it_are_compared() -> None:
    text = " ".join(f"Bell {number} SHALL ring." for number in range(900))
    found = statements(LinkableText("r", "Bells", text))

    assert len(found) == MOST_SENTENCES
    assert found[0] == "bells"
    assert found[-1] == "bell 899 shall ring"
    assert found[MOST_SENTENCES // 2] > "bell 4"


# Verifies: REQ-d00055-M
def test_a_long_text_is_held_back_less_where_length_counts_in_part() -> None:
    candidates = [
        {"bell": 1.0, "ring": 1.0},
        {"bell": 4.0, **{f"word{number}": 2.0 for number in range(300)}},
        {"x": 1.0},
    ]
    asking = [{"bell": 1.0}, *({f"other{number}": 1.0} for number in range(20))]
    short, long, _ = TermIndex(candidates, asking).cosines(asking)[0]
    short_in_part, long_in_part, _ = TermIndex(candidates, asking, length_share=0.7).cosines(asking)[0]

    assert long_in_part / short_in_part > 2 * long / short


# Verifies: REQ-d00055-M
def test_a_candidate_shares_in_what_others_score_only_as_far_as_they_are_like_it() -> None:
    alike = [
        LinkableText(str(number), "", f"The bell rings at noon and the hammer falls, number {'i' * number}.")
        for number in (1, 2)
    ]
    unlike = [
        LinkableText(subject, "", f"{subject} {subject}s") for subject in ("lamp", "tide", "wheel", "letter", "garden")
    ]
    asking = [LinkableText("a", "", "the hammer i"), LinkableText("b", "", "a lamp")]
    scores = Candidates([*alike, *unlike], asking).compare(asking).scores

    assert scores[0, 1] > scores[0, 2:].max(), "the other text about the bell comes next"
    others = np.delete(scores[1], 2)
    assert np.ptp(others) < 0.05 * (scores[1, 2] - others.mean()), "nobody is like the lamp, and nobody has a share"


def _module(name: str, defined: str, about: str) -> LinkableText:
    return LinkableText(name, name, f'def {defined}():\n    """{about}"""\n', path=f"{name}.py", is_file=True)


MODULES = (
    _module("bells", "ring_at_noon", "Bells hang in towers."),
    _module("lamps", "lit_at_dusk", "Lamps stand on piers."),
    _module("tides", "wait", "Tides come and go."),
)


# Verifies: REQ-d00055-N
def test_the_module_that_defines_what_a_text_mentions_comes_before_one_that_shares_as_many_words() -> None:
    asking = [
        LinkableText("1", "", "Lamps and bells: ring_at_noon is called once."),
        LinkableText("2", "", "Lamps and bells: lit_at_dusk is called once."),
    ]
    scores = Candidates(MODULES, asking).compare(asking).scores
    words = [LinkableText(each.id, "", each.text.replace("_", " ")) for each in asking]
    by_words = Candidates(MODULES, words).compare(words).scores

    assert scores.argmax(axis=1).tolist() == [0, 1]
    for row, column in ((0, 0), (1, 1)):
        assert scores[row, column] - scores[row, 1 - column] > by_words[row, column] - by_words[row, 1 - column]


# Verifies: REQ-d00055-N
def test_names_count_whichever_side_asks() -> None:
    texts = ("Call ring_at_noon.", "Call ringAtNoon, or ring at noon.")
    pages = [names(LinkableText(text, "", text)) for text in texts]
    modules = [names(each) for each in MODULES]
    there = NameIndex(modules, pages).cosines(pages)
    back = NameIndex(pages, modules).cosines(modules)

    assert there[0, 0] > 0.5
    assert np.count_nonzero(there) == 1, "only the name as it is written"
    assert np.allclose(there, back.T, atol=1e-6)


# Verifies: REQ-d00055-N
def test_a_name_of_one_word_does_not_count() -> None:
    assert names(MODULES[2]).defined == ()
    assert names(MODULES[0]).defined == ("ring_at_noon",)
    assert names(LinkableText("1", "", "def ring_at_noon():")).defined == (), "prose defines nothing"

    page = [names(LinkableText("1", "", "Boats wait for the tide."))]
    assert not NameIndex([names(each) for each in MODULES], page).cosines(page).any()


# Verifies: REQ-d00055-O
def test_one_text_that_mentions_a_name_leaves_what_the_others_score() -> None:
    things = ("anchor", "buoy", "canal", "dinghy", "estuary", "ferry", "gangway", "harbour", "island", "jetty", "keel")
    modules = [_module(f"about {thing}", f"draw_{thing}", f"One {thing} alone.") for thing in things]
    asking = [LinkableText(thing, "", f"Everybody likes the {thing}.") for thing in things]
    before = Candidates(modules, asking).compare(asking).scores.diagonal()
    mentioning = [LinkableText("anchor", "", "Everybody likes draw_anchor."), *asking[1:]]
    after = Candidates(modules, mentioning).compare(mentioning).scores.diagonal()

    assert after[0] > before[0] + 0.1
    assert np.abs(after[1:] - before[1:]).max() < 0.1
