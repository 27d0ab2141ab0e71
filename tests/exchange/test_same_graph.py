"""Whatever items say: the second import changes nothing, and an export gives the same requirements elsewhere."""

import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.exchange.conftest import REGISTER, Clew, files_of
from tests.exchange.test_formats_both_ways import exchanges
from tests.properties import examples

from clew.exchange.backends.backend import FreeIds
from clew.exchange.backends.journeys import fresh_journey_id
from clew.exchange.formats import FORMATS, WRITTEN
from clew.exchange.model import Exchange, Item
from clew.exchange.results import ImportReport
from clew.exchange.service import ExchangeService, ImportRequest
from clew.exchange.sources import ImportSource
from clew.formats.register.ids import number_of
from clew.graph.model import NodeKind
from clew.operation.call import Call
from clew.project import Project

EXAMPLES = examples(5)


def taken_in(
    folder: Path, exchange: Exchange, into: str, name: str = "jsonl", *, dry_run: bool = False
) -> ImportReport:
    with closing(Project.open(folder, drafts=False)) as project:
        service = ExchangeService(Call(project, (), surface="cli"))
        wishes = ImportRequest(format=name, name="source.jsonl", into=into, dry_run=dry_run)
        return service.take_in(exchange, wishes)


def given_out(folder: Path) -> dict[str, Item]:
    with closing(Project.open(folder, drafts=False)) as project:
        found = ExchangeService(Call(project, (), surface="cli")).give_out()
    return {item.id: item for item in found.items}


def started(clew: Clew, folder: Path, into: str) -> Path:
    folder.mkdir()
    (folder / "clew.toml").write_text("")
    if into == "register":
        clew(folder, *REGISTER)
    return folder


# Verifies: REQ-d00600-C
# Verifies: REQ-d00600-D
# Verifies: REQ-d00601-B
@pytest.mark.thorough
@pytest.mark.parametrize("into", ["elspais", "register", "openspec"])
def test_any_items_come_in_once_and_go_out_whole(clew: Clew, into: str) -> None:
    @settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.generate))
    @given(exchanges())
    def holds(exchange: Exchange) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            first = started(clew, Path(scratch) / "first", into)
            report = taken_in(first, exchange, into)
            after = files_of(first)
            again = taken_in(first, exchange, into)
            assert (again.added, again.changed, again.conflicts) == ((), (), ())
            assert files_of(first) == after
            known = given_out(first)
            ids = {each.id: each.as_ for each in report.added}
            # Nothing of an item is lost: it is in the project, or kept beside it.
            assert len(known) == len(exchange.items)
            for item in exchange.items:
                here = known[ids.get(item.id, item.id)]
                assert here.attributes.items() >= item.attributes.items()
                assert [each.text for each in here.criteria] == [each.text for each in item.criteria]
                assert {each.kind for each in here.relations} >= {each.kind for each in item.relations}
            second = started(clew, Path(scratch) / "second", into)
            data = WRITTEN["jsonl"].write(Exchange(items=tuple(known.values())), "project")
            taken_in(second, WRITTEN["jsonl"].read(ImportSource(Path("x"), data)), into)
            assert _said(given_out(second)) == _said(known)

    holds()


def _said(items: dict[str, Item]) -> dict[str, object]:
    return {
        id: (item.kind, item.title, item.text, item.criteria, dict(item.attributes), sorted(map(repr, item.relations)))
        for id, item in items.items()
    }


ITEMS = (NodeKind.REQUIREMENT, NodeKind.ASSERTION, NodeKind.USER_JOURNEY)
FIELDS = ("level", "status", "labels", "actor", "goal", "context", "steps", "template", "retired_labels")


def graph_of(folder: Path) -> tuple[set[object], set[object]]:
    """What the graph knows of requirements, their assertions and journeys, and what they cite."""
    with closing(Project.open(folder, drafts=False)) as project:
        project.ensure_graph()
        graph = project.context.graph
        nodes = [node for kind in ITEMS for node in graph.nodes_by_kind(kind)]
        edges = [edge for node in nodes for edge in graph.iter_outgoing_edges(node.id)]
        return (
            {(node.id, node.kind, node.title, *(repr(node.get_field(name)) for name in FIELDS)) for node in nodes},
            {(edge.kind, edge.source, edge.target, edge.labels) for edge in edges},
        )


