"""Models in a local folder: ONNX files, and weights of BERT-type encoders."""

import json
import math
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew.errors import ConfigError
from clew.search.embed import Embedder, EmbedSettings, open_embedder
from clew.search.embed.minilm import VOCABULARY, WEIGHTS, MiniLm

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "##ish", ",", "sea", "the"]
HIDDEN, HEADS, LAYERS, INNER, POSITIONS = 8, 2, 2, 16, 12
TEXTS = ["the red sea", "greenish , blue", "", "red " * 40, "unheard"]


def tokenizer_json(words: list[str], **model: Any) -> str:
    return json.dumps(
        {
            "normalizer": {
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": True,
                "lowercase": True,
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {
                "type": "WordPiece",
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
                "vocab": {word: number for number, word in enumerate(words)},
                **model,
            },
        }
    )


def tiny_tensors() -> dict[str, np.ndarray]:
    chance = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), HIDDEN),
        "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.LayerNorm.bias": (HIDDEN,),
    }
    for layer in range(LAYERS):
        for part, (rows, columns) in {
            "attention.self.query": (HIDDEN, HIDDEN),
            "attention.self.key": (HIDDEN, HIDDEN),
            "attention.self.value": (HIDDEN, HIDDEN),
            "attention.output.dense": (HIDDEN, HIDDEN),
            "intermediate.dense": (INNER, HIDDEN),
            "output.dense": (HIDDEN, INNER),
        }.items():
            shapes[f"encoder.layer.{layer}.{part}.weight"] = (rows, columns)
            shapes[f"encoder.layer.{layer}.{part}.bias"] = (rows,)
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"encoder.layer.{layer}.{part}.weight"] = (HIDDEN,)
            shapes[f"encoder.layer.{layer}.{part}.bias"] = (HIDDEN,)
    return {name: chance.normal(0, 0.6, shape).astype(np.float32) for name, shape in shapes.items()}


