"""Every flow without a mouse: the palette, an edit from draft to undo, a review."""

from pathlib import Path
from typing import Any

from tests.web.browser.conftest import OpenTab
from tests.web.conftest import make_demo, remember
from tests.web.serving import Site, served


def tab_to(page: Any, wanted: str) -> None:
    """Press Tab until something is focused whose text or label begins so."""
    for _ in range(200):
        page.keyboard.press("Tab")
        name = page.evaluate(
            "(document.activeElement.labels?.[0]?.textContent || document.activeElement.ariaLabel ||"
            " document.activeElement.textContent || '').trim()"
        )
        if name.startswith(wanted):
            return
    raise AssertionError(f"nothing called '{wanted}' is reached by Tab")


# Verifies: REQ-o00060-D
def test_the_palette_finds_and_opens_anything(site: Site, open_tab: OpenTab) -> None:
    tab = open_tab(site)
    page = tab.show("/memory")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("/")
    page.keyboard.type("REQ-d00003")
    page.wait_for_selector("#palette-found[aria-busy=false] a[href='/r/REQ-d00003']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/r/REQ-d00003")
    page.keyboard.press("/")
    page.keyboard.type("Sour")
    page.wait_for_selector("#palette-found a[href='/sources']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sources")
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0


# Verifies: REQ-o00060-D, REQ-d00421-A
def test_an_edit_goes_from_draft_to_file_and_back_by_keyboard(fresh: Site, folder: Path, open_tab: OpenTab) -> None:
    spec = folder / "spec" / "dev-surface.md"
    before = spec.read_bytes()
    tab = open_tab(fresh)
    page = tab.show("/r/REQ-d00006")
    tab_to(page, "Edit")
    page.keyboard.press("Enter")
    tab_to(page, "Title")
    page.keyboard.press("Control+a")
    page.keyboard.type("The plan in plain words")
    page.keyboard.press("Enter")
    page.wait_for_url("**/activity/drafts")
    assert "plain" in page.locator(".diff ins").first.inner_text()
    assert spec.read_bytes() == before
    tab_to(page, "Save to the files")
    page.keyboard.press("Enter")
    page.wait_for_selector(".said")
    assert b"# REQ-d00006: The plan in plain words" in spec.read_bytes()
    tab_to(page, "Undo the last save")
    page.keyboard.press("Enter")
    page.wait_for_selector("button:has-text('Save to the files')")
    tab_to(page, "Save to the files")
    page.keyboard.press("Enter")
    page.wait_for_selector("main:has-text('No drafts to save.')")
    assert page.get_by_role("button", name="Undo").count() == 0
    assert spec.read_bytes() == before


# Verifies: REQ-d00422-B
def test_a_review_is_done_with_five_keys(fresh: Site, folder: Path, open_tab: OpenTab) -> None:
    tab = open_tab(fresh)
    page = tab.show("/activity/review")
    count = page.locator(".review > li").count()
    assert count > 2
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.id") == "item-1"
    source = folder / page.locator("#item-1 input[name=file]").first.input_value()
    title = page.locator("#item-1 h2").inner_text()
    before = source.read_bytes()
    with page.expect_navigation():
        page.keyboard.press("r")
    assert title not in page.locator("main").inner_text()
    with page.expect_navigation():
        page.keyboard.press("u")
    assert title in page.locator("main").inner_text()
    page.locator("#item-1").focus()
    with page.expect_navigation():
        page.keyboard.press("a")
    assert source.read_bytes() != before
    with page.expect_navigation():
        page.keyboard.press("u")
    assert source.read_bytes() == before


# Verifies: REQ-d00422-B
def test_memories_that_contradict_each_other_are_decided_by_keyboard(fresh: Site, open_tab: OpenTab) -> None:
    remember(fresh.project, "The gate opens at six.", "docs/guide.md")
    remember(fresh.project, "The gate does not open at six.", "docs/reference.md")
    page = open_tab(fresh).show("/activity/review")

    def decide(key: str) -> str:
        with page.expect_navigation():
            page.keyboard.press(key)
        return str(page.locator("main").inner_text())

    assert "Two memories contradict each other" in page.locator("#item-0").inner_text()
    assert "contradict" not in decide("r")
    assert "contradict" in decide("u")
    assert "contradict" not in decide("a")
    assert "The other one was forgotten" in page.locator(".said").inner_text()
    assert "contradict" in decide("u")


