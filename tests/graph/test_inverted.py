"""The inverted index: what holds a term, after any adding and removing."""

from hypothesis import given
from hypothesis import strategies as st

from clew.graph.inverted import Inverted, InvertedSets

TERMS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), max_size=5)


@given(st.lists(st.tuples(st.integers(0, 5), TERMS | st.none()), max_size=30))
def test_it_holds_what_was_added_last_and_says_which_terms_came_and_went(steps: list) -> None:
    index: Inverted[str, int, int] = Inverted()
    without_values: InvertedSets[str, int] = InvertedSets()
    texts: dict[int, dict[str, int]] = {}
    for key, terms in steps:
        before = {term for text in texts.values() for term in text}
        gone = set(index.remove(key, texts.get(key, {})))
        assert gone == set(without_values.remove(key, texts.pop(key, {})))
        assert gone == before - {term for text in texts.values() for term in text}
        if terms is not None:
            known = {term for text in texts.values() for term in text}
            assert set(index.add(key, terms)) == set(without_values.add(key, terms)) == set(terms) - known
            texts[key] = terms
    assert set(index) == set(without_values) == {term for text in texts.values() for term in text}
    for term in "abcdef":
        assert index.holders(term) == {key: text[term] for key, text in texts.items() if term in text}
        assert without_values.holders(term) == index.holders(term).keys()


def test_holders_come_in_the_order_they_were_added() -> None:
    index: Inverted[str, int, None] = Inverted()
    for key in (3, 1, 2):
        index.add(key, {"loan": None})
    assert list(index.holders("loan")) == [3, 1, 2]
