"""What `clew check` finds wrong with the hierarchy and with ids."""

from collections.abc import Callable

from clew.project import Project

Plant = Callable[..., Project]


def found(project: Project, code: str) -> list[tuple[str | None, str]]:
    return [(each.node_id, each.message) for each in project.trace.findings() if each.code == code]


# Verifies: REQ-d00210-A
def test_a_circle_is_found_once_with_the_whole_way_round(plant: Plant) -> None:
    project = plant({"p00001": ["d00001"], "o00001": ["p00001"], "d00001": ["refines o00001"], "d00002": ["d00001"]})
    assert found(project, "trace.circle") == [
        (
            "REQ-p00001",
            "REQ-p00001 is its own ancestor: REQ-p00001 -> REQ-d00001 -> REQ-o00001 -> REQ-p00001.",
        )
    ]


# Verifies: REQ-d00210-A
def test_a_requirement_that_implements_itself_is_a_circle(plant: Plant) -> None:
    project = plant({"d00001": ["d00001"], "d00002": ["refines d00002"]})
    assert found(project, "trace.circle") == [
        ("REQ-d00001", "REQ-d00001 is its own ancestor."),
        ("REQ-d00002", "REQ-d00002 is its own ancestor."),
    ]


# Verifies: REQ-d00210-A
def test_without_the_reference_that_each_finding_names_no_circle_is_left(plant: Plant) -> None:
    project = plant(
        {"d00001": ["d00002", "d00003"], "d00002": ["d00001", "d00003"], "d00003": ["d00001"], "d00004": ["d00001"]}
    )
    hints = [each.hint for each in project.trace.findings() if each.code == "trace.circle"]
    named = [
        (id, hint.split()[4].rstrip(",")) for (id, _), hint in zip(found(project, "trace.circle"), hints, strict=True)
    ]
    left = {
        (edge.source, edge.target)
        for id in ("REQ-d00001", "REQ-d00002", "REQ-d00003")
        for edge in project.graph.iter_outgoing_edges(id)
    } - set(named)
    assert left
    while left:
        tops = {target for _, target in left} - {source for source, _ in left}
        assert tops, f"{left} still holds a circle"
        left = {(source, target) for source, target in left if target not in tops}


# Verifies: REQ-d00210-A
def test_a_very_long_circle_is_told_briefly(plant: Plant) -> None:
    ids = [f"d{number:05}" for number in range(1, 2001)]
    project = plant({id: [above] for id, above in zip(ids, [*ids[1:], ids[0]], strict=True)})
    [(_, message)] = found(project, "trace.circle")
    assert message.startswith("REQ-d02000 is its own ancestor: REQ-d02000 -> REQ-d00001 -> REQ-d00002 -> ")
    assert len(message) < 200


# Verifies: REQ-d00210-A
def test_a_project_may_allow_circles(plant: Plant) -> None:
    settings = "[project]\nname = 'x'\n[rules.hierarchy]\nallow_circular = true\n"
    project = plant({"d00001": ["d00002"], "d00002": ["d00001"]}, files={".elspais.toml": settings})
    assert found(project, "trace.circle") == []


# Verifies: REQ-d00210-B
def test_a_requirement_that_implements_one_of_a_lower_level_is_found(plant: Plant) -> None:
    project = plant({"p00001": ["d00001", "p00002"], "p00002": [], "o00001": ["p00001"], "d00001": [], "d00002": []})
    assert found(project, "trace.wrong_level") == [
        ("REQ-p00001", "REQ-p00001 of level prd implements REQ-d00001 of level dev.")
    ]


# Verifies: REQ-d00210-B
def test_which_level_may_implement_which_is_the_projects_own_rule(plant: Plant) -> None:
    requirements = {"p00001": [], "o00001": ["p00001"], "d00001": ["p00001"], "p00002": ["p00001"]}
    february = """
[patterns.types]
prd = {id = "p", level = 1}
ops = {id = "o", level = 2}
dev = {id = "d", level = 3}
[rules.hierarchy]
dev = ["ops"]
prd = []
"""
    project = plant(requirements, files={".elspais.toml": february})
    assert found(project, "trace.wrong_level") == [
        ("REQ-d00001", "REQ-d00001 of level dev implements REQ-p00001 of level prd."),
        ("REQ-p00002", "REQ-p00002 of level prd implements REQ-p00001 of level prd."),
    ]


# Verifies: REQ-d00002-B
def test_an_id_defined_twice_is_one_finding_whether_in_one_file_or_in_two(plant: Plant) -> None:
    again = "## REQ-d00001: Again\n\n**Level**: DEV | **Status**: Active\n\nText.\n\n*End* *Again*\n\n"
    project = plant({"d00002": []}, files={"spec/one.md": again * 2, "spec/two.md": again})
    duplicates = [each for each in project.trace.findings() if "duplicate" in each.code]
    assert [(each.code, each.path, each.line) for each in duplicates] == [
        ("trace.duplicate_id", "spec/one.md", 9),
        ("trace.duplicate_id", "spec/two.md", 1),
    ]