# Verifies: REQ-d00601-B
@pytest.mark.parametrize("into", ["elspais", "register", "openspec"])
def test_a_text_that_looks_like_a_field_stays_a_text(clew: Clew, tmp_path: Path, into: str) -> None:
    text = "The clock shall keep the time.\n**Status**: Active\n- **ID**: odd\nImplements: REQ-p00009"
    first = started(clew, tmp_path / "first", into)
    taken_in(first, Exchange(items=(Item(id="A", title="Keep the time", text=text),)), into)
    (known,) = given_out(first).values()
    assert (known.text, known.relations) == (text, ())
    assert "Status" not in known.attributes
    second = started(clew, tmp_path / "second", into)
    taken_in(second, Exchange(items=(known,)), into)
    assert graph_of(second) == graph_of(first)
    assert _said(given_out(second)) == _said({known.id: known})


# Verifies: REQ-d00601-B
@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_every_format_takes_a_project_to_an_empty_one(clew: Clew, name: str) -> None:
    @settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.generate))
    @given(exchanges(), st.sampled_from(["elspais", "elspais", "register", "openspec"]))
    def holds(exchange: Exchange, into: str) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            first = started(clew, Path(scratch) / "first", into)
            taken_in(first, exchange, into)
            known = given_out(first)
            data = WRITTEN[name].write(Exchange(items=tuple(known.values())), "project")
            second = started(clew, Path(scratch) / "second", into)
            taken_in(second, FORMATS[name].read(ImportSource(Path("file"), data)), into)
            assert graph_of(second) == graph_of(first)
            assert _said(given_out(second)) == _said(known)

    holds()


JOURNEYS = """# Journeys

Prose before.

# JNY-Reader-01: A book for the train

**Actor**: Somebody who reads
on trains
**Goal**: A book
Prose that belongs to the goal.

Prose that belongs to no field, with `code`.

Validates: REQ-p00001-A+B, REQ-p00002
**Context**: Seven in the morning

## Steps

1. The reader looks at the shelf.
   1. First on the left,
   2. then on the right.
2. The reader takes a book.

   Not the heavy one.

## Outcome

Status: read.

*End* *A book for the train*

---

### JNY-Other-7: Steps in prose

Addresses: REQ-p00001

#### Steps

Before the first.

3) The third comes first.

```
# code
1. no step
```

*End* *JNY-Other-7*

## JNY-Bare-01: Nothing but a title

*End* *JNY-Bare-01*
"""
REQUIREMENTS = """## REQ-p00001: Books

**Level**: PRD | **Status**: Active | **Addresses**: JNY-Reader-01

## Assertions

A. A book SHALL open.
B. A book SHALL close.

*End* *Books*

## REQ-p00002: Shelves

**Level**: PRD | **Status**: Active | **Addresses**: JNY-Reader-01, JNY-Other-7

A shelf SHALL stand.

*End* *Shelves*
"""


# Verifies: REQ-d00601-G
@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_journeys_go_out_and_come_in_as_journeys(clew: Clew, tmp_path: Path, name: str) -> None:
    first = started(clew, tmp_path / "first", "elspais")
    (first / "spec").mkdir()
    (first / "spec" / "journeys.md").write_text(JOURNEYS)
    (first / "spec" / "books.md").write_text(REQUIREMENTS)
    file = tmp_path / f"out.{name}"
    assert clew(first, "export", name, "-o", str(file)).returncode == 0
    second = started(clew, tmp_path / "second", "elspais")
    done = clew(second, "import", name, str(file))
    assert done.returncode == 0, done.stderr
    assert "kept in" not in done.stdout
    assert len(graph_of(first)[0]) == 7
    assert graph_of(second) == graph_of(first)
    assert _said(given_out(second)) == _said(given_out(first))
    # Where they come from, nothing changes.
    before = files_of(first)
    assert clew(first, "import", name, str(file)).returncode == 0
    assert files_of(first) == before


# Verifies: REQ-d00601-G
def test_a_journey_that_changed_in_the_source_changes_here_in_its_own_style(clew: Clew, tmp_path: Path) -> None:
    folder = started(clew, tmp_path / "first", "elspais")
    (folder / "spec").mkdir()
    (folder / "spec" / "journeys.md").write_text(JOURNEYS)
    (folder / "spec" / "books.md").write_text(REQUIREMENTS)
    file = tmp_path / "out.jsonl"
    clew(folder, "export", "jsonl", "-o", str(file))
    file.write_text(file.read_text().replace("takes a book", "takes two books"))
    assert "1 changed" in clew(folder, "import", "jsonl", str(file)).stdout
    text = (folder / "spec" / "journeys.md").read_text()
    assert "# JNY-Reader-01: A book for the train\n" in text
    assert "2. The reader takes two books." in text
    assert "\n## Outcome\n" in text
    assert "*End* *A book for the train*\n\n---\n\n### JNY-Other-7: Steps in prose\n" in text
    assert text.startswith("# Journeys\n\nProse before.\n\n")


