"""Results and the tests that yielded them: real test files, real reports, and the edges between them."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, NodeKind
from clew.project import Project

Open = Callable[[Path], Project]

SPEC = """## REQ-d00001: Ring

**Level**: DEV | **Status**: Active

## Assertions

A. The bell SHALL ring.
B. The bell SHALL stop.

*End* *Ring*
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "spec/bell.md", SPEC)
    toml = '[tests]\nfolders = ["tests", "src"]\nresults = ["results/*"]\n[search]\nbackground = false\n'
    write(tmp_path, "clew.toml", toml)
    return tmp_path


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def junit(
    root: Path, *cases: tuple[str, str] | tuple[str, str, str], path: str = "results/junit.xml", **more: str
) -> None:
    """A report with these classes and names; a third part goes inside the test."""
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in more.items())
    found = [
        f"<testcase classname={quoteattr(case[0])} name={quoteattr(case[1])}{attributes}>{''.join(case[2:])}</testcase>"
        for case in cases
    ]
    write(root, path, f"<testsuite name='all'>{''.join(found)}</testsuite>")


def yielded(graph: Graph) -> dict[str, list[str]]:
    """By the title of each result: the ids of what yielded it, without the kind."""
    return {
        result.title: sorted(test.id.partition(":")[2] for test in graph.iter_parents(result.id, (EdgeKind.YIELDS,)))
        for result in graph.nodes_by_kind(NodeKind.TEST_RESULT)
    }


def unmatched(project: Project) -> list[str]:
    return [each.message for each in project.trace.findings() if each.code == "trace.unmatched_result"]


PYTHON = """
def test_rings(): ...

class TestNight:
    def test_rings(self): ...
    def test_is_quiet(self): ...
"""

# By test file: what it holds, and by class and name of a result what it belongs to.
DIALECTS = {
    "tests/test_bell.py": (
        PYTHON,
        {
            ("tests.test_bell", "test_rings"): "test_rings",
            ("test_bell", "test_rings"): "test_rings",
            ("project.tests.test_bell", "test_rings[1-2]"): "test_rings",
            ("tests.test_bell.TestNight", "test_rings"): "TestNight::test_rings",
            ("TestNight", "test_is_quiet"): "TestNight::test_is_quiet",
            ("tests.test_bell.TestNight", "test_is_quiet (hour=22)"): "TestNight::test_is_quiet",
        },
    ),
    "src/test/java/org/bell/BellTest.java": (
        "class BellTest {\n  @Test void rings() {}\n  @Nested class AtNight {\n    @Test void isQuiet() {}\n  }\n}\n",
        {
            ("org.bell.BellTest", "rings"): "BellTest::rings",
            ("org.bell.BellTest", "rings()"): "BellTest::rings",
            ("org.bell.BellTest", "rings(int)[1]"): "BellTest::rings",
            ("org.bell.BellTest$AtNight", "isQuiet"): "BellTest::AtNight::isQuiet",
        },
    ),
    "tests/bell.test.ts": (
        "describe('bell', () => {\n  test('rings at v1.2', () => {});\n"
        "  describe('night', () => { it('is quiet', () => {}); });\n});\n",
        {
            ("bell rings at v1.2", "bell rings at v1.2"): "bell::rings at v1.2",
            ("tests/bell.test.ts", "bell > rings at v1.2"): "bell::rings at v1.2",
            ("bell.test.ts", "bell › night › is quiet"): "bell::night::is quiet",
            ("", "bell night is quiet"): "bell::night::is quiet",
        },
    ),
    "tests/rope/bell_test.go": (
        "func TestRings(t *testing.T) {\n}\n",
        {
            ("example.org/tower/tests/rope", "TestRings"): "TestRings",
            ("rope", "TestRings/at_noon#01"): "TestRings",
        },
    ),
    "tests/bell_test.rs": (
        "#[test]\nfn rings() {\n}\n\nmod night {\n    #[test]\n    fn is_quiet() {\n    }\n}\n",
        {
            ("tower::bell_test", "rings"): "rings",
            ("tower::bell_test", "night::is_quiet"): "night::is_quiet",
        },
    ),
    "tests/bell_test.cc": (
        "TEST(BellTest, Rings) {\n}\nTEST_P(NightTest, IsQuiet) {\n}\n",
        {
            ("BellTest", "Rings"): "BellTest::Rings",
            ("Hours/NightTest", "IsQuiet/0"): "NightTest::IsQuiet",
        },
    ),
    "tests/BellTests.cs": (
        "namespace Tower;\npublic class BellTests {\n  [Fact]\n  public void Rings() {\n  }\n}\n",
        {("Tower.BellTests", 'Tower.BellTests.Rings(hour: 12, at: "a.b")'): "BellTests::Rings"},
    ),
    "tests/bell_spec.rb": (
        "describe 'bell' do\n  it 'rings' do\n  end\nend\n",
        {("tests.bell_spec", "bell rings"): "bell::rings"},
    ),
}


