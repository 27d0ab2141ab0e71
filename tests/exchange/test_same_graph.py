"""Whatever items say: the second import changes nothing, and an export gives the same requirements elsewhere."""

import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from tests.exchange.conftest import REGISTER, Clew, files_of
from tests.exchange.test_formats_both_ways import exchanges

from clew.exchange.formats import WRITTEN
from clew.exchange.model import Exchange, Item
from clew.exchange.results import ImportReport
from clew.exchange.service import ExchangeService, ImportWishes
from clew.exchange.sources import Source
from clew.operation.call import Call
from clew.project import Project

EXAMPLES = 5


def taken_in(folder: Path, exchange: Exchange, into: str) -> ImportReport:
    with closing(Project.open(folder, drafts=False)) as project:
        service = ExchangeService(Call(project, (), surface="cli"))
        return service.take_in(exchange, ImportWishes(format="jsonl", name="source.jsonl", into=into))


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
            taken_in(second, WRITTEN["jsonl"].read(Source(Path("x"), data)), into)
            assert _said(given_out(second)) == _said(known)

    holds()


def _said(items: dict[str, Item]) -> dict[str, object]:
    return {
        id: (item.kind, item.title, item.text, item.criteria, dict(item.attributes), sorted(map(repr, item.relations)))
        for id, item in items.items()
    }