MANNERED = """# Journeys

## JNY-Mannered-01: A walk

Before the fields.

*Actor*: Somebody who
walks
**Goal** = A hill

Validates: REQ-p00001-A,
  REQ-p00002

### Notes

One.

#### Detail of *this* walk

With a [link](a).

### Empty

### Notes

Two.

### Steps

1. Walk.
2. Rest.

### {long}

Long.
"""


# Verifies: REQ-d00601-I
@pytest.mark.parametrize(
    ("given", "wanted", "there", "then"),
    [
        ('"text":"Rest."', '"text":"Sleep."', "2. Rest.", "2. Sleep."),
        ('"text":"Rest."', '"text":"Rest.\\nLong."', "2. Rest.", "2. Rest.\nLong."),
        ('{"label":"1","text":"Walk."},{"label":"2","text":"Rest."}', "", "### Steps\n\n1. Walk.\n2. Rest.\n\n", ""),
        ('"Notes-2":"Two."', '"Notes-2":"Three."', "Two.", "Three."),
        (',"Notes-2":"Two."', "", "### Notes\n\nTwo.\n\n", ""),
        ("With a [link](a).", "Without.", "With a [link](a).", "Without."),
        ('"text":"Before the', '"text":"In front of the', "Before the", "In front of the"),
        ('"title":"A walk"', '"title":"A run"', "A walk", "A run"),
        ('"Somebody who walks"', '"Nobody"', "Somebody who\nwalks", "Nobody"),
        ('"actor":"Somebody who walks",', "", "*Actor*: Somebody who\nwalks\n", ""),
        ('"A hill"', '"A hill","context":"Noon"', "= A hill\n", "= A hill\n**Context**: Noon\n"),
        ('"Notes":', '"More":"Much","Notes":', "\n\nLong.\n", "\n\nLong.\n\n### More\n\nMuch\n"),
        ('"labels":["A"]', '"labels":["B"]', "REQ-p00001-A,\n  REQ-p00002", "REQ-p00002, REQ-p00001-B"),
        (',{"kind":"validates","target":"REQ-p00002"}', "", "REQ-p00001-A,\n  REQ-p00002", "REQ-p00001-A"),
    ],
)
def test_an_import_changes_no_more_of_a_journey_than_differs(
    clew: Clew, tmp_path: Path, given: str, wanted: str, there: str, then: str
) -> None:
    before = MANNERED.format(long="A heading of very many words " * 5) + "\n*End* *JNY-Mannered-01*\n"
    assert _changed(clew, tmp_path, before, given, wanted) == before.replace(there, then)


