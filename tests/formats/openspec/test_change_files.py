"""The files of a change besides its deltas."""

from clew.formats.openspec.change import ChangeProposal, read_proposal
from clew.formats.openspec.metadata import read_metadata
from clew.formats.openspec.reader import write
from clew.formats.openspec.tasks import read_tasks

TASKS = b"""# Tasks

## 1. Lamp

- [x] 1.1 Fill the tank
- [ ] 1.2 Trim the wick
  * [X] 1.2a Buy scissors
-[ ] No number

## 2. Horn
```
- [ ] 2.1 Counted in code too
```
- [-] not a box
"""


# Verifies: REQ-d00070-F
def test_tasks_are_counted_by_their_boxes() -> None:
    tasks = read_tasks(TASKS)
    assert (tasks.completed, tasks.total) == (2, 5)
    assert [(task.number, task.done, task.group) for task in tasks.items] == [
        ("1.1", True, "1. Lamp"),
        ("1.2", False, "1. Lamp"),
        ("1.2a", True, "1. Lamp"),
        ("", False, "1. Lamp"),
        ("2.1", False, "2. Horn"),
    ]
    assert (tasks.items[2].indent, tasks.items[2].line, tasks.items[2].text) == (2, 7, "Buy scissors")
    assert write(tasks.document) == TASKS


PROPOSAL = b"""# Brighter lamp

## Why
Ships come too near.

## What Changes
- **lamp:** add a second wick
- **horn**: Rename the horn and add a bell
- **tower:** paint it
- plain

## Capabilities
### New Capabilities
- `bell`: rings
### Modified Capabilities
- `lamp`: burns brighter

## Impact
Oil.
"""


# Verifies: REQ-d00070-F
def test_a_proposal_says_why_what_and_where() -> None:
    proposal = read_proposal(PROPOSAL)
    assert (proposal.why, proposal.impact) == ("Ships come too near.", "Oil.")
    assert proposal.what_changes is not None
    assert [(each.spec_id, each.operation, each.line) for each in proposal.described] == [
        ("lamp", "added", 7),
        ("horn", "renamed", 8),
        ("tower", "modified", 9),
    ]
    assert (proposal.new_capabilities, proposal.modified_capabilities) == (("bell",), ("lamp",))
    assert write(proposal.document) == PROPOSAL
    assert read_proposal(b"# T\n").why is None


# Verifies: REQ-d00070-F
def test_the_title_of_a_change_is_that_of_its_proposal_or_its_id_in_words() -> None:
    assert ChangeProposal("add-a-bell", proposal=read_proposal(PROPOSAL)).title == "Brighter lamp"
    assert ChangeProposal("web/add-a-bell").title == "add a bell"


# Verifies: REQ-d00070-F
def test_metadata_is_read_and_what_cannot_be_read_is_named() -> None:
    metadata = read_metadata(
        b"# OpenSpec\nschema: spec-driven # usual\ncreated: 2026-01-02\ngoal: 'light'\naffected_areas:\n  - lamp\n"
        b'  - "horn"\ninitiative:\n  store: a\nskip_specs: true\nretire_capabilities: no\n'
    )
    assert (metadata.schema, metadata.created, metadata.goal) == ("spec-driven", "2026-01-02", "light")
    assert metadata.affected_areas == ("lamp", "horn")
    assert (metadata.skip_specs, metadata.retire_capabilities, metadata.problems) == (True, False, ())
    assert read_metadata(b"schema: s\naffected_areas: [lamp, 'horn']\n").affected_areas == ("lamp", "horn")
    broken = read_metadata(b"created: soon\nskip_specs: perhaps\ncolour: red\n??\n")
    assert [(each.line, each.severity) for each in broken.problems] == [
        (1, "error"),
        (1, "info"),
        (2, "error"),
        (3, "info"),
        (4, "error"),
    ]
