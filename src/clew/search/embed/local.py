"""A model in a local folder: an ONNX file beside its tokenizer."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from clew.errors import ConfigError
from clew.search.embed.onnx_encoder import OnnxEncoder
from clew.search.embed.sentence import Pooling, SentenceEncoder
from clew.search.embed.wordpiece import read_tokenizer
from clew.workspace.regular import contents

if TYPE_CHECKING:
    from clew.search.embed.embedder import Vectors

MODEL_FILES = ("model.onnx", "onnx/model.onnx")
_MOST_BYTES = 2 * 1024 * 1024 * 1024
"""ONNX has no larger models in one file."""
_FEWEST_TOKENS, _MOST_TOKENS = 3, 512

_Described = TypeVar("_Described")


class _SentenceConfig(msgspec.Struct, frozen=True):
    max_seq_length: int | None = None


class _PoolingConfig(msgspec.Struct, frozen=True):
    pooling_mode_cls_token: bool = False
    pooling_mode_mean_tokens: bool = False


class LocalModel:
    def __init__(
        self, folder: Path, *, sha256: str | None = None, max_tokens: int | None = None, threads: int | None = None
    ) -> None:
        model = _model_file(folder)
        content = _read(model)
        found = hashlib.sha256(content).hexdigest()
        if sha256 is not None and found != sha256.lower():
            raise ConfigError(
                f"{model} has the sha256 {found}; the configuration asks for {sha256}.",
                hint="Put the model that is meant into the folder, or correct `sha256`.",
            )
        tokenizer_file = folder / "tokenizer.json"
        encoder = OnnxEncoder(content, str(model))
        self.max_tokens = _max_tokens(folder, max_tokens)
        pooling = _pooling(folder)
        self._sentence_encoder = SentenceEncoder(
            read_tokenizer(tokenizer_file), encoder, max_tokens=self.max_tokens, pooling=pooling, threads=threads
        )
        self.dimensions = encoder.dimensions
        ingredients = f"{found} {hashlib.sha256(_read(tokenizer_file)).hexdigest()} {self.max_tokens} {pooling}"
        self.name = f"{folder.resolve().name}@{hashlib.sha256(ingredients.encode()).hexdigest()[:12]}"

    def takes(self, text: str) -> bool:
        return self._sentence_encoder.takes(text)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        return self._sentence_encoder.embed(texts)


def _model_file(folder: Path) -> Path:
    if not folder.is_dir():
        raise ConfigError(f"'{folder}' is not a folder.", hint="Set `folder` to the folder of a model.")
    for name in MODEL_FILES:
        if (folder / name).is_file():
            return folder / name
    found = "model.safetensors, which Clew does not read, and " if (folder / "model.safetensors").exists() else ""
    raise ConfigError(
        f"The folder '{folder}' holds {found}none of {', '.join(MODEL_FILES)}.",
        hint=(
            "Most models are published with an ONNX file: copy it there. Other models can be exported: "
            "`optimum-cli export onnx --task feature-extraction --model NAME FOLDER`."
        ),
    )


def _max_tokens(folder: Path, asked: int | None) -> int:
    if asked is not None:
        if not _FEWEST_TOKENS <= asked <= _MOST_TOKENS:
            raise ConfigError(
                f"max_tokens is {asked}; a local model takes {_FEWEST_TOKENS} to {_MOST_TOKENS}.",
                hint="Correct max_tokens.",
            )
        return asked
    described = _described(folder / "sentence_bert_config.json", _SentenceConfig)
    length = described.max_seq_length if described else None
    return min(length or _MOST_TOKENS, _MOST_TOKENS)


def _pooling(folder: Path) -> Pooling:
    described = _described(folder / "1_Pooling" / "config.json", _PoolingConfig)
    if described is None or described.pooling_mode_mean_tokens:
        return "mean"
    if described.pooling_mode_cls_token:
        return "first"
    raise ConfigError(
        f"'{folder}' pools its tokens in another way than by their mean or by the first.", hint="Use another model."
    )


def _described(path: Path, kind: type[_Described]) -> _Described | None:
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(_read(path), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be used: {error}.", hint="Copy the model's own file again.") from error


def _read(path: Path) -> bytes:
    try:
        return contents(path, _MOST_BYTES)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.", hint="Check the folder.") from error
