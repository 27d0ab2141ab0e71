"""The web application of the page: its routes, their access checks, and the response to each view.

A view is a function of a `PageRequest` that returns a template with its data, or a redirect. It runs in a worker
thread, like a tool call. The views' subjects are not known here.
"""

# Implements: REQ-d00415, REQ-d00416

import hashlib
import logging
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import anyio
import anyio.to_thread
from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from clew import __version__
from clew.errors import (
    BadInput,
    ClewError,
    Conflict,
    NotFound,
    OutsideProject,
    Refused,
    StoreBusy,
    TimedOut,
    Unavailable,
)
from clew.markup.environment import environment
from clew.operation.as_commands import as_commands
from clew.operation.listing import ListedOperation
from clew.project import Project
from clew.surfaces.mcp.transports.settings import HttpSettings
from clew.surfaces.web import addresses
from clew.surfaces.web.actions import changes, memory, register, requirement, review
from clew.surfaces.web.admission import LIFETIME_SECONDS, Admission
from clew.surfaces.web.live import Live
from clew.surfaces.web.page_request import PageRequest, TemplateView, ViewFunction, ViewResult
from clew.surfaces.web.views.activity import show_activity, show_drafts
from clew.surfaces.web.views.documents import show_document, show_documents
from clew.surfaces.web.views.memory import show_memories, show_memory
from clew.surfaces.web.views.requirement import show_requirement
from clew.surfaces.web.views.requirements import show_requirements
from clew.surfaces.web.views.review import show_review
from clew.surfaces.web.views.search import go, search_all, show_why
from clew.surfaces.web.views.sources import show_source, show_sources
from clew.surfaces.web.views.specs import show_change, show_spec, show_specs
from clew.surfaces.web.views.today import show_today
from clew.workspace.files import resolve

log = logging.getLogger(__name__)

MOST_AT_ONCE = 16
"""Views that are made at the same time; further ones wait."""
MOST_WATCHED = 40
_MOST_FIELDS = 500
_SAID = "clew-said"

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With none at all a browser would hide the origin of a form too.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
STATIC = {"page.css": "text/css", "favicon.svg": "image/svg+xml", "page.js": "text/javascript"} | dict.fromkeys(
    ("server.js", "palette.js", "live.js", "filter.js", "review.js", "forms.js"), "text/javascript"
)
NAVIGATION = (
    ("today", "/", "Today"),
    ("requirements", "/requirements", "Requirements"),
    ("specs", "/specs", "Specs and changes"),
    ("documents", "/documents", "Documents"),
    ("sources", "/sources", "Sources"),
    ("memory", "/memory", "Memory"),
    ("activity", "/activity", "Activity"),
)
_STATUS: tuple[tuple[type[ClewError], int], ...] = (
    (NotFound, 404),
    (Conflict, 409),
    (OutsideProject, 404),
    (BadInput, 400),
    (Refused, 409),
    (TimedOut, 503),
    (StoreBusy, 503),
    (Unavailable, 503),
)

VIEWS: Mapping[str, ViewFunction] = {
    "/": show_today,
    "/requirements": show_requirements,
    "/r/{name:path}": show_requirement,
    "/specs": show_specs,
    "/specs/{name:path}": show_spec,
    "/changes/{name:path}": show_change,
    "/documents": show_documents,
    "/documents/{name:path}": show_document,
    "/sources": show_sources,
    "/sources/{name:path}": show_source,
    "/memory": show_memories,
    "/memory/{name}": show_memory,
    "/activity": show_activity,
    "/activity/drafts": show_drafts,
    "/activity/review": show_review,
    "/search": search_all,
    "/why": show_why,
    "/go": go,
}
ACTIONS: Mapping[str, ViewFunction] = {
    "/do/requirement/{name:path}": requirement.draft_requirement,
    "/do/accept/{name:path}": requirement.accept_text,
    "/do/save": requirement.save_drafts,
    "/do/undo": requirement.undo_draft,
    "/do/undo-to": requirement.undo_to,
    "/do/register/{name:path}": register.update_entry,
    "/do/task/{name:path}": changes.mark_task,
    "/do/archive/{name:path}": changes.archive,
    "/do/undo-files": changes.take_back,
    "/do/memory": memory.remember,
    "/do/memory/{name}/edit": memory.edit_memory,
    "/do/memory/{name}/supersede": memory.supersede_memory,
    "/do/memory/{name}/forget": memory.forget_memory,
    "/do/memory/{name}/restore": memory.restore_memory,
    "/do/review": review.decide,
    "/do/review-undo": review.take_back,
}