# Verifies: REQ-o00020-A, REQ-d00041-A
@pytest.mark.parametrize(
    ("path", "source", "classname", "name", "expected"),
    [
        (path, source, classname, name, expected)
        for path, (source, cases) in DIALECTS.items()
        for (classname, name), expected in cases.items()
    ],
)
def test_a_result_finds_its_test(
    root: Path, opened: Open, path: str, source: str, classname: str, name: str, expected: str
) -> None:
    write(root, path, source)
    junit(root, (classname, name))
    project = opened(root)
    project.refresh()
    assert yielded(project.graph) == {name: [f"{path}::{expected}"]}
    assert unmatched(project) == []


# Verifies: REQ-d00041-A
def test_file_and_line_of_a_report_decide(root: Path, opened: Open) -> None:
    write(root, "tests/a/test_bell.py", PYTHON)
    write(root, "tests/b/test_bell.py", PYTHON)
    junit(root, ("", "test_rings"), file="tests/b/test_bell.py", line="1")
    junit(root, ("test_bell.TestNight", "test_is_quiet"), file="/build/tests/a/test_bell.py", path="results/second.xml")
    project = opened(root)
    project.refresh()
    assert yielded(project.graph) == {
        "test_rings": ["tests/b/test_bell.py::test_rings"],
        "test_is_quiet": ["tests/a/test_bell.py::TestNight::test_is_quiet"],
    }


# Verifies: REQ-d00041-A
def test_names_of_pytest_json_find_their_tests(root: Path, opened: Open) -> None:
    write(root, "tests/test_bell.py", PYTHON)
    tests = [
        {"nodeid": "tests/test_bell.py::TestNight::test_rings", "outcome": "passed"},
        {"nodeid": "test_bell.py::test_rings[x]", "outcome": "failed"},
    ]
    write(root, "results/report.json", json.dumps({"tests": tests}))
    project = opened(root)
    project.refresh()
    assert yielded(project.graph) == {
        "test_rings": ["tests/test_bell.py::TestNight::test_rings"],
        "test_rings[x]": ["tests/test_bell.py::test_rings"],
    }


# Verifies: REQ-o00020-A+E
def test_a_result_node_says_what_the_report_says_and_is_named_alike_everywhere(root: Path, opened: Open) -> None:
    write(root, "tests/test_bell.py", PYTHON)
    failure = "<failure message='too loud'/><properties><property name='a' value='b'/></properties>"
    junit(root, ("tests.test_bell", "test_rings[1]", failure), time="0.5")
    junit(root, ("/home/someone/tests/test_bell.py", "test_rings"), ("a", "b"), ("a", "b"), path="results/other.xml")
    project = opened(root)
    project.refresh()
    node = project.graph.get_node("result:results/junit.xml::tests.test_bell::test_rings[1]")
    assert node is not None
    assert node.title == "test_rings[1]"
    assert node.fields == {
        "status": "failed",
        "name": "test_rings",
        "format": "junit",
        "classname": "tests.test_bell",
        "parameters": "[1]",
        "message": "too loud",
        "suite": "all",
        "properties": {"a": "b"},
        "duration": 0.5,
    }
    assert (node.source.path, node.source.line) == ("results/junit.xml", 1)
    ids = {each.id for each in project.graph.nodes_by_kind(NodeKind.TEST_RESULT)} - {node.id}
    prefix = "result:results/other.xml::"
    assert ids == {f"{prefix}test_bell.py::test_rings", f"{prefix}a::b", f"{prefix}a::b#2"}
    assert not any(str(root) in each.id for kind in NodeKind for each in project.graph.nodes_by_kind(kind))


