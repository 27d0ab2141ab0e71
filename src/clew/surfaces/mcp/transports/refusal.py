"""A request turned away."""

import msgspec
from starlette.responses import JSONResponse


class Refusal(msgspec.Struct, frozen=True):
    """A request turned away: one shape for every HTTP error that is not a JSON-RPC answer."""

    status: int
    code: str
    message: str
    hint: str
    headers: tuple[tuple[str, str], ...] = ()

    def response(self) -> JSONResponse:
        body = {"error": {"code": self.code, "message": self.message, "hint": self.hint}}
        return JSONResponse(body, status_code=self.status, headers=dict(self.headers))
