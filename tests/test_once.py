"""A value that is made once, and a project that is closed while one is being made."""

import threading
from pathlib import Path

import pytest

from clew.errors import Cancelled
from clew.graph.build.keeper import GraphKeeper
from clew.once import Once
from clew.project import Project


# Verifies: REQ-o00007-B
def test_an_end_waits_for_the_value_that_is_being_made_and_nothing_is_made_afterwards() -> None:
    ended: list[object] = []
    threads: list[threading.Thread] = []

    def make() -> str:
        # Whoever ends it now has to wait: the value is not there yet.
        threads.append(threading.Thread(target=lambda: ended.append(once.end())))
        threads[0].start()
        return "made"

    once = Once(make)
    assert once.get() == "made"
    threads[0].join()
    assert ended == ["made"]
    assert once.get() == "made"
    unused = Once(make)
    assert unused.end() is None
    with pytest.raises(Cancelled):
        unused.get()


# Verifies: REQ-o00007-B
def test_a_project_that_is_closed_while_its_keeper_is_made_closes_the_keeper(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project.open(small)
    closing = threading.Thread(target=project.close)
    closed: list[GraphKeeper] = []
    make, close = GraphKeeper.__init__, GraphKeeper.close

    def slowly(self: GraphKeeper, *args: object, **options: object) -> None:
        closing.start()
        make(self, *args, **options)  # type: ignore[arg-type]

    def noted(self: GraphKeeper) -> None:
        closed.append(self)
        close(self)

    monkeypatch.setattr(GraphKeeper, "__init__", slowly)
    monkeypatch.setattr(GraphKeeper, "close", noted)
    keeper = project.context.keeper
    closing.join()
    assert closed == [keeper]
    with pytest.raises(Cancelled):
        _ = project.context.cursors
