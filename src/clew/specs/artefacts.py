"""The artefacts of a change: which are there, which may be written next, and how each is written.

A change consists of a proposal, deltas of specs, a design and tasks. The deltas and the design need the proposal, the
tasks need both. A project may say otherwise by a schema of its own, in `openspec/schemas`, and so may its user, in the
folder where OpenSpec looks for schemas of a user. The project names a schema, and never a path.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from clew.context import Context
from clew.errors import FormatError, InvalidArgument, NotFound
from clew.formats.openspec.schemas import FILE, FOLDER, NAME, TEMPLATES, Applying, read_schema
from clew.formats.openspec.settings import ProjectSettings
from clew.formats.openspec.tasks import Task, read_tasks
from clew.specs.library import ChangeEntry
from clew.specs.results import (
    ApplyInstructions,
    Artefacts,
    ArtefactStatus,
    Instructions,
    OutputPaths,
    PlanningHome,
)
from clew.trust import own_folder
from clew.workspace.files import read_bytes
from clew.workspace.find import Selection, names_in, scan

SCHEMA = "spec-driven"
DONE, READY, BLOCKED = "done", "ready", "blocked"
APPLY = "apply"
"""The instructions for carrying out a change, which are requested as if they were an artefact."""


class Artefact(msgspec.Struct, frozen=True):
    id: str
    output: str
    requires: tuple[str, ...]
    about: str
    instruction: str
    template: str
    """Its text; of a schema that is not built in, the path of the file that holds it."""


class Workflow(msgspec.Struct, frozen=True):
    """The artefacts that the changes of a project have."""

    schema: str
    artefacts: tuple[Artefact, ...]
    applying: Applying = Applying(("tasks",), "tasks.md")
    place: Path | None = None
    """Below which the templates are; None for the schema that is built in."""


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
        "## Context\n\n## Goals and non-goals\n\n## Decisions\n\n## Risks\n\n## Migration\n\n## Open questions\n",
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


def status(entry: ChangeEntry, settings: ProjectSettings, context: Context) -> Artefacts:
    """The artefacts of a change that exist, and those that may be written next."""
    flow = _workflow(entry, settings, context)
    there = _present(entry, flow, context)
    found = tuple(
        ArtefactStatus(
            each.id,
            each.output,
            DONE if each.id in there else BLOCKED if _lacking(each, there) else READY,
            each.requires,
            tuple(_lacking(each, there)) if each.id not in there else (),
        )
        for each in flow.artefacts
    )
    is_complete = all(each.status == DONE for each in found)
    return Artefacts(
        change_name=entry.change.id,
        schema_name=flow.schema,
        planning_home=_home(entry, settings, context),
        change_root=str(context.root / entry.folder),
        is_complete=is_complete,
        is_planning_complete=is_complete,
        artifacts=found,
        artifact_paths={
            each.id: OutputPaths(each.output, *_written_to(entry, each.output, context)) for each in flow.artefacts
        },
        action_context={
            "mode": "repo-local",
            "sourceOfTruth": "repo",
            "planningArtifacts": [each.id for each in flow.artefacts],
            "linkedContext": [],
            "allowedEditRoots": [str(context.root)],
            "requiresAffectedAreaSelection": False,
            "constraints": ["The change and what carries it out stay inside this project."],
        },
        next_steps=tuple(
            f"clew change instructions {each.id} {entry.change.id}" for each in found if each.status == READY
        )
        or ((f"clew change instructions {APPLY} {entry.change.id}",) if is_complete else ()),
        apply_requires=flow.applying.requires,
    )


def instructions(name: str, entry: ChangeEntry, settings: ProjectSettings, context: Context) -> Instructions:
    """Instructions for one artefact of a change."""
    flow = _workflow(entry, settings, context)
    by_id = {each.id: each for each in flow.artefacts}
    found = by_id.get(name.strip()) or by_id.get(name.strip().casefold())
    if found is None:
        known = ", ".join((*by_id, APPLY))
        raise InvalidArgument(f"'{name}' is not an artefact of a change.", hint=f"There are instructions for: {known}.")
    there = _present(entry, flow, context)
    notes = [f"config.yaml, {problem}" for problem in settings.problems]
    template = found.template
    if flow.place is not None:
        if (flow.place / template).is_file():
            data = read_bytes(flow.place, template, limit=context.config.max_file_bytes)
            template = data.decode("utf-8", "replace")
        else:
            notes.append(f"There is no template {template}.")
            template = ""
    goes_to, written = _written_to(entry, found.output, context)
    return Instructions(
        change_name=entry.change.id,
        artifact_id=found.id,
        schema_name=flow.schema,
        change_dir=str(context.root / entry.folder),
        planning_home=_home(entry, settings, context),
        output_path=found.output,
        resolved_output_path=goes_to,
        existing_output_paths=written,
        description=found.about,
        instruction=found.instruction,
        template=template,
        dependencies=tuple(
            {"id": each, "done": each in there, "path": by_id[each].output, "description": by_id[each].about}
            for each in found.requires
        ),
        unlocks=tuple(each.id for each in flow.artefacts if found.id in each.requires),
        context=settings.context,
        rules=settings.rules.get(found.id, ()),
        notes=tuple(notes),
    )


def applying(entry: ChangeEntry, settings: ProjectSettings, context: Context) -> ApplyInstructions:
    """Instructions for carrying out a change: files to read, open tasks, and artefacts that are missing before it can
    begin."""
    flow = _workflow(entry, settings, context)
    there = _present(entry, flow, context)
    missing = tuple(each for each in flow.applying.requires if each not in there)
    tracked = _written_to(entry, flow.applying.tracks, context)[1] if flow.applying.tracks else ()
    tasks = [each for path in tracked for each in _tasks(path, context)]
    done = sum(each.done for each in tasks)
    state, instruction = _state(flow.applying, missing, tracked, len(tasks), done)
    needed = tuple(each.id for each in flow.artefacts if each.id in _needed(flow) and each.id not in there)
    outputs = {each.id: _written_to(entry, each.output, context)[1] for each in flow.artefacts}
    return ApplyInstructions(
        change_name=entry.change.id,
        change_dir=str(context.root / entry.folder),
        schema_name=flow.schema,
        context_files={id: paths for id, paths in outputs.items() if paths},
        progress={"total": len(tasks), "complete": done, "remaining": len(tasks) - done},
        tasks=tuple(
            {"id": str(number), "description": f"{each.number} {each.text}".strip(), "done": each.done}
            for number, each in enumerate(tasks, start=1)
        ),
        task_tracking_configured=bool(flow.applying.tracks),
        state=state,
        missing_artifacts=missing or msgspec.UNSET,
        missing_prerequisites=needed or msgspec.UNSET,
        instruction=instruction,
        context=settings.context or msgspec.UNSET,
    )


def _state(how: Applying, missing: Sequence[str], tracked: Sequence[str], total: int, done: int) -> tuple[str, str]:
    if missing:
        return BLOCKED, f"Write first: {', '.join(missing)}. `clew change instructions` tells how."
    if how.tracks and not total:
        lack = "has no task" if tracked else "is missing"
        return BLOCKED, f"{how.tracks} {lack}. Write the tasks, then begin."
    if how.tracks and done == total:
        return "all_done", "All tasks are done. Run the tests, look at the change once more, and archive it."
    usual = (
        "Read the files above, do one task after another, and tick each when it is done. Ask if something is unclear."
    )
    return READY, how.instruction or usual


def _needed(flow: Workflow) -> set[str]:
    """The artefacts that must exist before a change is carried out, with their own requirements."""
    by_id = {each.id: each for each in flow.artefacts}
    found: set[str] = set()
    waiting = list(flow.applying.requires)
    while waiting:
        if (id := waiting.pop()) not in found and id in by_id:
            found.add(id)
            waiting += by_id[id].requires
    return found


def _tasks(path: str, context: Context) -> Sequence[Task]:
    relative = Path(path).relative_to(context.root).as_posix()
    return read_tasks(read_bytes(context.root, relative, limit=context.config.max_file_bytes)).items


def _home(entry: ChangeEntry, settings: ProjectSettings, context: Context) -> PlanningHome:
    changes = context.root / entry.folder.rpartition("/")[0]
    return PlanningHome("repo", str(context.root), str(changes), settings.schema or SCHEMA)


def _written_to(entry: ChangeEntry, output: str, context: Context) -> tuple[str, tuple[str, ...]]:
    """The path of an output, and its files."""
    folder = context.root / entry.folder
    return str(folder / output), tuple(str(context.root / path) for path in _files(entry, output, context))


def _workflow(entry: ChangeEntry, settings: ProjectSettings, context: Context) -> Workflow:
    """The workflow of a change's schema: one of the project's own, one of the user's, or the built-in one."""
    metadata = entry.change.metadata
    name = (metadata.schema if metadata is not None else "") or settings.schema or SCHEMA
    folder = f"{entry.root.specs.rpartition('/')[0]}/{FOLDER}".lstrip("/")
    found = next(_places(name, folder, context), None)
    if found is None:
        if name == SCHEMA:
            return Workflow(SCHEMA, ARTEFACTS)
        own = ", ".join(dict.fromkeys((*_schemas(context.root / folder), *_schemas(_of_user()), SCHEMA)))
        raise NotFound(
            f"The change follows the schema '{name}', and there is no {folder}/{name}/{FILE}.",
            hint=f"Schemas here: {own}. Copy that one into {folder}, or name another in .openspec.yaml of the change.",
        )
    place, prefix = found
    schema = read_schema(read_bytes(place, f"{prefix}{FILE}", limit=context.config.max_file_bytes))
    if schema.problems:
        said = f"{prefix or f'{place}/'}{FILE}"
        raise FormatError(f"{said} cannot be used: {'; '.join(schema.problems[:3])}.", hint="Correct the file.")
    every = tuple(each.id for each in schema.artefacts)
    return Workflow(
        schema.name,
        tuple(
            Artefact(
                *(each.id, each.generates, each.requires, each.description, each.instruction),
                f"{prefix}{TEMPLATES}/{each.template}",
            )
            for each in schema.artefacts
        ),
        schema.applying if schema.applying.requires else msgspec.structs.replace(schema.applying, requires=every),
        place,
    )


