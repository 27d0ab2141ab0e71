"""Models in a local folder."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.search.tiny_model import WORDS, table, tokenizer_json, write_folder, write_model

from clew.config import EmbedSettings
from clew.errors import ConfigError
from clew.search.embed.embedder import Embedder
from clew.search.embed.minilm import VOCABULARY, WEIGHTS, vocabulary
from clew.search.embed.onnx_encoder import OnnxEncoder
from clew.search.embed.opening import open_embedder
from clew.search.embed.sentence import SentenceEncoder
from clew.search.embed.wordpiece import WordPiece

TEXTS = ["the red sea", "greenish , blue", "", "red " * 40, "unheard"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "tiny")


def opened(folder: Path, **more: Any) -> Embedder:
    embedder = open_embedder(EmbedSettings(kind="folder", folder=str(folder), **more))
    assert embedder is not None
    return embedder


def unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / np.linalg.norm(vector))


def test_the_mean_of_its_tokens_stands_for_a_text(folder: Path) -> None:
    vectors = opened(folder, max_tokens=12).embed(TEXTS)
    tokens = [[2, 10, 4, 9, 3], [2, 5, 7, 8, 6, 3], [2, 3], [2, *[4] * 10, 3], [2, 1, 3]]
    for vector, ids in zip(vectors, tokens, strict=True):
        assert np.allclose(vector, unit(table()[ids].mean(axis=0)), atol=1e-5)


def test_the_first_token_stands_for_the_text_where_the_model_says_so(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}', encoding="utf-8")
    vector = opened(folder).embed(["the red sea"])[0]
    assert np.allclose(vector, unit(table()[2]), atol=1e-5)


def test_a_model_may_lie_in_a_folder_of_its_own_and_say_how_many_tokens_it_takes(folder: Path) -> None:
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 12}', encoding="utf-8")
    assert opened(folder).max_tokens == 12


def test_a_text_has_the_same_vector_alone_and_among_others(folder: Path) -> None:
    embedder = opened(folder)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert np.abs(embedder.embed(TEXTS) - alone).max() <= 1e-5


@pytest.fixture
def onnx_folder(tmp_path: Path) -> Path:
    """The model that comes with Clew, as somebody would keep it in a folder."""
    root = tmp_path / "onnx"
    root.mkdir()
    shutil.copyfile(WEIGHTS.find(), root / "model.onnx")
    words = VOCABULARY.read().decode().split("\n")[:-1]
    (root / "tokenizer.json").write_text(tokenizer_json(words), encoding="utf-8")
    return root


def test_an_onnx_file_in_a_folder_gives_the_vectors_of_its_model(onnx_folder: Path) -> None:
    texts = ["The clock shall show the hour.", "short", "A longer text about requirements and their tests."]
    local = opened(onnx_folder, sha256=WEIGHTS.sha256, max_tokens=256)
    assert (local.dimensions, local.max_tokens) == (384, 256)
    # Both compute with floats. Against arithmetic in bytes, how far the vectors differ depends on the processor.
    same = SentenceEncoder(WordPiece(vocabulary()), OnnxEncoder(WEIGHTS.read(), "the same"), max_tokens=256)
    assert np.abs(local.embed(texts) - same.embed(texts)).max() <= 1e-5


def test_the_name_follows_the_files_and_settings(folder: Path) -> None:
    first = opened(folder)
    assert first.name == opened(folder).name
    assert first.name != opened(folder, max_tokens=6).name
    write_model(folder / "model.onnx", table(seed=8))
    assert first.name != opened(folder).name


def test_another_file_than_the_one_asked_for_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="sha256"):
        opened(folder, sha256="0" * 64)


def damage(folder: Path, file: str, content: bytes | str | None) -> None:
    path = folder / file
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.onnx", None),
        ("model.onnx", b"no model"),
        ("model.onnx", b""),
        ("tokenizer.json", None),
        ("tokenizer.json", "{}"),
        ("tokenizer.json", b"\xff\xfe"),
        ("tokenizer.json", tokenizer_json(["only", "words"])),
        ("sentence_bert_config.json", "{"),
    ],
)
def test_a_folder_that_holds_no_usable_model_is_refused(folder: Path, file: str, content: bytes | str | None) -> None:
    damage(folder, file, content)
    with pytest.raises(ConfigError) as caught:
        opened(folder)
    assert str(folder) in caught.value.message
    assert caught.value.hint


def test_weights_without_an_onnx_file_are_refused_with_the_way_to_get_one(folder: Path) -> None:
    (folder / "model.onnx").rename(folder / "model.safetensors")
    with pytest.raises(ConfigError, match=r"model\.safetensors, which Clew does not read") as caught:
        opened(folder)
    assert "export onnx" in caught.value.hint


@pytest.mark.parametrize("tokens", [2, 513, 1000])
def test_a_number_of_tokens_that_no_model_takes_is_refused(folder: Path, tokens: int) -> None:
    with pytest.raises(ConfigError, match="max_tokens"):
        opened(folder, max_tokens=tokens)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a folder"):
        opened(tmp_path / "nowhere")


def test_a_tokenizer_of_another_kind_needs_its_library(folder: Path) -> None:
    (folder / "tokenizer.json").write_text(tokenizer_json(WORDS, type="Unigram"), encoding="utf-8")
    with pytest.raises(ConfigError):
        opened(folder)
