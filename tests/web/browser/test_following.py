"""Open pages follow what changes, outlive their server, and lose nothing when a request fails."""

from pathlib import Path
from typing import Any

from tests.web.browser.conftest import OpenTab
from tests.web.browser.driving import PATIENCE_MS
from tests.web.conftest import remember
from tests.web.serving import Site, served

AWAY = "The server does not answer; this page shows what it said last."


def rename(folder: Path, old: str, new: str) -> None:
    spec = folder / "spec" / "dev-surface.md"
    spec.write_text(spec.read_text().replace(f"# REQ-d00006: {old}", f"# REQ-d00006: {new}"))


# Verifies: REQ-d00418-C
def test_an_open_page_shows_what_changed_and_outlives_the_server(folder: Path, open_tab: OpenTab) -> None:
    with served(folder) as site:
        port = int(site.base.rpartition(":")[2])
        tab = open_tab(site)
        page = tab.show("/r/REQ-d00006")
        rename(folder, "The plan in words", "Words of a plan")
        page.wait_for_selector("h1:has-text('Words of a plan')")
        with open_tab(site) as memories:
            memories.show("/memory")
            remember(site.project, "The printer cuts after 72 columns.", "REQ-d00006")
            memories.page.wait_for_selector("main:has-text('The printer cuts after 72 columns.')")
        # What somebody types is never replaced under their hands.
        page.locator("summary:has-text('Edit')").click()
        page.locator("#edit-title").fill("Half a tit")
    page.wait_for_selector(f"#live:has-text('{AWAY}')")
    rename(folder, "Words of a plan", "Plan in words")
    with served(folder, port=port), tab:
        page.wait_for_selector("#live:has-text('when you are done')")
        assert page.locator("#edit-title").input_value() == "Half a tit"
        page.locator("#edit-title").fill("")
        page.evaluate(
            "delete document.querySelector('form[data-draft]').dataset.changed; document.activeElement.blur()"
        )
        page.wait_for_selector("h1:has-text('Plan in words')")
    tab.forget_failed_requests()


# Verifies: REQ-d00418-C
def test_twenty_tabs_do_not_stand_in_each_others_way(fresh: Site, folder: Path, chromium: Any) -> None:
    context = chromium.new_context()
    try:
        pages = [context.new_page() for _ in range(20)]
        # A browser has six connections for one server: were each tab to hold one, these would never be loaded.
        for page in pages:
            page.goto(f"{fresh.base}/requirements?level=dev", timeout=PATIENCE_MS)
        # One tab is told and tells the others; when it is closed, another one listens.
        pages.pop(0).close()
        rename(folder, "The plan in words", "Words of a plan")
        for page in pages:
            page.wait_for_selector("td:has-text('Words of a plan')", timeout=PATIENCE_MS)
    finally:
        context.close()


# Verifies: REQ-d00418-D
def test_a_request_that_fails_is_sent_again_and_what_is_shown_stays(
    fresh: Site, folder: Path, open_tab: OpenTab
) -> None:
    tab = open_tab(fresh)
    page = tab.show("/requirements")
    page.route("**/requirements*", lambda route: route.abort())
    rename(folder, "The plan in words", "Words of a plan")
    page.wait_for_selector(f"#live:has-text('{AWAY}')")
    assert page.locator("table.rows tbody tr").count() == 23
    page.unroute("**/requirements*")
    page.wait_for_selector("td:has-text('Words of a plan')")
    page.wait_for_selector("#live:empty", state="attached")

    page.route("**/requirements*", lambda route: route.abort())
    page.get_by_label("Words").fill("cosine")
    page.wait_for_selector(f"#live:has-text('{AWAY}')")
    assert page.locator("table.rows tbody tr").count() == 23
    page.unroute("**/requirements*")
    page.wait_for_selector("table.rows tbody tr:only-child")

    page.route("**/search?*", lambda route: route.abort())
    page.get_by_label("Words").blur()
    page.keyboard.press("/")
    page.keyboard.type("sour")
    page.wait_for_selector(f"#palette .live:has-text('{AWAY}')")
    assert page.locator("#palette-found a[href='/sources']").is_visible()
    page.unroute("**/search?*")
    page.wait_for_selector("#palette-found[aria-busy=false]")
    tab.forget_failed_requests()


# Verifies: REQ-d00418-D
def test_leaving_a_page_while_it_asks_is_no_error(fresh: Site, folder: Path, open_tab: OpenTab) -> None:
    tab = open_tab(fresh)
    page = tab.show("/requirements")
    unanswered: list[Any] = []
    with page.expect_request("**/requirements*"):
        page.route("**/requirements*", lambda route: unanswered.append(route))
        rename(folder, "The plan in words", "Words of a plan")
    with page.expect_request("**/search?*"):
        page.route("**/search?*", lambda route: unanswered.append(route))
        page.keyboard.press("/")
        page.keyboard.type("memo")
    with page.expect_navigation(url="**/memory"):
        page.keyboard.press("Enter")
    for route in unanswered:
        route.abort()


# Verifies: REQ-d00418-E
def test_a_page_that_changes_keeps_the_focus_what_was_opened_and_what_was_said(
    fresh: Site, folder: Path, open_tab: OpenTab
) -> None:
    page = open_tab(fresh).show("/r/REQ-d00006")
    page.locator("summary:has-text('Edit')").click()
    page.get_by_role("button", name="Draft it").click()
    page.wait_for_selector(".said:has-text('Nothing was changed.')")
    page.locator("summary:has-text('Edit')").click()
    link = page.locator("main a[href='/r/REQ-o00001']").first
    link.focus()
    rename(folder, "The plan in words", "Words of a plan")
    page.wait_for_selector("h1:has-text('Words of a plan')")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "/r/REQ-o00001"
    assert page.locator("#edit-title").is_visible()
    assert page.locator("p.said").inner_text() == "Nothing was changed."