class WebPage:
    def __init__(
        self, project: Project, tools: Sequence[ListedOperation], settings: HttpSettings, *, read_only: bool = False
    ) -> None:
        self.admission = Admission(settings)
        self._read_only = read_only
        self._project = project
        self._tools = tools
        self._live = Live(project)
        self._threads = anyio.CapacityLimiter(MOST_AT_ONCE)

    def address(self, url: str) -> str:
        """The address that lets a browser in once, on the server that has an endpoint at this URL."""
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}/enter?key={self.admission.new_key()}"

    def routes(self) -> list[BaseRoute]:
        views = [Route(path, partial(self._view, view), methods=["GET"]) for path, view in VIEWS.items()]
        actions = [Route(path, partial(self._action, action), methods=["POST"]) for path, action in ACTIONS.items()]
        return [
            Route("/enter", self._enter, methods=["GET"]),
            Route("/enter", self._enter_with_token, methods=["POST"]),
            Route("/live", self._events, methods=["GET"]),
            Route("/favicon.ico", self._favicon, methods=["GET"]),
            Route("/static/{file}", self._static, methods=["GET"]),
            *actions,
            *views,
        ]

    # Letting somebody in

    async def _enter(self, request: Request) -> Response:
        key = request.query_params.get("key")
        # A key works once, also when the browser was let in before.
        is_taken = key is not None and self.admission.take_key(key)
        if self.admission.admits(self._cookie(request)):
            return RedirectResponse("/", 303, HEADERS)
        if key is None:
            return self._rendered(request, TemplateView(template="enter.html", title="Sign in", data={"problem": ""}))
        if not is_taken:
            problem = "This address was used before, or is too old. Run `clew web` again, or give the token."
            return self._rendered(
                request, TemplateView(template="enter.html", title="Sign in", status=403, data={"problem": problem})
            )
        return self._admitted(request)

    async def _enter_with_token(self, request: Request) -> Response:
        form = await self._form(request)
        if not self.admission.is_token(form.get("token", "").strip()):
            problem = "This is not the token of this server."
            return self._rendered(
                request, TemplateView(template="enter.html", title="Sign in", status=403, data={"problem": problem})
            )
        return self._admitted(request)

    def _admitted(self, request: Request) -> Response:
        answer = RedirectResponse("/", 303, HEADERS)
        name, cookie = self.admission.cookie_name(request.headers), self.admission.new_cookie()
        answer.set_cookie(name, cookie, max_age=LIFETIME_SECONDS, path="/", httponly=True, samesite="strict")
        return answer

    def _cookie(self, request: Request) -> str:
        return request.cookies.get(self.admission.cookie_name(request.headers), "")

    def _may_write(self, request: Request) -> bool:
        return not self._read_only and self.admission.admits(self._cookie(request))

    def _may_read(self, request: Request) -> bool:
        return not self.admission.reading_needs_token or self.admission.admits(self._cookie(request))

    # Views and actions

    async def _view(self, view: ViewFunction, request: Request) -> Response:
        if not self._may_read(request):
            return self._rendered(request, _closed())
        return await self._answer(request, view, {})

    async def _action(self, action: ViewFunction, request: Request) -> Response:
        form = await self._form(request)
        comes_from_here = self.admission.may_write(self._cookie(request), form.get("form_key", ""), request.headers)
        if self._read_only or not comes_from_here:
            return self._rendered(request, _read_only())
        return await self._answer(request, action, form)

    async def _answer(self, request: Request, view: ViewFunction, form: Mapping[str, str]) -> Response:
        visit = PageRequest(
            self._project,
            self._tools,
            dict(request.query_params),
            name=request.path_params.get("name", ""),
            form=form,
            may_write=self._may_write(request),
            origin=str(request.base_url).rstrip("/"),
        )
        try:
            return await anyio.to_thread.run_sync(
                lambda: self._made(request, view(visit), visit), abandon_on_cancel=True, limiter=self._threads
            )
        except ClewError as error:
            return self._rendered(request, problem(error, wanted=visit.name), visit)
        except Exception:
            # The trace goes to the log; a page gets no internals, which may hold text of the project's files.
            log.exception("The view %s failed", request.url.path)
            failed = ClewError("Clew failed to make this page.", hint="The server's log has the details.")
            return self._rendered(request, problem(failed, 500))

    def _made(self, request: Request, shown: ViewResult, visit: PageRequest) -> Response:
        if isinstance(shown, TemplateView):
            return self._rendered(request, shown, visit)
        answer = RedirectResponse(shown.to, 303, HEADERS)
        if shown.said:
            answer.set_cookie(_SAID, quote(shown.said[:500]), max_age=60, httponly=True, samesite="strict")
        return answer

    def _rendered(self, request: Request, view: TemplateView, visit: PageRequest | None = None) -> Response:
        may_read, may_write = self._may_read(request), self._may_write(request)
        # What was said belongs to the page that is opened next, not to one that only loads its content again.
        is_opened = "x-clew" not in request.headers
        said = unquote(request.cookies.get(_SAID, "")) if may_write and is_opened else ""
        html = (
            templates()
            .get_template(view.template)
            .render(
                view=view,
                project=self._project.config.name if may_read else "Clew",
                navigation=NAVIGATION if may_read else (),
                may_write=may_write,
                form_key=self.admission.form_key(self._cookie(request)) if may_write else "",
                notes=tuple(visit.notes) if visit is not None else (),
                said=said,
                # What answers a form cannot be loaded again from its address, so it follows no changes.
                state=self._live.state() if may_read and request.method == "GET" else "",
                version=__version__,
                **view.data,
            )
        )
        answer = Response(html, view.status, HEADERS, "text/html; charset=utf-8")
        if said:
            answer.delete_cookie(_SAID, httponly=True, samesite="strict")
        return answer

    async def _form(self, request: Request) -> dict[str, str]:
        """The fields of a form; of several with one name, all of them with line ends between."""
        body = (await request.body()).decode("utf-8", "replace")
        try:
            pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            return {}
        found: dict[str, str] = {}
        for name, value in pairs:
            found[name] = f"{found[name]}\n{value}" if name in found else value
        return found

    async def nothing(self, request: Request) -> Response:
        if not self._may_read(request):
            return self._rendered(request, _closed())
        path = request.url.path[:120]
        error = NotFound(f"There is no page '{path}'.", hint="The navigation shows what there is; / searches.")
        return self._rendered(request, problem(error))

    # What is not a view

    async def _events(self, request: Request) -> Response:
        if not self._may_read(request):
            return Response("Sign in first.\n", 401, HEADERS, "text/plain")
        watched = [path for path in request.query_params.getlist("watch")[:MOST_WATCHED] if self._is_inside(path)]
        stream = self._live.events(request.query_params.get("state", ""), watched)
        return StreamingResponse(stream, 200, HEADERS, "text/event-stream")

    def _is_inside(self, path: str) -> bool:
        try:
            resolve(self._project.config.root, path)
        except ClewError:
            return False
        return True

    async def _favicon(self, request: Request) -> Response:
        return RedirectResponse("/static/favicon.svg", 303, HEADERS)

    async def _static(self, request: Request) -> Response:
        name = request.path_params["file"]
        if name not in STATIC:
            return await self.nothing(request)
        data, tag = static(name)
        headers = {**HEADERS, "Cache-Control": "no-cache", "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(b"", 304, headers)
        return Response(data, 200, headers, f"{STATIC[name]}; charset=utf-8")


def problem(error: ClewError, status: int | None = None, wanted: str = "") -> TemplateView:
    """An error as a page: the problem, the next step, and both sides of a conflict. With `wanted`, a missing thing can
    be searched for."""
    found = status or next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    sides = {side: str(error.data[side]) for side in ("mine", "theirs") if side in error.data}
    return TemplateView(template="problem.html", title="Not found" if found == 404 else "Not done", status=found, data={
        "error": error, "sides": sides, "wanted": wanted[:200] if found == 404 else ""
    })  # fmt: skip


def _closed() -> TemplateView:
    return TemplateView(template="enter.html", title="Sign in", status=401, data={"problem": ""})


def _read_only() -> TemplateView:
    error = Refused(
        "You can only read this page, so nothing was changed.",
        hint="Open it with the address that `clew web` prints, or sign in with the token. Reload a form that was open "
        "while the server restarted with another token.",
    )
    return problem(error, 403)


@cache
def templates() -> Environment:
    made = environment("clew.surfaces.web")
    made.globals |= {"to": addresses}
    made.filters |= {"as_commands": as_commands}
    return made


@cache
def static(name: str) -> tuple[bytes, str]:
    """One of the page's own files, and the tag that changes with it. The matrix has the same style."""
    own = files("clew.surfaces.web").joinpath("static", name)
    data = (files("clew.markup").joinpath("style.css") if name == "page.css" else own).read_bytes()
    return data, f'"{hashlib.sha256(data).hexdigest()[:20]}"'
