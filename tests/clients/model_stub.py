"""An endpoint that plays the model of Claude Code: it asks for given tools, one after the other, and records what the
model was shown."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelStub:
    def __init__(self, uses: Sequence[tuple[str, dict[str, Any]]]) -> None:
        self._uses = list(uses)
        self.shown: list[str] = []
        """The requests with tools, as JSON."""

    def answer(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The blocks of the next answer."""
        known = {tool.get("name") for tool in body.get("tools", ())}
        if not {name for name, _ in self._uses} <= known:
            return [{"type": "text", "text": "ok"}]
        self.shown.append(json.dumps(body))
        turn = len(self.shown) - 1
        if turn >= len(self._uses):
            return [{"type": "text", "text": "done"}]
        name, given = self._uses[turn]
        return [{"type": "tool_use", "id": f"toolu_{turn}", "name": name, "input": given}]


@contextmanager
def serving(model: ModelStub) -> Iterator[str]:
    """The address of the endpoint."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            is_count = "count_tokens" in self.path
            data = b'{"input_tokens": 5}' if is_count else _events(model.answer(body))
            self.send_response(200)
            self.send_header("content-type", "application/json" if is_count else "text/event-stream")
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _events(blocks: Sequence[dict[str, Any]]) -> bytes:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "stub", "content": [], "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, block in enumerate(blocks):
        is_text = block["type"] == "text"
        empty = {"type": "text", "text": ""} if is_text else {**block, "input": {}}
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if is_text
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    reason = "end_turn" if blocks[-1]["type"] == "text" else "tool_use"
    events.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}})
    events.append({"type": "message_stop"})
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events).encode()
