"""Scripts are planted wherever a text can come from, and none of them runs in a real browser."""

import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.web.browser.conftest import OpenTab
from tests.web.conftest import GIT, commit
from tests.web.serving import served

from clew.memory.operations.commands import Remember
from clew.operation.call import Call, perform

EVIL = '<script>window.ran=1</script><img src=x onerror="window.ran=2">'
QUOTED = '"\'><svg onload=window.ran=3><a href="javascript:window.ran=4">x</a>'
FILE = "<img src=x onerror=window.ran=5>"


def plant(folder: Path) -> int:
    """Write a project in which every text is hostile; how many places that are."""
    places = 0

    def write(path: str, text: str, count: int) -> None:
        nonlocal places
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        places += count

    write("clew.toml", f"[project]\nname = '''{EVIL}'''\n", 1)
    write(
        "spec/evil.md",
        f"# {EVIL}\n\n## REQ-p00001: Title {EVIL}{QUOTED}\n\n**Level**: PRD | **Status**: Active\n\nBody {EVIL}\n\n"
        f"## Assertions\n\nA. It SHALL {EVIL}{QUOTED}.\n\n## Rationale\n\n[link](javascript:window.ran=6) {EVIL}\n\n"
        f"*End* *Title {EVIL}{QUOTED}*\n\n---\n\n"
        "## REQ-d00001: Below\n\n**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001-A, REQ-p00099\n\n"
        f"## Assertions\n\nA. It SHALL {QUOTED}.\n\n*End* *Below*\n",
        7,
    )
    write(f"src/{FILE}.py", f"# Implements: REQ-p00001-A\ndef evil():\n    return '''{EVIL}'''\n", 3)
    write("tests/test_evil.py", f"# Verifies: REQ-p00001-A\ndef test_evil():\n    assert '''{QUOTED}'''\n", 1)
    write(
        "results/junit.xml",
        '<testsuite><testcase classname="tests.test_evil" name="test_evil"><failure message="'
        + EVIL.replace("<", "&lt;").replace('"', "&quot;")
        + '"/></testcase></testsuite>',
        1,
    )
    write(
        "docs/evil.md",
        f"# Guide {EVIL}\n\n## Section {QUOTED}\n\nText about margins {EVIL}\n\n"
        f"| a {EVIL} | b |\n|---|---|\n| {QUOTED} | c |\n\n"
        f"```html\n{EVIL}\n```\n\n- item {EVIL}\n\n[x](javascript:window.ran=7) <javascript:window.ran=8> {QUOTED}\n",
        8,
    )
    write(f"docs/{FILE}.md", "# Named\n\nMargins are named here.\n", 1)
    write(
        "openspec/specs/evil/spec.md",
        f"# Evil {EVIL}\n\n## Purpose\n\nPurpose {EVIL}\n\n## Requirements\n\n### Requirement: Keep {QUOTED}\n\n"
        f"It SHALL {EVIL}\n\n#### Scenario: One {EVIL}\n\n- **WHEN** {EVIL}\n- **THEN** {QUOTED}\n",
        5,
    )
    write(
        "openspec/changes/evil/proposal.md",
        f"# Change {EVIL}\n\n## Why\n\n{EVIL}\n\n## What Changes\n\n- {QUOTED}\n",
        3,
    )
    write("openspec/changes/evil/tasks.md", f"## 1. {EVIL}\n\n- [ ] 1.1 {EVIL}{QUOTED}\n", 2)
    write(
        "openspec/changes/evil/specs/evil/spec.md",
        f"## ADDED Requirements\n\n### Requirement: New {EVIL}\n\nIt SHALL {QUOTED}\n\n#### Scenario: Two\n\n"
        f"- **WHEN** {EVIL}\n- **THEN** {EVIL}\n",
        2,
    )
    return places


# Verifies: REQ-d00417-A
def test_no_planted_script_runs_anywhere(tmp_path: Path, open_tab: OpenTab) -> None:
    folder = tmp_path / "evil"
    folder.mkdir()
    places = plant(folder)
    subprocess.run([*GIT, "init", "-q", "-b", "main"], cwd=folder, check=True)
    commit(folder, f"Message {EVIL}{QUOTED}")
    with served(folder) as site, ExitStack() as browsing:
        call = Call(site.project, (), surface="cli")
        note = Remember(content=f"Margins {EVIL}{QUOTED}", about_=("REQ-p00001",), why=f"Because {EVIL}", tags=("<b>",))
        stored: Any = perform(note, call)
        site.project.context.calls.note("get_requirement", {"req_id": QUOTED}, EVIL, 0.1, EVIL)
        assert places + 5 >= 20
        tab = browsing.enter_context(open_tab(site))
        page = tab.page
        page.add_init_script("window.ran = 0")
        asked = (quote(EVIL), quote(QUOTED))
        files = (quote(f"docs/{FILE}.md"), quote(f"src/{FILE}.py"))
        addresses = [
            *("/", "/requirements", "/requirements?view=tree&open=REQ-p00001", "/r/REQ-p00001", "/r/REQ-d00001"),
            *("/specs", "/specs/evil", "/changes/evil", "/documents", "/documents?q=margins"),
            *("/documents/docs/evil.md", f"/documents/{files[0]}", "/sources", "/sources?in=src"),
            *(f"/sources/{files[1]}?line=2", "/sources/spec/evil.md?line=3", "/memory", "/memory?q=margins"),
            *(f"/memory/{stored.node_id}", "/activity", "/activity/review", "/activity/drafts", "/why?of=HEAD"),
            *(f"/search?q={asked[0]}", f"/search?q={asked[1]}&ask=1", f"/r/{asked[1]}", f"/{asked[0]}"),
            *(f"/requirements?q={asked[1]}", f"/requirements?level={asked[0]}", f"/requirements?sort={asked[0]}"),
            *(f"/why?of={asked[0]}", f"/go?to={asked[1]}", f"/memory?about={asked[0]}", f"/sources?in={asked[0]}"),
            f"/enter?key={asked[0]}",
        ]
        for address in addresses:
            tab.show(address)
            page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
            assert page.evaluate("window.ran") == 0, address
            # No element was made of a text: the only images and scripts are our own.
            assert (
                page.evaluate("document.querySelectorAll('main img, main script, main a[href^=\"javascript\"]').length")
                == 0
            )
        tab.show("/")
        page.keyboard.press("/")
        page.keyboard.type("margins")
        page.wait_for_selector("#palette-found a[role=option]")
        assert page.evaluate("document.querySelectorAll('#palette-found img, #palette-found script').length") == 0
        assert page.evaluate("window.ran") == 0
