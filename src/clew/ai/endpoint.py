"""A language model behind the chat interface of OpenAI, which most services and local servers speak."""

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import IO, Any

import msgspec

from clew import __version__
from clew.ai.model import Question
from clew.errors import Unavailable

LARGEST_ANSWER = 4 * 1024 * 1024
_CHUNK = 64 * 1024


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _Message


class _Completion(msgspec.Struct, frozen=True):
    choices: list[_Choice]


class EndpointModel:
    def __init__(self, url: str, model: str, key: str | None, timeout: float) -> None:
        self.name = f"{model} at {url}"
        self._address = f"{url}/chat/completions"
        self._model = model
        self._key = key
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirect)

    def answer(self, question: Question, check: Callable[[], None]) -> str:
        body = msgspec.json.encode(
            {
                "model": self._model,
                "messages": [
                    {"role": "system", "content": _sendable(question.instructions)},
                    {"role": "user", "content": _sendable(question.text)},
                ],
            }
        )
        content = self._send(body, check)
        try:
            choices = msgspec.json.decode(content, type=_Completion).choices
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._unusable(f"is no chat completion ({error})") from error
        if not choices or choices[0].message.content is None:
            raise self._unusable("holds no text")
        return choices[0].message.content

    def _send(self, body: bytes, check: Callable[[], None]) -> bytes:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"clew/{__version__}",
        }
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._address, data=body, headers=headers, method="POST")  # noqa: S310 - checked
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return self._read(answer, check)
        except urllib.error.HTTPError as error:
            with error:
                said = " ".join(error.read(2_000).decode("utf-8", "replace").split())[:300]
            raise Unavailable(
                f"{self._address} answered {error.code}: {self._without_key(said) or error.reason}.",
                hint="Check CLEW_AI_URL, CLEW_AI_MODEL and CLEW_AI_KEY.",
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable(
                f"{self._address} does not answer: {getattr(error, 'reason', error)}.",
                hint="Check CLEW_AI_URL and whether the service runs.",
            ) from None

    def _read(self, answer: IO[bytes], check: Callable[[], None]) -> bytes:
        """The whole answer, which may come in as slowly as the time allows."""
        deadline = time.monotonic() + self._timeout
        content = b""
        while chunk := answer.read(_CHUNK):
            check()
            content += chunk
            if len(content) > LARGEST_ANSWER:
                raise self._unusable(f"is longer than {LARGEST_ANSWER:,} bytes")
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"{self._address} had not finished after {self._timeout:g} s.",
                    hint="Set CLEW_AI_TIMEOUT to more seconds, or use a faster model.",
                )
        return content

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _unusable(self, cause: str) -> Unavailable:
        return Unavailable(
            f"The answer of {self._address} {cause}.", hint="Check that CLEW_AI_URL speaks OpenAI's chat interface."
        )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key and the text are meant for one address only."""

    def redirect_request(self, *args: Any) -> None:
        return None


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
