"""Every view in a real browser: its questions, both colour schemes, a narrow window, no scripts, no violations."""

from typing import Any

import pytest
from tests.web.browser.conftest import OpenTab
from tests.web.serving import Site
from tests.web.test_views import QUESTIONS

VIEWS = {
    "today": "/",
    "requirements": "/requirements",
    "tree": "/requirements?view=tree&open=REQ-p00001%7CREQ-o00001",
    "requirement": "/r/REQ-d00006",
    "register": "/r/REQ-0001",
    "specs": "/specs",
    "spec": "/specs/passage-windows",
    "change": "/changes/add-neap-warning",
    "documents": "/documents",
    "answer": "/documents?q=what+is+the+default+margin",
    "document": "/documents/docs/guide.md",
    "sources": "/sources?in=src/fairwater",
    "source": "/sources/src/fairwater/tables.py?line=40",
    "memories": "/memory",
    "activity": "/activity",
    "drafts": "/activity/drafts",
    "review": "/activity/review",
    "search": "/search?q=tide&ask=1",
    "why": "/why?of=HEAD",
    "enter": "/enter",
    "problem": "/r/unheard-of",
}


# Verifies: REQ-o00060-C
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_has_a_violation_in_either_scheme(site: Site, open_tab: OpenTab, axe: str, scheme: str) -> None:
    tab = open_tab(site, scheme=scheme)
    found = {}
    for name, address in VIEWS.items():
        page = tab.show(address)
        for details in page.locator("main details").all():
            details.evaluate("each => { each.open = true }")
        if violations := tab.violations(axe):
            found[name] = violations
        tab.screenshot(f"{name}-{scheme}")
    assert found == {}


# Verifies: REQ-o00060-C
def test_no_view_scrolls_sideways_in_a_window_of_320_pixels(site: Site, open_tab: OpenTab, axe: str) -> None:
    tab = open_tab(site, width=320)
    found = {}
    for name, address in VIEWS.items():
        tab.show(address)
        if tab.scrolls_sideways() or (violations := tab.violations(axe)):
            found[name] = "sideways" if tab.scrolls_sideways() else violations
        tab.screenshot(f"{name}-narrow")
    assert found == {}


# Verifies: REQ-o00060-A, REQ-d00415-A
def test_every_view_answers_its_questions_without_scripts(site: Site, open_tab: OpenTab) -> None:
    tab = open_tab(site, java_script_enabled=False)
    for address, *questions in QUESTIONS.values():
        tab.show(address)
        for details in tab.page.locator("main details > summary").all():
            details.click()
        said = tab.text().replace(" ,", ",")
        for question, *answers in questions:
            for answer in answers:
                assert answer.replace(" ,", ",") in said, (question, answer, said)


# Verifies: REQ-d00415-A
def test_filters_live_in_the_address_and_back_works(site: Site, open_tab: OpenTab) -> None:
    tab = open_tab(site)
    page: Any = tab.show("/requirements")
    page.get_by_role("link", name="partly tested").click()
    page.wait_for_url("**/requirements?proof=partial")
    assert page.locator("table.rows tbody tr").count() == 1
    page.go_back()
    assert page.locator("table.rows tbody tr").count() == 23
    page.get_by_label("Words").fill("cosine")
    page.wait_for_selector("table.rows tbody tr:only-child")
    assert page.url.endswith("?q=cosine")
    page.reload()
    assert page.locator("table.rows tbody tr").count() == 1
    assert page.get_by_label("Words").input_value() == "cosine"
