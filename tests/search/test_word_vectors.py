"""Vectors of single words, from the encoder's own table."""

import numpy as np

from clew.search.embed.opening import open_word_vectors


# Verifies: REQ-d00186-E
def test_words_that_mean_nearly_the_same_are_nearer_than_others() -> None:
    vectors = open_word_vectors()
    assert vectors is not None
    remove, delete, lantern = vectors.of(["remove", "delete", "lantern"])
    assert float(remove @ delete) > float(remove @ lantern) + 0.2
    assert np.allclose(np.linalg.norm(vectors.of(["remove", "unfathomably", "a"]), axis=1), 1, atol=1e-5)


# Verifies: REQ-d00186-E
def test_what_the_vocabulary_lacks_is_like_nothing() -> None:
    vectors = open_word_vectors()
    assert vectors is not None
    unknown, other, empty = vectors.of(["\U0001f98a", "x" * 300, ""])
    assert not unknown.any()
    assert not other.any()
    assert not empty.any()
    assert vectors.of([]).shape == (0, 384)
