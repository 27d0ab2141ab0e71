"""Memories of other tools: trusted as documents until somebody accepts them, and never imported twice."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.conftest import Clew

from clew.exchange.incoming import server_memory
from clew.exchange.sources import ImportSource

SERVER = [
    {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Prefers tabs", "Owns the clock"]},
    {"type": "entity", "name": "Clock", "entityType": "system", "observations": ["Runs at 32 kHz"]},
    {"type": "relation", "from": "Ada", "to": "Clock", "relationType": "owns"},
]
MEM0 = {
    "results": [
        {"id": "m-1", "memory": "The team prefers rebase.", "created_at": "2026-01-02T03:04:05-07:00", "user_id": "ada",
         "categories": ["preference"], "metadata": {"type": "professional"}},
        {"id": "m-2", "memory": "Releases happen on Tuesdays."},
    ]
}  # fmt: skip
NOTE = """---
title: Clock decision
type: note
tags: [clock, time]
permalink: decisions/clock
status: active
---

# Clock decision

- [decision] Use a quartz crystal #hardware (cheap)
- depends_on [[Power supply]]
- relates_to [[Nowhere]]
"""
OTHER = "---\ntitle: Power supply\n---\n\nIt has 5 V.\n"


def database(place: Path) -> None:
    with closing(sqlite3.connect(place)) as connection:
        connection.executescript(
            """
            CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT,
              type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_modified TEXT,
              created_at TEXT, created_at_epoch INTEGER);
            CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, project TEXT, request TEXT, learned TEXT,
              next_steps TEXT, created_at TEXT);
            INSERT INTO observations VALUES (7, 's-1', 'clock', NULL, 'decision', 'Use quartz', 'It is cheap',
              '["Costs 2 cents"]', 'We compared three crystals.', '["hardware"]', '["src/clock.c"]',
              '2026-02-03T04:05:06Z', 1);
            INSERT INTO session_summaries VALUES (3, 'clock', 'Choose a crystal', 'Quartz drifts', NULL, '2026-02-03');
            """
        )
        connection.commit()


def source_of(form: str, folder: Path) -> Path:
    match form:
        case "server-memory":
            place = folder / "memory.jsonl"
            place.write_text("".join(f"{json.dumps(each)}\n" for each in SERVER))
        case "mem0":
            place = folder / "mem0.json"
            place.write_text(json.dumps(MEM0))
        case "basic-memory":
            place = folder / "notes"
            place.mkdir()
            (place / "clock.md").write_text(NOTE)
            (place / "power.md").write_text(OTHER)
        case _:
            place = folder / "claude-mem.db"
            database(place)
    return place


def memories(clew: Clew, folder: Path) -> dict[str, dict[str, Any]]:
    found = [json.loads(line) for line in clew(folder, "memory", "export").stdout.splitlines()]
    return {each["memory"]["title"]: each["memory"] for each in found if "memory" in each}


# Verifies: REQ-d00605-A
# Verifies: REQ-d00605-B
@pytest.mark.parametrize(
    ("form", "title", "kind", "text"),
    [
        ("server-memory", "Ada", "fact", "Ada (person)\n- Prefers tabs\n- Owns the clock"),
        ("mem0", "The team prefers rebase.", "preference", "The team prefers rebase."),
        ("basic-memory", "Clock decision", "decision", "Use a quartz crystal"),
        ("claude-mem", "Use quartz", "decision", "We compared three crystals.\n\nFacts:\n- Costs 2 cents"),
    ],
)
def test_memories_come_in_as_documents_and_only_once(
    clew: Clew, empty: Path, tmp_path: Path, form: str, title: str, kind: str, text: str
) -> None:
    place = source_of(form, tmp_path)
    before = clew(empty, "import", form, str(place), "--dry-run")
    assert "2 memories would be added" in before.stdout
    done = clew(empty, "import", form, str(place))
    assert "2 memories added" in done.stdout
    found = memories(clew, empty)
    assert (found[title]["kind"], found[title]["origin"]["trust"]) == (kind, "document")
    assert text in found[title]["text"]
    assert "accepted_at" not in found[title]["origin"] or found[title]["origin"]["accepted_at"] is None
    assert "not injected" in done.stdout
    clew(empty, "memory", "accept", "--all")
    again = clew(empty, "import", form, str(place))
    assert again.returncode == 0
    assert "0 memories added, 2 unchanged" in again.stdout
    assert memories(clew, empty)[title]["origin"]["accepted_at"]


# Verifies: REQ-d00605-B
def test_a_memory_that_changed_in_its_source_stays_and_is_named(clew: Clew, empty: Path, tmp_path: Path) -> None:
    place = source_of("mem0", tmp_path)
    clew(empty, "import", "mem0", str(place))
    before = memories(clew, empty)
    place.write_text(place.read_text().replace("rebase", "merging"))
    done = clew(empty, "import", "mem0", str(place))
    assert (done.returncode, memories(clew, empty)) == (1, before)
    assert "0 memories added, 1 unchanged" in done.stdout
    assert f"kept  {before['The team prefers rebase.']['id'][:8]}: It is different here" in done.stdout


# Verifies: REQ-d00605-C
def test_relations_between_memories_become_links_and_the_rest_is_told(clew: Clew, empty: Path, tmp_path: Path) -> None:
    clew(empty, "import", "server-memory", str(source_of("server-memory", tmp_path)))
    done = clew(empty, "import", "basic-memory", str(source_of("basic-memory", tmp_path)))
    assert "1 relation leads to notes that are not there" in done.stdout
    links = [json.loads(line) for line in clew(empty, "memory", "export").stdout.splitlines()]
    assert sorted(each["link"]["origin"] for each in links if "link" in each) == ["depends_on", "owns"]


# Verifies: REQ-d00605-C
# Verifies: REQ-d00605-D
def test_relations_of_server_memory_that_lead_nowhere_are_kept(clew: Clew, empty: Path, tmp_path: Path) -> None:
    lines = [
        {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Tall"], "since": 1843},
        {"type": "relation", "from": "Ada", "to": "Gate", "relationType": "opens"},
        {"type": "relation", "from": "Ben", "to": "Ada", "relationType": "knows"},
        {"type": "relation", "from": "Ben", "to": "Cleo", "relationType": "knows"},
    ]
    file = tmp_path / "memory.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    done = clew(empty, "import", "server-memory", str(file))
    assert "3 relations lead to entities that are not in the file" in done.stdout
    found = memories(clew, empty)
    assert found["Ada"]["text"] == "Ada (person)\n- Tall\n\nRelations:\n- Ada opens Gate\n- Ben knows Ada"
    assert found["Ada"]["metadata"]["since"] == 1843
    assert found["Ben knows Cleo"]["text"] == "Ben knows Cleo"
    assert "0 memories added, 2 unchanged" in clew(empty, "import", "server-memory", str(file)).stdout


# Verifies: REQ-d00605-C
def test_relations_that_read_alike_are_several_memories(clew: Clew, empty: Path, tmp_path: Path) -> None:
    lines = [
        {"type": "entity", "name": "Ben knows Cleo", "entityType": "", "observations": ["A song"]},
        {"type": "relation", "from": "Ben", "to": "Cleo", "relationType": "knows"},
        {"type": "relation", "from": "Ben knows", "to": "Cleo", "relationType": ""},
        {"type": "relation", "from": "Ben", "to": "knows Cleo", "relationType": ""},
    ]
    file = tmp_path / "memory.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    assert "4 memories added" in clew(empty, "import", "server-memory", str(file)).stdout
    found = [json.loads(line)["memory"] for line in clew(empty, "memory", "export").stdout.splitlines()]
    assert sorted(each["text"] for each in found) == [*["Ben knows Cleo"] * 3, "Ben knows Cleo\n- A song"]
    assert {" ".join(each["metadata"]["imported_id"].split()) for each in found} == {"Ben knows Cleo"}
    assert "0 memories added, 4 unchanged" in clew(empty, "import", "server-memory", str(file)).stdout


# Verifies: REQ-d00605-C
# Verifies: REQ-d00605-D
def test_no_relation_is_lost_however_many_lead_nowhere(clew: Clew, empty: Path, tmp_path: Path) -> None:
    own = {"type": "entity", "name": "Ada", "entityType": "person", "observations": [], "relations": ["of her own"]}
    cited = [{"type": "relation", "from": "Ada", "to": f"place {n}", "relationType": "saw"} for n in range(4_000)]
    file = tmp_path / "memory.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in (own, *cited)))
    assert "4,000 relations lead" in clew(empty, "import", "server-memory", str(file)).stdout
    found = memories(clew, empty)
    said = [line for each in found.values() for line in each["text"].split("\n") if line.startswith("- ")]
    assert sorted(said) == sorted(f"- Ada saw place {number}" for number in range(4_000))
    assert all(each["metadata"]["relations"] == ["of her own"] for each in found.values())
    assert len(found) == 2


class _Compared(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    times = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        _Compared.times += 1
        return str.__eq__(self, other)


def test_each_relation_of_server_memory_is_looked_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def compared(number: int) -> int:
        names = [f"n{each}" for each in range(number)]
        lines: list[dict[str, Any]] = [{"type": "entity", "name": name, "observations": []} for name in names]
        lines += [{"type": "relation", "from": name, "to": f"x{name}", "relationType": "is"} for name in names]
        lines += [{"type": "relation", "from": name, "to": name, "relationType": "is"} for name in names]
        (tmp_path / "memory.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
        monkeypatch.setattr(server_memory, "string", lambda value: _Compared(value or ""))
        monkeypatch.setattr(_Compared, "replace", lambda self, *_: self, raising=False)
        _Compared.times = 0
        server_memory.read(ImportSource(tmp_path / "memory.jsonl"))
        return _Compared.times

    assert compared(200) <= 2 * compared(100) + 100


# Verifies: REQ-d00605-D
def test_what_a_memory_has_besides_is_kept_with_it(clew: Clew, empty: Path, tmp_path: Path) -> None:
    clew(empty, "import", "mem0", str(source_of("mem0", tmp_path)))
    clew(empty, "import", "claude-mem", str(source_of("claude-mem", tmp_path)))
    found = memories(clew, empty)
    first = found["The team prefers rebase."]
    assert first["metadata"] == {
        "imported_from": "mem0.json",
        "imported_id": "m-1",
        "type": "professional",
        "user_id": "ada",
    }
    assert (first["recorded_at"], first["tags"]) == ("2026-01-02T10:04:05+00:00", ["preference"])
    assert found["Use quartz"]["metadata"]["files_modified"] == '["src/clock.c"]'


# Verifies: REQ-d00605-F
@pytest.mark.parametrize(
    ("form", "empty_one"), [("mem0", "m-3"), ("basic-memory", "blank"), ("claude-mem", "observation 8")]
)
def test_a_memory_without_a_text_is_left_out_and_told(
    clew: Clew, empty: Path, tmp_path: Path, form: str, empty_one: str
) -> None:
    place = source_of(form, tmp_path)
    match form:
        case "mem0":
            place.write_text(json.dumps([*MEM0["results"], {"id": "m-3", "memory": " "}]))
        case "basic-memory":
            (place / "blank.md").write_text("---\ntitle: Blank\n---\n")
        case _:
            with closing(sqlite3.connect(place)) as connection:
                connection.execute("INSERT INTO observations (id, type) VALUES (8, 'decision')")
                connection.commit()
    done = clew(empty, "import", form, str(place))
    assert done.returncode == 0, done.stderr
    assert "2 memories added" in done.stdout
    assert f"1 memory has no text and is left out: {empty_one}." in done.stdout


# Verifies: REQ-d00605-E
def test_the_database_of_another_program_is_not_touched(clew: Clew, empty: Path, tmp_path: Path) -> None:
    place = source_of("claude-mem", tmp_path)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    place.chmod(0o444)
    clew(empty, "import", "claude-mem", str(place))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)


def test_a_long_memory_becomes_several_and_loses_nothing(clew: Clew, empty: Path, tmp_path: Path) -> None:
    text = "\n\n".join(f"Paragraph {number} says that clocks keep time." for number in range(3_000))
    file = tmp_path / "long.json"
    file.write_text(json.dumps([{"id": "x", "memory": text}]))
    clew(empty, "import", "mem0", str(file))
    found = memories(clew, empty)
    assert len(found) == 3
    assert sum(each["text"].count("Paragraph") for each in found.values()) == 3_000


# Verifies: REQ-d00602-A
@pytest.mark.parametrize(
    ("form", "text", "told"),
    [
        ("server-memory", '{"type": "thing"}\n', "has the type 'thing'"),
        ("server-memory", '{"type": "entity"}\n', "has no name"),
        ("mem0", '{"other": []}', "neither 'results' nor 'memories'"),
        ("mem0", '[{"id": "1"}]', "No memory of 'bad' has a text"),
        ("mem0", "{", "not valid JSON"),
    ],
)
def test_broken_memories_are_refused(clew: Clew, empty: Path, tmp_path: Path, form: str, text: str, told: str) -> None:
    (tmp_path / "bad").write_text(text)
    done = clew(empty, "import", form, str(tmp_path / "bad"))
    assert done.returncode > 1
    assert told in " ".join(done.stderr.split())
