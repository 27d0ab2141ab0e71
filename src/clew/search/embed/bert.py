"""A BERT-type encoder in plain numpy."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.errors import ConfigError

if TYPE_CHECKING:
    from clew.search.embed.embedder import Ids, Vectors


class BertConfig(msgspec.Struct, frozen=True):
    """What config.json says."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    max_position_embeddings: int = 512
    model_type: str = "bert"
    hidden_act: str = "gelu"
    layer_norm_eps: float = 1e-12
    position_embedding_type: str | None = "absolute"


class BertEncoder:
    def __init__(self, config: BertConfig, tensors: "Mapping[str, Vectors]", path: Path) -> None:
        _check(config, path)
        self._config = config
        self._path = path
        # Some exports put the name of the whole model before every tensor.
        self._tensors = {name.removeprefix("bert."): value for name, value in tensors.items()}
        self._activation = _ACTIVATIONS[config.hidden_act]
        self.dimensions = config.hidden_size
        self._check_tensors()

    def encode(self, ids: "Ids", mask: "Ids") -> "Vectors":
        import numpy as np

        get = self._get
        hidden = get("embeddings.word_embeddings.weight")[ids]
        hidden = hidden + get("embeddings.position_embeddings.weight")[: ids.shape[1]]
        hidden = hidden + get("embeddings.token_type_embeddings.weight")[0]
        hidden = self._normed(hidden, "embeddings.LayerNorm")
        # Padding must not be attended to: the smallest float is nothing after the softmax.
        barrier = np.where(mask[:, None, None, :] > 0, np.float32(0), np.finfo(np.float32).min)
        for number in range(self._config.num_hidden_layers):
            hidden = self._layer(hidden, barrier, f"encoder.layer.{number}")
        return hidden

    def _layer(self, hidden: "Vectors", barrier: "Vectors", name: str) -> "Vectors":
        attended = self._linear(self._attention(hidden, barrier, name), f"{name}.attention.output.dense")
        hidden = self._normed(hidden + attended, f"{name}.attention.output.LayerNorm")
        inner = self._activation(self._linear(hidden, f"{name}.intermediate.dense"))
        return self._normed(hidden + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attention(self, hidden: "Vectors", barrier: "Vectors", name: str) -> "Vectors":
        import numpy as np

        texts, tokens, width = hidden.shape
        heads = self._config.num_attention_heads

        def split(part: str) -> "Vectors":
            projected = self._linear(hidden, f"{name}.attention.self.{part}")
            return projected.reshape(texts, tokens, heads, width // heads).transpose(0, 2, 1, 3)

        scores = split("query") @ split("key").swapaxes(2, 3) / np.float32(math.sqrt(width // heads)) + barrier
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        attended: Vectors = weights @ split("value")
        return attended.transpose(0, 2, 1, 3).reshape(texts, tokens, width)

    def _linear(self, values: "Vectors", name: str) -> "Vectors":
        return values @ self._get(f"{name}.weight").T + self._get(f"{name}.bias")

    def _normed(self, values: "Vectors", name: str) -> "Vectors":
        import numpy as np

        centred = values - values.mean(axis=-1, keepdims=True)
        spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(self._config.layer_norm_eps))
        result: Vectors = centred / spread * self._get(f"{name}.weight") + self._get(f"{name}.bias")
        return result

    def _get(self, name: str) -> "Vectors":
        return self._tensors[name]

    def _check_tensors(self) -> None:
        """One pass over two tokens finds every tensor that is missing or has the wrong shape."""
        import numpy as np

        try:
            one = np.ones((1, 2), np.int64)
            shape = self.encode(one, one).shape
        except KeyError as error:
            raise _refusal(self._path, f"has no tensor {error}") from error
        except (ValueError, IndexError) as error:
            raise _refusal(self._path, f"holds tensors that do not fit together ({error})") from error
        if shape != (1, 2, self.dimensions):
            raise _refusal(self._path, f"does not have the hidden_size {self.dimensions} of config.json")


def _check(config: BertConfig, path: Path) -> None:
    if config.model_type != "bert" or config.position_embedding_type not in (None, "absolute"):
        kind = f"{config.model_type} with {config.position_embedding_type} positions"
        raise _refusal(
            path, f"is a model of the type {kind}; only bert with absolute positions is run from its weights"
        )
    if config.hidden_act not in _ACTIVATIONS:
        raise _refusal(path, f"uses the activation {config.hidden_act}; {', '.join(_ACTIVATIONS)} are known")
    if config.num_attention_heads < 1 or config.hidden_size % config.num_attention_heads:
        raise _refusal(path, f"cannot split {config.hidden_size} dimensions into {config.num_attention_heads} heads")


def _refusal(path: Path, cause: str) -> ConfigError:
    return ConfigError(f"The model {path} {cause}.", hint="Export it to model.onnx, which runs models of any type.")


def _gelu(values: "Vectors") -> "Vectors":
    """x times the share of the normal distribution below x."""
    import numpy as np

    # The error function after Abramowitz and Stegun 7.1.26; it is off by less than 2e-7, a float's own precision.
    size = np.abs(values) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.float32(1.061405429) * t - np.float32(1.453152027)
    for coefficient in (1.421413741, -0.284496736, 0.254829592):
        series = series * t + np.float32(coefficient)
    error = np.copysign(1 - series * t * np.exp(-size * size), values)
    return np.asarray(values * (1 + error) / 2, np.float32)


def _gelu_by_tanh(values: "Vectors") -> "Vectors":
    import numpy as np

    inner = np.float32(math.sqrt(2 / math.pi)) * (values + np.float32(0.044715) * values**3)
    return np.asarray(values * (1 + np.tanh(inner)) / 2, np.float32)


def _relu(values: "Vectors") -> "Vectors":
    import numpy as np

    return np.maximum(values, np.float32(0))


_ACTIVATIONS: "dict[str, Callable[[Vectors], Vectors]]" = {
    "gelu": _gelu,
    "gelu_new": _gelu_by_tanh,
    "gelu_pytorch_tanh": _gelu_by_tanh,
    "relu": _relu,
}
