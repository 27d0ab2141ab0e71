"""What an editor is told about a citation."""

import sys
from pathlib import Path

from tests import forked
from tests.lsp.conftest import Session, session_in

CODE, TESTS, SPEC = "src/fairwater/tables.py", "tests/test_tables.py", "spec/dev-tides.md"


# Verifies: REQ-d00522-A
def test_hover_shows_the_requirement_with_its_proof(shared: Session) -> None:
    shown = shared.ask(shared.editor.hover, CODE, "REQ-d00001-A")
    assert shown.startswith("**REQ-d00001** Reading a tide table (dev · Active)")
    assert "**A** `read_table` SHALL read lines of time" in shown
    assert "verified by `tests/test_tables.py:7`" in shown
    assert "implemented by `src/fairwater/tables.py:33`" in shown
    assert "**B**" not in shown, "only the assertion that is cited"
    assert "2 more assertions" in shown


# Verifies: REQ-d00522-A
def test_hover_shows_each_assertion_that_is_named_and_all_of_the_requirement(shared: Session) -> None:
    both = shared.ask(shared.editor.hover, CODE, "REQ-d00001-B+C")
    assert "**B**" in both
    assert "**C**" in both
    assert "**A**" not in both
    whole = shared.ask(shared.editor.hover, "docs/guide.md", "(REQ-d00001)", "REQ-d00001")
    assert all(f"**{label}**" in whole for label in "ABC")


# Verifies: REQ-d00522-A
def test_hover_shows_what_was_decided(demo: Path) -> None:
    about = ("--about", "REQ-d00001", "--kind", "decision", "--why", "files last longer")
    command = [sys.executable, "-m", "clew", "remember", "Tables are plain text", *about]
    forked.run(command, cwd=demo, check=True, capture_output=True)
    for session in session_in(demo):
        shown = session.ask(session.editor.hover, CODE, "REQ-d00001-A")
        assert "**Decisions and pitfalls**\n\n- decision: Tables are plain text Because: files last longer" in shown


# Verifies: REQ-d00522-A
def test_nothing_is_shown_over_what_is_no_citation(shared: Session) -> None:
    assert shared.ask(shared.editor.hover, CODE, "def read_table") == ""
    assert shared.ask(shared.editor.hover, SPEC, "Swapped lines") == ""


# Verifies: REQ-d00522-B
def test_a_citation_leads_to_the_assertion_in_its_spec(shared: Session) -> None:
    ask, editor = shared.ask, shared.editor
    assert ask(editor.definition, CODE, "REQ-d00001-A") == [f"{SPEC}:11"]
    assert ask(editor.definition, CODE, "REQ-d00001-B+C") == [f"{SPEC}:12", f"{SPEC}:13"]
    assert ask(editor.definition, "docs/guide.md", "(REQ-d00001)", "REQ-d00001") == [f"{SPEC}:5"]


# Verifies: REQ-d00522-B
def test_a_test_and_a_function_lead_to_what_they_cite(shared: Session) -> None:
    ask, editor = shared.ask, shared.editor
    found = ask(editor.definition, CODE, "def read_table")
    assert f"{SPEC}:11" in found
    found = ask(editor.definition, TESTS, "def test_time_that_stands_still_is_refused_with_its_line")
    assert f"{SPEC}:12" in found


# Verifies: REQ-d00522-B
def test_references_are_code_tests_and_documents(shared: Session) -> None:
    ask, editor = shared.ask, shared.editor
    found = ask(editor.references, SPEC, "REQ-d00001: Reading", "REQ-d00001")
    assert {f"{CODE}:32", f"{CODE}:69", f"{TESTS}:6", f"{TESTS}:17", f"{TESTS}:23", f"{TESTS}:39"} <= set(found)
    assert {"docs/guide.md:42", "docs/troubleshooting.md:9"} <= set(found)
    assert f"{SPEC}:5" not in found
    declared = ask(editor.references, SPEC, "REQ-d00001: Reading", "REQ-d00001", declaration=True)
    assert set(declared) == {*found, f"{SPEC}:5"}


# Verifies: REQ-d00522-B
def test_references_of_an_assertion_leave_out_those_of_others(shared: Session) -> None:
    found = shared.ask(shared.editor.references, TESTS, "REQ-d00001-B", "REQ-d00001-B")
    assert {f"{CODE}:69", f"{TESTS}:23"} <= set(found)
    assert not {f"{CODE}:32", f"{TESTS}:6", f"{TESTS}:39"} & set(found)


# Verifies: REQ-d00522-D
def test_ids_are_completed_where_a_citation_is_written(shared: Session) -> None:
    ask, editor = shared.ask, shared.editor
    text = "# Verifies: \n# Implements: REQ-d00001\nprint(REQ-o0)\nnothing here\n# Verifies: tide table\n"
    ask(editor.open, "tests/test_new.py", text)
    every = {item.label: item for item in ask(editor.completion, "tests/test_new.py", 0, 12)}
    assert {"REQ-d00001", "REQ-d00001-A", "REQ-p00001"} <= every.keys()
    assert every["REQ-d00001"].detail == "Reading a tide table"
    some = ask(editor.completion, "tests/test_new.py", 1, 24)
    assert [item.label for item in some] == ["REQ-d00001", "REQ-d00001-A", "REQ-d00001-B", "REQ-d00001-C"]
    (edit,) = {(each.text_edit.range.start.character, each.text_edit.range.end.character) for each in some}
    assert edit == (14, 24), "what is written so far is replaced"
    # Neovim replaces what the edit says only where the label is what is compared with the text.
    assert {item.filter_text for item in (*every.values(), *some)} == {None}
    titled = ask(editor.completion, "tests/test_new.py", 4, 22)
    assert "REQ-d00001" in {item.label for item in titled}
    assert all("table" in (item.filter_text or "").casefold() for item in titled)
    outside = ask(editor.completion, "tests/test_new.py", 2, 12)
    assert outside
    assert all(item.label.startswith("REQ-o0") for item in outside)
    assert ask(editor.completion, "tests/test_new.py", 3, 7) == []


# Verifies: REQ-d00786-A
def test_references_of_code_are_the_places_that_use_it(shared: Session) -> None:
    ask, editor = shared.ask, shared.editor
    found = ask(editor.references, CODE, "def read_table", "read_table")
    assert {"src/fairwater/cli.py:12", "src/fairwater/cli.py:34", f"{TESTS}:11"} <= set(found)
    assert f"{CODE}:33" not in found
    # From a use the same as from the definition, which comes first where it is asked for.
    there = ask(editor.references, "src/fairwater/cli.py", "read_table(settings.table)", "read_table", declaration=True)
    assert there == [f"{CODE}:33", *found]
    assert ask(editor.references, CODE, "there is no such thing", "such") == []


# Verifies: REQ-d00786-B
def test_a_hierarchy_of_calls_goes_both_ways(shared: Session) -> None:
    into, out = shared.ask(shared.editor.calls, CODE, "def read_table", "read_table")
    assert "src/fairwater/cli.py::_plan:34" in into
    assert {f"{CODE}::_parse", f"{CODE}::TideTable"} <= {each.rpartition(":")[0] for each in out}
    assert shared.ask(shared.editor.calls, SPEC, "Swapped lines") == ([], [])
