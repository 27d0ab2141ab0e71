"""A real browser: Debian's chromium, driven by Playwright, and axe for what people with other needs meet.

`make browser` installs all three. Where one is missing, the tests of this folder are skipped and say so.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SCREENSHOTS = Path(__file__).parents[3] / "build" / "screenshots"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
PATIENCE_MS = 120_000


def missing() -> str | None:
    """What keeps a browser from being driven here."""
    try:
        import axe_playwright_python  # noqa: F401
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "Playwright is not installed: run `make browser`."
    return None if CHROMIUM else "There is no chromium: run `make browser`."


def axe_source() -> str:
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@contextmanager
def browser() -> Iterator[Any]:
    if (reason := missing()) is not None:
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        launched = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*FLAGS, f"--disk-cache-dir={home}"], timeout=PATIENCE_MS
        )
        try:
            yield launched
        finally:
            launched.close()


class Tab:
    """One page of the browser that notes every error, every dialog and every request that leaves this machine.

    A server that ends while a tab is open is a failed request of that tab: `with` closes the tab first."""

    def __init__(self, context: Any, base: str) -> None:
        self.base = base
        self._context = context
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("console", self._console)
        self.page.on("request", self._request)

    def __enter__(self) -> "Tab":
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()

    def forget_failed_requests(self) -> None:
        """A browser notes each request that got no answer, whatever the page makes of it."""
        self.problems[:] = [each for each in self.problems if not each.startswith("console: Failed to load resource")]

    def _console(self, message: Any) -> None:
        # A page that says 404 is what some tests ask for.
        if message.type == "error" and "status of 4" not in message.text:
            self.problems.append(f"console: {message.text}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.base, "data:", "about:", "file:")):
            self.problems.append(f"request: {request.url}")

    def show(self, address: str) -> Any:
        self.page.goto(self.base + address)
        return self.page

    def text(self) -> str:
        """What is read in the view, white space folded."""
        return " ".join(self.page.locator("main").inner_text().split())

    def violations(self, axe: str) -> list[str]:
        self.page.evaluate(axe)
        found = self.page.evaluate("rules => axe.run({runOnly: rules})", RULES)["violations"]
        return [f"{each['id']} {json.dumps([node['html'][:160] for node in each['nodes'][:3]])}" for each in found]

    def scrolls_sideways(self) -> bool:
        return bool(self.page.evaluate("document.documentElement.scrollWidth > innerWidth"))

    def screenshot(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
