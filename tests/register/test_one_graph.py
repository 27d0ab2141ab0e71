"""What the register says of code and tests, and what the graph says of the same, is one answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.properties import examples
from tests.register.served import Served, make_project

from clew.formats.register.ids import normalise
from clew.graph.model import NodeKind

FILES = {
    "src/line.rs": "// REQ-0001\nfn lock() {}\n",
    "src/block.c": "/* REQ-0001-2 tells how */\nint lock(void) { return 1; }\n",
    "src/list.py": "# Implements: REQ-0001-1, 2, REQ-0002\ndef lock():\n    pass\n",
    "src/docstring.py": 'def lock():\n    """Lock.\n\n    Implements: REQ-0002-1\n    """\n',
    "src/beside.go": "package a\n\nvar x = 1 // REQ-0003\n",
    "src/spelled.js": "// Implements: req-2\nfunction f() {}\n",
    "src/long.ts": "// REQ-10000 and REQ-0010\nexport const a = 1\n",
    "src/strings.py": 'x = "REQ-0004"\n',
    "src/no_criterion.py": "# REQ-0003-9\ndef f():\n    pass\n",
    "src/ghost.py": "# REQ-0077\ndef f():\n    pass\n",
    "src/retired.py": "# REQ-0005\ndef f():\n    pass\n",
    "src/inline.rs": "#[test]\nfn req_0003_holds() {\n}\n",
    "lib/elsewhere.sql": "-- REQ-0001\nselect 1;\n",
    "main.py": "# REQ-0001\n",
    "tests/test_names.py": "def test_req_0001_is_locked():\n    pass\n\n\ndef test_other():\n    pass\n",
    "tests/test_comment.py": "# Verifies: REQ-0001-2\ndef test_mail():\n    pass\n",
    "tests/test_whole_file.py": "# Verifies: REQ-0006\n\nimport os\n\n\ndef test_a():\n    pass\n",
    "src/deep/part_test.go": "package a\n\n// REQ-0002\nfunc TestIt(t *testing.T) {\n}\n",
    "docs/guide.md": "REQ-0004 is explained here, and REQ-0088 is not.\n",
    "ignored/copy.py": "# REQ-0004\n",
}


@pytest.fixture(params=["", '[code]\nfolders = ["src"]\n[tests]\nfolders = ["tests"]\n'], ids=["no folders", "folders"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    made = make_project(tmp_path / "project")
    (made.root / "clew.toml").write_text(request.param)
    made.add(acceptance=["The sixth login is refused", "The owner gets a mail"])
    for number in range(2, 7):
        made.add(title=f"Requirement number {number}")
    made.call("req_delete", id="5", reason="gone")
    made.close()
    again = Served(made.root)
    yield again
    again.close()


def traced(served: Served) -> tuple[dict[str, set[str]], set[str]]:
    """By requirement the files whose code or tests cite it, and the ids that do not exist, as the trace tools say."""
    served.project.ensure_graph()
    graph = served.project.graph
    cited: dict[str, set[str]] = {}
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        children = served.call("get_requirement", req_id=node.id)["children"]
        places = (graph.get_node(child["id"]) for child in children if child["kind"] in ("code", "test"))
        cited[node.id] = {place.source.path for place in places if place is not None and place.source is not None}
    broken = served.call("get_broken_references")["broken_references"]
    ghosts = {_spelled(each["target_id"]) for each in broken if each["source_id"].startswith(("code:", "test:"))}
    return cited, ghosts


def _spelled(written: str) -> str:
    prefix, number, *labels = written.split("-")
    return "-".join((normalise(f"{prefix}-{number}"), *labels))


def agree(served: Served) -> dict[str, Any]:
    found = served.call("req_coverage")
    cited, ghosts = traced(served)
    assert {id: set(files) for id, files in (found["referenced"] | found["obsolete_referenced"]).items()} == {
        id: files for id, files in cited.items() if files
    }
    assert set(found["ghosts"]) == ghosts
    retired = {row["id"] for row in served.call("req_list", status="obsolete")["requirements"]}
    assert set(found["orphans"]) == {id for id, files in cited.items() if not files} - retired
    return found


# Verifies: REQ-d00170-A
def test_coverage_and_trace_agree_on_every_form_of_marker(served: Served) -> None:
    for path, text in FILES.items():
        served.write(path, text)
    found = agree(served)
    everywhere = "main.py" in found["referenced"]["REQ-0001"]
    assert everywhere is ("[code]" not in (served.root / "clew.toml").read_text())
    assert found["referenced"]["REQ-0002"] == [
        *("src/deep/part_test.go", "src/docstring.py", "src/list.py", "src/spelled.js"),
    ]
    assert found["orphans"] == ["REQ-0004"]
    assert found["test_only"] == ["REQ-0006"]
    assert set(found["ghosts"]) == {"REQ-0003-9", "REQ-0010", "REQ-0077", "REQ-10000"}
    assert list(found["obsolete_referenced"]) == ["REQ-0005"]
    assert found["referenced"]["REQ-0003"] == ["src/beside.go", "src/inline.rs"]


LINES = st.sampled_from(
    [
        "# REQ-0001",
        "# Implements: REQ-0001-2, REQ-0002",
        "# Verifies: REQ-0003-1+2",
        "x = 'REQ-0004'",
        "def test_req_0002_works():",
        "    pass",
        "class TestThings:",
        "    # REQ-0006",
        "    def test_it(self): pass",
        '"""Implements: REQ-0003"""',
        "",
        "y = 1  # see REQ-0001 and REQ-0009",
        "# Refines: REQ-0002;",
        "# Tests: REQ-0001-1,",
        "#   REQ-0006-1",
    ]
)


# Verifies: REQ-d00170-A
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(files=st.lists(st.lists(LINES, max_size=12), min_size=1, max_size=3))
def test_coverage_and_trace_agree_on_any_file(served: Served, files: list[list[str]]) -> None:
    for number, lines in enumerate(files):
        served.write(f"src/part_{number}.py", "\n".join(lines))
        served.write(f"tests/test_part_{number}.py", "\n".join(reversed(lines)))
    served.call("refresh_graph")
    agree(served)


# Verifies: REQ-d00170-B
def test_the_last_record_is_evidence_of_every_criterion(served: Served) -> None:
    served.commit()
    assert [row["id"] for row in _uncovered(served, "REQ-0001")] == ["REQ-0001-1", "REQ-0001-2"]
    served.call("req_test_record", id="1", result="fail", notes="the mail is missing")
    metrics = served.call("get_requirement", req_id="REQ-0001")["metrics"]
    assert (metrics["tier"], metrics["failed_labels"], metrics["has_failures"]) == ("failing", ["1", "2"], True)
    served.call("req_verify", id="1", by="inspection", notes="read it")
    metrics = served.call("get_requirement", req_id="REQ-0001")["metrics"]
    assert (metrics["tier"], metrics["passed_labels"], metrics["validated"]) == ("full", ["1", "2"], 2)
    assert _uncovered(served, "REQ-0001") == []
    tests = served.call("get_test_coverage", req_id="REQ-0001")
    assert [(each["name"], each["verdict"]) for each in tests["test_nodes"]] == [
        ("Inspection evidence of REQ-0001", "passed")
    ]
    assert served.call("req_coverage")["orphans"] == ["REQ-0001", "REQ-0002", "REQ-0003", "REQ-0004", "REQ-0006"]


def _uncovered(served: Served, id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.call("get_uncovered_assertions", req_id=id)["assertions"]
    return found


# Verifies: REQ-d00170-C
def test_requirements_of_three_formats_cite_each_other(served: Served) -> None:
    served.write(
        "spec/prd.md",
        "# Product\n\n## REQ-p00001: Keep safe\n\n**Level**: PRD | **Status**: Active | **Implements**: REQ-0001-2, "
        "REQ-0077\n\nIt SHALL be safe.\n\n## Assertions\n\nA. It SHALL be safe.\n\n*End* *Keep safe*\n",
    )
    served.write(
        "openspec/specs/auth/spec.md",
        "# auth Specification\n\n## Purpose\nLogin of people.\n\n## Requirements\n\n### Requirement: Login\nThe system "
        "SHALL let people in.\n\n- Refines: REQ-0002, REQ-p00001-Z\n\n#### Scenario: Locked out\n- **WHEN** five fail\n"
        "- **THEN** locked\n",
    )
    served.call("req_update", id="3", reason="why", rationale="The law says so. Implements: REQ-p00001-A, REQ-p00009.")
    served.call("req_update", id="4", reason="why", statement="The system shall open.\nVerifies: auth/login#locked-out")
    served.call("refresh_graph")
    edges = {
        (edge.source, edge.kind.value, edge.target, edge.labels)
        for id in ("REQ-p00001", "auth/login", "REQ-0003", "REQ-0004")
        for edge in served.project.graph.iter_outgoing_edges(id)
        if edge.kind.value != "structures"
    }
    assert edges == {
        ("REQ-p00001", "implements", "REQ-0001", ("2",)),
        ("auth/login", "refines", "REQ-0002", ()),
        ("REQ-0003", "implements", "REQ-p00001", ("A",)),
        ("REQ-0004", "verifies", "auth/login", ("locked-out",)),
    }
    broken = {
        (each["source_id"], each["target_id"]) for each in served.call("get_broken_references")["broken_references"]
    }
    assert broken == {("REQ-p00001", "REQ-0077"), ("auth/login", "REQ-p00001-Z"), ("REQ-0003", "REQ-p00009")}
    assert served.call("req_validate")["errors"] == 0


# Verifies: REQ-d00170-G
def test_mutations_write_citations_of_the_register(served: Served) -> None:
    served.write(
        "spec/prd.md",
        "# Product\n\n## REQ-p00001: Keep safe\n\n**Level**: PRD | **Status**: Active | **Implements**: REQ-0077\n\n"
        "It SHALL be safe.\n\n## Assertions\n\nA. It SHALL be safe.\n\n*End* *Keep safe*\n",
    )
    served.call("refresh_graph")

    def edge(**more: Any) -> dict[str, Any]:
        return {"source_id": "REQ-p00001", "target_id": "REQ-0001", **more}

    served.call("mutate_add_edge", **edge(edge_kind="REFINES", assertion_targets=["2"]))
    served.call(
        "mutate_fix_broken_reference", source_id="REQ-p00001", old_target_id="REQ-0077", new_target_id="REQ-0002"
    )
    assert served.call("save_mutations")["success"]
    written = (served.root / "spec/prd.md").read_text()
    assert "**Implements**: REQ-0002\n**Refines**: REQ-0001-2\n" in written
    assert served.call("get_broken_references")["count"] == 0

    served.call("mutate_change_edge_kind", **edge(new_kind="IMPLEMENTS"))
    served.call("mutate_delete_edge", **edge(confirm=True))
    served.call("save_mutations")
    assert "REQ-0001" not in (served.root / "spec/prd.md").read_text()
    served.call("undo_last_mutation")
    served.call("save_mutations")
    assert "REQ-0002, REQ-0001-2" in (served.root / "spec/prd.md").read_text()
    assert served.error("mutate_add_edge", **edge(target_id="REQ-0001-9", edge_kind="REFINES"))
    assert served.error("mutate_add_edge", **edge(target_id="REQ-0999", edge_kind="REFINES"))
    refused = served.error("mutate_add_edge", source_id="REQ-0001", target_id="REQ-p00001", edge_kind="REFINES")
    assert "`Implements: ID` in a rationale" in str(refused)


# Verifies: REQ-d00170-D
def test_search_subtree_impact_and_suggestions_know_the_register(served: Served) -> None:
    served.write("src/lock.py", "# REQ-0001\ndef lock_account():\n    pass\n")
    served.write(
        "tests/test_lock.py", "from src.lock import lock_account\n\n\ndef test_sixth_login_is_refused():\n    pass\n"
    )
    served.call("req_link", from_="2", to="1")
    served.call("refresh_graph")
    assert served.call("search", query="failed logins")["results"][0]["id"].startswith("REQ-000")
    subtree = served.call("get_subtree", root_id="REQ-0001")
    assert "REQ-0002" in subtree["content"]
    assert "The owner gets a mail" in subtree["content"]
    assert served.call("find_assertions_by_keywords", keywords=["mail"])["assertions"][0]["id"] == "REQ-0001-2"
    suggested = served.call("suggest_links", file_path="tests/test_lock.py")["suggestions"]
    assert any(each["requirement_id"].startswith("REQ-000") for each in suggested)


# Verifies: REQ-d00170-D
def test_a_link_to_a_requirement_that_changed_is_suspect(served: Served) -> None:
    served.write("src/lock.py", "# REQ-0001-1\ndef lock_account():\n    pass\n")
    served.commit()
    served.call("req_test_record", id="1", result="pass")
    assert _suspects(served) == set()
    served.call("req_update", id="1", reason="stricter", acceptance=["The third login is refused", "A mail is sent"])
    assert _suspects(served) == {"code:src/lock.py:1", "test:project.req::REQ-0001"}


def _suspects(served: Served) -> set[str | None]:
    served.project.ensure_graph()
    found = served.project.trace.findings()
    return {each.node_id for each in found if each.code == "trace.suspect_link"}


# Verifies: REQ-d00170-E
def test_a_register_is_found_at_any_depth_and_one_made_later_after_a_refresh(tmp_path: Path) -> None:
    root = tmp_path / "project"
    deep = make_project(root, place="a/b/c/d/project.req")
    deep.add()
    deep.write("src/lock.py", "# REQ-0001\n")
    deep.close()
    found = Served(root)
    agree(found)
    assert found.call("get_requirement", req_id="REQ-0001")["source"]["path"] == "a/b/c/d/project.req"
    found.close()

    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "clew.toml").touch()
    (bare / "src").mkdir()
    (bare / "src" / "lock.py").write_text("# REQ-0001\n# REQ-0002\n")
    late = Served(bare)
    assert late.call("get_broken_references")["count"] == 0
    assert late.error("req_list")["code"] == "REQ-E-NOT-FOUND"
    make_project(bare, git=False, place="docs/spec/project.req").close()
    (bare / "clew.toml").write_text("")
    late.add()
    late.call("refresh_graph")
    agree(late)
    assert late.call("get_broken_references")["count"] == 1
    late.close()


# Verifies: REQ-d00170-E
def test_drafts_and_suggestions_that_began_before_the_register_know_it(tmp_path: Path) -> None:
    (tmp_path / "clew.toml").write_text("")
    late = Served(tmp_path)
    late.write("lib/lock.py", "def lock_account():\n    pass\n")
    late.write(
        "spec/lock.md",
        "# REQ-p00001: Locking\n\n**Level**: PRD | **Status**: Active\n\nRefines: REQ-0001\n\n## Assertions\n\n"
        "A. The lock SHALL hold.\n\n*End* *Locking* | **Hash**: 00000000\n",
    )
    late.call("refresh_graph")
    assert late.call("suggest_links", file_path="lib/lock.py")["suggestions"] == []
    late.call("mutate_update_title", node_id="REQ-p00001", new_title="Locks")
    make_project(tmp_path, git=False).close()
    late.add()
    late.call("refresh_graph")
    assert late.call("suggest_links", file_path="lib/lock.py")["suggestions"] is not None
    late.call("mutate_change_status", node_id="REQ-p00001", new_status="Draft")
    late.call("save_mutations")
    assert "REQ-p00001: Locks" in (tmp_path / "spec" / "lock.md").read_text()
    parents = [edge.target for edge in late.project.graph.iter_outgoing_edges("REQ-p00001")]
    late.close()
    assert parents == ["REQ-0001"]


# Verifies: REQ-d00170-E
def test_the_register_of_a_project_below_belongs_to_that(tmp_path: Path) -> None:
    inner = make_project(tmp_path / "outer" / "examples" / "inner", git=False)
    inner.add()
    inner.close()
    (tmp_path / "outer" / "clew.toml").touch()
    outer = Served(tmp_path / "outer")
    outer.project.ensure_graph()
    assert outer.project.graph.count(NodeKind.REQUIREMENT) == 0
    assert outer.error("req_list")["code"] == "REQ-E-NOT-FOUND"
    outer.close()


# Verifies: REQ-d00170-E
def test_a_register_of_many_files_is_in_the_graph_with_its_lines(tmp_path: Path) -> None:
    from clew.formats.register.model import RegisterLayout
    from clew.register.change.draft import Author
    from clew.register.change.transaction import RegisterFile, new_register

    (tmp_path / "clew.toml").touch()
    file = RegisterFile(tmp_path / "docs [old]" / "many", layout=RegisterLayout.DIRECTORY)
    file.create(
        msgspec.structs.replace(
            new_register("demo", Author("2026-06-01T12:00:00Z", "ann")), layout=RegisterLayout.DIRECTORY
        )
    )
    served = Served(tmp_path)
    served.add(acceptance=["The sixth login is refused", "The owner gets a mail"])
    served.call("refresh_graph")
    node = served.project.graph.get_node("REQ-0001-2")
    assert node is not None
    assert node.source is not None
    lines = (tmp_path / node.source.path).read_text().splitlines()
    assert lines[node.source.line - 1].strip() == '"The owner gets a mail"'
    served.close()


# Verifies: REQ-d00170-D
def test_criteria_of_a_retired_requirement_ask_for_no_test(served: Served) -> None:
    served.project.ensure_graph()
    asked = {each.node_id for each in served.project.trace.findings() if each.code == "trace.uncovered_assertion"}
    assert "REQ-0002-1" in asked
    assert "REQ-0005-1" not in asked


# Verifies: REQ-d00170-D
def test_tools_of_other_formats_leave_the_register_alone(served: Served) -> None:
    before = (served.root / "project.req").read_bytes()
    for tool, arguments in (
        ("mutate_update_title", {"node_id": "REQ-0001", "new_title": "Something else"}),
        ("mutate_update_assertion", {"assertion_id": "REQ-0001-1", "new_text": "Something else"}),
        ("mutate_delete_requirement", {"node_id": "REQ-0001", "confirm": True}),
        ("move_requirement", {"req_id": "REQ-0001", "target_file": "spec/a.md"}),
    ):
        assert "req_" in served.error(tool, **arguments)["hint"], tool
    assert (served.root / "project.req").read_bytes() == before
