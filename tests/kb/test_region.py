"""The documents as a region of the graph."""

from collections.abc import Callable

from clew.graph.model import EdgeKind, NodeKind
from clew.project import Project

REQUIREMENT = """## REQ-d00001: Tables

**Level**: DEV | **Status**: Active

Text.

## Assertions

A. It SHALL.

*End* *Tables* | **Hash**: 00000000
"""
SPEC = """# Tide

## Purpose
About the tide and its many turns over a whole year.

## Requirements

### Requirement: Turning
It SHALL turn.

#### Scenario: High
- **WHEN** x
- **THEN** y
"""
GUIDE = """# Guide

See [the rest](reference.md#options) and [notes](notes.rst).

## Reading

REQ-d00001-A is done by `read_table()` in src/app/tables.py.
Specs: `tide/turning#high` in openspec/specs/tide/spec.md.

## Steps

1. Run `app --fast`.
2. Wait.
"""
REFERENCE = """# Reference

## Options

`--fast` and `APP_HOME`, see guide.md.

### Deep

Nothing.
"""
NOTES = """Notes
=====

See :ref:`far`. Set ``--fast``, `APP_HOME`.

.. _far:

Far
---

Here is APP_HOME.
"""
FILES = {
    "spec/a.md": REQUIREMENT,
    "src/app/tables.py": "# Implements: REQ-d00001-A\ndef read_table(path):\n    return path\n",
    "openspec/specs/tide/spec.md": SPEC,
    "docs/guide.md": GUIDE,
    "docs/reference.md": REFERENCE,
    "docs/notes.rst": NOTES,
}


def out(project: Project, id: str) -> set[tuple[str, str, tuple[str, ...]]]:
    return {(edge.kind.value, edge.target, edge.labels) for edge in project.kb.region.iter_outgoing_edges(id)}


def into(project: Project, id: str) -> set[tuple[str, str]]:
    return {(edge.kind.value, edge.source) for edge in project.kb.region.iter_incoming_edges(id)}


def opened(make: Callable[..., Project]) -> Project:
    project = make(FILES)
    project.ensure_graph()
    project.kb.index()
    return project


# Verifies: REQ-d00093-A
def test_documents_sections_and_entities_are_nodes_that_know_their_place(make: Callable[..., Project]) -> None:
    region = opened(make).kb.region
    document = region.get_node("doc:docs/guide.md")
    section = region.get_node("doc:docs/guide.md#reading")
    entity = region.get_node("entity:environment_variable:APP_HOME")
    assert document is not None
    assert section is not None
    assert entity is not None
    assert (document.kind, document.title, document.fields["tag"]) == (NodeKind.DOCUMENT, "Guide", "guide")
    assert (section.kind, section.title, section.fields["trail"]) == (NodeKind.SECTION, "Reading", "Guide > Reading")
    assert section.source is not None
    assert (section.source.path, section.source.line, section.source.end_line) == ("docs/guide.md", 5, 8)
    assert (entity.kind, entity.fields["type"], entity.fields["count"]) == (NodeKind.ENTITY, "environment_variable", 3)
    assert region.count(NodeKind.DOCUMENT) == len(list(region.nodes_by_kind(NodeKind.DOCUMENT))) == 3
    assert region.count(NodeKind.SECTION) == len(list(region.nodes_by_kind(NodeKind.SECTION)))
    assert region.count(NodeKind.ENTITY) == len(list(region.nodes_by_kind(NodeKind.ENTITY)))
    assert {node.id for node in region.nodes_in_file("docs/reference.md")} == {
        "doc:docs/reference.md",
        "doc:docs/reference.md#reference",
        "doc:docs/reference.md#options",
        "doc:docs/reference.md#options/deep",
    }


# Verifies: REQ-d00093-A
def test_sections_lead_to_what_is_above_and_after_them_and_to_what_they_link_to(make: Callable[..., Project]) -> None:
    project = opened(make)
    assert out(project, "doc:docs/guide.md#guide") == {
        ("structures", "doc:docs/guide.md", ()),
        ("next", "doc:docs/guide.md#reading", ()),
        ("references", "doc:docs/reference.md#options", ()),
        ("references", "doc:docs/notes.rst", ()),
    }
    assert into(project, "doc:docs/reference.md#options") == {
        ("structures", "doc:docs/reference.md#options/deep"),
        ("next", "doc:docs/reference.md#reference"),
        ("references", "doc:docs/guide.md#guide"),
    }
    assert ("references", "doc:docs/notes.rst#far", ()) in out(project, "doc:docs/notes.rst#notes")
    assert ("references", "doc:docs/notes.rst#notes") in into(project, "doc:docs/notes.rst#far")
    assert ("mentions", "doc:docs/guide.md", ()) in out(project, "doc:docs/reference.md#options")
    assert ("mentions", "doc:docs/reference.md#options") in into(project, "doc:docs/guide.md")