# Verifies: REQ-d00041-B, REQ-o00020-B
@pytest.mark.parametrize(
    ("path", "source", "classname", "name"),
    [
        ("tests/test_new.py", PYTHON, "tests.test_old", "test_rings"),
        ("tests/test_new.py", PYTHON, "tests.test_old.TestNight", "test_rings"),
        ("tests/test_new.py", PYTHON, "tests.test_new", "test_gone"),
        (
            "src/test/java/org/b/BellTest.java",
            DIALECTS["src/test/java/org/bell/BellTest.java"][0],
            "org.a.BellTest",
            "rings",
        ),
        (
            "tests/rope/bell_test.go",
            "func TestRings(t *testing.T) {\n}\n",
            "example.org/tower/tests/wheel",
            "TestRings",
        ),
        ("tests/bell.test.ts", DIALECTS["tests/bell.test.ts"][0], "other.test.ts", "bell > night > is quiet"),
        ("tests/bell.test.ts", DIALECTS["tests/bell.test.ts"][0], "", "gong > is quiet"),
    ],
)
def test_a_result_for_a_test_that_does_not_exist_is_reported_and_kept(
    root: Path, opened: Open, path: str, source: str, classname: str, name: str
) -> None:
    write(root, path, source)
    junit(root, (classname, name, "<failure/>"))
    project = opened(root)
    project.refresh()
    assert yielded(project.graph) == {name: []}
    (message,) = unmatched(project)
    assert f"'{name}'" in message
    assert "no such test" in message


# Verifies: REQ-d00041-C
def test_a_result_that_several_tests_could_have_yielded_belongs_to_none(root: Path, opened: Open) -> None:
    write(root, "tests/a.test.ts", "test('rings', () => {});\n")
    write(root, "tests/b.test.ts", "test('rings', () => {});\n")
    junit(root, ("", "rings"))
    project = opened(root)
    project.refresh()
    assert yielded(project.graph) == {"rings": []}
    (message,) = unmatched(project)
    assert "several tests" in message


# Verifies: REQ-d00041-A
def test_a_test_that_is_defined_twice_in_one_place_yields_what_is_said_of_it(root: Path, opened: Open) -> None:
    write(root, "tests/bell_spec.rb", "it 'rings' do\nend\nit 'rings' do\nend\n")
    junit(root, ("tests.bell_spec", "rings"))
    project = opened(root)
    project.refresh()
    assert yielded(project.graph) == {"rings": ["tests/bell_spec.rb::rings", "tests/bell_spec.rb::rings:3"]}


# Verifies: REQ-o00020-B
def test_a_report_that_matches_nothing_does_not_bury_everything_else(root: Path, opened: Open) -> None:
    junit(root, *(("elsewhere", f"test_{number}") for number in range(250)))
    project = opened(root)
    project.refresh()
    messages = unmatched(project)
    assert len(messages) == 101
    assert any("150 more results" in message for message in messages)
    assert project.graph.count(NodeKind.TEST_RESULT) == 250


# Verifies: REQ-d00041-D
@pytest.mark.parametrize("as_json", [False, True])
def test_a_file_that_could_not_be_collected_is_an_error_of_all_its_tests(
    root: Path, opened: Open, as_json: bool
) -> None:
    write(root, "tests/test_bell.py", PYTHON)
    write(root, "tests/test_rope.py", "def test_holds(): ...\n")
    if as_json:
        broken = [{"nodeid": "tests/test_bell.py", "outcome": "failed", "longrepr": "E   SyntaxError"}]
        write(root, "results/report.json", json.dumps({"tests": [], "collectors": broken}))
    else:
        junit(root, ("", "tests.test_bell", "<error message='collection failure'/>"))
    project = opened(root)
    project.refresh()
    (tests,) = yielded(project.graph).values()
    assert tests == [
        f"tests/test_bell.py::{name}" for name in ("TestNight::test_is_quiet", "TestNight::test_rings", "test_rings")
    ]
    assert project.graph.evidence.verdict("test:tests/test_bell.py::test_rings") == "error"
    assert project.graph.evidence.verdict("test:tests/test_rope.py::test_holds") is None


