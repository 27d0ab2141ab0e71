"""Reads tokenizer.json.

WordPiece as BERT-type encoders use it is read here. Any other kind needs the `tokenizers` library, which is not part of
the default installation.
"""

from pathlib import Path

import msgspec

from clew.errors import ConfigError
from clew.search.embed.sentence import Tokenizer
from clew.search.embed.wordpiece import LONGEST_WORD, WordPiece

_LONGEST_TEXT_PER_TOKEN = 64


class _Normalizer(msgspec.Struct, frozen=True):
    type: str = ""
    lowercase: bool = True
    strip_accents: bool | None = None
    clean_text: bool = True
    handle_chinese_chars: bool = True


class _Kind(msgspec.Struct, frozen=True):
    type: str = ""


class _WordPieceModel(msgspec.Struct, frozen=True):
    type: str = ""
    unk_token: str = "[UNK]"  # noqa: S105
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = LONGEST_WORD
    vocab: msgspec.Raw = msgspec.Raw(b"{}")


class _TokenizerFile(msgspec.Struct, frozen=True):
    model: _WordPieceModel
    normalizer: _Normalizer | None = None
    pre_tokenizer: _Kind | None = None


def read_tokenizer(path: Path) -> Tokenizer:
    try:
        content = path.read_bytes()
        described = msgspec.json.decode(content, type=_TokenizerFile)
        if _is_wordpiece(described):
            return _wordpiece(described)
    except OSError as error:
        raise _refusal(path, f"cannot be read: {error.strerror or error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _refusal(path, f"is not a tokenizer file: {error}") from error
    except KeyError as error:
        raise _refusal(path, f"has no token {error} in its vocabulary") from error
    return _LibraryTokenizer(path, content, described.model.type)


def _is_wordpiece(described: _TokenizerFile) -> bool:
    model, normalizer, words = described.model, described.normalizer, described.pre_tokenizer
    return (
        model.type == "WordPiece"
        and model.max_input_chars_per_word == LONGEST_WORD
        and normalizer is not None
        and normalizer.type == "BertNormalizer"
        and normalizer.clean_text
        and normalizer.handle_chinese_chars
        and words is not None
        and words.type == "BertPreTokenizer"
    )


def _wordpiece(described: _TokenizerFile) -> WordPiece:
    model, normalizer = described.model, described.normalizer or _Normalizer()
    return WordPiece(
        msgspec.json.decode(model.vocab, type=dict[str, int]),
        uncased=normalizer.lowercase,
        strip_accents=normalizer.strip_accents,
        prefix=model.continuing_subword_prefix,
        unknown=model.unk_token,
    )


class _LibraryTokenizer:
    def __init__(self, path: Path, content: bytes, kind: str) -> None:
        try:
            from tokenizers import Tokenizer as Library  # type: ignore[import-not-found, unused-ignore]
        except ImportError as error:
            raise ConfigError(
                f"{path} is a tokenizer of the kind '{kind}', for which the `tokenizers` library is needed.",
                hint="Install it with `pip install tokenizers`, or use a model with a BERT-type tokenizer.",
            ) from error
        try:
            self._library = Library.from_buffer(content)
        except Exception as error:  # the library raises plain Exception
            raise _refusal(path, f"cannot be loaded: {error}") from error
        self._library.no_padding()

    def encode(self, text: str, max_tokens: int) -> list[int]:
        # The library looks at all of a text before it cuts, and refuses halves of surrogate pairs.
        text = text[: max_tokens * _LONGEST_TEXT_PER_TOKEN].encode("utf-8", "replace").decode()
        self._library.enable_truncation(max_tokens)
        ids: list[int] = self._library.encode(text).ids
        return ids


def _refusal(path: Path, cause: str) -> ConfigError:
    return ConfigError(f"{path} {cause}.", hint="Put the tokenizer.json of the model into the folder.")
