"""The register of a project, as far as it is asked and not changed."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import msgspec

from clew.config import Config
from clew.errors import ClewError, InvalidArgument, Refused
from clew.formats.register.model import Register, Requirement
from clew.graph.readers.locations import FILE_VARIABLE, SINGLE, RegisterLocations
from clew.register import results
from clew.register.change.draft import find
from clew.register.change.transaction import PATIENCE_SECONDS, RegisterFile, RegisterVersion
from clew.register.git import audit, doctor, hooks, revisions
from clew.register.git.repository import Repository
from clew.register.reports import coverage, difference, lint, queries, review, staleness
from clew.register.reports import export as exports
from clew.register.reports.changed_files import NearHunks, review_files
from clew.register.reports.lint import judge_from
from clew.register.reports.mentions import Mentions, MentionScanner, folder_inside
from clew.register.reports.validation import ValidationReport, validation_report
from clew.register.requests import AuditPolicy, ListFilter, RequirementFilter, ReviewScope
from clew.register.rules.codes import RuleViolation
from clew.register.rules.duplicates import DuplicateIndex
from clew.register.rules.validator import validate_register, validate_requirement
from clew.workspace.files import read_bytes

MOST_IMPORT_BYTES = 64 * 1024 * 1024


class RegisterReading:
    """Every question."""

    def __init__(
        self,
        root: Path,
        place: Path,
        *,
        scanner: Callable[[], MentionScanner],
        patience: float = PATIENCE_SECONDS,
        auto_migrate: bool = True,
    ) -> None:
        self.root = root
        self.file = RegisterFile(place, auto_migrate=auto_migrate, patience=patience)
        self._make_scanner = scanner
        self._validated: tuple[Register, list[RuleViolation]] | None = None

    @classmethod
    def of_project(cls, config: Config, named: str | None = None) -> Self:
        auto = "REQ_NO_AUTO_MIGRATE" not in os.environ
        place = locate(config.root, named)
        return cls(config.root, place, scanner=lambda: scanner_for(config), auto_migrate=auto)

    @cached_property
    def _scanner(self) -> MentionScanner:
        """The scanner for markers, made at the first question about code."""
        return self._make_scanner()

    @cached_property
    def _duplicates(self) -> DuplicateIndex:
        return DuplicateIndex()

    @cached_property
    def _around(self) -> Repository:
        """Git with paths relative to the folder of the register."""
        return Repository(self.file.place.parent)

    @cached_property
    def _tree(self) -> Repository:
        """Git, seen from the project."""
        return Repository(self.root)

    # Questions

    def snapshot(self) -> RegisterVersion:
        return self.file.read()

    @property
    def register(self) -> Register:
        return self.file.read().register

    def listing(self, wanted: ListFilter) -> results.RequirementList:
        return queries.listing(self.register, wanted)

    def show(self, id: str) -> Requirement:
        register = self.register
        return find(register.requirements, id, history=register.history)

    def status(self, tags: tuple[str, ...] = ()) -> results.StatusReport:
        return queries.status(self.register, tags)

    def next(self, wanted: RequirementFilter) -> Requirement | results.NothingNext:
        return queries.next_up(self.register, wanted)

    def brief(self, *, full: bool = False) -> results.Brief:
        in_git = self._around.exists()
        return queries.brief(
            self.register,
            full=full,
            hook_mode=hooks.hook_mode(self._around) if in_git else None,
            last_change=self._around.last_change(self.file.place.name) if in_git else None,
        )

    def faults(self, requirement: Requirement) -> tuple[str, ...]:
        """The reasons why a requirement may not be written; empty for a sound one."""
        return tuple(each.text for each in validate_requirement(requirement) if each.is_error)

    def findings(self, register: Register | None = None) -> list[RuleViolation]:
        """The findings on the register, computed once for each version. An external judge is asked every time."""
        register = register or self.register
        judge = judge_from()
        if judge is not None:
            return validate_register(register, judge, self._duplicates)
        return self.violations(register)

    def violations(self, register: Register | None = None) -> list[RuleViolation]:
        """The findings of Clew's own rules, which no external judge is asked for."""
        register = register or self.register
        if self._validated is None or self._validated[0] is not register:
            self._validated = (register, validate_register(register, duplicates=self._duplicates))
        return self._validated[1]

    def validate(self, *, staged: bool = False) -> ValidationReport:
        """Run the validator. `staged` asks about the staged register."""
        return validation_report(self.findings(self._next_register() if staged else None))

    def _next_register(self) -> Register:
        return revisions.staged_register(self.file, self._around) or self.register

    def export(self, form: str) -> str:
        return exports.export(self.register, form)

    # The code under the requirements

    def mentions(self, path: str = ".", extensions: Sequence[str] = ()) -> Mentions:
        return self._scanner.scan(path, tuple(extensions) or self._extensions())

    def everything_cited(self) -> Mentions:
        """The project's citations, also if the register cannot be read now."""
        return self._scanner.scan()

    def _extensions(self) -> tuple[str, ...]:
        given = (self.register.config or {}).get("coverage")
        endings = given.get("extensions") if isinstance(given, dict) else None
        return tuple(endings) if isinstance(endings, list) and endings else ()

    def coverage(self, path: str = ".", extensions: Sequence[str] = (), *, lines: bool = False) -> coverage.Coverage:
        return coverage.coverage(self.register, self.mentions(path, extensions), lines=lines)

    def stale(self, path: str = ".", *, only_stale: bool = False, by_commit: bool = False) -> staleness.EvidenceReport:
        """`by_commit` compares as req does: by the commit of a record, not by the content of its files."""
        chosen = queries.in_id_order(self.register)
        project = self._project(self.mentions(path), by_commit=by_commit)
        return staleness.report(chosen, project, only_stale=only_stale)

    def freshness(self, requirement: Requirement) -> str:
        """The state of one requirement's last evidence, such as fresh or stale."""
        return staleness.state_of(requirement, self._project(self.mentions())).state.value

    def _project(self, mentions: Mentions, *, by_commit: bool = False) -> staleness.WorkTreeState:
        known: dict[str, frozenset[str] | None] = {}

        def changed_since(commit: str) -> frozenset[str] | None:
            if commit not in known:
                known[commit] = self._tree.changed_since(commit)
            return known[commit]

        return staleness.WorkTreeState(
            self._tree.head(), mentions.carriers(), self._content, changed_since, by_commit=by_commit
        )

    def _content(self, path: str) -> bytes | None:
        try:
            return read_bytes(self.root, path, limit=MOST_IMPORT_BYTES)
        except ClewError:
            return None

    def lint(self, path: str = ".", *, markdown: bool = False) -> lint.Lint:
        found = lint.lint(self.register, self.findings(), self.mentions(path))
        return _with_markdown(found, lint.to_markdown) if markdown else found

    # Git

    def diff(self, spec: str) -> difference.Diff:
        base, head = (self._around.revision(name) for name in revisions.split_spec(spec))
        before = revisions.register_at(self.file, self._around, base)
        return difference.diff(spec, before, revisions.register_at(self.file, self._around, head))

    def check(self, base: str, path: str = ".") -> revisions.Check:
        commit = self._around.revision(base)
        before = revisions.register_at(self.file, self._around, commit)
        changed = self._changed_files(self._tree.fork_of(commit), path)
        mentions = self.mentions(path)
        return revisions.checked(base, path, before, self.register, changed, mentions.by_file)

    def _changed_files(self, commit: str, path: str) -> tuple[str, ...]:
        """The files below a folder that differ from a commit, without the register."""
        return self._below(path, self._tree.changed_since(commit) or ())

    def _below(self, path: str, names: Iterable[str]) -> tuple[str, ...]:
        inside = folder_inside(self.root, path)
        prefix = "" if inside == "." else f"{inside}/"
        return tuple(
            sorted(name for name in names if (name == inside or name.startswith(prefix)) and not self._is_own(name))
        )

    def _is_own(self, name: str) -> bool:
        place = (self.root / name).resolve()
        return place == self.file.place or self.file.place in place.parents or name.endswith(".req.lock")

    def audit(self, wanted: AuditPolicy) -> audit.Audit:
        return audit.audit(self._around, self.file.place.name, wanted)

    def doctor(self) -> doctor.Doctor:
        try:
            self.file.read()
            problem = None
        except ClewError as error:
            problem = str(error)
        return doctor.examine(self._around, self.root, self.file.place, problem)

    def review(
        self,
        wanted: ReviewScope,
        *,
        ignore: tuple[str, ...] = (),
        extensions: tuple[str, ...] = (),
        near: int | None = None,
        no_defects: bool = False,
    ) -> review.ChangeReview:
        """`near` asks for a marker within so many lines of every changed place; `no_defects` lets a gate fail on
        verified requirements whose last evidence failed."""
        staged, gate, path = wanted.staged, wanted.gate, wanted.path
        register = self._next_register() if staged else self.register
        base, commit = self._base(wanted.base, staged=staged, gate=gate)
        before = self._register_before(commit, register)
        files = (
            self._below(path, self._tree.staged()) if staged else self._changed_files(commit, path) if commit else ()
        )
        endings = tuple(f".{ending.lstrip('.')}" for ending in extensions) or ("",)
        files = tuple(name for name in files if name.endswith(endings))
        diff = difference.diff(base, before, register, evidence=True)
        findings = self.findings(register)
        if (staged or wanted.new) and not wanted.all:
            touched = {*diff.added, *(each.id for each in diff.changed)}
            findings = [each for each in findings if each.id in touched]
        read = self._tree.staged_content if staged else self._content
        span = f"{commit}..HEAD" if commit and not staged else None
        place = self.file.place.name
        # Whether a signature is good takes git longer than all the rest, and only the last one is reported.
        last = self._around.log(place, 1, span) if self._around.head() else []
        commits = self._around.count(place, span) if last else 0
        found = review.compose(
            base,
            diff,
            validation_report(findings),
            review_files(
                *(files, register, read, self._scanner.cited, ignore), self._near_hunks(near, commit, staged=staged)
            ),
            self.stale(path),
            queries.status(register).verified_but_defective,
            review.ReviewAudit.of(commits, last),
            gate=gate,
            no_defects=no_defects,
        )
        return found if wanted.json else _with_markdown(found, review.to_markdown)

    def _near_hunks(self, given: int | None, commit: str | None, *, staged: bool) -> NearHunks | None:
        """The requested distance of markers from changed lines, or the one in the register's own settings."""
        settings = (self.register.config or {}).get("gate")
        configured = settings.get("marker_near_hunks") if isinstance(settings, dict) else None
        lines = given if given is not None else configured
        if not isinstance(lines, int) or lines < 0:
            return None
        return NearHunks(lines, self._tree.hunks(commit, staged=staged))

    def _base(self, base: str, *, staged: bool, gate: bool) -> tuple[str, str | None]:
        """The name of the base to compare with, and its commit. A gate never passes because its base is missing."""
        if not self._around.exists() or (not staged and self._around.commit_of(base) is None and base != "origin/main"):
            return base, self._tree.fork_of(self._around.revision(base))
        if staged:
            return "staged", self._tree.head()
        for name in (base, "main", "master"):
            commit = self._around.commit_of(name)
            if commit is not None:
                return name, self._tree.fork_of(commit)
        if gate:
            raise InvalidArgument(
                f"'{base}' is not a revision of this repository, so the gate stays shut.",
                hint="Fetch the base branch, or name another with base.",
            )
        return base, self._tree.head()

    def _register_before(self, commit: str | None, register: Register) -> Register:
        if commit is None:
            return msgspec.structs.replace(register, requirements={})
        try:
            return revisions.register_at(self.file, self._around, commit)
        except ClewError:
            # The base had no register yet, or one that cannot be read: then everything is new.
            return msgspec.structs.replace(register, requirements={})


def scanner_for(config: Config) -> MentionScanner:
    """Looks for markers where the graph does."""
    from clew.formats.elspais.ids.grammar import IdGrammar
    from clew.graph.readers.project import has_specs, marker_readers

    readers = marker_readers(config, IdGrammar(config.elspais), specs=has_specs(config), register=True)
    return MentionScanner(config.root, config.max_file_bytes, readers)


def _with_markdown(found: Any, render: Callable[[Any], str]) -> Any:
    return msgspec.structs.replace(found, markdown=render(found))


def locate(root: Path, named: str | None = None, environment: Mapping[str, str] = os.environ) -> Path:
    """The register that the caller names, else that of REQ_FILE, else the project's. If there is none, the path for a
    new one."""
    given = named or environment.get(FILE_VARIABLE, "").strip()
    if given:
        return root / given
    found = RegisterLocations(root, environment).found()
    if len(found) > 1:
        raise Refused(
            f"The project has {len(found)} registers: {', '.join(sorted(found))}.",
            hint="Say which one is meant with --file or the variable REQ_FILE.",
            data={"registers": sorted(found)},
        )
    return root / (found[0] if found else SINGLE)
