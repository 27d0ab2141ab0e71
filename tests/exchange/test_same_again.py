"""A changed export may come more than once: what its format spells, joins or leaves out is no change."""

import csv
import io
import re
import tempfile
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import pytest
from hypothesis import Phase, given, settings
from tests.exchange.conftest import Clew, files_of
from tests.exchange.test_fewer_columns import IMPORTS
from tests.exchange.test_same_bytes import (
    EXAMPLES,
    MANNERED,
    OTHERS,
    exported,
    imported,
    project,
    requirements,
    unsigned,
)
from tests.exchange.test_same_graph import given_out, started, taken_in

from clew.errors import Rejected, WouldCycle
from clew.exchange.formats import FORMATS, WRITTEN
from clew.exchange.model import Criterion, Exchange, Item, Relation
from clew.exchange.results import ImportReport
from clew.exchange.sources import ImportSource
from clew.exchange.unchanged import keep_unchanged


# Verifies: REQ-d00600-C
# Verifies: REQ-d00601-J
@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(set(WRITTEN) - {"excel", "jsonl"}))
def test_a_changed_file_that_comes_again_changes_no_byte(clew: Clew, name: str) -> None:
    @settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.generate))
    @given(requirements())
    def holds(text: str) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = project(clew, Path(scratch) / "first", text)
            data = exported(folder, name)
            words = re.findall(rb"w\d+w", data)
            data = data.replace(words[crc32(text.encode()) % len(words)], b"other")
            imported(folder, name, data)
            after = files_of(folder)
            assert after["spec/one.md"] != text.encode()
            imported(folder, name, data)
            assert files_of(folder) == after
            # Whatever is done here meanwhile, the file says what it said.
            edited = after["spec/one.md"].replace(b"other", b"edited here")
            (folder / "spec" / "one.md").write_bytes(edited)
            imported(folder, name, data)
            assert files_of(folder) == after | {"spec/one.md": edited}

    holds()


