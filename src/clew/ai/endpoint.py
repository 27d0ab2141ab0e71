"""A language model behind OpenAI's chat interface, which most services and local servers offer."""

from collections.abc import Callable

import msgspec

from clew.ai.http import FailureAdvice, Service
from clew.ai.model import Prompt
from clew.text.words import storable

LARGEST_ANSWER = 4 * 1024 * 1024

_ADVICE = FailureAdvice(
    refused="Check CLEW_AI_URL, CLEW_AI_MODEL and CLEW_AI_KEY, or [ai] in the configuration.",
    passing="Check CLEW_AI_URL, CLEW_AI_MODEL and CLEW_AI_KEY, or [ai] in the configuration.",
    silent="Check CLEW_AI_URL, or `ai.url`, and whether the service runs.",
    slow="Set CLEW_AI_TIMEOUT, or `ai.timeout_seconds`, to more seconds, or use a faster model.",
    unusable="Check that CLEW_AI_URL, or `ai.url`, speaks OpenAI's chat interface.",
)


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _Message


class _Completion(msgspec.Struct, frozen=True):
    choices: list[_Choice]


class EndpointModel:
    def __init__(self, url: str, model: str, key: str | None, timeout: float) -> None:
        self.name = f"{model} at {url}"
        self._model = model
        self._service = Service(
            address=f"{url}/chat/completions",
            key=key,
            timeout_seconds=timeout,
            largest_answer=LARGEST_ANSWER,
            advice=_ADVICE,
        )

    def answer(self, question: Prompt, check: Callable[[], None]) -> str:
        messages = [
            {"role": "system", "content": storable(question.instructions)},
            {"role": "user", "content": storable(question.text)},
        ]
        body = {"model": self._model, "messages": messages}
        choices = self._service.ask(body, _Completion, "chat completion", check).choices
        if not choices or choices[0].message.content is None:
            raise self._service.unusable("holds no text")
        return choices[0].message.content
