"""The interface of a language model to the rest of Clew."""

from collections.abc import Callable
from typing import Protocol

import msgspec


class Prompt(msgspec.Struct, frozen=True):
    instructions: str
    """The purpose and rules of the answer, in Clew's own words."""
    text: str
    """The material that it is asked about, in the words of the project and of the caller."""
    max_tokens: int = 8_000


class LanguageModel(Protocol):
    name: str
    """As it is shown to people; holds no secret."""

    def answer(self, question: Prompt, check: Callable[[], None]) -> str:
        """The model's text, unchanged. Unavailable if the model gives none; `check` may raise to stop waiting."""
        ...
