"""Open pages hear what changed, whoever changed it, and nothing but ids."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
from tests.web.conftest import remember
from tests.web.serving import PATIENCE, Site, served

from clew.operation.call import Call, perform
from clew.project import Project
from clew.trace.operations.mutations import MutateUpdateTitle


@contextmanager
def listening(site: Site, query: str = "") -> Iterator[Iterator[str]]:
    """The data of one event after the other; entered once the server listens to changes for this page."""
    with httpx2.Client(timeout=PATIENCE) as http, http.stream("GET", f"{site.base}/live{query}") as answer:
        lines = answer.iter_lines()
        assert next(lines).startswith("retry:")
        yield (line.removeprefix("data: ") for line in lines if line.startswith("data: "))


def hear(events: Iterator[str], id: str) -> str:
    """The first event that names an id; a file that is written in two steps may be told twice."""
    return next(data for data in events if id in data.split(" "))


def write(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text().replace(old, new))


# Verifies: REQ-d00418-A
def test_a_changed_file_a_draft_and_a_memory_are_told_by_their_ids(small: Path) -> None:
    with served(small) as site:
        site.project.ensure_graph()
        with listening(site) as events:
            spec = small / "spec" / "small.md"
            write(spec, "show the minute", "show every minute")
            hear(events, "REQ-p00001")
            perform(MutateUpdateTitle(node_id="REQ-d00001", new_title="Show hours"), Call(site.project, ()))
            hear(events, "REQ-d00001")
            other = Project.open(small)
            try:
                remember(other, "Hours have two digits.", "REQ-d00001")
            finally:
                other.close()
            assert hear(events, "memory") == "memory"


# Verifies: REQ-d00418-A
def test_a_file_that_a_page_shows_is_told_by_its_path_and_none_outside_is_watched(small: Path) -> None:
    (small / "notes.md").write_text("# One\n")
    with served(small) as site, listening(site, "?watch=notes.md&watch=../../outside") as events:
        (small / "notes.md").write_text("# Two words\n")
        assert next(events) == "notes.md"


# Verifies: REQ-d00418-B
def test_a_page_with_an_older_state_hears_at_once(small: Path) -> None:
    with served(small) as site, site.visitor(enters=False) as visitor:
        found = re.search(r'data-state="([0-9a-f]+)"', visitor.get("/requirements"))
        assert found is not None
        with listening(site, "?state=0123456789abcdef") as events:
            assert next(events) == "*"
        state = found[1]
    spec = small / "spec" / "small.md"
    # The server was away, and nothing happened; then it was away, and something did.
    with served(small) as site:
        site.project.ensure_graph()
        with listening(site, f"?state={state}") as events:
            write(spec, "Keep time", "Keep the time")
            assert next(events) != "*"
    with served(small) as site, listening(site, f"?state={state}") as events:
        assert next(events) == "*"


# Verifies: REQ-d00418-A
def test_twenty_pages_are_told_by_one_look(small: Path) -> None:
    with served(small) as site, ExitStack() as stack:
        site.project.ensure_graph()
        pages = [stack.enter_context(listening(site)) for _ in range(20)]
        spec = small / "spec" / "small.md"
        write(spec, "show the minute", "show every minute")
        assert all(hear(events, "REQ-p00001") for events in pages)


# Verifies: REQ-d00660-C
def test_streams_of_the_page_leave_connections_for_others(small: Path) -> None:
    with served(small, max_connections=8) as site, ExitStack() as open_pages:
        for _ in range(4):
            open_pages.enter_context(listening(site))
        with site.visitor() as visitor:
            visitor.get("/live", 503)
            visitor.get("/")


# Verifies: REQ-d00660-A
def test_a_foreign_page_neither_opens_streams_nor_uses_up_what_the_page_may_ask(small: Path) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    with served(small, rate=1e-6, burst=20) as site, site.visitor() as visitor:
        for _ in range(30):
            assert visitor.http.get("/live", headers=foreign).status_code in (403, 429)
        visitor.get("/")
