"""The matrix as one file: few elements however many requirements, rows made when they are opened, every row without
scripts."""

from pathlib import Path
from typing import Any

from tests.web.browser.driving import Tab

from clew.surfaces.cli.main import main

BLOCK = """## REQ-d{0:05}: Title {0} <script>window.ran = 1</script>

**Level**: DEV | **Status**: {1}

## Assertions

A. It SHALL hold {0}.
B. It SHALL not &lt;b&gt; {0}.

*End* *Title {0} <script>window.ran = 1</script>*
"""
COUNT = 400


def make(folder: Path) -> Path:
    (folder / "spec").mkdir()
    (folder / "clew.toml").write_text("")
    blocks = [BLOCK.format(number, "Draft" if number % 2 else "Active") for number in range(1, COUNT + 1)]
    (folder / "spec" / "many.md").write_text("# Many\n\n" + "\n---\n\n".join(blocks))
    file = folder / "matrix.html"
    assert main(["trace", "-o", str(file), "-C", str(folder)]) == 0
    return file


# Verifies: REQ-d00066-E
def test_the_matrix_makes_elements_of_what_is_shown(chromium: Any, tmp_path: Path, axe: str) -> None:
    file = make(tmp_path)
    context = chromium.new_context(viewport={"width": 420, "height": 900})
    tab = Tab(context, file.as_uri())
    page = tab.show("")
    assert page.locator("table.matrix tbody").count() == 30
    assert page.evaluate("document.querySelectorAll('*').length") < 1_500
    assert not tab.scrolls_sideways()
    page.locator("button[name=all]").click()
    page.wait_for_selector("text=It SHALL hold 30.")
    assert page.evaluate("document.querySelectorAll('*').length") < 3_000
    assert page.locator("a.place").first.get_attribute("href") == "spec/many.md"
    page.locator("[name=words]").fill("req-d00399")
    assert page.locator("output").inner_text() == f"1 of {COUNT}"
    page.locator("[name=words]").fill("")
    page.locator("[name=status]").select_option("Draft")
    assert page.locator("output").inner_text() == f"200 of {COUNT}"
    page.locator("th[data-key=id] button").click()
    page.locator("th[data-key=id] button").click()
    assert page.locator("table.matrix tbody th").first.inner_text() == "REQ-d00399"
    page.get_by_role("button", name="Next").click()
    assert page.locator(".pager span").inner_text() == "31 to 60 of 200"
    page.locator("[name=words]").fill("nothing of the kind")
    assert page.locator("#nothing").is_visible()
    assert page.evaluate("window.ran") is None
    assert tab.violations(axe) == []
    assert tab.problems == []
    context.close()


# Verifies: REQ-d00066-F
def test_the_printed_matrix_has_every_row_that_passes_the_filter(chromium: Any, tmp_path: Path) -> None:
    context = chromium.new_context(color_scheme="dark")
    page = Tab(context, make(tmp_path).as_uri()).show("")
    page.locator("[name=status]").select_option("Draft")
    page.locator("button[name=after]").click()
    page.locator("table.matrix summary").first.click()
    opened = page.locator("table.matrix tbody:has(details[open])").get_attribute("data-id")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("table.matrix tbody").count() == COUNT / 2
    assert page.locator("table.matrix tr.body:visible").count() == 1
    assert page.locator(f"tbody[id='{opened}'] tr.body").is_visible()
    assert not page.locator(".filters").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator(".pager span").inner_text() == "31 to 60 of 200"
    assert page.locator(f"tbody[id='{opened}'] details").get_attribute("open") is not None
    context.close()


# Verifies: REQ-d00066-E
def test_the_matrix_without_scripts_has_every_row(chromium: Any, tmp_path: Path) -> None:
    file = make(tmp_path)
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator("tbody[id]").count() == COUNT
    page.locator(f"tbody[id='REQ-d{COUNT:05}'] summary").focus()
    page.keyboard.press("Enter")
    assert f"It SHALL hold {COUNT}." in page.locator(f"tbody[id='REQ-d{COUNT:05}'] details").inner_text()
    context.close()
