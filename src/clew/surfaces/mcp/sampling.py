"""The client's own language model, where the protocol offers it.

Clients of the earlier revisions answer a request of the server while a call is under way. Since 2026-07-28 the server
asks by returning: the call ends with what it needs, and the client calls again with the answer. Which answer belongs to
which question is in the name under which it is asked for, so that nothing has to be kept in between and an answer to a
question that has changed since is not used.
"""

from collections.abc import Callable
from typing import Any

import anyio.from_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from clew.ai.model import LanguageModel, Prompt
from clew.errors import Unavailable
from clew.text.hashing import content_hash

ANSWER_SECONDS = 300.0
"""The client's user may want to look at the question first."""

Context = ServerRequestContext[Any, Any]


class AskClient(Exception):
    """Ends a call with a question for the client's model."""

    def __init__(self, key: str, request: types.CreateMessageRequest) -> None:
        super().__init__(key)
        self.result = types.InputRequiredResult(input_requests={key: request})


def model_of(ctx: Context, params: types.CallToolRequestParams) -> LanguageModel | None:
    """The client's model; None if the client does not offer one."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        return None
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return _AskedByReturning(params.input_responses or {})
    return _AskedAtOnce(ctx) if ctx.session.can_send_request else None


class _AskedByReturning:
    name = "the client's model"

    def __init__(self, responses: dict[str, Any]) -> None:
        self._responses = responses

    def answer(self, question: Prompt, check: Callable[[], None]) -> str:
        asked = f"{question.instructions}\0{question.text}".encode("utf-8", "replace")
        key = f"model-{content_hash(asked, size=12)}"
        if key not in self._responses:
            raise AskClient(key, _request(question))
        return _text(self._responses[key])


class _AskedAtOnce:
    name = "the client's model"

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def answer(self, question: Prompt, check: Callable[[], None]) -> str:
        try:
            result = anyio.from_thread.run(self._ask, question)
        except (MCPError, ValidationError, TimeoutError) as error:
            raise Unavailable(
                f"The client's model did not answer: {' '.join(str(error).split())[:200] or type(error).__name__}.",
                hint="Look in the client whether the question was refused; or configure a model of your own.",
            ) from error
        check()
        return _text(result)

    async def _ask(self, question: Prompt) -> types.CreateMessageResult:
        return await self._ctx.session.send_request(
            _request(question),
            types.CreateMessageResult,
            request_read_timeout_seconds=ANSWER_SECONDS,
            metadata=ServerMessageMetadata(related_request_id=self._ctx.request_id),
        )


def _request(question: Prompt) -> types.CreateMessageRequest:
    content = types.TextContent(type="text", text=question.text)
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[types.SamplingMessage(role="user", content=content)],
            system_prompt=question.instructions,
            max_tokens=question.max_tokens,
        )
    )


def _text(result: Any) -> str:
    content = getattr(result, "content", None)
    parts = content if isinstance(content, list) else [content]
    texts = [part.text for part in parts if isinstance(part, types.TextContent)]
    if not texts:
        raise Unavailable("The client's model answered without text.", hint="Ask again, or configure another model.")
    return "\n".join(texts)
