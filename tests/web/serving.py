"""A real server with the page, on a real port, for plain test functions; and a browser's manners over HTTP."""

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import start_blocking_portal

from clew.operation.listing import all_tools
from clew.operation.toolsets import Choice, choose
from clew.project import Project
from clew.surfaces.mcp.instructions import instructions
from clew.surfaces.mcp.server import Surface, build_server
from clew.surfaces.mcp.transports.http import serve_http
from clew.surfaces.mcp.transports.settings import HttpSettings
from clew.surfaces.web.page import WebPage

TOKEN = "a-token-that-nobody-guesses"
PATIENCE = 120.0


class Site:
    def __init__(self, project: Project, page: WebPage, endpoint: str) -> None:
        self.project = project
        self.page = page
        self.endpoint = endpoint
        """Of agents."""
        self.base = endpoint.removesuffix("/mcp")

    def visitor(self, *, enters: bool = True) -> "Visitor":
        visitor = Visitor(self)
        if enters:
            visitor.enter()
        return visitor


class Visitor:
    """What a browser does, without one: cookies, forms with their hidden values, the Origin of its page."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.http = httpx2.Client(
            base_url=site.base, timeout=PATIENCE, headers={"Accept": "text/html"}, follow_redirects=True
        )

    def __enter__(self) -> "Visitor":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def enter(self) -> None:
        assert self.http.get(self.site.page.address(self.site.endpoint)).status_code == 200

    def get(self, address: str, status: int = 200) -> str:
        answer = self.http.get(address)
        assert answer.status_code == status, (address, answer.status_code, plain(answer.text)[:2_000])
        return answer.text

    def post(self, address: str, fields: Mapping[str, str], status: int = 200) -> str:
        """Send a form as the page would, with its value and Origin, and follow where it leads."""
        form_key = re.search(r'name="form_key" value="([0-9a-f]+)"', self.get("/memory"))
        key = {"form_key": form_key[1]} if form_key is not None else {}
        answer = self.http.post(address, data={**key, **fields}, headers={"Origin": self.site.base})
        assert answer.status_code == status, (address, answer.status_code, plain(answer.text)[:2_000])
        return answer.text


def plain(html: str) -> str:
    """What somebody reads: the text without tags, white space folded."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", re.sub(r"</?(?:ins|del)>", "", html))).split())


def main_of(html: str) -> str:
    """The text of a view without what all of them have."""
    found = re.search(r"<main.*?</main>", html, re.DOTALL)
    return plain(found[0]) if found else ""


@contextmanager
def served(
    folder: Path, *, port: int = 0, token: str | None = None, read_only: bool = False, **more: Any
) -> Iterator[Site]:
    project = Project.open(folder)
    listing = choose(all_tools(), Choice(read_only=read_only))
    limits = {"rate": 1e6, "burst": 10**6, **more}
    settings = HttpSettings(port=port, token=token, write_token=TOKEN if token is None else None, **limits)
    page = WebPage(project, listing.callable, settings, read_only=read_only)
    built: Any = build_server(Surface(project, listing), instructions(listing))
    url: Future[str] = Future()
    try:
        with start_blocking_portal() as portal:
            serving = portal.start_task_soon(serve_http, built, settings, url.set_result, page)
            # A server that cannot be started says why, instead of letting the test wait.
            serving.add_done_callback(lambda done: url.done() or url.set_exception(done.exception() or EOFError()))
            try:
                yield Site(project, page, url.result(PATIENCE))
            finally:
                serving.cancel()
    finally:
        project.close()