def _places(name: str, folder: str, context: Context) -> Iterator[tuple[Path, str]]:
    """The places of a schema with this name: a folder that no path of the schema may leave, and the schema's path in
    it."""
    if NAME.fullmatch(name) is None:
        return
    if (context.root / folder / name / FILE).is_file():
        yield context.root, f"{folder}/{name}/"
    of_user = _of_user() / name
    if (of_user / FILE).is_file():
        yield of_user.resolve(), ""


def _of_user() -> Path:
    """The folder in which OpenSpec looks for schemas of a user."""
    return own_folder("XDG_DATA_HOME", "LOCALAPPDATA", ".local/share") / "openspec" / FOLDER


def _schemas(folder: Path) -> list[str]:
    names = (name for name in names_in(folder) if NAME.fullmatch(name))
    return [name for name in names if (folder / name / FILE).is_file()]


def _present(entry: ChangeEntry, flow: Workflow, context: Context) -> set[str]:
    change = entry.change
    if flow.place is not None:
        return {
            each.id
            for each in flow.artefacts
            if (each.output.startswith("specs/") and change.skips_specs) or _files(entry, each.output, context)
        }
    present = {
        "proposal": change.proposal is not None,
        "specs": bool(change.deltas) or change.skips_specs,
        "design": change.design is not None,
        "tasks": change.tasks is not None,
    }
    return {name for name, is_there in present.items() if is_there}


def _files(entry: ChangeEntry, output: str, context: Context) -> list[str]:
    wanted = Selection(folders=(), patterns=(), globs=(f"{entry.folder}/{output}",))
    return sorted(each.path for each in scan(context.root, wanted).files)


def _lacking(artefact: Artefact, there: set[str]) -> Sequence[str]:
    return [each for each in artefact.requires if each not in there]