# Verifies: REQ-d00601-I
@pytest.mark.parametrize(
    "end", ["", "\n*End* *A walk*\n\n---\n", "\n\n# Behind\n\nProse.\n", "\n## JNY-Next-01: No\n\n*End* *No*"]
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_stands_behind_a_journey_stays_as_it_is(clew: Clew, tmp_path: Path, end: str, line_end: str) -> None:
    before = (MANNERED.format(long="Other") + end).replace("\n", line_end)
    assert _changed(clew, tmp_path, before, '"title":"A walk"', '"title":"A run"') == before.replace("A walk", "A run")


# Verifies: REQ-d00601-I
def test_a_journey_gets_what_it_did_not_have_where_it_belongs(clew: Clew, tmp_path: Path) -> None:
    before = "## JNY-Bare-01: A walk\n\n### Notes\n\nOne.\n\n### Notes\n\nTwo.\n\n*End* *JNY-Bare-01*\n"
    text = _changed(
        clew,
        tmp_path,
        before,
        '"attributes":{"Notes":"One.",',
        '"text":"Text.","criteria":[{"label":"1","text":"Go."}],"relations":[{"kind":"validates","target":"REQ-p00001"}],'
        '"attributes":{"goal":"A hill",',
    )
    assert text == (
        "## JNY-Bare-01: A walk\n\n**Goal**: A hill\n\n**Validates**: REQ-p00001\n\nText.\n\n### Steps\n\n1. Go.\n\n"
        "### Notes-2\n\nTwo.\n\n*End* *JNY-Bare-01*\n"
    )


# Verifies: REQ-d00601-I
def test_fields_of_a_journey_that_go_on_are_not_cut(clew: Clew, tmp_path: Path) -> None:
    before = "## JNY-Bare-01: A walk\n\n**Actor**: Ada\n**Goal**: A hill\nfar away\nActor: Ben\nValidates: nothing\n"
    text = _changed(
        clew,
        tmp_path,
        before,
        '"actor":"Ada Ben","goal":"A hill far away"},"relations":[{"kind":"validates","target":"nothing"}]',
        '"actor":"Cleo","goal":"A hill far away"},"relations":[{"kind":"addresses","target":"REQ-p00001"}]',
    )
    assert text == (
        "## JNY-Bare-01: A walk\n\n**Actor**: Cleo\n**Goal**: A hill\nfar away\n"
        "Validates: -\n**Addresses**: REQ-p00001\n"
    )


# Verifies: REQ-d00601-I
def test_text_between_the_fields_of_a_journey_changes_where_it_begins(clew: Clew, tmp_path: Path) -> None:
    before = (
        "## JNY-Bare-01: A walk\n\nOne.\n\nMore.\n\n**Goal**: A hill\n\nTwo.\n\nValidates: REQ-p00001\nThree.\n\n"
        "*End* *JNY-Bare-01*\n"
    )
    text = _changed(clew, tmp_path, before, '"text":"One.', '"text":"Other.')
    assert text.startswith("## JNY-Bare-01: A walk\n\nOther.\n\nMore.\n")
    assert text.endswith("Two.\n\nThree.\n\n**Goal**: A hill\n\n\nValidates: REQ-p00001\n\n*End* *JNY-Bare-01*\n")
    assert len(text.split()) == len(before.split())


def _changed(clew: Clew, tmp_path: Path, before: str, given: str, wanted: str) -> str:
    """The file of a journey after an import of its export, in which a piece says something else."""
    folder = started(clew, tmp_path / "first", "elspais")
    (folder / "spec").mkdir()
    place = folder / "spec" / "journeys.md"
    place.write_bytes(before.encode())
    (folder / "spec" / "books.md").write_text(REQUIREMENTS)
    file = tmp_path / "out.jsonl"
    clew(folder, "export", "jsonl", "-o", str(file))
    said = file.read_text()
    assert given in said
    file.write_text(said.replace(given, wanted, 1))
    done = clew(folder, "import", "jsonl", str(file))
    assert "1 changed" in done.stdout, done
    assert "kept in" not in done.stdout
    return place.read_bytes().decode()


class _Asked(set[str]):
    times = 0

    def __contains__(self, id: object) -> bool:
        self.times += 1
        return super().__contains__(id)


def test_numbers_of_journeys_of_one_title_are_counted_on() -> None:
    taken, highest = _Asked({"JNY-Buy-02"}), dict[str, int]()
    for number in range(50):
        taken.add(fresh_journey_id(Item(id=f"j{number}", title="Buy"), taken, highest))
    assert taken == {f"JNY-Buy-{number:02}" for number in range(1, 52)}
    assert taken.times == 51


# Verifies: REQ-d00601-G
def test_a_journey_without_a_place_is_kept_and_reported(clew: Clew, tmp_path: Path) -> None:
    first = started(clew, tmp_path / "first", "elspais")
    (first / "spec").mkdir()
    (first / "spec" / "journeys.md").write_text(JOURNEYS)
    file = tmp_path / "out.csv"
    clew(first, "export", "csv", "-o", str(file))
    second = started(clew, tmp_path / "second", "openspec")
    done = clew(second, "import", "csv", str(file), "--into", "openspec")
    assert "journey: 3 (" in done.stdout
    clew(second, "export", "csv", "-o", str(tmp_path / "again.csv"))
    third = started(clew, tmp_path / "third", "elspais")
    clew(third, "import", "csv", str(tmp_path / "again.csv"))
    assert graph_of(third)[0] == graph_of(first)[0]


def test_numbers_of_ids_that_are_made_of_one_title_are_counted_on() -> None:
    taken, ids = _Asked({"x2"}), FreeIds()
    for _ in range(50):
        taken.add(ids.take("x", str, taken))
    assert taken == {"x", *(f"x{number}" for number in range(2, 52))}
    assert taken.times == 51


# Verifies: REQ-d00600-A
def test_ids_of_a_register_are_counted_once(clew: Clew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = started(clew, tmp_path / "first", "register")
    read: list[str] = []

    def noted(id: str) -> int | None:
        read.append(id)
        return number_of(id)

    monkeypatch.setattr("clew.exchange.backends.register.number_of", noted)
    items = tuple(
        Item(id=f"X-{number}", title=f"Item number {number}", text=f"The shelf SHALL hold {number} books.")
        for number in range(60)
    )
    report = taken_in(folder, Exchange(items=items), "register")
    assert report.rejected == ()
    assert [each.as_ for each in report.added] == [f"REQ-{number:04d}" for number in range(1, 61)]
    assert len(read) < 10 * len(items)
