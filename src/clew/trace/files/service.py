"""Changing requirements in their files, on disk and at once.

Every operation reads the file as it is now, changes one requirement, reads the result again and refuses to write
anything in which another block differs. With a safety branch, the state before can be brought back. Afterwards the
graph is read again, so that the next question sees the change.

The edits themselves are small, but files are not always sound: a code fence that is never closed, or a requirement
without End marker, can make a harmless edit change how its neighbours are read. Such an edit is refused.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from clew.ai.model import Model
from clew.ai.opening import open_model
from clew.context import Context
from clew.edit.edits import FileEdit, check_writable, diff_of
from clew.edit.transaction import Purpose, Transaction
from clew.errors import Conflict, InvalidArgument, NotFound, Refused, WrongKind
from clew.formats.elspais.ids.grammar import IdGrammar, ParsedReference
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import FileRecords, Journey, Remainder, Requirement
from clew.formats.elspais.write.blocks import with_block, without_block
from clew.formats.elspais.write.edits import with_reference_kind
from clew.graph.model import Node
from clew.text.display import shortened
from clew.trace.files.bookkeeping import Bookkeeping
from clew.trace.files.results import FileChange, FileRenamed, Moved, RestoreReport, Rewritten, SafetyBranches
from clew.trace.files.rewriting import LONGEST_PROMPT, Original, question, rewritten
from clew.trace.read.resolve import Resolver
from clew.trace.read.serialize import requirement_full
from clew.trace.safety.branches import create, list_all
from clew.trace.safety.restore import restore
from clew.workspace.files import path_inside, read_bytes, resolve
from clew.workspace.find import selects
from clew.workspace.git import api as git

if TYPE_CHECKING:
    from clew.trace.operations.files import ChangeReferenceType, FileOperation, MoveRequirement, TransformWithAi

KINDS = ("implements", "refines")
ACTOR = "clew"
"""Who is recorded to have changed a file."""


class Located(msgspec.Struct, frozen=True):
    """A requirement and the file it stands in, as both are now."""

    node: Node
    path: str
    data: bytes
    records: FileRecords
    record: Requirement

    @property
    def block(self) -> bytes:
        return self.data[self.record.span.start : self.record.span.end]

    def with_block(self, block: bytes) -> bytes:
        """The file with another block in the place of this one."""
        return self.data[: self.record.span.start] + block + self.data[self.record.span.end :]


def expect_others(found: Located, after: bytes, grammar: IdGrammar) -> None:
    """The edited file holds the same blocks, and all but the one are unchanged."""
    start = found.record.span.start
    before, now = found.records.blocks, read(after, grammar).blocks
    unchanged = [block.raw for block in now if block.span.start != start or not isinstance(block, Requirement)]
    if len(now) != len(before) or unchanged != [block.raw for block in before if block is not found.record]:
        raise _would_harm(found.path)


def expect_arrival(found: Located, target: str, before: bytes, after: bytes, grammar: IdGrammar) -> None:
    """The file that a requirement moved to holds what it held, and the requirement at its end."""
    present, now = _blocks(read(before, grammar)), _blocks(read(after, grammar))
    if any(block.id == found.record.id for block in present):
        raise Conflict(f"'{target}' holds {found.record.id} already.", hint="Give one of the two another id.")
    if [block.raw for block in now[:-1]] != [block.raw for block in present] or not now:
        raise _would_harm(target)
    arrived = now[-1]
    if arrived.id != found.record.id or arrived.raw.rstrip("\r\n") != found.record.raw.rstrip("\r\n"):
        raise _would_harm(target)


def expect_rest(found: Located, rest: bytes, grammar: IdGrammar) -> None:
    """The file that a requirement came from holds everything else."""
    left = [block.raw for block in _blocks(found.records) if block is not found.record]
    now = read(rest, grammar)
    if [block.raw for block in _blocks(now)] != left or _prose(now) != _prose(found.records):
        raise _would_harm(found.path)


def _blocks(records: FileRecords) -> list[Requirement | Journey]:
    return [block for block in records.blocks if not isinstance(block, Remainder)]


def _prose(records: FileRecords) -> list[str]:
    """The free text of a file, line by line, without what only sets blocks apart."""
    texts = [block.raw for block in records.blocks if isinstance(block, Remainder)]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return [line for line in lines if line not in ("", "---", "\ufeff")]


def _would_harm(path: str) -> Refused:
    return Refused(
        f"The change would alter how other text of '{path}' is read, so nothing was written.",
        hint="Mend it first: a code fence may never be closed, or a requirement may have no End marker.",
    )


class RequirementFiles:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._config, self._root = context.config, context.root
        self._live = context.live
        self._graph, self._grammar, self._lock = context.graph, context.grammar, context.lock
        self._store = context.store
        self._resolver = Resolver(self._graph, self._grammar)
        self._bookkeeping = Bookkeeping(context)

    # The operations

    def change_reference_type(self, request: "ChangeReferenceType") -> FileChange:
        """Let one requirement cite a target in another way. Nothing but that citation changes."""
        kind, target_id = request.new_type.strip().casefold(), request.target_id.strip()
        if kind not in KINDS:
            raise InvalidArgument(
                f"'{shortened(request.new_type)}' is no type of reference between requirements.",
                hint=f"Pass one of: {', '.join(KINDS)}.",
            )
        found = self._locate(request)
        target = self._grammar.parse_reference(target_id) or ParsedReference(target_id)
        self._check_cited(found, target, kind)
        after = found.with_block(with_reference_kind(found.block, self._grammar, target, kind))
        expect_others(found, after, self._grammar)
        edits = [FileEdit(found.path, found.data, after)] if after != found.data else []
        done = f"{found.node.id} {kind} {target_id}"
        return self._carry_out(found, edits, request, done)

    def move_requirement(self, request: "MoveRequirement") -> Moved:
        """Put a requirement at the end of another file, new or there already, with every byte of its text."""
        found = self._locate(request)
        target = self._target(request.target_file)
        if target == found.path:
            change = self._carry_out(found, [], request, f"{found.node.id} stands in {target}")
            return _moved(change, found.path, target, is_empty=False)
        before = self._content(target)
        after = with_block(before or b"", found.block)
        rest = without_block(found.data, found.record.span)
        expect_arrival(found, target, before or b"", after, self._grammar)
        expect_rest(found, rest, self._grammar)
        # First the new place: whatever happens in between, the requirement is somewhere.
        edits = [FileEdit(target, before, after), FileEdit(found.path, found.data, rest)]
        done = f"Moved {found.node.id} from {found.path} to {target}"
        change = self._carry_out(found, edits, request, done)
        left = any(isinstance(block, Requirement) for block in read(rest, self._grammar).blocks)
        return _moved(change, found.path, target, is_empty=not left)

    def transform_with_ai(
        self, request: "TransformWithAi", of_client: Model | None, check: Callable[[], None]
    ) -> Rewritten:
        """Have a language model rewrite one requirement, and take its text over if it is a sound one."""
        prompt = request.prompt.strip()
        if not prompt or len(request.prompt) > LONGEST_PROMPT:
            raise InvalidArgument(
                f"The prompt has {len(prompt)} characters; it must have 1 to {LONGEST_PROMPT}.",
                hint="Say in a few sentences what should become of the requirement.",
            )
        now = self._live.now()
        model = open_model(of_client, settings=now.ai, trust=now.trust)
        found = self._locate(request)
        if not _is_utf8(found.data):
            raise Refused(f"'{found.path}' is not UTF-8; a model cannot be shown it.", hint="Save it as UTF-8.")
        answer = model.answer(question(found.record.raw.strip(), prompt), check)
        with self._lock.reading():
            original = Original(found.record, found.block)
            block = rewritten(answer, original, self._grammar, self._graph, found.node.id)
        after = found.with_block(block)
        expect_others(found, after, self._grammar)
        edits = [FileEdit(found.path, found.data, after)] if after != found.data else []
        done = f"{model.name} rewrote {found.node.id}; its hash stays stale until the text is reviewed"
        change = self._carry_out(found, edits, request, done)
        return Rewritten(**msgspec.structs.asdict(change), model=model.name)

    def rename(self, path: str, target_file: str) -> FileRenamed:
        """Give a file of requirements another path, with every byte."""
        if not selects(self._root, self._config.requirements, path):
            raise NotFound(
                f"'{shortened(path)}' is no file of requirements.", hint="get_node with file:PATH shows what one holds."
            )
        target = self._target(target_file)
        before = self._content(path)
        if before is None or target == path or self._content(target) is not None:
            taken = f"There is a file '{target}' already" if before is not None else f"There is no file '{path}'"
            raise Refused(f"{taken}.", hint="Name a file that is there, and a path that is free.")
        self.write([FileEdit(target, None, before), FileEdit(path, before, None)], "mutate_rename_file")
        return FileRenamed(True, f"'{path}' is now '{target}'.", path, target)

    def write(self, edits: Sequence[FileEdit], operation: str, *, dry_run: bool = False) -> str:
        """Write edits that were made elsewhere, all or none; returns the difference."""
        self._refuse_drafts([edit.path for edit in edits])
        check_writable(self._root, edits)
        edits = self._bookkeeping.with_index(edits)
        if edits and not dry_run:
            Transaction(self._root, edits, Purpose(operation, ACTOR)).commit(self._store)
            self._context.keeper.refresh()
        return diff_of(edits)

    def entering(self, reason: str) -> Callable[[str, bytes, str], bytes]:
        """Adds an entry with this reason to the changelog of a requirement: id, block, hash."""

        def enter(id: str, block: bytes, hash: str) -> bytes:
            author = self._bookkeeping.signed(reason, [id])
            return self._bookkeeping.with_entry(block, hash, author, reason)

        return enter

    def restore_from_safety_branch(self, branch_name: str) -> RestoreReport:
        """Bring back the files of the project as a safety branch holds them, after saving them as they are."""
        self._context.keeper.ensure()
        self._refuse_drafts(self._context.drafted_paths())
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

    def safety_branches(self, *, offset: int = 0, limit: int = 50) -> SafetyBranches:
        found = list_all(self._root)
        page = found[offset : offset + limit]
        note = None if git.toplevel(self._root) is not None else "The folder is not in a git work tree."
        return SafetyBranches(branches=page, count=len(page), total=len(found), note=note)

    # Finding the place

    def _locate(self, request: "FileOperation") -> Located:
        self._context.keeper.ensure()
        with self._lock.reading():
            node = self._resolver.requirement(request.req_id)
            version = requirement_full(self._graph, node).version
        if request.if_version is not None and request.if_version != version:
            raise Conflict(
                f"{node.id} has version {version}, not {request.if_version}.",
                hint="Read it again with get_requirement, then repeat the call.",
                data={"node_id": node.id, "current_version": version},
            )
        if node.source is None:
            raise Refused(f"{node.id} stands in no file yet.", hint="save_mutations writes drafts into files.")
        path = node.source.path
        if not selects(self._root, self._config.requirements, path):
            raise WrongKind(
                f"{node.id} stands in '{path}', which is no file of the folders in [requirements] of clew.toml.",
                hint="Only those can be changed here. req_update changes a register; the spec of another tool is "
                "changed by one of its changes, or in an editor.",
            )
        self._refuse_drafts([path])
        data = read_bytes(self._root, path, limit=self._config.max_file_bytes)
        records = read(data, self._grammar)
        written = node.get_field("original_id", node.id)
        same = [block for block in records.blocks if isinstance(block, Requirement) and block.id == written]
        record = next((block for block in same if len(same) == 1 or block.span.line == node.source.line), None)
        if record is None:
            raise Conflict(f"'{path}' changed while it was being edited.", hint="Repeat the call.")
        return Located(node, path, data, records, record)

    def _target(self, target_file: str) -> str:
        place = resolve(self._root, target_file.strip())
        path = path_inside(self._root, target_file.strip())
        if place.is_dir():
            raise InvalidArgument(f"'{target_file}' is a folder.", hint="Name a file, such as spec/moved.md.")
        selection = self._config.requirements
        if not selects(self._root, selection, path):
            raise InvalidArgument(
                f"'{path}' is not read as requirements, so the requirement would vanish from the graph.",
                hint=f"Folders are {', '.join(selection.folders)}; names are {', '.join(selection.patterns)}.",
            )
        return path

    def _content(self, path: str) -> bytes | None:
        try:
            return read_bytes(self._root, path, limit=self._config.max_file_bytes)
        except NotFound:
            return None

    # Refusing

    def _check_cited(self, found: Located, target: ParsedReference, kind: str) -> None:
        meant = [
            reference
            for reference in found.record.references
            if reference.target == target.target and (not target.labels or set(reference.labels) == set(target.labels))
        ]
        if not meant:
            cited = ", ".join(reference.written for reference in found.record.references) or "nothing"
            raise NotFound(
                f"{found.node.id} does not cite '{target.target}'.", hint=f"It cites {cited}; mutate_add_edge adds one."
            )
        already = {reference.labels for reference in meant if reference.kind == kind}
        if any(reference.labels in already for reference in meant if reference.kind != kind):
            raise Refused(
                f"{found.node.id} cites {target.target} both ways; as {kind} it stands there already.",
                hint="mutate_delete_edge removes one of them.",
            )

    def _refuse_drafts(self, paths: Collection[str]) -> None:
        waiting = sorted(set(paths) & set(self._context.drafted_paths()))
        if waiting:
            raise Refused(
                f"Unsaved drafts are about to change '{waiting[0]}'.",
                hint="save_mutations writes them, undo_last_mutation takes them back; then repeat the call.",
            )

    # Doing it

    def _carry_out(self, found: Located, edits: list[FileEdit], request: "FileOperation", done: str) -> FileChange:
        self._refuse_drafts([edit.path for edit in edits])
        check_writable(self._root, edits)
        edits = self._bookkeeping.with_index(edits)
        paths = tuple(edit.path for edit in edits)
        branch = None
        if edits and not request.dry_run:
            if request.save_branch:
                there = [edit.path for edit in edits if edit.before is not None]
                branch = create(self._root, found.node.id, datetime.now(UTC), also=there).name
            facts = {"requirement_id": found.node.id, "safety_branch": branch}
            Transaction(self._root, edits, Purpose(request.about.tool or "", ACTOR, facts)).commit(self._store)
            self._context.keeper.refresh()
        if not edits:
            message = f"Nothing to change: {done} already."
        else:
            message = f"Would change: {done}." if request.dry_run else f"{done}."
        return FileChange(
            changed=bool(edits) and not request.dry_run,
            message=message,
            requirement_id=found.node.id,
            files=paths,
            diff=diff_of(edits),
            safety_branch=branch,
            version=self._version(found.node.id),
            dry_run=request.dry_run,
        )

    def _version(self, id: str) -> str | None:
        with self._lock.reading():
            node = self._graph.get_node(id)
            return requirement_full(self._graph, node).version if node is not None else None


def _moved(change: FileChange, source: str, target: str, *, is_empty: bool) -> Moved:
    return Moved(**msgspec.structs.asdict(change), source_file=source, dest_file=target, source_empty=is_empty)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
