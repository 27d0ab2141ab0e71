"""A model in a folder that is small enough to be written by a test: it looks each token up in a table."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from clew.search.embed.onnx_graph import Element, constant, field, new_model, node

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "##ish", ",", "sea", "the"]
HIDDEN = 8
GRAPH_INPUT, GRAPH_OUTPUT = 11, 12


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


def port(name: str, element: Element, *axes: str | int) -> bytes:
    """A port of a graph with its axes, of which some are known."""
    shape = b"".join(field(1, field(1 if isinstance(axis, int) else 2, axis)) for axis in axes)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, shape)))


def table(seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 1, (len(WORDS), HIDDEN)).astype(np.float32)


def write_model(path: Path, rows: np.ndarray) -> None:
    """A model that looks each token up in a table."""
    path.write_bytes(
        new_model(
            [node("Gather", ["table", "input_ids"], ["hidden"])],
            [constant("table", Element.FLOAT, rows.tobytes(), rows.shape)],
            inputs=field(GRAPH_INPUT, port("input_ids", Element.INT64, "texts", "tokens")),
            outputs=field(GRAPH_OUTPUT, port("hidden", Element.FLOAT, "texts", "tokens", HIDDEN)),
        )
    )


def write_folder(root: Path) -> Path:
    """The folder of a whole model."""
    root.mkdir()
    (root / "tokenizer.json").write_text(tokenizer_json(WORDS), encoding="utf-8")
    write_model(root / "model.onnx", table())
    return root
