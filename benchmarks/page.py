"""The page on the generated project: how long views take, how large they are, and what a browser makes of them.

Sizes and element counts are gates; times are orientation. With chromium and Playwright (`make browser`) the first
paint, the time until the page can be used, a filter while typing and a saved file are measured in a real browser.
"""

import re
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Result
from benchmarks.http_calls import cpu_seconds, serving
from benchmarks.workspace import CLEW, Workspace, run

VIEWS = ("/", "/requirements", "/requirements?view=tree", "/requirements?q=shall&proof=missing", "/specs", "/sources")
PAINT_MS, USABLE_MS, FILTER_MS, SAVED_MS = 500.0, 1_000.0, 150.0, 1_000.0
MOST_ELEMENTS, MOST_BYTES = 3_000.0, 200_000.0
_PAINT = (
    "new Promise(done => new PerformanceObserver(list => done(list.getEntries()[0].startTime))"
    ".observe({type: 'paint', buffered: true}))"
)
_USABLE = "performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart"
_COUNT = "document.querySelectorAll('*').length"
_FILTER = """([field, output, value]) => new Promise((done) => {
    const before = document.querySelector(output).textContent;
    const began = performance.now();
    const seen = new MutationObserver(() => {
        if (document.querySelector(output)?.textContent === before) return;
        seen.disconnect();
        done(performance.now() - began);
    });
    seen.observe(document.body, {childList: true, subtree: true, characterData: true});
    const input = document.querySelector(field);
    input.value = value;
    input.dispatchEvent(new Event("input", {bubbles: true}));
})"""


def measure(space: Workspace, *, quick: bool) -> Result:
    rounds = 3 if quick else 11
    figures: list[Figure] = []
    matrix = space.generated / "matrix.html"
    with serving((CLEW, "serve", space.generated, "--transport", "http", "--port", "0")) as (pid, url):
        base = url.removesuffix("/mcp")
        read_page(base, "/")
        _settle(base)
        id = re.findall(r'href="/r/([^"]+)"', read_page(base, "/requirements"))[0]
        for address in (*VIEWS, f"/r/{id}"):
            answers = [timed(base, address, pid) for _ in range(rounds)]
            times, work = tuple(each[0] for each in answers), tuple(each[1] for each in answers)
            figures.append(Figure(f"{address}, answered", "ms", times, cpu=work))
            figures.append(Figure(f"{address}, size", "bytes", (float(answers[-1][2]),), MOST_BYTES))
        run(CLEW, "trace", "-o", matrix, "-C", space.generated)
        figures.append(Figure("matrix of 5,000 as one file, size", "bytes", (float(matrix.stat().st_size),)))
        figures += _in_browser(base, pid, matrix, space.generated, rounds)
    return Result("The page on 5,000 requirements", tuple(figures))


def _settle(base: str) -> None:
    """Have the source files read first: each answer waits for that up to two seconds, and says when it is not done."""
    for _ in range(100):
        if "still being read" not in read_page(base, "/sources"):
            return


def read_page(base: str, address: str) -> str:
    with urllib.request.urlopen(base + address, timeout=300) as answer:  # noqa: S310 - our own server
        text: str = answer.read().decode()
    return text


def timed(base: str, address: str, pid: int) -> tuple[float, float, int]:
    """Milliseconds on the clock and of the server's processor, and bytes."""
    began, work = time.perf_counter(), cpu_seconds(pid)
    text = read_page(base, address)
    return (time.perf_counter() - began) * 1_000, (cpu_seconds(pid) - work) * 1_000, len(text.encode())


def _in_browser(base: str, pid: int, matrix: Path, folder: Path, rounds: int) -> Iterator[Figure]:
    from tests.web.browser.driving import browser, missing

    if missing() is not None:
        return
    with browser() as chromium:
        page = chromium.new_page()
        page.set_default_timeout(120_000)
        for name, address in (("requirements", f"{base}/requirements"), ("matrix", matrix.as_uri())):
            paints, usable = [], []
            for _ in range(rounds):
                page.goto(address)
                paints.append(float(page.evaluate(_PAINT)))
                usable.append(float(page.evaluate(_USABLE)))
            yield Figure(f"{name}, first paint", "ms", tuple(paints), PAINT_MS)
            yield Figure(f"{name}, can be used", "ms", tuple(usable), USABLE_MS)
            yield Figure(f"{name}, elements", "", (float(page.evaluate(_COUNT)),), MOST_ELEMENTS)
        page.locator("button[name=all]").click()
        yield Figure("matrix, elements with all shown rows open", "", (float(page.evaluate(_COUNT)),), MOST_ELEMENTS)
        yield Figure("matrix, a filter", "ms", tuple(_filters(page, "[name=words]", "output", rounds)), FILTER_MS)
        page.goto(f"{base}/requirements")
        yield Figure(
            "requirements, a filter",
            "ms",
            tuple(_filters(page, ".filters [name=q]", "#found .lead", rounds)),
            FILTER_MS,
        )
        saves = list(_saves(page, base, pid, folder, rounds))
        times, work = tuple(each[0] for each in saves), tuple(each[1] for each in saves)
        yield Figure("a saved file is shown", "ms", times, SAVED_MS, cpu=work)


def _filters(page: Any, field: str, output: str, rounds: int) -> Iterator[float]:
    """From a key to the changed result, as the browser's own clock tells."""
    for number in range(rounds):
        yield float(page.evaluate(_FILTER, [field, output, "" if number % 2 else "REQ-d0004"]))


def _saves(page: Any, base: str, pid: int, folder: Path, rounds: int) -> Iterator[tuple[float, float]]:
    """From the written file to the open page, on the clock and of the server's processor."""
    file = next(iter(sorted((folder / "spec").rglob("*.md"))))
    found = re.search(r"^#+ (REQ-\w+): (.+)$", file.read_text(), re.MULTILINE)
    assert found is not None
    page.goto(f"{base}/r/{found[1]}")
    title = found[2]
    for number in range(rounds):
        changed = f"Title number {number}"
        file.write_text(file.read_text().replace(f"{found[1]}: {title}", f"{found[1]}: {changed}"))
        began, work, title = time.perf_counter(), cpu_seconds(pid), changed
        page.wait_for_function("wanted => document.querySelector('h1').innerText.includes(wanted)", arg=changed)
        yield (time.perf_counter() - began) * 1_000, (cpu_seconds(pid) - work) * 1_000
