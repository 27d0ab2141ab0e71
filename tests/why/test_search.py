"""One search over everything, and questions answered by quotes."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_client import McpClient, Options
from tests.why.histories import Repository, specified

from clew.derived.file import DerivedFile, throw_away
from clew.project import Project
from clew.search.engine import SearchEngine
from clew.search.question import Ranking
from clew.store.sqlite.connections import SqliteConnection
from clew.store.sqlite.faults import damaged as damage
from clew.surfaces.cli.main import main

GUIDE = "# Guide\n\n## Low water\n\nA ship that draws three metres waits for the flood before it passes the bar.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    specified(tmp_path / "project")
    (tmp_path / "project" / "docs" / "bar.md").write_text(GUIDE)
    return tmp_path / "project"


@pytest.fixture
def client(project: Path) -> Iterator[McpClient]:
    opened = Project.open(project)
    with McpClient(opened, Options(toolsets=("all",))) as client:
        yield client
    opened.close()


# Verifies: REQ-d00366-A
@pytest.mark.parametrize(
    ("query", "kind", "id"),
    [
        ("d1", "requirement", "REQ-d00001"),
        ("helper", "code", "src/warn.py::helper"),
        ("src/warn.py", "file", "src/warn.py"),
    ],
)
def test_what_is_called_exactly_so_comes_first(client: McpClient, query: str, kind: str, id: str) -> None:
    first = client("search_everything", query=query)["results"][0]
    assert (first["kind"], first["id"], first["exact"]) == (kind, id, True)
    assert first["place"]


# Verifies: REQ-d00400-A+F, REQ-d00366-A
def test_a_search_for_an_id_finds_what_holds_all_of_it(client: McpClient) -> None:
    said = "# Ids\n\n## Here\n\nREQ-d00001 is about ships.\n\n## There\n\nA REQ has a number, such as REQ-d00777.\n"
    (client.project.config.root / "docs" / "ids.md").write_text(said)
    for spelling in ("REQ-d00001", "req d00001", "REQd00001", "[REQ-d00001]", "REQ-d1"):
        found = client("search_everything", query=spelling)["results"]
        assert (found[0]["id"], found[0]["exact"]) == ("REQ-d00001", True), spelling
        assert "doc:docs/ids.md#here" in {each["id"] for each in found}, spelling
        assert "doc:docs/ids.md#there" not in {each["id"] for each in found}, spelling
        assert client("search", query=spelling)["related"] == [], spelling
    found = client("search_everything", query="REQ number")["results"]
    assert "doc:docs/ids.md#there" in {each["id"] for each in found}


# Verifies: REQ-d00400-D
def test_requirements_that_lack_words_stand_apart_on_the_terminal(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "warned ship", "--kind", "requirement", "-C", str(project)]) == 0
    assert "related" not in capsys.readouterr().out
    assert main(["search", "warned zeppelins", "--kind", "requirement", "-C", str(project)]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "related, without all the words:"
    assert "REQ-d00001" in second


# Verifies: REQ-d00366-B
def test_every_kind_is_found_and_can_be_asked_for_alone(client: McpClient) -> None:
    client("store_memory", content="Warn ships by radio, not by flags.", rationale="decided by the harbour master")
    found = client("search_everything", query="warn ships low water")
    kinds = {each["kind"] for each in found["results"][:10]}
    assert kinds >= {"requirement", "document", "code", "memory"}
    for kind in ("requirement", "document", "code", "memory"):
        alone = client("search_everything", query="warn ships low water", kind=[kind])["results"]
        assert {each["kind"] for each in alone} == {kind}


# Verifies: REQ-d00366-A, REQ-d00366-B
def test_many_that_are_called_so_leave_room_for_every_kind(client: McpClient, project: Path) -> None:
    for number in range(9):
        (project / "src" / f"part{number}.py").write_text("def tanker():\n    return 1\n")
    (project / "docs" / "tanker.md").write_text("# Tanker\n\nA tanker is a ship.\n")
    client("store_memory", content="A tanker needs more water.", rationale="measured at the bar")
    found = client("search_everything", query="tanker", limit=10)["results"]
    assert found[0]["exact"]
    assert {each["kind"] for each in found} >= {"code", "document", "memory"}


# Verifies: REQ-d00366-B
def test_a_strange_or_very_long_name_of_a_file_keeps_no_other_file_from_being_found(
    client: McpClient, project: Path
) -> None:
    deep = project.joinpath("src", *(["d" * 100] * 6))
    deep.mkdir(parents=True)
    for folder, name in ((project / "src", "a\x1b[31m.py"), (deep, "b.py"), (project / "src", "z.py")):
        (folder / name).write_text("def weigh_anchor_slowly():\n    return 1\n")
    found = client("search_everything", query="anchor weighed slowly", kind=["code"])
    assert len(found["results"]) == 3
    assert not any("behind" in note for note in found.get("notes", ()))


# Verifies: REQ-d00366-C
def test_private_memories_of_others_take_no_part(client: McpClient) -> None:
    about = {"rationale": "only mine to know", "metadata": {"visibility": "private"}}
    client("store_memory", content="The zebra password is kept elsewhere.", agent_id="one", **about)
    other = client.as_session("another")
    assert other("search_everything", query="zebra")["total"] == 0


def asked(project: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main([*words, "-C", str(project)])
    return code, capsys.readouterr().out


# Verifies: REQ-d00366-D
def test_a_question_is_answered_by_quotes_or_not_at_all(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = asked(project, capsys, "ask", "what does a ship that draws three metres wait for")
    assert (code, "waits for the flood" in out, "docs/bar.md:3" in out) == (0, True, True), out
    code, out = asked(project, capsys, "ask", "what is the capital of France")
    assert (code, "Nothing in this project answers that" in out) == (1, True), out
    assert "It does not mention 'France'." in out


# Verifies: REQ-d00366-D
def test_a_quoted_memory_without_a_title_is_called_by_what_it_says(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(project, capsys, "remember", "The lantern at the quay burns paraffin only.", "--why", "seen")[0] == 0
    code, out = asked(project, capsys, "ask", "what does the lantern at the quay burn?", "--json")
    quoted = json.loads(out)["quotes"]
    assert (code, quoted[0]["kind"]) == (0, "memory"), out
    assert quoted[0]["title"].startswith("The lantern at the quay")


# Verifies: REQ-d00366-E
def test_what_says_what_something_is_comes_before_what_has_its_name(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uses = "\n\n".join(f"## Way {n}\n\nRun `fathom --count {n}` and fathom fathom fathom again." for n in range(30))
    (project / "docs" / "aaa.md").write_text(f"# Ways\n\n{uses}\n")
    (project / "docs" / "zzz.md").write_text(
        "# Words\n\nMuch else is said here.\n\nA *fathom* is a length of six feet.\n"
    )
    code, out = asked(project, capsys, "ask", "what is a fathom?")
    assert code == 0
    assert out.startswith("docs/zzz.md"), out
    assert "a length of six feet" in out.split("docs/aaa.md")[0]


# Verifies: REQ-d00366-A
def test_the_command_finds_by_pattern_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = asked(project, capsys, "search", "--regex", "^REQ-d", "--field", "id", "--json")
    assert code == 0
    assert [each["id"] for each in json.loads(out)["results"]] == ["REQ-d00001"]


# Verifies: REQ-d00367-A
def test_a_file_that_cites_nothing_has_an_impact(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "src" / "core.py").write_text("def core():\n    return 1\n")
    (project / "src" / "shell.py").write_text("from core import core\n")
    (project / "src" / "outer.py").write_text("import shell\n")
    code, out = asked(project, capsys, "impact", "src/core.py", "--json")
    users = [(each["id"], each["distance"]) for each in json.loads(out)["used_by"]]
    assert (code, users) == (0, [("src/shell.py", 1), ("src/outer.py", 2)])


def damage_texts(project: Path, *, after_terms: bool = False) -> None:
    """Make the packed texts of the index unreadable; with `after_terms`, what a ranking reads can still be read."""
    with closing(sqlite3.connect(project / ".clew" / "search" / "index.db")) as connection, connection:
        for unit, data in connection.execute("SELECT unit, packed FROM unit_texts").fetchall():
            damaged = data[:-4] if after_terms else b"\xff" * len(data)
            connection.execute("UPDATE unit_texts SET packed = ? WHERE unit = ?", (damaged, unit))


# Verifies: REQ-d00200-A
@pytest.mark.parametrize("after_terms", [False, True], ids=["terms", "text"])
def test_a_search_that_meets_damaged_texts_is_answered_from_an_index_made_anew(
    client: McpClient, project: Path, after_terms: bool
) -> None:
    client("store_memory", content="Warn ships by radio, not by flags.", rationale="decided by the harbour master")
    before = client("search_everything", query="warn ships low water")
    assert {each["kind"] for each in before["results"]} >= {"requirement", "document", "code", "memory"}
    damage_texts(project, after_terms=after_terms)
    again = client("search_everything", query="warn ships low water")
    assert {each["id"] for each in again["results"]} == {each["id"] for each in before["results"]}
    assert {each["kind"] for each in again["results"]} == {each["kind"] for each in before["results"]}


# Verifies: REQ-d00200-A
def test_damage_that_only_a_write_to_the_index_meets_is_mended_too(
    client: McpClient, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_writes() -> None:
        with closing(sqlite3.connect(project / ".clew" / "search" / "index.db")) as connection:
            ((broken,),) = connection.execute("SELECT series FROM index_state").fetchall()

        @contextmanager
        def writing(self: DerivedFile, *, durable: bool = False) -> Iterator[SqliteConnection]:
            if getattr(self, "series", None) == broken:
                raise damage(self.path, "database disk image is malformed")
            with whole(self, durable=durable) as connection:
                yield connection

        monkeypatch.setattr(DerivedFile, "writing", writing)

    whole = DerivedFile.writing
    client("search_everything", query="warn ships low water")
    break_writes()
    (project / "src" / "radio.py").write_text("def call_by_radio():\n    return 12\n")
    found = client("search_everything", query="ships are to call by radio")
    assert "src/radio.py::call_by_radio" in [each["id"] for each in found["results"]]
    assert not [note for note in found.get("notes", ()) if "damaged" in note]
    break_writes()
    client("store_memory", content="The radio is on channel 12.", rationale="decided by the pilots")
    client("store_memory", content="Pilots speak Dutch and English.", rationale="decided by the pilots")
    for word in ("radio", "Dutch"):
        assert client("search_graph", query=word)["results"]


# Verifies: REQ-d00200-A
def test_documents_that_an_index_lacks_because_it_was_replaced_during_the_call_are_not_missing_silently(
    client: McpClient, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = SearchEngine.rank

    def rank(self: SearchEngine, *given: Any, **named: Any) -> Ranking:
        monkeypatch.setattr(SearchEngine, "rank", whole)
        throw_away(project / ".clew" / "search" / "index.db")
        return self.rank(*given, **named)

    before = client("search_everything", query="warn ships low water")
    assert "document" in {each["kind"] for each in before["results"]}
    monkeypatch.setattr(SearchEngine, "rank", rank)
    lacking = client("search_everything", query="warn ships at low water")
    assert "documents may be missing" in " ".join(lacking["notes"])
    again = client("search_everything", query="warn ships low water")
    assert "document" in {each["kind"] for each in again["results"]}
    assert "may be missing" not in " ".join(again.get("notes", ()))


# Verifies: REQ-d00200-A
def test_a_question_that_meets_damaged_texts_is_answered(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["ask", "-C", str(project), "--json", "when does a ship that draws three metres pass the bar?"]
    assert main(asked) == 0
    before = json.loads(capsys.readouterr().out)["quotes"]
    damage_texts(project)
    assert main(asked) == 0
    assert [each["id"] for each in json.loads(capsys.readouterr().out)["quotes"]] == [each["id"] for each in before]


# Verifies: REQ-d00200-A
def test_a_rebuild_of_a_damaged_index_has_the_documents_in_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", str(project), "--json"]) == 0
    before = json.loads(capsys.readouterr().out)["index"]["parts"]
    assert before["section"]
    damage_texts(project)
    assert main(["index", "--rebuild", str(project), "--json"]) == 0
    after = json.loads(capsys.readouterr().out)["index"]["parts"]
    assert (after["section"], after["requirement"]) == (before["section"], before["requirement"])


# Verifies: REQ-d00200-A
@pytest.mark.parametrize("after_terms", [False, True], ids=["terms", "text"])
@pytest.mark.parametrize(
    ("tool", "argument", "listed"),
    [("kb_search", "query", "results"), ("kb_retrieve_evidence", "question", "sources")],
)
def test_documents_are_found_although_the_index_is_damaged(
    client: McpClient, project: Path, tool: str, argument: str, listed: str, after_terms: bool
) -> None:
    asked = {argument: "when does a ship that draws three metres pass the bar?"}
    before = client(tool, **asked)[listed]
    assert before
    damage_texts(project, after_terms=after_terms)
    # What is remembered of a ranking is no proof.
    again = client(tool, **{argument: f"{asked[argument]} And when not?"})[listed]
    assert [each["section_id"] for each in again][:1] == [each["section_id"] for each in before][:1]


# Verifies: REQ-d00758-A
def test_commits_are_found_by_the_words_of_their_messages(client: McpClient) -> None:
    (first, *_) = client("search_everything", query="minutes tankers", kind=["commit"])["results"]
    assert (first["kind"], first["title"]) == ("commit", "Warn earlier")
    everything = client("search_everything", query="tankers")["results"]
    assert "commit" in {each["kind"] for each in everything}


# Verifies: REQ-d00758-B
def test_a_question_is_answered_from_messages_of_commits(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "why", "were", "ten", "minutes", "not", "enough?", "-C", str(project)]) == 0
    said = capsys.readouterr().out
    assert "Ten minutes were not enough for tankers." in said
    assert "Warn earlier, Ada Byron, 2023-11-16  (commit" in said
    # It names no version, so it does not answer what is asked about one.
    main(["ask", "why were ten minutes not enough for tankers in 4.2?", "-C", str(project)])
    assert "(commit" not in capsys.readouterr().out


# Verifies: REQ-d00758-B
def test_a_name_that_only_a_commit_mentions_is_no_absent_one(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "Drop Zorblax\n\nZorblax was dropped because its license forbids resale."
    Repository(project).commit(said, {"other.py": "X = 1\n"})
    assert main(["ask", "why was Zorblax dropped?", "-C", str(project)]) == 0
    assert "its license forbids resale" in capsys.readouterr().out