def write_safetensors(path: Path, tensors: dict[str, np.ndarray], dtype: str = "F32") -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}, "embeddings.position_ids": None}
    header.pop("embeddings.position_ids")
    body = b""
    for name, values in tensors.items():
        if dtype == "BF16":
            data = (values.view(np.uint32) >> 16).astype("<u2").tobytes()
        else:
            data = values.astype("<f4" if dtype == "F32" else "<f2").tobytes()
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    encoded = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + body)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of two small layers with random weights."""
    root = tmp_path / "tiny"
    root.mkdir()
    (root / "tokenizer.json").write_text(tokenizer_json(WORDS), encoding="utf-8")
    (root / "config.json").write_text(json.dumps(config()), encoding="utf-8")
    write_safetensors(root / "model.safetensors", tiny_tensors())
    return root


def config(**changes: Any) -> dict[str, Any]:
    return {
        "model_type": "bert",
        "hidden_size": HIDDEN,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "max_position_embeddings": POSITIONS,
        "hidden_act": "gelu",
        **changes,
    }


def opened(folder: Path, **more: Any) -> Embedder:
    embedder = open_embedder(EmbedSettings(kind="folder", folder=str(folder), **more))
    assert embedder is not None
    return embedder


def by_hand(tokens: list[int], get: dict[str, np.ndarray]) -> list[np.ndarray]:
    """What the encoder makes of one text, a token and a head at a time."""

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return np.array([float(row @ x) for row in get[f"{name}.weight"]]) + get[f"{name}.bias"]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        mean = sum(x) / len(x)
        spread = math.sqrt(sum((value - mean) ** 2 for value in x) / len(x) + 1e-12)
        return (x - mean) / spread * get[f"{name}.weight"] + get[f"{name}.bias"]

    hidden = [
        norm(
            get["embeddings.word_embeddings.weight"][token].astype(float)
            + get["embeddings.position_embeddings.weight"][place]
            + get["embeddings.token_type_embeddings.weight"][0],
            "embeddings.LayerNorm",
        )
        for place, token in enumerate(tokens)
    ]
    size = HIDDEN // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        queries, keys, values = (
            [linear(x, f"{name}.attention.self.{part}") for x in hidden] for part in ("query", "key", "value")
        )
        following = []
        for x, query in zip(hidden, queries, strict=True):
            heads = []
            for head in range(HEADS):
                part = slice(head * size, (head + 1) * size)
                weights = [math.exp(float(query[part] @ key[part]) / math.sqrt(size)) for key in keys]
                heads += [sum(w * v[part] for w, v in zip(weights, values, strict=True)) / sum(weights)]
            attended = linear(np.concatenate(heads), f"{name}.attention.output.dense")
            middle = norm(x + attended, f"{name}.attention.output.LayerNorm")
            inner = linear(middle, f"{name}.intermediate.dense")
            inner = np.array([value * (1 + math.erf(value / math.sqrt(2))) / 2 for value in inner])
            following.append(norm(middle + linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm"))
        hidden = following
    return hidden


def unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / np.linalg.norm(vector))


def test_weights_of_a_bert_type_encoder_give_what_the_definition_says(folder: Path) -> None:
    vectors = opened(folder).embed(TEXTS)
    tokens = [[2, 10, 4, 9, 3], [2, 5, 7, 8, 6, 3], [2, 3], [2, *[4] * (POSITIONS - 2), 3], [2, 1, 3]]
    for vector, ids in zip(vectors, tokens, strict=True):
        assert np.allclose(vector, unit(np.mean(by_hand(ids, tiny_tensors()), axis=0)), atol=1e-5)


def test_the_first_token_stands_for_the_text_where_the_model_says_so(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}', encoding="utf-8")
    vector = opened(folder).embed(["the red sea"])[0]
    assert np.allclose(vector, unit(by_hand([2, 10, 4, 9, 3], tiny_tensors())[0]), atol=1e-5)


def test_a_text_has_the_same_vector_alone_and_among_others(folder: Path) -> None:
    embedder = opened(folder)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert np.abs(embedder.embed(TEXTS) - alone).max() <= 1e-5


@pytest.mark.parametrize(("dtype", "tolerance"), [("F16", 0.02), ("BF16", 0.1)])
def test_weights_in_half_precision_are_read(folder: Path, dtype: str, tolerance: float) -> None:
    full = opened(folder).embed(TEXTS)
    write_safetensors(folder / "model.safetensors", tiny_tensors(), dtype)
    assert np.abs(opened(folder).embed(TEXTS) - full).max() < tolerance


def test_tensors_may_carry_the_name_of_the_model(folder: Path) -> None:
    plain = opened(folder).embed(TEXTS)
    write_safetensors(folder / "model.safetensors", {f"bert.{name}": value for name, value in tiny_tensors().items()})
    assert np.array_equal(opened(folder).embed(TEXTS), plain)


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
    assert (local.embed(texts) * MiniLm().embed(texts)).sum(axis=1).min() > 0.985


def test_the_name_follows_the_files_and_settings(folder: Path) -> None:
    first = opened(folder)
    assert first.name == opened(folder).name
    assert first.name != opened(folder, max_tokens=6).name
    tensors = tiny_tensors()
    tensors["embeddings.LayerNorm.bias"][0] += 1
    write_safetensors(folder / "model.safetensors", tensors)
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
        ("model.safetensors", None),
        ("model.safetensors", b""),
        ("model.safetensors", b"\xff" * 100),
        ("model.safetensors", struct.pack("<Q", 2) + b"{}"),
        ("model.safetensors", struct.pack("<Q", 2) + b"[]"),
        ("model.onnx", b"no model"),
        ("model.onnx", b""),
        ("tokenizer.json", None),
        ("tokenizer.json", "{}"),
        ("tokenizer.json", b"\xff\xfe"),
        ("tokenizer.json", tokenizer_json(["only", "words"])),
        ("config.json", None),
        ("config.json", "[]"),
        ("config.json", json.dumps(config(model_type="gpt2"))),
        ("config.json", json.dumps(config(hidden_act="swish"))),
        ("config.json", json.dumps(config(num_attention_heads=3))),
        ("config.json", json.dumps(config(hidden_size=10))),
        ("config.json", json.dumps(config(num_hidden_layers=3))),
        ("sentence_bert_config.json", "{"),
    ],
)
def test_a_folder_that_holds_no_usable_model_is_refused(folder: Path, file: str, content: bytes | str | None) -> None:
    damage(folder, file, content)
    with pytest.raises(ConfigError) as caught:
        opened(folder)
    assert str(folder) in caught.value.message
    assert caught.value.hint


def test_a_tensor_that_lies_outside_the_file_is_refused(folder: Path) -> None:
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-4])
    with pytest.raises(ConfigError, match="does not lie"):
        opened(folder)


@pytest.mark.parametrize("tokens", [POSITIONS + 1, 1000])
def test_more_tokens_than_the_model_has_places_for_are_refused(folder: Path, tokens: int) -> None:
    with pytest.raises(ConfigError, match="max_tokens"):
        opened(folder, max_tokens=tokens)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a folder"):
        opened(tmp_path / "nowhere")


def test_a_tokenizer_of_another_kind_needs_its_library(folder: Path) -> None:
    (folder / "tokenizer.json").write_text(tokenizer_json(WORDS, type="Unigram"), encoding="utf-8")
    with pytest.raises(ConfigError):
        opened(folder)
