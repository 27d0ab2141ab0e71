"""Changes through the page: drafts, differences, conflicts, undo, and what is refused."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from tests.web.conftest import make_demo, remember
from tests.web.serving import Visitor, main_of, plain, served

SPEC = "spec/dev-surface.md"
ENTRY = {"title": "Refuse a margin that a ripple decides", "reason": "said on the quay"}


@pytest.fixture
def page(folder: Path) -> Iterator[Visitor]:
    with served(folder) as site, site.visitor() as visitor:
        yield visitor


def hidden(html: str, name: str) -> str:
    found = re.search(rf'name="{re.escape(name)}" value="([^"]*)"', html)
    assert found is not None, name
    return unescape(found[1])


def form_area(html: str, name: str) -> str:
    found = re.search(rf'<textarea[^>]* name="{re.escape(name)}"[^>]*>([^<]*)<', html)
    assert found is not None, name
    return unescape(found[1])


def form_of(html: str, action: str) -> dict[str, str]:
    """The hidden values of the form that leads to an address."""
    found = re.search(rf'<form[^>]*action="{re.escape(action)}"[^>]*>(.*?)</form>', html, re.DOTALL)
    assert found is not None, action
    values = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', found[1])
    return {unescape(name): unescape(value) for name, value in values if name != "form_key"}


# Verifies: REQ-d00421-A
def test_an_edit_is_a_draft_then_a_difference_then_a_file_and_can_be_undone(page: Visitor, folder: Path) -> None:
    before = (folder / SPEC).read_bytes()
    # Where nothing was drafted or saved, nothing is offered to be undone.
    assert "Undo" not in main_of(page.get("/activity/drafts")) + main_of(page.get("/activity"))
    version = hidden(page.get("/r/REQ-d00006"), "version")
    edit = {"version": version, "title": "The plan in plain words", "assertion-C": "The plan SHALL be 72 columns wide."}
    drafted = page.post("/do/requirement/REQ-d00006", edit)
    assert (folder / SPEC).read_bytes() == before
    said = main_of(drafted)
    assert "Drafted: title, assertion C. Nothing is in the files yet." in said
    assert "# REQ-d00006: The plan in plain words" in said
    assert "The plan in plain words" in page.get("/r/REQ-d00006")
    assert "has a draft" in page.get("/r/REQ-d00006")
    assert "Drafts that are not saved 2" in main_of(page.get("/"))

    saved = page.post("/do/save", {**form_of(drafted, "/do/save"), "message": "Plain words"})
    assert "2 mutations saved to 1 file" in main_of(saved)
    after = (folder / SPEC).read_bytes()
    expected = before.replace(b"# REQ-d00006: The plan in words", b"# REQ-d00006: The plan in plain words")
    expected = expected.replace(b"*End* *The plan in words*", b"*End* *The plan in plain words*")
    old = b"C. The plan in words SHALL have no line longer than 72 characters."
    expected = expected.replace(old, b"C. The plan SHALL be 72 columns wide.")
    marker = rb"(plain words\* \| \*\*Hash\*\*: )\w+"
    # But for the hash, which follows the text, no other byte changed.
    assert re.sub(marker, rb"\1", after) == re.sub(marker, rb"\1", expected)

    assert "Undo the last save It was: update assertion REQ-d00006-C" in main_of(saved)
    assert "Undo the save before, too It was: update title REQ-d00006" in main_of(page.post("/do/undo", {}))
    again = page.post("/do/undo", {})
    done = page.post("/do/save", form_of(again, "/do/save"))
    assert (folder / SPEC).read_bytes() == before
    assert "Undo the last" not in main_of(done)


# Verifies: REQ-d00421-A
def test_references_and_assertions_are_added_mended_and_removed_as_drafts(page: Visitor, folder: Path) -> None:
    version = hidden(page.get("/r/REQ-d00008"), "version")
    html = page.post(
        "/do/requirement/REQ-d00008",
        {
            "version": version,
            "mend-REQ-o00009": "REQ-o00004",
            "new-assertion": "The command SHALL end within a second.",
            "status": "Draft",
            "assertion-B": "",
        },
    )
    assert "REQ-o00009 becomes REQ-o00004" in main_of(html)
    page.post("/do/save", form_of(html, "/do/save"))
    text = (folder / SPEC).read_text()
    assert "REQ-o00009" not in text
    assert "The command SHALL end within a second." in text
    assert "broken reference" not in main_of(page.get("/"))


# Verifies: REQ-d00421-A
def test_texts_around_assertions_are_changed_added_and_removed_as_drafts(page: Visitor, folder: Path) -> None:
    before = (folder / SPEC).read_text()
    shown = page.get("/r/REQ-d00006")
    assert "The printer at the chart table cuts what is longer" in form_area(shown, "section-0")
    edit = {"version": hidden(shown, "version"), "section-0": "The printer cuts after 72 columns."}
    drafted = page.post("/do/requirement/REQ-d00006", {**edit, "new-heading": "Notes", "new-section": "See the guide."})
    assert "Drafted: Rationale, new Notes. Nothing is in the files yet." in main_of(drafted)
    assert (folder / SPEC).read_text() == before
    page.post("/do/save", form_of(drafted, "/do/save"))
    saved = (folder / SPEC).read_text()
    assert "## Rationale\n\nThe printer cuts after 72 columns.\n" in saved
    assert "## Notes\n\nSee the guide.\n" in saved
    version = hidden(page.get("/r/REQ-d00006"), "version")
    removed = page.post("/do/requirement/REQ-d00006", {"version": version, "section-0": "", "section-1": ""})
    assert "Drafted: Notes removed, Rationale removed." in main_of(removed)
    page.post("/do/save", form_of(removed, "/do/save"))
    assert "72 columns" not in (folder / SPEC).read_text()
    for _ in range(4):
        undone = page.post("/do/undo", {})
    page.post("/do/save", form_of(undone, "/do/save"))
    assert (folder / SPEC).read_text() == before


# Verifies: REQ-d00421-B
def test_a_requirement_that_changed_meanwhile_shows_both_sides(page: Visitor, folder: Path) -> None:
    version = hidden(page.get("/r/REQ-d00006"), "version")
    file = folder / SPEC
    theirs = file.read_text().replace("no line longer than 72 characters", "no line longer than 80 characters")
    file.write_text(theirs)
    mine = {"version": version, "assertion-C": "The plan in words SHALL have no line longer than 60 characters."}
    html = page.post("/do/requirement/REQ-d00006", mine, 409)
    said = main_of(html)
    assert "It is not the text that you edited" in said
    assert "80" in said
    assert "60" in said
    assert file.read_text() == theirs
    assert "No drafts to save" in main_of(page.get("/activity/drafts"))
    drafted = page.post("/do/requirement/REQ-d00006", form_of(html, "/do/requirement/REQ-d00006"))
    page.post("/do/save", form_of(drafted, "/do/save"))
    assert "no line longer than 60 characters" in file.read_text()


# Verifies: REQ-d00421-B
def test_a_draft_of_another_tab_is_not_saved_by_accident(page: Visitor, folder: Path) -> None:
    before = (folder / SPEC).read_bytes()
    version = hidden(page.get("/r/REQ-d00006"), "version")
    shown = page.post("/do/requirement/REQ-d00006", {"version": version, "title": "One"})
    # Another tab drafts something after this one showed what saving writes.
    version = hidden(page.get("/r/REQ-d00006"), "version")
    page.post("/do/requirement/REQ-d00006", {"version": version, "title": "Two"})
    refused = page.post("/do/save", form_of(shown, "/do/save"), 409)
    assert "Not done" in refused
    assert (folder / SPEC).read_bytes() == before


# Verifies: REQ-d00421-B
def test_a_draft_whose_file_was_changed_or_deleted_shows_both_sides(page: Visitor, folder: Path) -> None:
    version = hidden(page.get("/r/REQ-d00006"), "version")
    page.post("/do/requirement/REQ-d00006", {"version": version, "title": "My title"})
    file = folder / SPEC
    file.write_text(file.read_text().replace("# REQ-d00006: The plan in words", "# REQ-d00006: Their title"))
    said = main_of(page.get("/activity/drafts"))
    assert "My title" in said
    assert "Their title" in said
    file.unlink()
    assert "My title" in main_of(page.get("/activity/drafts"))


# Verifies: REQ-d00421-C
def test_a_register_entry_is_shown_as_a_difference_and_then_written(page: Visitor, folder: Path) -> None:
    register = folder / "project.req"
    before = register.read_bytes()
    edit = {**ENTRY, "statement": "The planner shall refuse a margin below 0.3 metres."}
    html = page.post("/do/register/REQ-0001", edit)
    assert "below 0.3 metres" in main_of(html)
    assert register.read_bytes() == before
    done = page.post("/do/register/REQ-0001", form_of(html, "/do/register/REQ-0001"))
    assert "REQ-0001: " in main_of(done)
    assert "below 0.3 metres" in register.read_text()


# Verifies: REQ-d00421-B
def test_a_register_that_changed_meanwhile_shows_both_sides(page: Visitor, folder: Path) -> None:
    mine = page.post("/do/register/REQ-0001", {**ENTRY, "statement": "The planner shall refuse less than 0.3 metres."})
    other = page.post("/do/register/REQ-0001", {**ENTRY, "statement": "The planner shall refuse less than 0.4 metres."})
    page.post("/do/register/REQ-0001", form_of(other, "/do/register/REQ-0001"))
    html = page.post("/do/register/REQ-0001", form_of(mine, "/do/register/REQ-0001"), 409)
    said = main_of(html)
    assert "Somebody else changed it" in said
    assert "0.4 metres" in said
    assert "0.3 metres" in said
    assert "0.3 metres" not in (folder / "project.req").read_text()


# Verifies: REQ-d00421-C, REQ-d00421-E
def test_a_task_is_ticked_after_a_confirmation_and_taken_back(page: Visitor, folder: Path) -> None:
    tasks = folder / "openspec" / "changes" / "add-neap-warning" / "tasks.md"
    before = tasks.read_bytes()
    html = page.post("/do/task/add-neap-warning", {"task": "1.2", "open": ""})
    assert "[x] 1.2 Compute the height to spare" in main_of(html)
    assert tasks.read_bytes() == before
    page.post("/do/task/add-neap-warning", form_of(html, "/do/task/add-neap-warning"))
    assert tasks.read_bytes() == before.replace(b"[ ] 1.2", b"[x] 1.2")
    assert "2 of 8 tasks done" in main_of(page.get("/changes/add-neap-warning"))
    offered = form_of(page.get("/activity"), "/do/undo-files")
    shown = page.post("/do/undo-files", offered)
    page.post("/do/undo-files", form_of(shown, "/do/undo-files"))
    assert tasks.read_bytes() == before


# Verifies: REQ-d00421-E
def test_what_somebody_changed_since_is_not_taken_back(page: Visitor, folder: Path) -> None:
    tasks = folder / "openspec" / "changes" / "add-neap-warning" / "tasks.md"
    page.post("/do/task/add-neap-warning", {"task": "1.2", "open": "", "confirm": "1"})
    offered = form_of(page.get("/activity"), "/do/undo-files")
    tasks.write_text(tasks.read_text() + "\nmore\n")
    assert "no longer as the change left it" in main_of(page.post("/do/undo-files", offered, 409))
    assert "[x] 1.2" in tasks.read_text()
    assert "is recorded" in main_of(page.post("/do/undo-files", {"id": "0123"}, 404))


# Verifies: REQ-d00421-C
def test_an_accepted_text_gets_its_hash_after_the_difference(page: Visitor, folder: Path) -> None:
    html = page.post("/do/accept/REQ-o00003", {})
    assert "96605ecf" in main_of(html)
    assert "96605ecf" not in (folder / "spec" / "ops-harbour.md").read_text()
    page.post("/do/accept/REQ-o00003", form_of(html, "/do/accept/REQ-o00003"))
    assert "96605ecf" in (folder / "spec" / "ops-harbour.md").read_text()


# Verifies: REQ-d00421-C
def test_a_change_is_archived_as_it_was_shown(page: Visitor, folder: Path) -> None:
    assert "are not done" in main_of(page.post("/do/archive/add-neap-warning", {}, 409))
    done = page.post("/do/archive/add-neap-warning", {"unfinished": "1"})
    assert "was applied and archived" in main_of(done)
    assert "Short windows are marked" in (folder / "openspec/specs/passage-windows/spec.md").read_text()


# Verifies: REQ-d00421-B, REQ-d00421-D
def test_a_memory_is_corrected_superseded_forgotten_and_restored(page: Visitor) -> None:
    remember(page.site.project, "Tables are in UTC.", "src/fairwater/tables.py")
    html = page.get("/memory")
    (id,) = set(re.findall(r'href="/memory/([0-9a-f-]{8,})"', html))
    first = {"text": "Tables are in harbour time.", "before": "Tables are in UTC."}
    shown = page.post(f"/do/memory/{id}/edit", first)
    assert "nothing is written yet" in main_of(shown)
    assert "Tables are in UTC" in main_of(page.get(f"/memory/{id}"))
    page.post(f"/do/memory/{id}/edit", form_of(shown, f"/do/memory/{id}/edit"))
    assert "Tables are in harbour time" in main_of(page.get(f"/memory/{id}"))
    # A form that was open since before that shows both sides.
    stale = page.post(f"/do/memory/{id}/edit", {**first, "text": "Tables are in local time.", "confirm": "1"}, 409)
    assert "harbour time" in main_of(stale)
    newer = {"text": "Tables name their time zone.", "why": "decided on the quay"}
    shown = page.post(f"/do/memory/{id}/supersede", newer)
    assert "nothing is written yet" in main_of(shown)
    assert "Superseded by" not in main_of(page.get(f"/memory/{id}"))
    stored = page.post(f"/do/memory/{id}/supersede", form_of(shown, f"/do/memory/{id}/supersede"))
    assert "Tables name their time zone" in main_of(stored)
    assert "Superseded by" in main_of(page.get(f"/memory/{id}"))
    shown = page.post(f"/do/memory/{id}/forget", {"why": "no longer needed"})
    assert "Tables are in harbour time" in main_of(shown)
    assert "Tables are in harbour time" in main_of(page.get(f"/memory/{id}"))
    gone = page.post(f"/do/memory/{id}/forget", form_of(shown, f"/do/memory/{id}/forget"))
    assert "It was forgotten" in main_of(gone)
    page.post(f"/do/memory/{id}/restore", form_of(gone, f"/do/memory/{id}/restore"))
    assert "Tables are in harbour time" in main_of(page.get(f"/memory/{id}"))


# Verifies: REQ-d00421-B, REQ-d00421-D
def test_something_is_remembered_after_it_was_shown_and_superseded_only_as_it_was_shown(page: Visitor) -> None:
    shown = page.post("/do/memory", {"text": "The bar dries at springs.", "about": "REQ-d00001 docs/guide.md"})
    assert "Remember this about REQ-d00001, docs/guide.md" in main_of(shown)
    assert "The bar dries" not in main_of(page.get("/memory"))
    stored = main_of(page.post("/do/memory", form_of(shown, "/do/memory")))
    assert "It is remembered." in stored
    assert "REQ-d00001" in stored
    (id,) = set(re.findall(r'href="/memory/([0-9a-f-]{8,})"', page.get("/memory")))
    shown = page.post(f"/do/memory/{id}/supersede", {"text": "The bar never dries."})
    edit = {"text": "The bar dries at every low water.", "before": "The bar dries at springs.", "confirm": "1"}
    page.post(f"/do/memory/{id}/edit", edit)
    stale = page.post(f"/do/memory/{id}/supersede", form_of(shown, f"/do/memory/{id}/supersede"), 409)
    assert "every low water" in main_of(stale)
    assert "1 memory" in main_of(page.get("/memory"))


# Verifies: REQ-d00416-B
def test_forged_forms_change_nothing(page: Visitor, folder: Path) -> None:
    site = page.site
    before = (folder / SPEC).read_bytes()
    shown = page.get("/r/REQ-d00006")
    key = hidden(shown, "form_key")
    fields = {"version": hidden(shown, "version"), "title": "Hacked"}
    good = {"Origin": site.base}
    forged: list[tuple[dict[str, str], dict[str, str], bool]] = [
        ({**fields}, good, True),
        ({**fields, "form_key": ""}, good, True),
        ({**fields, "form_key": "0" * 64}, good, True),
        ({**fields, "form_key": key[:-1]}, good, True),
        ({**fields, "form_key": key}, good, False),
        ({**fields, "form_key": key}, {}, True),
        ({**fields, "form_key": key}, {"Origin": "http://127.0.0.1:1"}, True),
        ({**fields, "form_key": key}, {"Origin": site.base.replace("127.0.0.1", "localhost")}, True),
        ({**fields, "form_key": key}, {"Origin": "https://evil.example"}, True),
        ({**fields, "form_key": key}, {"Origin": "null"}, True),
    ]
    with site.visitor(enters=False) as stranger:
        for data, headers, with_cookie in forged:
            http = page.http if with_cookie else stranger.http
            assert http.post("/do/requirement/REQ-d00006", data=data, headers=headers).status_code == 403, headers
        assert page.http.get("/do/save").status_code in (404, 405)
        assert page.http.post("/do/save", content=b"\xff" * 100, headers=good).status_code == 403
        many = "&".join("a=b" for _ in range(5_000))
        assert page.http.post("/do/save", content=many.encode(), headers=good).status_code == 403
    assert (folder / SPEC).read_bytes() == before
    assert "No drafts to save" in main_of(page.get("/activity/drafts"))


# Verifies: REQ-d00421-F
def test_a_read_only_server_writes_nothing(folder: Path) -> None:
    with served(folder, read_only=True) as site, site.visitor() as visitor:
        assert "can edit" not in visitor.get("/")
        assert '<form method="post"' not in visitor.get("/r/REQ-d00006")
        key = site.page.admission.form_key(next(iter(dict(visitor.http.cookies).values())))
        data = {"form_key": key, "version": "x", "title": "Hacked"}
        answer = visitor.http.post("/do/requirement/REQ-d00006", data=data, headers={"Origin": site.base})
        assert answer.status_code == 403


# Verifies: REQ-d00422-A
def test_suggested_suspect_and_contradicting_are_decided_and_taken_back(tmp_path: Path) -> None:
    folder = tmp_path / "fairwater"
    make_demo(folder)
    with served(folder) as site, site.visitor() as page:
        site.project.ensure_graph()
        page.get("/")  # links are seen for the first time
        spec = folder / "spec" / "dev-tides.md"
        spec.write_text(spec.read_text().replace("SHALL refuse times that", "SHALL reject all times that"))
        first = page.get("/activity/review")
        assert "suspect link" in first
        count = int(re.search(r"(\d+) to decide", plain(first))[1])  # type: ignore[index]
        # The first is a suspect link: it is accepted and taken back.
        accepted = page.post("/do/review", _item(first, "suspect", "accept"))
        assert int(re.search(r"(\d+) to decide", plain(accepted))[1]) < count  # type: ignore[index]
        undone = page.post("/do/review-undo", form_of(accepted, "/do/review-undo"))
        assert f"{count} to decide" in plain(undone)
        # A suggested link is rejected and reconsidered, then written and taken back.
        item = _item(undone, "link", "reject")
        source = folder / item["file"]
        before = source.read_bytes()
        rejected = page.post("/do/review", item)
        assert not _lists(rejected, item)
        again = page.post("/do/review-undo", form_of(rejected, "/do/review-undo"))
        assert _lists(again, item)
        written = page.post("/do/review", {**item, "decision": "accept"})
        assert source.read_bytes() != before
        page.post("/do/review-undo", form_of(written, "/do/review-undo"))
        assert source.read_bytes() == before


# Verifies: REQ-d00422-A, REQ-d00303-E
def test_of_two_memories_that_contradict_each_other_the_newer_or_both_are_kept(page: Visitor) -> None:
    remember(page.site.project, "The gate opens at six.", "docs/guide.md")
    remember(page.site.project, "The gate does not open at six.", "docs/reference.md")
    shown = page.get("/activity/review")
    assert "Two memories contradict each other" in main_of(shown)
    kept = page.post("/do/review", _item(shown, "memory", "reject"))
    assert "Both are kept." in main_of(kept)
    assert "contradict" not in main_of(page.get("/activity/review"))
    assert "2 memories." in main_of(page.get("/memory"))
    again = page.post("/do/review-undo", form_of(kept, "/do/review-undo"))
    assert "Two memories contradict each other" in main_of(again)
    decided = page.post("/do/review", _item(again, "memory", "accept"))
    assert "The other one was forgotten" in main_of(decided)
    left = main_of(page.get("/memory"))
    assert "The gate does not open at six." in left
    assert "The gate opens at six." not in left
    restored = page.post("/do/review-undo", form_of(decided, "/do/review-undo"))
    assert "Two memories contradict each other" in main_of(restored)
    assert "The gate opens at six." in main_of(page.get("/memory"))


def _lists(html: str, item: dict[str, str]) -> bool:
    wanted = {name: item[name] for name in ("file", "line", "requirement")}
    forms = re.findall(r'<form method="post" action="/do/review">.*?</form>', html, re.DOTALL)
    return any(wanted.items() <= form_of(form, "/do/review").items() for form in forms)


def _item(html: str, kind: str, decision: str) -> dict[str, str]:
    for form in re.findall(r'<form method="post" action="/do/review">.*?</form>', html, re.DOTALL):
        fields = form_of(form, "/do/review")
        if fields["kind"] == kind and fields["decision"] == decision:
            return fields
    raise AssertionError(f"nothing to {decision} of the kind {kind}")


def test_fields_that_are_missing_are_named(page: Visitor) -> None:
    assert "The form lacks 'version'" in main_of(page.post("/do/requirement/REQ-d00006", {"title": "x"}, 400))
    assert "REQ-d09999" in main_of(page.post("/do/requirement/REQ-d09999", {"version": "1"}, 404))


# Verifies: REQ-d00418-E
def test_a_confirmation_follows_no_changes_and_what_was_said_waits_for_its_page(page: Visitor) -> None:
    asked = page.post("/do/task/add-neap-warning", {"task": "1.2"})
    assert "nothing is written yet" in asked
    assert 'data-state=""' in asked
    assert 'data-state=""' not in page.get("/changes/add-neap-warning")
    page.http.follow_redirects = False
    confirmed = {**form_of(asked, "/do/task/add-neap-warning"), "confirm": "1"}
    page.post("/do/task/add-neap-warning", confirmed, status=303)
    # A page that loads its content again, in this tab or another one, does not take what the next page says.
    again = page.http.get("/changes/add-neap-warning", headers={"X-Clew": "script"}).text
    assert 'class="said"' not in again
    assert 'class="said"' in page.get("/changes/add-neap-warning")
    assert 'class="said"' not in page.get("/changes/add-neap-warning")