# Verifies: REQ-o00060-D, REQ-d00422-B
def test_a_suspect_link_is_decided_by_keyboard(tmp_path: Path, open_tab: OpenTab) -> None:
    make_demo(tmp_path / "fairwater")
    with served(tmp_path / "fairwater") as site, open_tab(site) as tab:
        # What is shown once is known; when its text changes, the links to it are suspect.
        tab.show("/r/REQ-d00001")
        spec = tmp_path / "fairwater" / "spec" / "dev-tides.md"
        spec.write_text(spec.read_text().replace("SHALL refuse times that", "SHALL reject all times that"))
        page = tab.show("/activity/review")
        first = page.locator("#item-0 h2").inner_text()
        assert "suspect link" in first

        def decide(key: str) -> list[str]:
            with page.expect_navigation():
                page.keyboard.press(key)
            return [str(text) for text in page.locator(".review > li > h2").all_inner_texts()]

        assert first not in decide("a")
        assert first in decide("u")


# Verifies: REQ-o00060-D, REQ-d00421-C, REQ-d00421-E
def test_a_hash_is_accepted_and_a_change_is_archived_by_keyboard(fresh: Site, folder: Path, open_tab: OpenTab) -> None:
    page = open_tab(fresh).show("/r/REQ-o00003")
    spec = folder / "spec" / "ops-harbour.md"
    before = spec.read_bytes()

    def press(button: str) -> None:
        tab_to(page, button)
        with page.expect_navigation():
            page.keyboard.press("Enter")

    def confirm() -> None:
        with page.expect_navigation():
            page.keyboard.press("Enter")

    press("Show what accepting writes")
    assert spec.read_bytes() == before
    confirm()
    assert spec.read_bytes() != before
    page.goto(f"{fresh.base}/activity")
    press("Undo")
    confirm()
    assert spec.read_bytes() == before

    page.goto(f"{fresh.base}/changes/add-neap-warning")
    tab_to(page, "although tasks are open")
    page.keyboard.press("Space")
    press("Apply and archive")
    assert "was applied and archived" in page.locator("p.said").inner_text()
    assert "Short windows are marked" in (folder / "openspec/specs/passage-windows/spec.md").read_text()


# Verifies: REQ-o00060-D, REQ-d00421-B
def test_a_conflict_is_decided_by_keyboard(fresh: Site, folder: Path, open_tab: OpenTab) -> None:
    page = open_tab(fresh).show("/r/REQ-d00006")
    tab_to(page, "Edit")
    page.keyboard.press("Enter")
    tab_to(page, "Title")
    page.keyboard.press("Control+a")
    page.keyboard.type("Mine")
    spec = folder / "spec" / "dev-surface.md"
    theirs = spec.read_text().replace("# REQ-d00006: The plan in words", "# REQ-d00006: Theirs")
    spec.write_text(theirs)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator(".sides").first.inner_text().split() == ["There", "now", "Theirs", "Yours", "Mine"]
    tab_to(page, "Overwrite with my draft")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "# REQ-d00006: Mine" in page.locator(".diff").inner_text()
    assert spec.read_text() == theirs


# Verifies: REQ-o00060-D, REQ-d00421-C, REQ-d00421-D
def test_register_tasks_and_memories_are_changed_by_keyboard(fresh: Site, folder: Path, open_tab: OpenTab) -> None:
    page = open_tab(fresh).show("/r/REQ-0001")

    def press(button: str) -> str:
        tab_to(page, button)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        return str(page.locator("main").inner_text())

    def write(summary: str, label: str, text: str, button: str) -> str:
        tab_to(page, summary)
        page.keyboard.press("Enter")
        tab_to(page, label)
        page.keyboard.press("Control+a")
        page.keyboard.type(text)
        return press(button)

    # What would be written has the focus on its button, so that Enter writes it.
    assert "below 0.3" in write("Edit", "Statement", "The planner shall refuse below 0.3.", "Preview")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "shall refuse below 0.3." in (folder / "project.req").read_text()

    page.goto(f"{fresh.base}/changes/add-neap-warning")
    assert "[x] 1.2" in press("Mark as done: 1.2")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "[x] 1.2" in (folder / "openspec/changes/add-neap-warning/tasks.md").read_text()

    page.goto(f"{fresh.base}/memory")
    for step in (
        ("Remember something", "What", "The bar dries.", "Show memories"),
        ("Correct it", "What it should say", "The bar seldom dries.", "Show the difference"),
        ("Replace it by another", "The present statement", "The bar never dries.", "Show the difference"),
        ("Forget it", "Why", "It is deep enough.", "Show forgotten memories"),
    ):
        write(*step)
        with page.expect_navigation():
            page.keyboard.press("Enter")
    assert "It was forgotten" in page.locator("main").inner_text()
    assert "The bar never dries." in press("Restore it")