# Verifies: REQ-d00041-A
def test_a_journey_may_have_results_of_its_own(root: Path, opened: Open) -> None:
    write(
        root,
        "spec/journeys.md",
        "# JNY-Night-01: The night\n\n## Steps\n\n1. Listen.\n2. Sleep.\n\n*End* *JNY-Night-01*\n",
    )
    junit(root, ("manual", "JNY-Night-01/2: sleeps"), ("manual", "JNY-Night-01"), ("manual", "JNY-Night-01/9"))
    project = opened(root)
    project.refresh()
    journey = project.graph.get_node("JNY-Night-01")
    assert journey is not None
    edges = [(edge.kind, edge.labels) for edge in project.graph.iter_incoming_edges(journey.id)]
    assert sorted(edges) == [(EdgeKind.YIELDS, ()), (EdgeKind.YIELDS, ("2",))]
    assert project.graph.evidence.verdict(journey.id) == "passed"
    assert len(unmatched(project)) == 1


# Verifies: REQ-d00041-A
@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        (["", "<failure/>", "<skipped/>"], "failed"),
        (["", "<skipped/>"], "passed"),
        (["<skipped/>"], "skipped"),
        (["<error/>", "<failure/>"], "error"),
    ],
)
def test_the_worst_result_of_a_test_counts(root: Path, opened: Open, statuses: list[str], verdict: str) -> None:
    write(root, "tests/test_bell.py", PYTHON)
    junit(root, *(("tests.test_bell", f"test_rings[{number}]", inside) for number, inside in enumerate(statuses)))
    project = opened(root)
    project.refresh()
    assert project.graph.evidence.verdict("test:tests/test_bell.py::test_rings") == verdict


# Verifies: REQ-d00041-F
def test_ten_thousand_tests_of_one_name_are_told_apart_without_comparing_all_with_all(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = "".join(f"describe('g{number}', () => {{ it('works', () => {{}}); }});\n" for number in range(2_500))
    for name in "abcd":
        write(root, f"tests/{name}.test.ts", groups)
    # The group is only in the class, so that names alone tell nothing.
    cases = [(f"g{number}", "works") for number in range(2_500)]
    for name in "abcd":
        junit(root, *cases, path=f"results/{name}.xml", file=f"elsewhere/tests/{name}.test.ts")
    compared = 0
    from clew.graph.evidence import matching

    original = matching._Said.rank

    def counted(self: object, test: object) -> object:
        nonlocal compared
        compared += 1
        return original(self, test)

    monkeypatch.setattr(matching._Said, "rank", counted)
    project = opened(root)
    project.refresh()
    assert project.graph.count(NodeKind.TEST) == project.graph.count(NodeKind.TEST_RESULT) == 10_000
    assert unmatched(project) == []
    assert compared <= 10_000 * 4


# Verifies: REQ-d00041-F
def test_ten_thousand_citations_of_one_requirement_are_linked_and_followed_one_by_one(root: Path, opened: Open) -> None:
    for part in range(100):
        tests = "".join(f"# Verifies: REQ-d00001-A\ndef test_{number}(): ...\n\n" for number in range(100))
        write(root, f"tests/test_part{part}.py", tests)
    project = opened(root)
    first = project.refresh()
    assert first.links.citations_linked == 10_000
    assert project.graph.metrics("REQ-d00001")["tests"] == 10_000
    write(root, "tests/test_part7.py", "# Verifies: REQ-d00001-B\ndef test_other(): ...\n")
    assert project.refresh().links.citations_linked == 1
    write(root, "spec/bell.md", SPEC.replace("SHALL ring", "SHALL ring loudly"))
    assert project.refresh().links.citations_linked == 0
    assert project.graph.metrics("REQ-d00001")["tests"] == 9_901


FILES = st.sampled_from(["tests/test_a.py", "tests/test_b.py", "tests/c.test.ts", "results/one.xml", "results/two.xml"])
NAMES = st.lists(st.sampled_from(["test_x", "test_y", "TestK.test_x"]), unique=True, max_size=3)
PLACES = st.sampled_from(["tests.test_a", "tests.test_b", "tests.test_a.TestK", "tests.test_gone", "", "TestK"])
RESULTS = st.lists(
    st.tuples(PLACES, st.sampled_from(["test_x", "test_y"]), st.sampled_from(["", "<failure/>"])), max_size=4
)


def change(root: Path, path: str, names: list[str], results: list[tuple[str, str, str]]) -> None:
    """Write a file anew, or remove it where it would be empty."""
    if path.endswith(".xml"):
        if results:
            junit(root, *results, path=path)
        else:
            (root / path).unlink(missing_ok=True)
    elif not names:
        (root / path).unlink(missing_ok=True)
    elif path.endswith(".ts"):
        write(root, path, "".join(f"test('{name}', () => {{}});\n" for name in names))
    else:
        defined = []
        for name in names:
            group, _, own = name.rpartition(".")
            body = f"# Verifies: REQ-d00001-A\ndef {own}(): ...\n"
            defined.append(f"class {group}:\n    def {own}(self): ...\n" if group else body)
        write(root, path, "\n\n".join(defined))


# Verifies: REQ-d00041-E
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.tuples(FILES, NAMES, RESULTS), min_size=2, max_size=8))
def test_after_any_changes_the_graph_is_that_of_the_final_files(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, list[str], list[tuple[str, str, str]]]]
) -> None:
    root = tmp_path_factory.mktemp("project")
    write(root, "spec/bell.md", SPEC)
    write(root, "clew.toml", '[tests]\nresults = ["results/*.xml"]\n[search]\nbackground = false\n')
    project = Project.open(root)
    project.refresh()
    for path, names, results in changes:
        change(root, path, names, results)
        project.refresh()
        project.graph.metrics("REQ-d00001")
    fresh = Project.open(root)
    fresh.refresh(full=True)
    try:
        assert project.graph.memory.snapshot() == fresh.graph.memory.snapshot()
        assert dict(project.graph.evidence.unmatched()) == dict(fresh.graph.evidence.unmatched())
        assert project.graph.metrics("REQ-d00001") == fresh.graph.metrics("REQ-d00001")
        assert project.trace.summary() == fresh.trace.summary()
        tests = [node.id for node in fresh.graph.nodes_by_kind(NodeKind.TEST)]
        assert [project.graph.evidence.verdict(id) for id in tests] == [
            fresh.graph.evidence.verdict(id) for id in tests
        ]
    finally:
        project.close()
        fresh.close()


