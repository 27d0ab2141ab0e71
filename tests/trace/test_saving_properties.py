"""Any sequence of mutations: what is in memory is what the saved files give, and undoing all of it restores them."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples
from tests.trace.drafted import FILES, contents, mutate, said, write_project

from clew.errors import ClewError, NotFound
from clew.graph.model import EdgeKind, NodeKind
from clew.project import Project
from clew.trace.edit.requests import UndoTo
from clew.trace.find.requests import GapQuery, OrphanQuery, SearchQuery
from clew.trace.find.scope import hierarchy

FREE = ("REQ-d00007", "REQ-o00007", "REQ-p00099", "JNY-Clock-02", "req-D8", "REQ-d00001")
TITLES = ("One", "Two \u2014 \u00fcber", "Three: with a colon")
TEXTS = ("It SHALL do.", "It SHALL do\nmore than one line.", "B. sneaky", "It SHALL\n\nbe apart.", "\u00e4", "x\n# y")
LABELS = ("A", "B", "C", "D", "Z")
KINDS = ("implements", "refines", "addresses", "satisfies", "validates")
PATHS = (None, "spec/new.md", "spec/b-windows.md", "spec/d-twice.md")


class Chooser:
    """Draws the arguments of mutations, mostly from what there is."""

    def __init__(self, data: st.DataObject, project: Project) -> None:
        self._data = data
        graph = project.graph
        kinds = (NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY)
        self._ids = sorted(node.id for kind in kinds for node in graph.nodes_by_kind(kind))
        self._assertions = sorted(node.id for node in graph.nodes_by_kind(NodeKind.ASSERTION)) or ["REQ-d00001-A"]
        edges = sorted(graph.memory.snapshot()[1], key=repr)
        self._edges = [(each.source, each.target) for each in edges if each.kind is not EdgeKind.STRUCTURES]
        self._broken = sorted((each.source_id, each.target_id) for each in graph.memory.broken)

    def any(self, *values: Any) -> Any:
        return self._data.draw(st.sampled_from(values))

    def id(self) -> str:
        return str(self.any(*self._ids, *FREE[:2]))

    def assertion(self) -> str:
        return str(self.any(*self._assertions))

    def mutation(self) -> tuple[str, dict[str, Any]]:
        return self.any(self._of_nodes, self._of_assertions, self._of_edges)()

    def _of_nodes(self) -> tuple[str, dict[str, Any]]:
        operation = self.any("rename_node", "update_title", "change_status", "add_requirement", "delete_requirement")
        arguments = {
            "rename_node": lambda: {"old_id": self.id(), "new_id": self.any(*FREE)},
            "update_title": lambda: {"node_id": self.id(), "new_title": self.any(*TITLES)},
            "change_status": lambda: {"node_id": self.id(), "new_status": self.any("Active", "Draft", "Banana")},
            "add_requirement": lambda: {
                "req_id": self.any(*FREE),
                "title": self.any(*TITLES),
                "level": self.any("dev", "ops", "prd"),
                "parent_id": self.any(None, self.id(), self.assertion()),
                "file_path": self.any(*PATHS),
            },
            "delete_requirement": lambda: {"node_id": self.id()},
        }
        return operation, arguments[operation]()

    def _of_assertions(self) -> tuple[str, dict[str, Any]]:
        operation = self.any("add_assertion", "update_assertion", "delete_assertion", "rename_assertion")
        arguments = {
            "add_assertion": lambda: {"req_id": self.id(), "text": self.any(*TEXTS), "label": self.any(None, *LABELS)},
            "update_assertion": lambda: {"assertion_id": self.assertion(), "new_text": self.any(*TEXTS)},
            "delete_assertion": lambda: {"assertion_id": self.assertion(), "compact": self.any(None, True, False)},
            "rename_assertion": lambda: {"old_id": self.assertion(), "new_label": self.any(*LABELS)},
        }
        return operation, arguments[operation]()

    def _of_edges(self) -> tuple[str, dict[str, Any]]:
        operation = self.any("add_edge", "change_edge_kind", "delete_edge", "fix_broken_reference")
        if operation == "add_edge":
            labels = self.any((), (self.any(*LABELS),))
            ends = {"source_id": self.id(), "target_id": self.id()}
            return operation, {**ends, "edge_kind": self.any(*KINDS), "assertion_targets": labels}
        if operation == "fix_broken_reference":
            source, written = self.any(*(self._broken or [("REQ-d00001", "REQ-p00099")]))
            target = self.any(self.id(), self.assertion())
            return operation, {"source_id": source, "old_target_id": written, "new_target_id": target}
        source, target = self.any(*(self._edges or [("REQ-d00001", "REQ-p00001")]))
        kind = {"new_kind": self.any(*KINDS)} if operation == "change_edge_kind" else {}
        return operation, {"source_id": source, "target_id": target, **kind}


def mutate_anything(project: Project, data: st.DataObject) -> None:
    operation, arguments = Chooser(data, project).mutation()
    state = project.graph.state
    refusal: ClewError | None = None
    try:
        mutate(project, operation, **arguments)
    except ClewError as error:
        refusal = error
    # Whatever is refused says what to do, and has changed nothing.
    assert refusal is None or (refusal.hint and project.graph.state == state)


def figures(project: Project) -> dict[str, Any]:
    """What follows the graph change by change: sums, lists, and what a search looks at."""
    links = hierarchy(project.graph)
    return {
        "roots": project.graph.root_count(),
        "summary": project.trace.summary(),
        "above": {id: set(edges) for id, edges in links.above.items()},
        "below": {id: set(edges) for id, edges in links.below.items()},
        "circular": links.circular,
        "gaps": [(gap.requirement.id, gap.assertion.id) for gap in project.trace.find.gaps(GapQuery())],
        "implemented": [gap.assertion.id for gap in project.trace.find.gaps(GapQuery(implemented_only=True))],
        "orphans": [each.id for each in project.trace.find.orphaned_nodes(OrphanQuery(limit=100), offset=0).orphans],
        "found": {
            query: [each.id for each in project.trace.search(SearchQuery(query=query, field="body")).results]
            for query in ("clock", '"the clock"', "shall -hour")
        },
    }


def save_and_compare(project: Project, root: Path) -> None:
    """What is in memory is what the saved files give to somebody who reads them for the first time."""
    drafted, counted = said(project.graph), figures(project)
    project.mutations.save()
    fresh = Project.open(root, drafts=False)
    try:
        fresh.refresh(full=True)
        assert said(fresh.graph) == drafted
        assert figures(fresh) == counted
        assert figures(project) == counted
        assert fresh.graph.memory.snapshot() == project.graph.memory.snapshot()
    finally:
        fresh.close()


def undo_everything(project: Project) -> None:
    try:
        while True:
            project.mutations.undo_last()
    except NotFound:
        pass


# Verifies: REQ-o00021-B+D, REQ-d00048-A
@given(st.data())
@settings(max_examples=examples(25))
def test_any_sequence_of_mutations_saved_and_read_gives_the_same_graph_and_undone_the_same_bytes(
    data: st.DataObject,
) -> None:
    with TemporaryDirectory() as folder:
        root = write_project(Path(folder, "odd"))
        project = Project.open(root)
        try:
            project.ensure_graph()
            start = said(project.graph)
            figures(project)
            for step in data.draw(st.lists(st.sampled_from(["mutate"] * 6 + ["undo", "save"]), max_size=12)):
                if step == "mutate":
                    mutate_anything(project, data)
                elif step == "save":
                    save_and_compare(project, root)
                elif project.mutations.log().total:
                    project.mutations.undo_last()
            save_and_compare(project, root)
            undo_everything(project)
            project.mutations.save()
            assert contents(root) == FILES
            assert said(project.graph) == start
        finally:
            project.close()


EDITS = (
    ("spec/a-tidy.md", b"Show the minute", b"Theirs"),
    ("spec/a-tidy.md", b"A. The clock SHALL show the hour.\n", b""),
    ("spec/a-tidy.md", b"REQ-p00001-B+C", b"REQ-p00001"),
    ("spec/b-windows.md", b"It SHALL ring.", b"It SHALL be theirs."),
    ("spec/b-windows.md", b"REQ-o00001", b"REQ-o00005"),
    ("spec/c-journey.md", b"", b""),
    ("tests/test_clock.py", b"REQ-d00001-A", b"REQ-d00001"),
)


# Verifies: REQ-d00047-A+C
@given(st.data())
@settings(max_examples=examples(20))
def test_whatever_others_do_to_the_files_no_draft_is_lost_and_none_overwrites_them(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        root = write_project(Path(folder, "odd"))
        project = Project.open(root)
        try:
            project.ensure_graph()
            for step in data.draw(st.lists(st.sampled_from(["mutate", "mutate", "edit", "restart"]), max_size=10)):
                pending = [entry.id for entry in project.mutations.log().mutations]
                if step == "mutate":
                    mutate_anything(project, data)
                elif step == "edit":
                    path, old, new = data.draw(st.sampled_from(EDITS))
                    before = (root / path).read_bytes() if (root / path).exists() else b""
                    (root / path).unlink(missing_ok=True)
                    if old:
                        (root / path).write_bytes(before.replace(old, new))
                else:
                    project.close()
                    project = Project.open(root)
                project.ensure_graph()
                now = [entry.id for entry in project.mutations.log().mutations]
                assert now[-len(pending) or len(now) :] == pending
            theirs = contents(root)
            for conflict in project.mutations.log().conflicts:
                project.mutations.undo_to(UndoTo(mutation_id=conflict.mutation.id))
            drafted = said(project.graph)
            project.mutations.save()
            assert said(project.graph) == drafted
            undo_everything(project)
            project.mutations.save()
            assert {path: each for path, each in contents(root).items() if each or path in theirs} == theirs
        finally:
            project.close()
