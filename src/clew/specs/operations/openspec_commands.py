"""Commands that users of OpenSpec know: the meaning of a change, taking one back, one form of specs, artefacts."""

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Meta

from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, Option, Toolset
from clew.specs import results
from clew.specs.requests import ChangeId
from clew.text.display import counted
from clew.text.terminal import coloured

_SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow"), "renamed": ("→", "cyan")}


def _sign(change: str) -> str:
    sign, style = _SIGNS.get(change, ("=", "dim"))
    return coloured(sign, style)


class DiffChange(
    Operation,
    verb="change diff",
    toolset=Toolset.SPECS,
    summary="the effect of a change: requirements, scenarios and steps that are added, removed or reworded",
    epilog="clew change diff add-neap-warning",
):
    """Compares what a change says with the specs in force, by meaning: blank lines and wrapping are no difference."""

    change_id: ChangeId

    def run(self, call: Call) -> results.ChangeMeaning:
        return call.project.specs.meaning(self.change_id)

    def render(self, result: results.ChangeMeaning) -> str:
        return "\n".join(self._lines(result)) or "It changes no spec."

    def _lines(self, found: results.ChangeMeaning) -> Iterator[str]:
        for spec in found.specs:
            yield coloured(spec.spec_id, "bold") + (coloured("  new", "green") if spec.is_new else "")
            for each in spec.requirements:
                former = f"  (was {each.before})" if each.before else ""
                note = f"  {coloured(each.note, 'dim')}" if each.note else ""
                yield f"  {_sign(each.change)} {each.name}{former}{note}"
                yield from _meanings(each.statement, "      ")
                for scenario in each.scenarios:
                    yield f"    {_sign(scenario.change)} {scenario.name}"
                    yield from _meanings(scenario.steps, "        ")


def _meanings(found: tuple[results.MeaningChange, ...], margin: str) -> Iterator[str]:
    for each in found:
        if each.before is not None:
            yield f"{margin}{coloured('-', 'red')} {each.before}"
        sign = "+" if each.change != "removed" else "-"
        yield f"{margin}{coloured(sign, 'green' if sign == '+' else 'red')} {each.text}"


class UnarchiveChange(
    Operation,
    verb="change unarchive",
    toolset=Toolset.SPECS,
    summary="take an archived change back: its folder, and the specs as they were before",
    epilog="clew change unarchive add-neap-warning --dry-run",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
):
    """Moves a change out of the archive and puts the specs back, as one transaction. Refused where a spec was changed
    since, or where nobody knows what it was before."""

    change_id: Annotated[
        str,
        Meta(min_length=1, description="Such as add-login, or the folder's name with its date"),
        Option(positional=True),
    ]
    dry_run: Annotated[bool, Meta(description="Print the difference, write nothing")] = False
    keep_specs: Annotated[bool, Meta(description="Only move the folder")] = False

    def run(self, call: Call) -> results.Unarchived:
        return call.project.specs.unarchive(self.change_id, keep_specs=self.keep_specs, dry_run=self.dry_run)

    def render(self, result: results.Unarchived) -> str:
        done = "Nothing was written." if result.dry_run else f"{result.change_id} is open again, in {result.folder}."
        return f"{result.diff}\n{done}" if result.diff else done


class FormatSpecs(
    Operation,
    verb="specs format",
    toolset=Toolset.SPECS,
    summary="write specs in one form: headings, blank lines and steps; no word changes",
    epilog="clew specs format --check\nclew specs format passage-windows --dry-run",
    needs=Freshness.NONE,
    writes=True,
):
    """Brings specs into one form. A file is written only where it says the same afterwards."""

    spec_id: Annotated[str | None, Meta(description="Only this one"), Option(positional=True)] = None
    dry_run: Annotated[bool, Meta(description="Print the difference, write nothing")] = False
    check: Annotated[bool, Meta(description="Write nothing; exit code 1 if anything would be written")] = False

    def run(self, call: Call) -> results.Formatted:
        return call.project.specs.format(self.spec_id, write=not (self.dry_run or self.check))

    def render(self, result: results.Formatted) -> str:
        shown = [result.diff.rstrip("\n")] if self.dry_run and result.diff else list(result.files)
        word = "written" if result.written else "would be written"
        skipped = (coloured(f"not changed: {path}", "yellow") for path in result.skipped)
        return "\n".join((*shown, *skipped, f"{counted(len(result.files), 'file')} of {result.looked_at} {word}"))

    def exit_code(self, result: results.Formatted) -> int:
        return 1 if self.check and result.files else 0


class ShowArtefacts(
    Operation,
    verb="change artefacts",
    aliases=("artifacts",),
    toolset=Toolset.SPECS,
    summary="the artefacts of a change, and the next ones to write",
    epilog="clew change artefacts add-neap-warning --json",
):
    """Proposal, specs, design and tasks of a change, or what the project's own schema names: done, ready to be written,
    or blocked by what they require. With --json in the words of `openspec status`."""

    change_id: ChangeId

    def run(self, call: Call) -> results.Artefacts:
        return call.project.specs.artefacts(self.change_id)

    def render(self, result: results.Artefacts) -> str:
        styles = {"done": "green", "ready": "yellow", "blocked": "dim"}
        lines = [
            f"{coloured(each.status, styles[each.status])}  {each.id}  {coloured(each.output_path, 'dim')}"
            + (f"  waits for {', '.join(each.missing_deps)}" if each.missing_deps else "")
            for each in result.artifacts
        ]
        return "\n".join((*lines, *result.next_steps))


def _applying(given: results.ApplyInstructions) -> str:
    files = (f"{id}: {', '.join(paths)}" for id, paths in given.context_files.items())
    tasks = (f"- [{'x' if each['done'] else ' '}] {each['description']}" for each in given.tasks)
    progress = f"{given.progress['complete']} of {given.progress['total']} tasks done"
    context = f"\nThe project says:\n{given.context}" if isinstance(given.context, str) else ""
    return "\n".join((*files, progress, *tasks, given.instruction)) + context


class ShowInstructions(
    Operation,
    verb="change instructions",
    toolset=Toolset.SPECS,
    summary="instructions for an artefact of a change, with a template",
    epilog="clew change instructions proposal add-neap-warning",
):
    """Instructions for one artefact: a template, the artefacts that must exist first and those that it unlocks. With
    --json in the form of `openspec instructions`."""

    artefact: Annotated[
        str,
        Meta(description="proposal, specs, design or tasks, or what the schema of the project names; or apply"),
        Option(positional=True),
    ]
    change_id: ChangeId

    def run(self, call: Call) -> Any:
        return call.project.specs.instructions(self.artefact, self.change_id)

    def messages(self, result: results.Instructions | results.ApplyInstructions) -> tuple[str, ...]:
        return result.notes if isinstance(result, results.Instructions) else ()

    def render(self, result: results.Instructions | results.ApplyInstructions) -> str:
        if isinstance(result, results.ApplyInstructions):
            return _applying(result)
        lacking = [str(each["id"]) for each in result.dependencies if not each["done"]]
        first = f"\nFirst write: {', '.join(lacking)}." if lacking else ""
        head = f"{result.change_dir}/{result.output_path}: {result.description}"
        context = f"\n\nThe project says:\n{result.context}" if result.context else ""
        rules = "".join(f"\n- {rule}" for rule in result.rules)
        asked = f"\n\nThe project asks of it:{rules}" if rules else ""
        return f"{head}\n\n{result.instruction}{first}{context}{asked}\n\n{result.template}".rstrip()
