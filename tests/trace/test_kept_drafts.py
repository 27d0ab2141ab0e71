"""Drafts that an earlier version kept: they are planned again, and write what that version wrote.

`kept_drafts.json` holds one draft of every kind as that version put it into the store, and the files that it saved.
"""

import json
from collections.abc import Callable
from pathlib import Path

from tests.trace.drafted import contents, write_project

from clew.project import Project
from clew.trace.edit.mutations.mutation import Mutation
from clew.trace.edit.mutations.records import recorded_mutation
from clew.trace.edit.requests import ListDrafts

KEPT = json.loads((Path(__file__).parent / "kept_drafts.json").read_text(encoding="utf-8"))


# Verifies: REQ-d00680-A
def test_drafts_of_an_earlier_version_are_saved_as_that_version_saved_them(
    tmp_path: Path, opened: Callable[[Path], Project]
) -> None:
    root = write_project(tmp_path / "odd")
    before = Project.open(root)
    assert before.store is not None
    before.store.put("draft_sessions", "earlier", {}, actor="test")
    for number, draft in enumerate(KEPT["drafts"], start=1):
        before.store.put("drafts.earlier", f"{number:09d}", draft, actor="test")
    before.close()
    project = opened(root)
    project.ensure_graph()
    log = project.mutations.log(ListDrafts(limit=100))
    assert log.conflicts == ()
    assert [each.operation for each in log.mutations] == [each["operation"] for each in reversed(KEPT["drafts"])]
    assert project.mutations.save().saved_count == len(KEPT["drafts"])
    assert contents(root) == {path: text.encode("latin-1") for path, text in KEPT["files"].items()}


# Verifies: REQ-d00680-A
def test_every_kind_of_mutation_can_be_read_back() -> None:
    kept = {type(recorded_mutation(draft["operation"], draft["arguments"])) for draft in KEPT["drafts"]}
    drafted = {each for each in Mutation.__subclasses__() if each.__module__.startswith("clew.trace.edit.mutations.")}
    at_once = {each for each in drafted if each.__module__.endswith(".at_once")}
    assert kept == drafted - at_once
