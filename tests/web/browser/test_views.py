"""Every view in a real browser: its questions, both colour schemes, a narrow window, no scripts, no violations."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.web.browser.conftest import OpenTab
from tests.web.browser.driving import Tab
from tests.web.conftest import make_garden
from tests.web.questions import ON_THE_DEMO, WITHOUT_SPECS, Question
from tests.web.serving import Site, served

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


def ask_all(tab: Tab, asked: Mapping[str, Sequence[Question]]) -> None:
    """Ask each question of each view, with everything opened that can be opened."""
    tab.show("/memory")
    memory = tab.page.locator("ul.results a[href^='/memory/']").first.get_attribute("href").removeprefix("/memory/")
    for question in (each for questions in asked.values() for each in questions):
        tab.show(question.address.replace("MEMORY", memory))
        for summary in tab.page.locator("main details > summary").all():
            summary.click()
        for answer in question.answers:
            assert answer in tab.text().replace(" ,", ","), (question.asked, answer, tab.text())


# Verifies: REQ-o00060-A, REQ-d00415-A
def test_every_view_answers_its_questions_without_scripts(site: Site, open_tab: OpenTab) -> None:
    ask_all(open_tab(site, java_script_enabled=False), ON_THE_DEMO)


# Verifies: REQ-o00060-A, REQ-d00415-C, REQ-o00060-C
def test_every_view_answers_its_questions_on_a_project_without_specs(
    tmp_path: Path, open_tab: OpenTab, axe: str
) -> None:
    make_garden(tmp_path / "garden")
    with served(tmp_path / "garden") as site, open_tab(site) as tab:
        ask_all(tab, WITHOUT_SPECS)
        for name, address in (("today", "/"), ("requirements", "/requirements"), ("specs", "/specs")):
            tab.show(address)
            tab.screenshot(f"{name}-without-specs")
            assert tab.violations(axe) == []


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
    page.wait_for_url("**/requirements?q=cosine")
    page.reload()
    assert page.locator("table.rows tbody tr").count() == 1
    assert page.get_by_label("Words").input_value() == "cosine"