# Verifies: REQ-o00020-A
def test_reports_are_read_although_git_ignores_them(root: Path, opened: Open) -> None:
    write(root, ".gitignore", "results/\n")
    write(root, "tests/test_bell.py", PYTHON)
    junit(root, ("tests.test_bell", "test_rings"))
    project = opened(root)
    project.refresh()
    assert yielded(project.graph) == {"test_rings": ["tests/test_bell.py::test_rings"]}


# Verifies: REQ-o00020-A
@pytest.mark.parametrize(
    "given", ["build/reports", "build/reports/", "./build/reports", "build/**/*.xml", "build/*/a/junit.xml"]
)
def test_reports_are_named_by_globs_or_by_their_folder(root: Path, opened: Open, given: str) -> None:
    write(root, "clew.toml", f'[tests]\nresults = ["{given}"]\n[search]\nbackground = false\n')
    write(root, "tests/test_bell.py", PYTHON)
    junit(root, ("tests.test_bell", "test_rings"), path="build/reports/a/junit.xml")
    project = opened(root)
    project.refresh()
    assert yielded(project.graph) == {"test_rings": ["tests/test_bell.py::test_rings"]}


# Verifies: REQ-d00040-D
def test_a_broken_report_is_a_finding_and_the_rest_is_read(root: Path, opened: Open) -> None:
    write(root, "tests/test_bell.py", PYTHON)
    junit(root, ("tests.test_bell", "test_rings"))
    write(root, "results/broken.xml", "<testsuite><testcase name='a'/>\n<testcase")
    os.mkfifo(root / "results" / "pipe")
    project = opened(root)
    project.refresh()
    found = {(each.path, each.line, each.code) for each in project.trace.findings()}
    assert ("results/broken.xml", 2, "results.broken") in found
    assert ("results/broken.xml", 1, "trace.unmatched_result") in found
    assert yielded(project.graph)["test_rings"] == ["tests/test_bell.py::test_rings"]
