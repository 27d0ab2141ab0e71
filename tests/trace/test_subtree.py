"""Subtrees in three formats."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.project import Project

Plant = Callable[..., Project]
Ask = Callable[..., dict[str, Any]]

TESTS = """
# Verifies: REQ-d00001-A
def test_a():
    pass
"""


@pytest.fixture
def project(plant: Plant) -> Project:
    """A diamond: d00001 stands below both o00001 and o00002."""
    return plant(
        {"p00001": [], "o00001": ["p00001"], "o00002": ["refines p00001"], "d00001": ["o00001-A", "o00002"]},
        assertions={"p00001": ["It SHALL be."], "o00001": ["It SHALL last."], "d00001": ["One SHALL.", "Two SHALL."]},
        files={"tests/test_a.py": TESTS, "src/a.py": "# Implements: REQ-d00001\ndef a():\n    pass\n"},
    )


def nodes_of(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield tree
    for child in tree.get("children", ()):
        yield from nodes_of(child)


# Verifies: REQ-d00062-A
def test_every_node_below_the_root_stands_there_once_at_its_nearest_depth(ask: Ask, project: Project) -> None:
    flat = ask(project, "get_subtree", root_id="p1", format="flat")
    assert [(node["id"], node["depth"]) for node in flat["nodes"]] == [
        ("REQ-p00001", 0),
        ("REQ-p00001-A", 1),
        ("REQ-o00001", 1),
        ("REQ-o00002", 1),
        ("REQ-o00001-A", 2),
        ("REQ-d00001", 2),
        ("REQ-d00001-A", 3),
        ("REQ-d00001-B", 3),
    ]
    assert {(edge["source"], edge["target"], edge["kind"]) for edge in flat["edges"]} >= {
        ("REQ-o00001", "REQ-d00001", "implements"),
        ("REQ-o00002", "REQ-d00001", "implements"),
        ("REQ-p00001", "REQ-o00002", "refines"),
        ("REQ-d00001", "REQ-d00001-A", "structures"),
    }
    labelled = next(edge for edge in flat["edges"] if edge["source"] == "REQ-o00001" and "assertion_targets" in edge)
    assert labelled["assertion_targets"] == ["A"]


# Verifies: REQ-d00062-A
@pytest.mark.parametrize(("depth", "count"), [(1, 4), (2, 6), (3, 8), (0, 8), (9_999, 8)])
def test_depth_limits_the_levels_and_zero_means_all(ask: Ask, project: Project, depth: int, count: int) -> None:
    assert ask(project, "get_subtree", root_id="p1", depth=depth, format="flat")["stats"]["total_nodes"] == count


# Verifies: REQ-d00062-B
def test_kinds_follow_the_root_unless_they_are_named(ask: Ask, project: Project) -> None:
    def kinds(**arguments: Any) -> set[str]:
        found = ask(project, "get_subtree", format="flat", **arguments)
        return {node["kind"] for node in found["nodes"]}

    assert kinds(root_id="p1") == {"requirement", "assertion"}
    assert kinds(root_id="p1", include_kinds="requirement") == {"requirement"}
    assert kinds(root_id="d1", include_kinds="test, CODE") == {"requirement", "test", "code"}
    assert kinds(root_id="test:tests/test_a.py::test_a") == {"test"}
    naming = ask(project, "get_subtree", root_id="d1-A", include_kinds="test,code", format="flat")
    assert [node["id"] for node in naming["nodes"]] == ["REQ-d00001-A", "test:tests/test_a.py::test_a"]


# Verifies: REQ-d00062-B
def test_a_journey_stands_by_itself(ask: Ask, opened: Callable[[Path], Project], demo: Path) -> None:
    project = opened(demo)
    (journey,) = ask(project, "query_nodes", kind="journey")["results"]
    found = ask(project, "get_subtree", root_id=journey["id"])
    assert found["stats"] == {"total_nodes": 1, "requirements": 0, "assertions": 0}
    assert found["content"].startswith(f"# {journey['id']}: {journey['title']}")


# Verifies: REQ-d00062-C
def test_the_three_formats_hold_the_same_nodes_with_coverage(ask: Ask, project: Project) -> None:
    markdown = ask(project, "get_subtree", root_id="p1")
    flat = ask(project, "get_subtree", root_id="p1", format="flat")
    nested = ask(project, "get_subtree", root_id="p1", format="nested")
    assert markdown["stats"] == flat["stats"] == nested["stats"]
    ids = {node["id"] for node in flat["nodes"]}
    assert {node["id"] for node in nodes_of(nested["tree"])} == ids
    assert markdown["content"] == (
        "# REQ-p00001: Title of p00001 (prd, Active) [Implemented 1/1, Tested 0/1]\n"
        "- **A**: It SHALL be.\n"
        "  ## REQ-o00001: Title of o00001 (ops, Active) [Implemented 1/1, Tested 0/1]\n"
        "  - **A**: It SHALL last.\n"
        "    ### REQ-d00001: Title of d00001 (dev, Active) [Implemented 2/2, Tested 1/2]\n"
        "    - **A**: One SHALL.\n"
        "    - **B**: Two SHALL.\n"
        "  ## REQ-o00002: Title of o00002 (ops, Active)\n"
    )
    child = next(node for node in nodes_of(nested["tree"]) if node["id"] == "REQ-d00001")
    assert child["coverage"] == {"total": 2, "covered": 1, "pct": 50.0, "implemented": 2}
    assert [(each["id"], each["kind"]) for each in child["children"]] == [
        ("REQ-d00001-A", "assertion"),
        ("REQ-d00001-B", "assertion"),
    ]


# Verifies: REQ-d00062-D, REQ-o00024-A
@pytest.mark.parametrize("size", [{"limit": 7}, {"max_tokens": 900}])
@pytest.mark.parametrize("shape", ["markdown", "flat", "nested"])
def test_a_large_subtree_is_continued_in_every_format(ask: Ask, plant: Plant, shape: str, size: dict[str, int]) -> None:
    requirements = {"p00001": [], **{f"o{number:05}": ["p00001"] for number in range(1, 6)}}
    requirements |= {f"d{number:05}": [f"o{number % 5 + 1:05}"] for number in range(1, 21)}
    project = plant(requirements, assertions={id: ["It SHALL be.", "It SHALL last."] for id in requirements})
    total = 26 * 3
    lines: list[str] = []
    seen: list[str] = []
    cursor: dict[str, str] = {}
    pages = 0
    while True:
        page = ask(project, "get_subtree", root_id="p1", format=shape, **size, **cursor)
        pages += 1
        lines += (page["content"] or "").splitlines()
        seen += [node["id"] for node in page["nodes"] or ()]
        assert (page["tree"] is not None) is (shape == "nested" and pages == 1)
        for tree in (page["tree"], *(page["branches"] or ())):
            if tree is not None:
                assert ("parent_id" in tree) is (tree["id"] != "REQ-p00001")
                seen += [node["id"] for node in nodes_of(tree)]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert pages > 2
    if shape == "markdown":
        whole = ask(project, "get_subtree", root_id="p1", max_tokens=20_000)
        assert lines == whole["content"].splitlines()
        assert len(lines) == total
    else:
        assert len(seen) == len(set(seen)) == total


# Verifies: REQ-o00024-C
@pytest.mark.parametrize("shape", ["markdown", "flat", "nested"])
def test_a_circle_is_walked_once(ask: Ask, plant: Plant, shape: str) -> None:
    project = plant({"o00001": ["o00003", "o00001"], "o00002": ["o00001"], "o00003": ["o00002"]})
    found = ask(project, "get_subtree", root_id="o1", format=shape)
    assert found["stats"]["total_nodes"] == found["count"] == 3


# Verifies: REQ-o00024-C, REQ-d00062-D
@pytest.mark.parametrize("shape", ["markdown", "flat", "nested"])
def test_a_chain_of_hundreds_is_shown_to_its_end(ask: Ask, plant: Plant, shape: str) -> None:
    chain = {f"o{number:05}": [f"o{number - 1:05}"] if number > 1 else [] for number in range(1, 401)}
    project = plant(chain)
    found = ask(project, "get_subtree", root_id="o1", format=shape, limit=500, max_tokens=20_000)
    shown = found["count"]
    while found["next_cursor"]:
        more = {"cursor": found["next_cursor"]}
        found = ask(project, "get_subtree", root_id="o1", format=shape, limit=500, max_tokens=20_000, **more)
        shown += found["count"]
    assert shown == 400
