"""WordPiece, the tokenizer of BERT-type encoders, without a tokenizer library.

The rules are those the models were trained with: control characters go, white space separates, accents and case are
dropped where the model is uncased, punctuation and CJK ideographs are alone, and each word is cut greedily into the
longest pieces the vocabulary has. Names of special tokens in the text ("[SEP]") are plain text here.

The vocabulary comes from tokenizer.json. Any other kind of tokenizer needs the `tokenizers` library, which is not part
of the default installation.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from clew.errors import ConfigError
from clew.search.embed.sentence import Tokenizer
from clew.workspace.regular import ANY_BYTES, contents

LONGEST_WORD = 100
"""A longer word is unknown as a whole; so the models learned it."""
_SEGMENT = 4096
_WORD_ENDS = re.compile(r"[ \n!-/:-@\[-`{-~\u3400-\u4dbf\u4e00-\u9fff]")
_CACHED_WORDS = 50_000

_IDEOGRAPHS = (
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2CEB0),
    range(0x2F800, 0x2FA20),
)


class WordPiece:
    def __init__(
        self,
        vocabulary: Mapping[str, int],
        *,
        uncased: bool = True,
        strip_accents: bool | None = None,
        prefix: str = "##",
        unknown: str = "[UNK]",
        first: str = "[CLS]",
        last: str = "[SEP]",
    ) -> None:
        self._vocabulary = vocabulary
        self._prefix = prefix
        self.unknown = vocabulary[unknown]
        self._first, self._last = vocabulary[first], vocabulary[last]
        self._strip_accents = uncased if strip_accents is None else strip_accents
        self._characters = _Characters(uncased, self._strip_accents)
        self._longest_piece = max(map(len, vocabulary))
        self._pieces = lru_cache(_CACHED_WORDS)(self._cut)

    def encode(self, text: str, max_tokens: int) -> list[int]:
        """The ids of a text between the two markers. The text is read only as far as it fits."""
        room = max_tokens - 2
        ids = [self._first]
        for segment in _segments(text):
            for word in self._words(segment):
                ids.extend(self._pieces(word))
            if len(ids) > room:
                break
        del ids[room + 1 :]
        ids.append(self._last)
        return ids

    def _words(self, text: str) -> list[str]:
        if self._strip_accents and not text.isascii():
            text = unicodedata.normalize("NFD", text)
        return text.translate(self._characters).split()

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > LONGEST_WORD:
            return (self.unknown,)
        ids: list[int] = []
        start = 0
        while start < len(word):
            lead = self._prefix if start else ""
            for end in range(min(len(word), start + self._longest_piece), start, -1):
                found = self._vocabulary.get(lead + word[start:end])
                if found is not None:
                    break
            else:
                return (self.unknown,)
            ids.append(found)
            start = end
        return tuple(ids)


class _Characters(dict[int, str | None]):
    """The replacement of each character, computed when it is first met: the table that `str.translate` reads."""

    def __init__(self, uncased: bool, strip_accents: bool) -> None:
        super().__init__()
        self._uncased = uncased
        self._strip_accents = strip_accents

    def __missing__(self, code: int) -> str | None:
        self[code] = result = self._result(code)
        return result

    def _result(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        if character in "\t\n\r" or category in ("Zs", "Zl", "Zp"):
            return " "
        if character == "\ufffd" or category in ("Cc", "Cf", "Co", "Cs"):
            return None
        if category == "Mn" and self._strip_accents:
            return None
        if _stands_alone(code, category):
            return f" {character} "
        return character.lower() if self._uncased else character


def _stands_alone(code: int, category: str) -> bool:
    if code < 0x80:
        return not chr(code).isalnum()
    return category.startswith("P") or any(code in block for block in _IDEOGRAPHS)


def _segments(text: str) -> Iterator[str]:
    """Slices of a text that cut no word, so that a caller can stop early."""
    start = 0
    while start < len(text):
        end = _WORD_ENDS.search(text, start + _SEGMENT)
        stop = end.start() if end else len(text)
        yield text[start:stop]
        start = stop


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
        content = contents(path, ANY_BYTES)
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
