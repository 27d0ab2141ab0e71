"""The artefacts of a change: which are there, which may be written next, and how each is written.

A change consists of a proposal, deltas of specs, a design and tasks. The deltas and the design need the proposal, the
tasks need both.
"""

from collections.abc import Sequence

import msgspec

from clew.errors import InvalidArgument
from clew.formats.openspec.settings import ProjectSettings
from clew.specs.library import ChangeEntry
from clew.specs.results import Artefacts, ArtefactStatus, Instructions

SCHEMA = "spec-driven"
DONE, READY, BLOCKED = "done", "ready", "blocked"


class Artefact(msgspec.Struct, frozen=True):
    id: str
    output: str
    requires: tuple[str, ...]
    about: str
    instruction: str
    template: str


ARTEFACTS: tuple[Artefact, ...] = (
    Artefact(
        "proposal",
        "proposal.md",
        (),
        "Why something shall change, and what",
        "Say in two sentences which problem this solves. List what changes, and mark what breaks users with "
        "**BREAKING**. Name every spec that is new or changes, by its id: each gets a delta. Look at the "
        "specs there are first: `clew specs`, `clew specs show ID`, `clew specs search WORDS`.",
        "# Title\n\n## Why\n\n## What Changes\n\n- \n\n## Capabilities\n\n### New Capabilities\n\n"
        "### Modified Capabilities\n\n## Impact\n",
    ),
    Artefact(
        "specs",
        "specs/**/*.md",
        ("proposal",),
        "What the specs will say",
        "Write one `specs/ID/spec.md` for each spec that the proposal names, with the sections ADDED, "
        "MODIFIED, REMOVED and RENAMED that it needs. A MODIFIED requirement repeats its whole text with all "
        "its scenarios; copy it from the spec. Every requirement says SHALL or MUST and has a scenario with "
        "WHEN and THEN. Say what can be observed, and not how it is built. Check with `clew change validate "
        "ID --strict`.",
        "## ADDED Requirements\n\n### Requirement: Name\n\nThe system SHALL ...\n\n#### Scenario: Name\n\n"
        "- **WHEN** ...\n- **THEN** ...\n",
    ),
    Artefact(
        "design",
        "design.md",
        ("proposal",),
        "How it will be built, where that is not obvious",
        "Write it where several parts change, data moves, or somebody will ask why it was done this way: the "
        "decisions, what was left out and why, the risks, and how users get from here to there. Leave it out "
        "where nothing of that is at stake.",
        "## Context\n\n## Goals and what is none\n\n## Decisions\n\n## Risks\n\n## Migration\n\n## Open questions\n",
    ),
    Artefact(
        "tasks",
        "tasks.md",
        ("specs", "design"),
        "What has to be done, step by step",
        "Write numbered tasks in groups, each small enough for one session and with an end that can be seen. "
        "Name the test of every scenario. Progress is counted by the boxes: `- [x]`.",
        "## 1. Group\n\n- [ ] 1.1 First\n- [ ] 1.2 Second\n",
    ),
)


def status(entry: ChangeEntry, settings: ProjectSettings) -> Artefacts:
    """Which artefacts of a change are there, and which may be written next."""
    there = _present(entry)
    found = tuple(
        ArtefactStatus(
            each.id,
            each.output,
            DONE if each.id in there else BLOCKED if _lacking(each, there) else READY,
            each.requires,
            tuple(_lacking(each, there)) if each.id not in there else (),
        )
        for each in ARTEFACTS
    )
    return Artefacts(
        change_name=entry.change.id,
        schema_name=_schema(entry, settings),
        is_complete=all(each.status == DONE for each in found),
        artifacts=found,
        next_steps=tuple(
            f"clew change instructions {each.id} {entry.change.id}" for each in found if each.status == READY
        ),
    )


def instructions(name: str, entry: ChangeEntry, settings: ProjectSettings) -> Instructions:
    """How one artefact of a change is written."""
    found = next((each for each in ARTEFACTS if each.id == name.strip().casefold()), None)
    if found is None:
        known = ", ".join(each.id for each in ARTEFACTS)
        raise InvalidArgument(f"'{name}' is no artefact of a change.", hint=f"Artefacts are: {known}.")
    there = _present(entry)
    return Instructions(
        change_name=entry.change.id,
        artifact_id=found.id,
        schema_name=_schema(entry, settings),
        change_dir=entry.folder,
        output_path=found.output,
        description=found.about,
        instruction=found.instruction,
        template=found.template,
        dependencies=tuple({"id": each, "done": each in there} for each in found.requires),
        unlocks=tuple(each.id for each in ARTEFACTS if found.id in each.requires),
        context=settings.context,
        rules=settings.rules.get(found.id, ()),
        notes=tuple(f"config.yaml, {problem}" for problem in settings.problems),
    )


def _present(entry: ChangeEntry) -> set[str]:
    change = entry.change
    told = {
        "proposal": change.proposal is not None,
        "specs": bool(change.deltas) or change.skips_specs,
        "design": change.design is not None,
        "tasks": change.tasks is not None,
    }
    return {name for name, is_there in told.items() if is_there}


def _lacking(artefact: Artefact, there: set[str]) -> Sequence[str]:
    return [each for each in artefact.requires if each not in there]


def _schema(entry: ChangeEntry, settings: ProjectSettings) -> str:
    metadata = entry.change.metadata
    return (metadata.schema if metadata is not None else "") or settings.schema or SCHEMA
