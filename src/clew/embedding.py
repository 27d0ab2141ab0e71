"""What can be said about the embedder in the configuration."""

from typing import Literal

import msgspec


class EmbedSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: Literal["minilm", "folder", "endpoint", "none"] = "minilm"
    """The encoder that comes with Clew, a model in a local folder, an OpenAI-compatible service, or no vectors."""
    threads: int | None = None
    """How many texts are worked on at once; by default one for each processor, four at most."""

    folder: str | None = None
    """Holds tokenizer.json beside model.onnx, or beside model.safetensors and config.json of a BERT-type encoder."""
    sha256: str | None = None
    """Of the model file in the folder; another file is then refused."""

    url: str | None = None
    """Of the service, up to and with its version: /embeddings is added."""
    model: str | None = None
    dimensions: int | None = None
    """Asked for and expected from the service; without it, what the service gives."""
    key_variable: str | None = None
    """The environment variable that holds the service's key."""
    timeout_seconds: float = 30.0
    """For each request."""
    attempts: int = 3
    """How often one request is sent before giving up."""
    pause_seconds: float = 0.5
    """Before the second attempt, doubled for each further one."""
    texts_per_request: int = 64

    max_tokens: int | None = None
    """By default what the model's own files say; 512 for a service."""