# Verifies: REQ-d00093-A
def test_steps_belong_to_their_procedure_and_documents_about_the_same_are_related(make: Callable[..., Project]) -> None:
    project = opened(make)
    procedure = "entity:procedure:docs/guide.md#steps"
    assert into(project, procedure) == {
        ("mentions", "doc:docs/guide.md#steps"),
        ("structures", "entity:step:docs/guide.md#steps/1"),
        ("structures", "entity:step:docs/guide.md#steps/2"),
    }
    assert out(project, "entity:step:docs/guide.md#steps/2") == {("structures", procedure, ())}
    assert out(project, "doc:docs/notes.rst") == {("related", "doc:docs/reference.md", ())}
    assert ("related", "doc:docs/notes.rst") in into(project, "doc:docs/reference.md")


# Verifies: REQ-d00093-B
def test_sections_lead_to_requirements_specs_files_and_code_and_back(make: Callable[..., Project]) -> None:
    project = opened(make)
    (code,) = project.graph.nodes_by_kind(NodeKind.CODE)
    reading = "doc:docs/guide.md#reading"
    crossing = {edge for edge in out(project, reading) if not edge[1].startswith(("doc:", "entity:"))}
    assert crossing == {
        ("mentions", "REQ-d00001", ("A",)),
        ("mentions", "tide/turning", ("high",)),
        ("mentions", "spec:tide", ()),
        ("mentions", "file:src/app/tables.py", ()),
        ("mentions", "file:openspec/specs/tide/spec.md", ()),
        ("mentions", code.id, ()),
    }
    for _, target, _ in crossing:
        assert ("mentions", reading) in into(project, target), target


# Verifies: REQ-d00093-B
def test_an_edge_appears_with_what_it_leads_to_and_goes_with_it(make: Callable[..., Project]) -> None:
    project = make({"docs/a.md": "# A\n\nREQ-d00009 and src/late.py\n"})
    project.ensure_graph()
    project.kb.index()
    section = "doc:docs/a.md#a"
    assert {target for _, target, _ in out(project, section) if ":" not in target or target[:4] == "file"} == set()
    root = project.config.root
    (root / "src").mkdir()
    (root / "src/late.py").write_text("x = 1\n")
    (root / "spec").mkdir()
    (root / "spec/a.md").write_text(REQUIREMENT.replace("REQ-d00001", "REQ-d00009"))
    project.refresh()
    assert {("mentions", "REQ-d00009", ()), ("mentions", "file:src/late.py", ())} <= out(project, section)
    (root / "src/late.py").unlink()
    assert project.kb.region.get_node("file:src/late.py") is None
    assert ("mentions", "file:src/late.py", ()) not in out(project, section)


# Verifies: REQ-d00093-A, REQ-d00184-A
def test_the_graph_of_a_project_answers_for_documents_too(make: Callable[..., Project]) -> None:
    graph = opened(make).graph
    assert graph.count(NodeKind.DOCUMENT) == len(list(graph.nodes_by_kind(NodeKind.DOCUMENT))) == 3
    assert graph.get_node("doc:docs/guide.md#reading") is not None
    assert {edge.target for edge in graph.iter_outgoing_edges("doc:docs/guide.md#reading")} >= {"REQ-d00001"}
    found = graph.iter_children("REQ-d00001", [EdgeKind.MENTIONS])
    assert [node.id for node in found] == ["doc:docs/guide.md#reading"]
    assert [node.id for node in graph.iter_parents("doc:docs/guide.md#reading", [EdgeKind.STRUCTURES])] == [
        "doc:docs/guide.md#guide"
    ]


# Verifies: REQ-d00093-C, REQ-d00184-B
def test_nothing_of_the_documents_is_loaded_by_who_asks_for_something_else(make: Callable[..., Project]) -> None:
    project = make(FILES)
    project.ensure_graph()
    assert project.graph.get_node("REQ-d00001") is not None
    assert project.graph.get_node("REQ-d09999") is None
    for node in project.graph.nodes_by_kind(NodeKind.REQUIREMENT):
        assert list(project.graph.iter_incoming_edges(node.id))
        assert list(project.graph.iter_children(node.id, [EdgeKind.STRUCTURES]))
        assert not list(project.graph.iter_children(node.id, [EdgeKind.REFINES]))
    assert "document" not in project.graph.node_counts()
    assert project.kb.region.get_node("REQ-d00001") is None
    assert list(project.kb.region.iter_outgoing_edges("REQ-d00001")) == []
    assert project.kb.region.count(NodeKind.REQUIREMENT) == 0
    assert list(project.kb.region.nodes_by_kind(NodeKind.CODE)) == []
    assert not (project.config.root / ".clew" / "kb").exists()
