"""Operations that look after the file: begin it, bring it up to date, repair it and merge it."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.errors import AlreadyExists, InvalidArgument, Refused
from clew.formats.register.directory import INDEX
from clew.formats.register.ids import MENTION, in_order, nearest
from clew.formats.register.model import Register, RegisterLayout
from clew.graph.readers.locations import FILE_VARIABLE, SINGLE
from clew.operation.call import Call
from clew.operation.declare import Option
from clew.operation.one_line import MANY_LINES
from clew.register.change.draft import author_of, rejection
from clew.register.change.transaction import MigrationReport, RegisterFile, new_register
from clew.register.operations.fields import RegisterOperation, read_input, register_at, register_of
from clew.register.reading import locate
from clew.register.requests import MergedFiles
from clew.register.rules.validator import validate_register
from clew.workspace.file_argument import folder_refused


class MigrateRegister(
    RegisterOperation,
    tool="req_migrate",
    verb="req migrate",
    title="Bring the file up to date",
    summary="bring a file of an older format up to date, with a backup",
    writes=True,
):
    """Brings a register of an older format to that of today and keeps a backup beside it. On a current file it does
    nothing and says so."""

    def run(self, call: Call) -> MigrationReport:
        return register_of(call).file.migrate()

    def render(self, result: MigrationReport) -> str:
        return result.message


class BeginRegister(RegisterOperation, verb="req init", summary="make a new register", writes=True, needs_config=False):
    """Makes a new register, in one file or in a folder."""

    name: Annotated[str, Meta(description="Of the project"), Option("-n")]
    output: Annotated[str | None, Meta(description="The file or folder to make"), Option("-o", metavar="PLACE")] = None
    layout: Annotated[
        Literal["single", "directory"] | None, Meta(description="One file, or many (default: single)")
    ] = None
    purpose: Annotated[str | None, Meta(description="What the project is for"), MANY_LINES] = None
    force: Annotated[bool, Meta(description="Replace what is there")] = False

    def run(self, call: Call) -> dict[str, Any]:
        place = self._place(call)
        present = (
            RegisterLayout.DIRECTORY
            if (place / INDEX).is_file()
            else RegisterLayout.SINGLE
            if place.is_file()
            else None
        )
        layout = RegisterLayout(self.layout) if self.layout else present or RegisterLayout.SINGLE
        if present not in (layout, None):
            raise InvalidArgument(
                f"{place} holds a register of the layout {present}.",
                hint="Name another place for this one with --output.",
            )
        if layout is RegisterLayout.SINGLE and place.is_dir():
            raise folder_refused(place, f"Name a file, such as {place / SINGLE}, or pass --layout directory.")
        file = RegisterFile(place, layout=layout)
        register = msgspec.structs.replace(
            new_register(self.name, author_of(call), purpose=self.purpose), layout=layout
        )
        kept = file.create(register, force=self.force)
        made = {"created": str(file.place), "name": self.name, "layout": layout.value}
        return made if kept is None else {**made, "kept": str(kept)}

    def _place(self, call: Call) -> Path:
        """The path of a new register. One at the root hides those in folders below, so it must be asked for."""
        if self.output:
            return Path(self.output).absolute()
        if "file" in call.options:
            return register_of(call).file.place
        root = call.project.config.root
        place = locate(root)
        further_down = place not in (root, root / SINGLE)
        if further_down and place.exists() and not os.environ.get(FILE_VARIABLE, "").strip():
            raise AlreadyExists(
                f"The project has a register already: {place}.",
                hint=f"Choose the place with --output: that one, or {SINGLE}, which would hide it.",
            )
        return place

    def render(self, result: dict[str, Any]) -> str:
        before = f" What was there is now {result['kept']}." if "kept" in result else ""
        return f"Made {result['created']}.{before} Next: clew req add, clew req setup."


class RepairRegister(
    RegisterOperation, verb="req repair", summary="accept a file that was edited by hand", writes=True
):
    """Renews the checksum of a file that was edited by hand."""

    confirm_direct_edit: Annotated[bool, Meta(description="Confirm that the edit by hand was intended")] = False
    force: Annotated[bool, Meta(description="Accept it although the validator has errors")] = False

    def run(self, call: Call) -> dict[str, Any]:
        if not self.confirm_direct_edit:
            raise Refused(
                "Repair accepts whatever the file holds now.",
                hint="Look at `git diff` first, then pass --confirm-direct-edit.",
            )

        def check(register: Register) -> None:
            errors = [each for each in validate_register(register) if each.is_error]
            if errors and not self.force:
                raise rejection(errors)

        file = register_of(call).file
        repaired = file.repair(author_of(call), check)
        return {"repaired": str(file.place), "requirements": len(repaired.requirements)}

    def render(self, result: dict[str, Any]) -> str:
        return f"Renewed the checksum of {result['repaired']}."


class CheckMessage(
    RegisterOperation,
    verb="req check-message",
    summary="check that a commit message names only requirements that exist",
):
    """Runs as the commit-msg hook of git: an id that nobody has is a typing error, or a requirement that was lost."""

    message: Annotated[
        str, Meta(description="The message, or - for standard input"), Option(positional=True, metavar="FILE")
    ]

    def run(self, call: Call) -> dict[str, Any]:
        text = read_input(self.message).decode("utf-8", "replace")
        said = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        known = register_of(call).register.requirements
        unknown = in_order(set(MENTION.findall(said)) - known.keys())
        return {"ok": not unknown, "unknown": {id: nearest(id, known) for id in unknown}}

    def render(self, result: dict[str, Any]) -> str:
        lines = [
            f"There is no requirement {id}." + (f" Did you mean {near}?" if near else "")
            for id, near in result["unknown"].items()
        ]
        return "\n".join(lines) or "Every id in the message exists."

    def exit_code(self, result: dict[str, Any]) -> int:
        return 0 if result["ok"] else 1


class MergeOperation(RegisterOperation):
    """Common base of the merge of branches and the merge driver of git."""

    def render(self, result: dict[str, Any]) -> str:
        from clew.register.git.merge_report import merged_text

        return merged_text(result)

    def exit_code(self, result: dict[str, Any]) -> int:
        return 0 if result["merged"] else 1


class MergeBranch(
    MergeOperation,
    verb="req merge",
    summary="merge the register of another branch, or of the merge that git is in the middle of",
    writes=True,
):
    """Merges the register of another branch."""

    branch: Annotated[str | None, Meta(description="A branch, tag or commit"), Option(positional=True)] = None

    def run(self, call: Call) -> dict[str, Any]:
        from clew.register.git.merge_report import reported

        register = register_of(call)
        return reported(register.merge_branch(author_of(call), self.branch), register, register.file.place.name)


class MergeVersions(
    MergedFiles,
    MergeOperation,
    verb="req merge-driver",
    summary="merge two versions of a register, as git calls it",
    writes=True,
    needs_config=False,
):
    """Merges two versions of a register where git calls it: in the work tree, in the middle of a merge."""

    def run(self, call: Call) -> dict[str, Any]:
        from clew.register.git.merge_report import merge_files

        return merge_files(self, register_at(call, SINGLE), author_of(call))