# Verifies: REQ-d00601-J
def test_what_a_format_leaves_out_can_be_filled_in(clew: Clew, tmp_path: Path) -> None:
    first = MANNERED.replace("*Later*\n", "*Later*\n\nSaid of it.\n")
    second = MANNERED.replace("REQ-p00001", "REQ-p00005")
    folder = project(clew, tmp_path / "first", first + second)
    rows = list(csv.DictReader(io.StringIO(exported(folder, "csv").decode())))
    assert [row["Later"] for row in rows if row["title"] == "Books"] == ["Said of it.", ""]
    next(row for row in rows if row["id"] == "REQ-p00005")["Later"] = "Filled in."
    file = io.StringIO()
    table = csv.DictWriter(file, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    imported(folder, "csv", file.getvalue().encode())
    after = unsigned((folder / "spec" / "one.md").read_bytes().decode())
    assert after == first + second.replace("*Later*\n", "*Later*\nFilled in.\n")


# Verifies: REQ-d00601-J
def test_a_file_that_changes_again_changes_no_more_than_differs(clew: Clew, tmp_path: Path) -> None:
    text = MANNERED.replace("SHALL open", "SHALL\topen").replace("Two.", "Two  and\tthree.")
    folder = project(clew, tmp_path / "first", text)
    data = exported(folder, "reqif")
    for there, then in ((b"SHALL close", b"MUST close"), (b"MUST close", b"CAN close")):
        data, text = data.replace(there, then), text.replace(there.decode(), then.decode())
        imported(folder, "reqif", data)
        assert unsigned((folder / "spec" / "one.md").read_text()) == text


# Verifies: REQ-d00600-H
# Verifies: REQ-d00601-J
def test_a_changed_file_finds_a_requirement_that_was_renamed_here(clew: Clew, tmp_path: Path) -> None:
    folder = project(clew, tmp_path / "first", MANNERED.replace("SHALL open", "SHALL\topen"))
    data = exported(folder, "reqif").replace(b"SHALL close", b"MUST close")
    imported(folder, "reqif", data)
    spec = folder / "spec" / "one.md"
    text = spec.read_text().replace("REQ-p00001", "REQ-p00009")
    spec.write_text(text)
    for _ in range(2):
        imported(folder, "reqif", data)
        assert spec.read_text() == text
    imported(folder, "reqif", data.replace(b"MUST close", b"CAN close"))
    assert "C. A book CAN close." in spec.read_text()


ONE, TWO = Relation("refines", "X", ("A",)), Relation("refines", "X", ("B",))
BOTH, OTHER = Relation("refines", "X", ("A", "B")), Relation("implements", "Y")


# Verifies: REQ-d00601-J
@pytest.mark.parametrize(
    ("known", "said", "then"),
    [
        ((BOTH, OTHER), (OTHER, BOTH), (ONE, OTHER, TWO)),
        ((BOTH, OTHER), (BOTH,), (ONE, TWO)),
        ((BOTH, OTHER), (TWO, OTHER), (TWO, OTHER)),
        ((BOTH, OTHER), (OTHER,), (OTHER,)),
        ((BOTH, OTHER), (Relation("refines", "X", ("A", "B", "C")),), (ONE, TWO, Relation("refines", "X", ("C",)))),
        ((BOTH, OTHER), (BOTH, Relation("refines", "X"), OTHER), (ONE, TWO, Relation("refines", "X"), OTHER)),
        ((OTHER, ONE, TWO), (OTHER, TWO, Relation("refines", "Z")), (TWO, OTHER, Relation("refines", "Z"))),
        ((OTHER, ONE, TWO), (OTHER, BOTH), (BOTH, OTHER)),
    ],
)
def test_references_that_a_format_joins_or_orders_stay_as_they_are(
    known: tuple[Relation, ...], said: tuple[Relation, ...], then: tuple[Relation, ...]
) -> None:
    def exchange(relations: tuple[Relation, ...]) -> Exchange:
        return Exchange(items=(Item(id="A", relations=relations, version="1"),))

    here = {item.id: item for item in exchange((ONE, OTHER, TWO)).items}
    (item,) = keep_unchanged(exchange(said), here, {}, lambda _: exchange(known)).items
    assert item.relations == then


# Verifies: REQ-d00600-C
# Verifies: REQ-d00600-F
def test_what_cites_a_refused_item_comes_in_once(clew: Clew, tmp_path: Path) -> None:
    folder = started(clew, tmp_path / "first", "register")
    text = "The shelf shall hold ten books."
    items = (
        Item(id="refused", title="Refused"),
        Item(id="shelf", title="Hold the books", text=text, parent="refused"),
        Item(id="room", title="Hold the shelf", text=text, relations=(Relation("depends_on", "refused"),)),
    )
    report = taken_in(folder, Exchange(items=items), "register")
    assert [each.id for each in report.rejected] == ["refused"]
    after = files_of(folder)
    assert taken_in(folder, Exchange(items=items), "register").changed == ()
    assert files_of(folder) == after
    # Corrected in the source, it comes in, and what cites it follows.
    whole = (msgspec.structs.replace(items[0], title="Not refused", text=text), *items[1:])
    report = taken_in(folder, Exchange(items=whole), "register")
    assert ([each.id for each in report.added], report.rejected) == (["refused"], ())
    (room,) = (item for item in given_out(folder).values() if item.title == "Hold the shelf")
    assert [each.target for each in room.relations] == [report.added[0].as_]


# Verifies: REQ-d00600-F
@pytest.mark.parametrize("into", ["elspais", "register"])
def test_the_ids_of_others_do_not_depend_on_what_is_refused(clew: Clew, tmp_path: Path, into: str) -> None:
    text = "The shelf shall hold ten books."
    items = [Item(id=f"S {number}", title=f"Hold the books of {number}", text=text) for number in range(4)]
    ids = {}
    for name, first in (("whole", items[0]), ("refused", msgspec.structs.replace(items[0], **REFUSED[into]))):
        folder = started(clew, tmp_path / name, into)
        report = taken_in(folder, Exchange(items=(first, *items[1:])), into)
        assert [each.id for each in report.rejected] == (["S 0"] if name == "refused" else [])
        ids[name] = {each.id: each.as_ for each in report.added}
    assert ids["refused"] == {id: here for id, here in ids["whole"].items() if id != "S 0"}


MANY = tuple(Criterion(str(number), "It shall hold.") for number in range(60))
REFUSED: dict[str, dict[str, Any]] = {
    "elspais": {"criteria": MANY},
    "register": {"text": "Nothing that is demanded.", "criteria": ()},
}


# Verifies: REQ-d00600-B
def test_a_dry_run_refuses_what_the_import_refuses(clew: Clew, tmp_path: Path) -> None:
    folder = started(clew, tmp_path / "specs", "elspais")
    (folder / "spec").mkdir()
    (folder / "spec" / "source.md").write_text(f"{OTHERS}```\nnever closed\n")
    item = Item(id="shelf", title="Hold the books", text="The shelf shall hold ten books.")
    for dry_run in (True, False):
        with pytest.raises(Rejected, match="would not be read as the requirements"):
            taken_in(folder, Exchange(items=(item,)), "elspais", dry_run=dry_run)


# Verifies: REQ-d00600-B
def test_a_dry_run_into_a_register_refuses_what_the_import_refuses(clew: Clew, tmp_path: Path) -> None:
    folder = started(clew, tmp_path / "register", "register")
    shelf = Item(id="shelf", title="Hold the books", text="The shelf shall hold ten books.")
    room = Item(id="room", title="Hold the shelf", text="The room shall hold it.")
    taken_in(folder, Exchange(items=(linked(shelf, "room"), room)), "register")
    for dry_run in (True, False):
        with pytest.raises(WouldCycle):
            taken_in(folder, Exchange(items=(linked(room, "shelf"),)), "register", dry_run=dry_run)


def linked(item: Item, target: str) -> Item:
    return msgspec.structs.replace(item, relations=(Relation("depends_on", target),))


# Verifies: REQ-d00600-E
@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_an_export_that_nobody_changed_is_no_conflict_with_what_changed_here(
    clew: Clew, tmp_path: Path, name: str
) -> None:
    folder = project(clew, tmp_path / "first", MANNERED)
    data = exported(folder, name)
    spec = folder / "spec" / "one.md"
    spec.write_text(spec.read_text().replace("SHALL close", "MUST close"))
    after = files_of(folder)
    report = taken_in(folder, FORMATS[name].read(ImportSource(Path("x"), data)), "elspais", name)
    assert (report.changed, report.conflicts) == ((), ())
    assert files_of(folder) == after
    if name in ("csv", "jsonl", "lobster"):
        changed = FORMATS[name].read(ImportSource(Path("x"), data.replace(b"SHALL open", b"MUST open")))
        report = taken_in(folder, changed, "elspais", name)
        (conflict,) = report.conflicts
        assert conflict.reason == "It changed in the source and here since its export; what is here stays."


# Verifies: REQ-d00600-D
def test_an_attribute_that_the_file_empties_is_not_without_a_place(clew: Clew, tmp_path: Path) -> None:
    folder = project(clew, tmp_path / "first", MANNERED)
    items = tuple(
        msgspec.structs.replace(item, attributes={**item.attributes, "Notes": "", "Later": ""})
        for item in given_out(folder).values()
    )
    report = taken_in(folder, Exchange(items=items), "elspais")
    assert [each.what for each in report.unplaced] == []


# Verifies: REQ-d00600-G
# Verifies: REQ-d00600-C
@pytest.mark.parametrize("into", ["elspais", "register", "openspec"])
def test_what_cites_an_item_that_is_not_in_the_file_any_more_cites_what_it_became(
    clew: Clew, tmp_path: Path, into: str
) -> None:
    folder = started(clew, tmp_path / "first", into)
    text = "The shelf shall hold ten books."
    room = Item(id="room", title="Hold the shelf", text=text, criteria=(Criterion("1", text),))
    cited = (Relation("refines", "room", ("1",) if into != "register" else ()),)
    shelf = Item(id="shelf", title="Hold the books", text=text, relations=cited)
    taken_in(folder, Exchange(items=(room, shelf)), into)
    before, after = given_out(folder), files_of(folder)
    gone = msgspec.structs.replace(room, kind="inactive")
    for items in ((shelf,), (gone, shelf)):
        report = taken_in(folder, Exchange(items=items), into)
        assert (report.added, report.changed) == ((), ())
        assert [each.what for each in report.unplaced if "relation" in each.what] == []
    assert {**files_of(folder), IMPORTS: b""} == {**after, IMPORTS: b""}
    other = msgspec.structs.replace(shelf, text="The shelf shall hold twelve books.")
    taken_in(folder, Exchange(items=(other,)), into)
    now = given_out(folder)
    assert [item.relations for item in now.values()] == [item.relations for item in before.values()]


# Verifies: REQ-d00600-C
# Verifies: REQ-d00600-F
@pytest.mark.parametrize("into", ["elspais", "register"])
def test_a_table_whose_row_is_refused_may_come_again(clew: Clew, tmp_path: Path, into: str) -> None:
    folder = started(clew, tmp_path / "first", into)
    text = "The shelf shall hold ten books."
    item = Item(id="shelf", title="Hold the books", text=text, criteria=(Criterion("A", text),))

    def imported_rows(item: Item) -> ImportReport:
        data = WRITTEN["csv"].write(Exchange(items=(item,)), "project")
        return taken_in(folder, FORMATS["csv"].read(ImportSource(Path("x"), data)), into, "csv")

    imported_rows(item)
    before = files_of(folder)
    assert len(imported_rows(msgspec.structs.replace(item, **REFUSED[into])).rejected) == 1
    after = files_of(folder)
    assert {**after, IMPORTS: b""} == {**before, IMPORTS: b""}
    imported_rows(msgspec.structs.replace(item, **REFUSED[into]))
    assert files_of(folder) == after
    imported_rows(item)
    assert files_of(folder) == before


# Verifies: REQ-d00600-C
@pytest.mark.parametrize("into", ["elspais", "register", "openspec"])
@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_an_export_of_what_was_imported_writes_no_file(clew: Clew, tmp_path: Path, name: str, into: str) -> None:
    """Also where some of it is only in the record of its import: a heading, a refused item, a relation."""
    folder = started(clew, tmp_path / "first", into)
    text = "The shelf shall hold ten books."
    items = (
        Item(id="part", kind="heading", title="Furniture"),
        Item(
            id="shelf", title="Hold the books", text=text, attributes={"status": "Odd", "Size": "a\nb"}, parent="part"
        ),
        Item(id="room", title="Hold the shelf", text=text, relations=(Relation("cites", "shelf"),)),
        Item(id="refused", title="Refused", **({} if into == "openspec" else REFUSED[into])),
    )
    taken_in(folder, Exchange(items=items), into)
    before = files_of(folder)
    data = exported(folder, name)
    table = tmp_path / "own"
    table.write_bytes(data)
    done = clew(folder, "import", name, str(table), "--into", into)
    assert "0 added, 0 changed" in done.stdout, done.stdout + done.stderr
    assert files_of(folder) == before
