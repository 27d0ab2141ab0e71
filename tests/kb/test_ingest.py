"""Documents come in, change and go."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.edit.locking import locked
from clew.errors import Cancelled
from clew.kb.answer.requests import Mode, Narrowing, SearchRequest
from clew.kb.ids import document_id
from clew.kb.ingest.citations import Citations
from clew.kb.ingest.corpus import IngestionReport
from clew.kb.ingest.prepare import prepare
from clew.kb.ingest.reconcile import DiscrepancyKind
from clew.project import Project
from clew.text.hashing import short_hash
from clew.workspace.files import entry_of

Make = Callable[..., Project]
Snapshot = Callable[[Project], Any]

ONE = "# One\n\nAbout `--alpha` and [two](two.md#deep).\n\n## Part\n\nText of the part with `--beta`.\n"
TWO = "# Two\n\nAbout `--alpha`.\n\n## Deep\n\nMore on `GAMMA_HOME`.\n"


def test_two_headings_that_share_their_short_hash_are_two_sections(make: Make) -> None:
    project = make({"docs/one.md": "# One\n\n## Plumless\n\nSays `--plumless`.\n\n## Buckeroo\n\nSays `--buckeroo`.\n"})
    project.kb.index()
    ids = ("doc:docs/one.md#plumless", "doc:docs/one.md#buckeroo")
    assert len({short_hash(id) for id in ids}) == 1
    with project.kb.library.reading() as reading:
        assert [(section.title, reading.mentioned_in(id)) for id in ids if (section := reading.section(id))] == [
            ("Plumless", [("entity:flag:--plumless", 1)]),
            ("Buckeroo", [("entity:flag:--buckeroo", 1)]),
        ]


def counts(report: IngestionReport) -> tuple[int, int, int, int, int]:
    return report.added, report.changed, report.moved, report.removed, report.unchanged


def edit(project: Project, path: str, text: str | None) -> None:
    place = project.config.root / path
    if text is None:
        place.unlink()
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def found(project: Project, query: str) -> list[str]:
    answer = project.kb.finder.find(SearchRequest(query=query, mode=Mode.VECTOR_ONLY, max_per_document=None))
    return [each.section.id for each in answer.sections]


# Verifies: REQ-d00094-A
def test_only_what_changed_is_read_and_an_edit_touches_nothing_of_other_documents(
    make: Make, snapshot: Snapshot
) -> None:
    project = make({"docs/one.md": ONE, "docs/two.md": TWO})
    assert counts(project.kb.index()) == (2, 0, 0, 0, 0)
    assert counts(project.kb.index()) == (0, 0, 0, 0, 2)
    before, edges, bodies = snapshot(project)
    edit(project, "docs/one.md", ONE.replace("`--beta`", "`--delta` instead"))
    assert counts(project.kb.index()) == (0, 1, 0, 0, 1)
    after, edges_after, bodies_after = snapshot(project)
    assert before.keys() - after.keys() == {"entity:flag:--beta"}
    assert after.keys() - before.keys() == {"entity:flag:--delta"}
    assert {id for id in bodies if bodies[id] != bodies_after[id]} == {"doc:docs/one.md#part"}
    assert {id for id in edges.keys() & edges_after.keys() if edges[id] != edges_after[id]} == {"doc:docs/one.md#part"}
    assert found(project, "delta instead") == ["doc:docs/one.md#part"]
    assert found(project, "beta") == []


# Verifies: REQ-d00094-C
def test_a_deleted_document_disappears_everywhere(make: Make, snapshot: Snapshot) -> None:
    project = make({"docs/one.md": ONE, "docs/two.md": TWO})
    project.kb.index()
    edit(project, "docs/two.md", None)
    assert counts(project.kb.index()) == (0, 0, 0, 1, 1)
    nodes, edges, bodies = snapshot(project)
    assert not [id for id in (*nodes, *bodies) if "two.md" in id]
    assert "entity:environment_variable:GAMMA_HOME" not in nodes
    assert not [edge for each in edges.values() for edge in each if "two.md" in edge.target]
    assert found(project, "GAMMA_HOME") == []


STEPS = "\n## Steps\n\n1. Do `--alpha`.\n2. Rest.\n\nOr\n\n1. Run `app go`.\n2. See [two](two.md#deep).\n"
PAGE = '<h1 id="top">Page</h1><p>See <a href="one.md#part">there</a>, KeyError.</p>'
TEXTS = st.sampled_from(
    [ONE, TWO, "", "# One\n\nOther words.\n", ONE + STEPS, ONE + STEPS * 2, "no heading", TWO * 3, PAGE, "word " * 900]
)
PATHS = st.sampled_from(["docs/one.md", "docs/two.md", "docs/sub/three.md", "docs/four.rst", "docs/five.html"])
EDITS = st.lists(
    st.tuples(st.just("write"), PATHS, TEXTS)
    | st.tuples(st.just("delete"), PATHS, st.just(""))
    | st.tuples(st.just("move"), PATHS, PATHS),
    max_size=5,
)
STOPS = st.none() | st.integers(0, 3)


def apply(project: Project, state: dict[str, str], step: tuple[str, str, str]) -> None:
    how, path, other = step
    if how == "write":
        edit(project, path, other)
        state[path] = other
    elif how == "delete" and path in state:
        edit(project, path, None)
        del state[path]
    elif how == "move" and path in state:
        (project.config.root / other).parent.mkdir(exist_ok=True)
        (project.config.root / path).replace(project.config.root / other)
        state[other] = state.pop(path)


# Verifies: REQ-d00094-B
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(runs=st.lists(st.tuples(EDITS, STOPS), min_size=1, max_size=4))
def test_any_sequence_of_edits_and_stops_gives_what_a_fresh_start_would_give(
    make: Make, snapshot: Snapshot, tmp_path: Path, runs: list[tuple[list[tuple[str, str, str]], int | None]]
) -> None:
    number = len(list(tmp_path.iterdir()))
    state = {"docs/one.md": ONE, "docs/two.md": TWO}
    project = make(state, name=f"edited{number}")
    project.kb.index()

    def stop(after: int | None, done: int) -> None:
        if done == after:
            raise Cancelled("Enough.")

    for edits, after in runs:
        for step in edits:
            apply(project, state, step)
        with suppress(Cancelled):
            project.kb.index(lambda done, total, message, after=after: stop(after, done))  # type: ignore[misc]
    project.kb.index()
    assert project.kb.reconcile(repair=False).counts == {}
    fresh = make(state, name=f"fresh{number}")
    fresh.kb.index()
    assert snapshot(project) == snapshot(fresh)
    project.close()
    fresh.close()


# Verifies: REQ-d00095-A
def test_an_edit_elsewhere_keeps_the_ids_and_versions_of_sections(make: Make) -> None:
    project = make({"docs/one.md": ONE})
    project.kb.index()
    before = project.kb.region.get_node("doc:docs/one.md#part")
    edit(project, "docs/one.md", ONE.replace("# One", "# Renamed\n\n## New\n\nBefore.\n\n## Another"))
    project.kb.index()
    after = project.kb.region.get_node("doc:docs/one.md#part")
    assert before is not None
    assert after is not None
    assert before.fields["version"] == after.fields["version"]


# Verifies: REQ-d00095-B
def test_an_old_id_leads_to_the_section_that_took_its_place(make: Make) -> None:
    project = make({"docs/one.md": ONE, "docs/two.md": TWO})
    project.kb.index()

    def current(id: str) -> str | None:
        with project.kb.library.reading() as reading:
            return reading.current_id(id)

    edit(project, "docs/one.md", ONE.replace("## Part", "## Renamed part"))
    project.kb.index()
    assert current("doc:docs/one.md#part") == "doc:docs/one.md#renamed-part"
    edit(project, "docs/one.md", ONE.replace("## Part", "## Above\n\n### Twice renamed"))
    project.kb.index()
    assert current("doc:docs/one.md#part") == "doc:docs/one.md#above/twice-renamed"
    (project.config.root / "docs/two.md").rename(project.config.root / "docs/moved.md")
    assert counts(project.kb.index()) == (0, 0, 1, 0, 1)
    assert current("doc:docs/two.md#deep") == "doc:docs/moved.md#deep"
    assert current("doc:docs/two.md") == "doc:docs/moved.md"
    edit(project, "docs/one.md", None)
    project.kb.index()
    assert current("doc:docs/one.md#part") is None
    assert current("doc:docs/never.md#was") is None


# Verifies: REQ-d00094-D
def test_work_that_was_stopped_goes_on_where_it_stopped(make: Make, snapshot: Snapshot) -> None:
    names = ("anchor", "bollard", "capstan", "davit", "ensign", "fender")
    files = {f"docs/{name}.md": f"# The {name}\n\nWhat it is for.\n" for name in names}
    project = make(files)

    def stop(done: int, total: int, message: str) -> None:
        if done == 4:
            raise Cancelled("Enough.")

    with pytest.raises(Cancelled):
        project.kb.index(stop)
    assert project.kb.status().documents == 4
    assert found(project, "davit") == ["doc:docs/davit.md#the-davit"]
    assert project.store is not None
    (job,) = project.store.jobs(limit=1)
    assert (job.kind, job.state, job.done, job.total) == ("kb_index", "cancelled", 3, 6)
    assert counts(project.kb.index()) == (2, 0, 0, 0, 4)
    fresh = make(files, name="fresh")
    fresh.kb.index()
    assert snapshot(project) == snapshot(fresh)


# Verifies: REQ-d00094-D
def test_a_document_that_was_stored_but_not_indexed_is_indexed_by_the_next_run(make: Make, snapshot: Snapshot) -> None:
    project = make({"docs/one.md": ONE, "docs/two.md": TWO})
    project.kb.index()
    text = ONE.replace("## Part", "## Renamed part")
    edit(project, "docs/one.md", text)
    # What a process leaves behind that dies between the two stores.
    root = project.config.root
    prepared = prepare(text.encode(), entry_of(root, "docs/one.md"), Citations(project.context.grammar))
    reader = project.kb.library.known()["docs/one.md"].reader
    project.kb.library.replace(prepared, reader=reader)
    assert project.kb.status().pending == 1
    assert [id for id in found(project, "text of the part") if "one" in id] == []
    report = project.kb.index()
    assert (report.indexed_again, report.unchanged) == (1, 1)
    fresh = make({"docs/one.md": text, "docs/two.md": TWO}, name="fresh")
    fresh.kb.index()
    assert snapshot(project) == snapshot(fresh)


# Verifies: REQ-d00094-D
def test_documents_come_back_into_a_search_index_that_lost_them(make: Make, snapshot: Snapshot) -> None:
    project = make({"docs/one.md": ONE, "docs/two.md": TWO})
    project.kb.index()
    before = snapshot(project)
    engine = project.index.engine
    assert engine is not None
    engine.units.delete(engine.units.hashes("section"))
    assert found(project, "GAMMA_HOME") == []
    assert project.kb.index().indexed_again == 2
    assert snapshot(project) == before


# Verifies: REQ-d00094-E
def test_progress_is_a_job_that_others_can_watch(make: Make) -> None:
    project = make({"docs/one.md": ONE, "docs/two.md": TWO})
    steps: list[tuple[int, int, str]] = []
    project.kb.index(lambda *step: steps.append(step))
    assert steps == [(0, 2, "docs/one.md"), (1, 2, "docs/two.md"), (2, 2, "documents")]
    assert project.store is not None
    assert [(job.kind, job.state, job.done) for job in project.store.jobs()] == [("kb_index", "done", 2)]


# Verifies: REQ-d00094-E
def test_whoever_reads_is_not_disturbed_and_a_second_writer_is_told(make: Make) -> None:
    project = make({"docs/one.md": ONE})
    project.kb.index()
    with project.kb.library.reading() as reading:
        edit(project, "docs/one.md", "# Other\n")
        project.kb.index()
        assert reading.section("doc:docs/one.md#part") is not None
    with project.kb.library.reading() as reading:
        assert reading.section("doc:docs/one.md#part") is None
    folder = project.config.root / ".clew" / "kb"
    with (folder / "writer.lock").open("a+b") as file, locked(file, 0.0):
        assert project.kb.index().note == "Another process is reading the documents."


# Verifies: REQ-d00094-A
def test_documents_are_read_again_when_ids_are_read_by_another_grammar(make: Make) -> None:
    project = make({"docs/one.md": "# One\n\nSee REQ-d00001.\n"})
    project.kb.index()
    project.close()
    config = (project.config.root / "clew.toml").read_text()
    again = make(config=config + '\n[requirements]\nnamespace = "NEED"\n')
    assert counts(again.kb.index()) == (0, 1, 0, 0, 0)
    assert counts(again.kb.index(full=True)) == (0, 1, 0, 0, 0)
    assert counts(again.kb.index()) == (0, 0, 0, 0, 1)


# Verifies: REQ-d00094-F
def test_reconciling_names_every_difference_and_mends_it(make: Make, snapshot: Snapshot) -> None:
    files = {f"docs/{name}.md": f"# {name}\n\nWords.\n" for name in ("same", "edited", "gone", "lost", "stale")}
    project = make(files)
    project.kb.index()
    engine = project.index.engine
    assert engine is not None
    assert project.kb.reconcile().counts == {}
    place = project.config.root / "docs/edited.md"
    times = place.stat()
    place.write_text("# edited\n\nOther.\n", encoding="utf-8")
    os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))
    edit(project, "docs/gone.md", None)
    edit(project, "docs/fresh.md", "# fresh\n")
    unit = engine.units.get("doc:docs/stale.md#stale")
    stray = engine.units.get("doc:docs/same.md#same")
    assert unit is not None
    assert stray is not None
    engine.units.delete(["doc:docs/lost.md#lost"])
    engine.units.put(
        [type(unit)(**{**_fields(unit), "body": "old"}), type(stray)(**{**_fields(stray), "id": "doc:x.md#y"})]
    )
    report = project.kb.reconcile(repair=False)
    assert {(each.kind, each.id) for each in report.differences} == {
        (DiscrepancyKind.CHANGED, "docs/edited.md"),
        (DiscrepancyKind.NO_FILE, "docs/gone.md"),
        (DiscrepancyKind.NOT_READ, "docs/fresh.md"),
        (DiscrepancyKind.NOT_INDEXED, "doc:docs/lost.md#lost"),
        (DiscrepancyKind.OUTDATED, "doc:docs/stale.md#stale"),
        (DiscrepancyKind.STRAY, "doc:x.md#y"),
    }
    assert (report.repaired, report.left) == (False, 6)
    mended = project.kb.reconcile()
    assert (mended.repaired, mended.left) == (True, 0)
    fresh = make({**files, "docs/edited.md": "# edited\n\nOther.\n", "docs/fresh.md": "# fresh\n"}, name="fresh")
    (fresh.config.root / "docs/gone.md").unlink()
    fresh.kb.index()
    assert snapshot(project) == snapshot(fresh)


def _fields(unit: Any) -> dict[str, Any]:
    return {name: getattr(unit, name) for name in unit.__struct_fields__}


# Verifies: REQ-o00032-B
def test_odd_files_neither_stop_the_work_nor_go_unnoticed(make: Make) -> None:
    project = make(
        {
            "docs/fine.md": ONE,
            "docs/ignored.md": "# Ignored\n",
            ".gitignore": "ignored.md\n",
            "docs/broken.ipynb": "{",
            "docs/long.md": "x" * 5000,
        },
        config="[docs]\nfolders = ['docs', 'missing']\n[limits]\nmax_file_bytes = 4000\n[embedder]\nkind = 'none'\n",
    )
    docs = project.config.root / "docs"
    (docs / "latin.txt").write_bytes(b"caf\xe9 au lait")
    (docs / "empty.md").write_bytes(b"")
    (docs / "loop").symlink_to(docs)
    (docs / "self.md").symlink_to(docs / "self.md")
    report = project.kb.index()
    assert report.added == 5
    assert len(report.problems) == 2 + ("docs/self.md cannot be read." in report.problems)
    problems = {(each.path, each.code) for each in project.kb.status().problems}
    assert problems == {
        ("docs/broken.ipynb", "documents.notebook"),
        ("docs/latin.txt", "documents.encoding"),
        ("docs/long.md", "documents.unreadable"),
    }
    assert found(project, "café lait") == ["doc:docs/latin.txt#preamble"]
    assert counts(project.kb.index())[:4] == (0, 0, 0, 0)


# Verifies: REQ-o00032-B
def test_a_document_that_was_too_long_is_read_once_the_limit_is_raised(make: Make) -> None:
    limited = "[limits]\nmax_file_bytes = {}\n[embedder]\nkind = 'none'\n"
    project = make({"docs/long.md": f"# Long\n\nlighthouse\n{'x ' * 5000}"}, config=limited.format(4000))
    first, again = project.kb.index(), project.kb.index()
    assert (counts(first), counts(again)) == ((1, 0, 0, 0, 0), (0, 0, 0, 0, 1))
    # It is said with every run, for as long as it is so.
    assert first.problems == again.problems
    project.close()
    project = make(config=limited.format(5000))
    assert counts(project.kb.index()) == (0, 1, 0, 0, 0)
    assert "5,000" in project.kb.status().problems[0].message
    project.close()
    project = make(config=limited.format(90_000))
    assert counts(project.kb.index()) == (0, 1, 0, 0, 0)
    assert found(project, "lighthouse") == ["doc:docs/long.md#long"]
    assert project.kb.status().problems == ()
    assert counts(project.kb.index()) == (0, 0, 0, 0, 1)


# Verifies: REQ-d00094-A
def test_a_file_that_is_edited_while_it_is_read_is_in_step_after_the_next_run(make: Make, snapshot: Snapshot) -> None:
    project = make({"docs/one.md": ONE})
    project.kb.index(lambda done, total, path: edit(project, "docs/one.md", TWO) if path else None)
    project.kb.index()
    fresh = make({"docs/one.md": TWO}, name="fresh")
    fresh.kb.index()
    assert snapshot(project) == snapshot(fresh)
    assert counts(project.kb.index()) == (0, 0, 0, 0, 1)


# Verifies: REQ-d00094-A
def test_a_file_that_changes_right_after_it_was_read_and_keeps_its_size_and_time_is_read_again(make: Make) -> None:
    project = make({"docs/one.md": ""})
    assert project.kb.status().documents == 0
    place = project.config.root / "docs/one.md"
    # Whenever it is read, that is less than two seconds after this: the coarsest step of a file system's clock.
    changed = time.time() + 3_600
    edit(project, "docs/one.md", "# One\n\nred\n")
    os.utime(place, (changed, changed))
    project.kb.index()
    edit(project, "docs/one.md", "# One\n\ntan\n")
    os.utime(place, (changed, changed))
    assert counts(project.kb.index()) == (0, 1, 0, 0, 0)
    assert found(project, "tan") == ["doc:docs/one.md#one"]


# Verifies: REQ-o00032-B
def test_a_project_without_documents_has_an_empty_knowledge_base(make: Make) -> None:
    project = make()
    assert counts(project.kb.index()) == (0, 0, 0, 0, 0)
    assert project.kb.status().documents == 0
    assert found(project, "anything") == []
    assert project.kb.reconcile().counts == {}


# Verifies: REQ-o00032-B
def test_a_damaged_store_is_made_anew_and_filled_by_the_next_run(make: Make, snapshot: Snapshot) -> None:
    project = make({"docs/one.md": ONE})
    project.kb.index()
    before = snapshot(project)
    project.close()
    (project.config.root / ".clew" / "kb" / "documents.db").write_bytes(b"this is no database at all" * 100)
    again = make({}, config=(project.config.root / "clew.toml").read_text())
    assert again.kb.library.notes[0].startswith("The store of documents was damaged")
    again.kb.index()
    assert snapshot(again) == before
    assert again.kb.region.get_node(document_id("docs/one.md")) is not None


# Verifies: REQ-d00096-A, REQ-o00032-A
def test_a_search_also_finds_what_only_a_link_leads_to(make: Make) -> None:
    project = make(
        {
            "docs/a.md": "# Mooring\n\nMooring lines are explained [elsewhere](b.md).\n",
            "docs/b.md": "# Ropes\n\nHemp and steel.\n",
            "docs/c.md": "# Paint\n\nRed and green.\n",
        }
    )
    project.kb.index()
    answer = project.kb.finder.find(SearchRequest(query="mooring lines"))
    assert [(each.document.title, each.expanded) for each in answer.sections] == [("Mooring", False), ("Ropes", True)]
    assert answer.mode is Mode.HYBRID_LOCAL
    assert [
        each.document.title
        for each in project.kb.finder.find(SearchRequest(query="mooring lines", mode=Mode.VECTOR_ONLY)).sections
    ] == ["Mooring"]


# Verifies: REQ-d00096-B
def test_sections_of_one_document_do_not_crowd_out_others_and_tags_and_folders_narrow(make: Make) -> None:
    project = make(
        {
            "docs/a/one.md": "".join(f"## Tide {n}\n\nThe tide turns.\n\n" for n in range(5)),
            "docs/b/two.md": "# Two\n\nThe tide turns here too.\n",
        }
    )
    project.kb.index()
    finder = project.kb.finder
    assert len(finder.find(SearchRequest(query="tide turns")).sections) == 2
    assert len(finder.find(SearchRequest(query="tide turns", max_per_document=None, top_k=10)).sections) == 6
    for narrowing in (Narrowing(tags=("b",)), Narrowing(path="docs/b")):
        (only,) = finder.find(SearchRequest(query="tide turns", narrowing=narrowing)).sections
        assert only.section.id == "doc:docs/b/two.md#two"
        assert only.text[only.anchor[0] : only.anchor[1]] if only.anchor else only.preview
    assert (
        finder.find(SearchRequest(query="tide", narrowing=Narrowing(updated_after="2999-01-01T00:00:00Z"))).sections
        == ()
    )
