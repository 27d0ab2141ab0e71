"""Names of documents and sections: unique whatever the files are called, and lasting when they move."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.kb.ids import document_id, section_id
from clew.kb.ingest.records import EntityRecord
from clew.kb.walk import batches
from clew.project import Project

Make = Callable[..., Project]

PAGE = "# Page\n\nFirst.\n\n## Install\n\nGet it, unpack it.\n\n## Use\n\nRun it every day.\n"


def current(project: Project, id: str) -> str | None:
    with project.kb.library.reading() as reading:
        return reading.current_id(id)


def move(project: Project, old: str, new: str, text: str | None = None) -> None:
    root = project.config.root
    (root / new).parent.mkdir(parents=True, exist_ok=True)
    (root / old).rename(root / new)
    if text is not None:
        (root / new).write_text(text, encoding="utf-8")


# Verifies: REQ-d00192-A
def test_documents_of_one_content_keep_their_names_apart_when_they_move(make: Make) -> None:
    names = ("a", "b", "c")
    project = make({f"docs/old/{name}.md": PAGE for name in names})
    project.kb.index()
    for name in names:
        move(project, f"docs/old/{name}.md", f"docs/new/{name}.md")
    assert project.kb.index().moved == 3
    for name in names:
        assert current(project, f"doc:docs/old/{name}.md#use") == f"doc:docs/new/{name}.md#use"


# Verifies: REQ-d00192-B
def test_a_document_that_is_moved_and_edited_at_once_is_still_the_same(make: Make) -> None:
    project = make({"docs/a.md": PAGE, "docs/b.md": "# Other\n\nNothing of that.\n"})
    project.kb.index()
    move(project, "docs/a.md", "docs/sub/z.md", PAGE.replace("## Install", "## Installing"))
    report = project.kb.index()
    assert (report.moved, report.added, report.removed) == (1, 0, 0)
    assert current(project, "doc:docs/a.md") == "doc:docs/sub/z.md"
    assert current(project, "doc:docs/a.md#install") == "doc:docs/sub/z.md#installing"
    assert current(project, "doc:docs/a.md#use") == "doc:docs/sub/z.md#use"


# Verifies: REQ-d00192-B
def test_a_document_that_only_resembles_one_that_is_gone_is_a_new_one(make: Make) -> None:
    project = make({"docs/a.md": PAGE})
    project.kb.index()
    move(
        project, "docs/a.md", "docs/z.md", "# New\n\nAll else.\n\n## More\n\nAnd more.\n\n## Use\n\nRun it every day.\n"
    )
    report = project.kb.index()
    assert (report.moved, report.added, report.removed) == (0, 1, 1)
    assert current(project, "doc:docs/a.md#use") is None


# Verifies: REQ-d00192-C
def test_a_sign_in_the_name_of_a_file_gives_no_two_sections_one_name(make: Make) -> None:
    project = make(
        {"docs/a.html": '<h1 id="b.md#c">Of the page</h1><p>x</p>', "docs/a.html#b.md": "# C\n\nOf the other.\n"},
        config='[docs]\nfolders = ["docs"]\npatterns = ["*"]\n[embedder]\nkind = "none"\n',
    )
    report = project.kb.index()
    assert (report.added, report.problems) == (2, ())
    with project.kb.library.reading() as reading:
        assert {reading.text(id) for id in reading.section_ids()} == {"Of the page\n\nx", "# C\n\nOf the other."}
    assert project.kb.reconcile().counts == {}


_SIGNS = st.text(st.sampled_from("a#%~/2.-"), min_size=1, max_size=8)


# Verifies: REQ-d00192-C
@settings(max_examples=examples(300))
@given(one=st.tuples(_SIGNS, _SIGNS, st.integers(1, 3)), other=st.tuples(_SIGNS, _SIGNS, st.integers(1, 3)))
def test_no_two_places_have_one_id(one: tuple[str, str, int], other: tuple[str, str, int]) -> None:
    def spelled(path: str, key: str, ordinal: int) -> str:
        # A tilde is never part of the name of a section.
        return section_id(path, key.replace("~", "-"), ordinal)

    same = (one[0], one[1].replace("~", "-"), one[2]) == (other[0], other[1].replace("~", "-"), other[2])
    assert (spelled(*one) == spelled(*other)) is same
    assert (document_id(one[0]) == document_id(other[0])) is (one[0] == other[0])
    assert document_id(one[0]) != spelled(*other)


# Verifies: REQ-d00092-A
def test_lists_of_steps_below_headings_of_one_name_are_procedures_of_their_own(make: Make) -> None:
    twice = "# X\n\n1. a\n2. b\n\ntext\n\n1. c\n2. d\n\n# X\n\n1. e\n2. f\n"
    project = make({"docs/a.md": twice})
    assert project.kb.index().added == 1
    with project.kb.library.reading() as reading:
        procedures = [entity for entity in reading.entities() if entity.kind == "procedure"]
        steps: dict[str, list[EntityRecord | None]] = {}
        for procedure, step in batches.all_steps(reading, [each.id for each in procedures]):
            steps.setdefault(procedure, []).append(reading.entity(step))
    assert {tuple(step.name for step in found if step) for found in steps.values()} == {
        ("a", "b"),
        ("c", "d"),
        ("e", "f"),
    }
