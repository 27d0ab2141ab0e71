"""Changes of requirements in their files, on disk and at once.

Each is a mutation that is saved in the turn in which it is made. With a safety branch, the state before can be brought
back. Afterwards the graph is read again, so that the next question sees the change.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from clew.context import Context
from clew.edit.edits import FileEdit, check_writable, diff_of
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.errors import InvalidArgument, NotFound, Refused
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Requirement
from clew.text.display import shortened
from clew.trace.edit.file_results import (
    FileChange,
    MoveResult,
    RenameResult,
    RestoreReport,
    RewriteResult,
    SafetyBranches,
)
from clew.trace.edit.mutations.at_once import MoveToEnd, ReferenceType, RewriteText
from clew.trace.edit.mutations.mutation import MutationEffect
from clew.trace.edit.mutations.rewriting import question
from clew.trace.edit.requests import LONGEST_PROMPT, ListBranches, PromptModel, RestoreBranch
from clew.trace.edit.saves import SavedAtOnce
from clew.trace.edit.service import ACTOR, MutationService
from clew.trace.files.bookkeeping import Bookkeeping
from clew.trace.read.serialize import version_of
from clew.trace.safety.branches import list_all
from clew.trace.safety.restore import restore
from clew.workspace.files import read_bytes
from clew.workspace.find import selects
from clew.workspace.git import api as git

if TYPE_CHECKING:
    from clew.ai.model import LanguageModel


class RequirementFiles:
    def __init__(self, context: Context, mutations: MutationService) -> None:
        self._context = context
        self._config, self._root = context.config, context.root
        self._mutations = mutations
        self._bookkeeping = Bookkeeping(context)

    # The operations

    def change_reference_type(self, request: ReferenceType) -> FileChange:
        """Change the kind of one requirement's reference to a target. Nothing but that citation changes."""
        outcome, saved = self._saved(request)
        return self._answer(request, outcome, saved)

    def move_requirement(self, request: MoveToEnd) -> MoveResult:
        """Put a requirement at the end of another file, new or there already, with every byte of its text."""
        outcome, saved = self._saved(request)
        change = self._answer(request, outcome, saved)
        source, target = outcome.before["source_file"], outcome.after["dest_file"]
        rest = next((edit.after or b"" for edit in saved.edits if edit.path == source), None)
        is_empty = rest is not None and not any(
            isinstance(block, Requirement) for block in read(rest, self._context.grammar).blocks
        )
        return MoveResult(**msgspec.structs.asdict(change), source_file=source, dest_file=target, source_empty=is_empty)

    def transform_with_ai(
        self, request: PromptModel, of_client: "LanguageModel | None", check: Callable[[], None]
    ) -> RewriteResult:
        """Have a language model rewrite one requirement, and save its text if it is a valid requirement."""
        from clew.ai.opening import open_model

        prompt = request.prompt.strip()
        if not prompt or len(request.prompt) > LONGEST_PROMPT:
            raise InvalidArgument(
                f"The prompt has {len(prompt)} characters; it must have 1 to {LONGEST_PROMPT}.",
                hint="Say in a few sentences what should become of the requirement.",
            )
        now = self._context.live.now()
        model = open_model(of_client, settings=now.ai, trust=now.trust)
        text, version = self._mutations.text_of(request.req_id, request.if_version)
        answer = model.answer(question(text.strip(), prompt), check)
        mutation = RewriteText(req_id=request.req_id, answer=answer, model=model.name, if_version=version)
        # The model has not seen what somebody else wrote meanwhile.
        outcome, saved = self._mutations.save_at_once(
            mutation, save_branch=request.save_branch, dry_run=request.dry_run, again=False
        )
        return RewriteResult(**msgspec.structs.asdict(self._answer(request, outcome, saved)), model=model.name)

    def rename(self, path: str, target_file: str) -> RenameResult:
        """Give a file of requirements another path, with every byte."""
        if not selects(self._root, self._config.requirements, path):
            raise NotFound(
                f"'{shortened(path)}' is not a file of requirements.",
                hint="get_node with file:PATH shows what one holds.",
            )
        target = self._mutations.files.inside(target_file)
        before = self._content(path)
        if before is None or target == path or self._content(target) is not None:
            taken = f"There is a file '{target}' already" if before is not None else f"There is no file '{path}'"
            raise Refused(f"{taken}.", hint="Name a file that is there, and a path that is free.")
        self.write([FileEdit(target, None, before), FileEdit(path, before, None)], "mutate_rename_file")
        return RenameResult(True, f"'{path}' is now '{target}'.", path, target)

    def write(self, edits: Sequence[FileEdit], operation: str, *, dry_run: bool = False) -> str:
        """Write the given edits, all or none; returns the difference."""
        self._mutations.refuse_drafted([edit.path for edit in edits])
        check_writable(self._root, edits)
        edits = self._bookkeeping.with_index(edits)
        if edits and not dry_run:
            FileTransaction(self._root, edits, EditPurpose(operation, ACTOR)).commit(self._context.store)
            self._context.keeper.refresh()
        return diff_of(edits)

    def entering(self, reason: str) -> Callable[[str, bytes, str], bytes]:
        """Adds an entry with this reason to the changelog of a requirement: id, block, hash."""

        def enter(id: str, block: bytes, hash: str) -> bytes:
            author = self._bookkeeping.signed(reason, [id])
            return self._bookkeeping.with_entry(block, hash, author, reason)

        return enter

    def restore_from_safety_branch(self, request: RestoreBranch) -> RestoreReport:
        """Restore the files of the project from a safety branch, after saving the present ones to another."""
        branch_name = request.branch_name
        self._context.keeper.ensure()
        self._mutations.demand_tip(request.if_tip_mutation_id)
        self._mutations.refuse_drafted(self._context.parts.drafted_paths())
        result = restore(self._root, branch_name, datetime.now(UTC))
        self._context.keeper.refresh()
        count = len(result.written) + len(result.removed)
        saved = f" The state before is in {result.saved_as.name}." if result.saved_as is not None else ""
        return RestoreReport(
            success=True,
            message=f"{count} files differed from {branch_name} and are as it holds them.{saved}",
            branch=branch_name,
            files_restored=result.written,
            files_restored_total=len(result.written),
            files_removed=result.removed,
            files_removed_total=len(result.removed),
            safety_branch=result.saved_as.name if result.saved_as is not None else None,
        )

    def safety_branches(self, request: ListBranches, *, offset: int = 0) -> SafetyBranches:
        found = list_all(self._root)
        page = found[offset : offset + request.limit]
        note = None if git.toplevel(self._root) is not None else "The folder is not in a git work tree."
        return SafetyBranches(branches=page, count=len(page), total=len(found), note=note)

    def _content(self, path: str) -> bytes | None:
        try:
            return read_bytes(self._root, path, limit=self._config.max_file_bytes)
        except NotFound:
            return None

    # Saving

    def _saved(self, request: ReferenceType | MoveToEnd) -> tuple[MutationEffect, SavedAtOnce]:
        return self._mutations.save_at_once(request, save_branch=request.save_branch, dry_run=request.dry_run)

    def _answer(
        self, request: ReferenceType | MoveToEnd | PromptModel, outcome: MutationEffect, saved: SavedAtOnce
    ) -> FileChange:
        done, id = outcome.message, outcome.target_id
        if not saved.edits:
            message = f"Nothing to change: {done} already."
        else:
            message = f"Would change: {done}." if request.dry_run else f"{done}."
        with self._context.lock.reading():
            node = self._context.graph.get_node(id)
            version = version_of(self._context.graph, node) if node is not None else None
        return FileChange(
            changed=bool(saved.edits) and not request.dry_run,
            message=message,
            requirement_id=id,
            files=tuple(edit.path for edit in saved.edits),
            diff=diff_of(saved.edits),
            safety_branch=saved.safety_branch,
            version=version,
            dry_run=request.dry_run,
        )
