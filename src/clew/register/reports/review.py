"""What a branch, or the next commit, does to the register and to the code under it."""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

import msgspec

from clew.formats.code.comments import comments, family_for
from clew.formats.register.ids import in_order
from clew.formats.register.model import Register
from clew.register import results
from clew.register.git.repository import Commit
from clew.register.git.revisions import Changed, Diff
from clew.register.reports.mentions import Mention
from clew.register.reports.staleness import Report, State
from clew.text.counting import counted

_NONE = re.compile(r"REQ-NONE(?::[ \t]*([^\n]*))?")
_IGNORED_FOLDERS = frozenset({"tests", "test", "__tests__", "spec", "specs", "generated", "__generated__"})
_IGNORED_NAMES = ("*_test.*", "*.test.*", "*.spec.*", "test_*.py", "build.rs", "*.md", "conftest.py")
_NOT_SOURCE = frozenset({"md", "toml", "json", "yml", "yaml", "lock", "txt", "cfg", "ini", "html", "css"})


class OptOut(msgspec.Struct, frozen=True):
    file: str
    reason: str


class ReviewCoverage(msgspec.Struct, frozen=True):
    ghosts: tuple[str, ...]
    """Each `ID (in FILE)`."""
    referenced: tuple[str, ...]
    changed_files: tuple[str, ...]
    markerless_changed_source: tuple[str, ...]
    opt_outs: tuple[OptOut, ...]
    optout_missing_reason: tuple[str, ...]
    hunks_without_marker: tuple[str, ...] = ()
    """Where lines changed and no marker stands near, each `FILE:LINE`; only where it was asked for."""


class ReviewStale(msgspec.Struct, frozen=True):
    stale: tuple[str, ...]
    drifted: int


class ReviewAudit(msgspec.Struct, frozen=True):
    commits_in_range: int
    last_status: str | None
    last_signer: str | None
    last_author: str | None

    @classmethod
    def of(cls, commits: int, last: Sequence[Commit]) -> "ReviewAudit":
        newest = last[0] if last else None
        if newest is None:
            return cls(commits, None, None, None)
        return cls(commits, newest.signature_status, newest.signer, newest.author)


class Review(msgspec.Struct, frozen=True, kw_only=True):
    base: str
    ok: bool
    """Whether a gate would let this pass."""
    gate: bool
    """Whether it was asked to be one."""
    failures: tuple[str, ...]
    """Why a gate would not let it pass."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Changed, ...]
    validate: results.ValidationReport
    coverage: ReviewCoverage
    stale: ReviewStale
    defects: tuple[str, ...]
    audit: ReviewAudit
    truncated: bool = False
    markdown: str | None = None


def is_source(path: str, ignore: tuple[str, ...] = ()) -> bool:
    """Whether a changed file is code that should say which requirement it serves."""
    parts = PurePosixPath(path)
    # Settings such as .gitignore have comments, but do nothing that somebody required.
    if family_for(path) is None or parts.name.startswith(".") or parts.suffix.lstrip(".").lower() in _NOT_SOURCE:
        return False
    if any(folder in _IGNORED_FOLDERS for folder in parts.parts[:-1]):
        return False
    return not any(
        fnmatchcase(parts.name, pattern) or fnmatchcase(path, pattern) for pattern in (*_IGNORED_NAMES, *ignore)
    )


def review_files(
    files: tuple[str, ...],
    register: Register,
    read: Callable[[str], bytes | None],
    cited: Callable[[bytes, str], tuple[Mention, ...]],
    ignore: tuple[str, ...] = (),
    near: "NearHunks | None" = None,
) -> ReviewCoverage:
    """What the changed files say about requirements; `cited` finds the markers in the content of a file."""
    far: list[str] = []
    referenced: set[str] = set()
    ghosts: list[str] = []
    markerless: list[str] = []
    opt_outs: list[OptOut] = []
    without_reason: list[str] = []
    for path in files:
        if not is_source(path, ignore):
            continue
        data = read(path)
        if data is None:  # removed
            continue
        mentions = cited(data, path)
        mentioned = {mention.id for mention in mentions}
        ghosts += [f"{id} (in {path})" for id in in_order(mentioned - register.requirements.keys())]
        marked = mentioned & register.requirements.keys()
        referenced |= marked
        if marked:
            lines = [mention.line for mention in mentions if mention.id in marked]
            far += [f"{path}:{line}" for line in near.far_from(path, lines)] if near is not None else []
            continue
        excused = _NONE.search(_comments(data.decode("utf-8", "replace"), path))
        if excused is None:
            markerless.append(path)
        elif reason := (excused[1] or "").strip():
            opt_outs.append(OptOut(path, reason))
        else:
            without_reason.append(path)
    return ReviewCoverage(
        ghosts=tuple(ghosts),
        referenced=tuple(in_order(referenced)),
        changed_files=files,
        markerless_changed_source=tuple(markerless),
        opt_outs=tuple(opt_outs),
        optout_missing_reason=tuple(without_reason),
        hunks_without_marker=tuple(far),
    )


class NearHunks(msgspec.Struct, frozen=True):
    """A stricter rule for changed lines: a marker has to stand near each of them, not just anywhere in the file."""

    lines: int
    hunks: Mapping[str, list[tuple[int, int]]]

    def far_from(self, path: str, marked: list[int]) -> list[int]:
        """The first line of each hunk that has no marker near it."""
        return [
            first
            for first, last in self.hunks.get(path, ())
            if not any(first - self.lines <= line <= last + self.lines for line in marked)
        ]


def _comments(text: str, path: str) -> str:
    family = family_for(path)
    return "\n".join(comment.text for comment in comments(text, family)) if family and "REQ-NONE" in text else ""


def compose(
    base: str,
    diff: Diff,
    validate: results.ValidationReport,
    coverage: ReviewCoverage,
    staleness: Report,
    defects: tuple[str, ...],
    audit: ReviewAudit,
    *,
    gate: bool = False,
    no_defects: bool = False,
) -> Review:
    failures = tuple(_failures(validate, coverage, defects if no_defects else ()))
    return Review(
        base=base,
        ok=not failures,
        gate=gate,
        failures=failures,
        added=diff.added,
        removed=diff.removed,
        changed=diff.changed,
        validate=validate,
        coverage=coverage,
        stale=ReviewStale(
            tuple(row.id for row in staleness.rows if row.state is State.STALE), staleness.summary.drifted
        ),
        defects=defects,
        audit=audit,
    )


def _failures(validate: results.ValidationReport, coverage: ReviewCoverage, defects: tuple[str, ...]) -> list[str]:
    found = (
        ("validator error", "validator errors", validate.errors),
        ("id that no requirement has", "ids that no requirement has", len(coverage.ghosts)),
        (
            *("changed source file without a marker", "changed source files without a marker"),
            len(coverage.markerless_changed_source),
        ),
        (
            *("file that opts out without a reason", "files that opt out without a reason"),
            len(coverage.optout_missing_reason),
        ),
        (
            *("changed place without a marker near it", "changed places without a marker near them"),
            len(coverage.hunks_without_marker),
        ),
        (
            *("verified requirement whose last evidence failed", "verified requirements whose last evidence failed"),
            len(defects),
        ),
    )
    return [counted(count, one, many) for one, many, count in found if count]


def to_markdown(found: Review) -> str:
    verdict = "passes" if found.ok else f"does not pass: {', '.join(found.failures)}"
    lines = [f"# Requirements since {found.base}", "", f"The change {verdict}.", ""]
    lines += _list("Added", found.added) + _list("Removed", found.removed)
    changed = tuple(
        f"{each.id}: {'; '.join(each.transitions)}" + (f" ({each.reason})" if each.reason else "")
        for each in found.changed
    )
    lines += _list("Changed", changed)
    findings = tuple(f"{row.id} {row.rule_code} ({row.level}): {row.message}" for row in found.validate.findings)
    lines += _list("Findings", findings)
    coverage = found.coverage
    lines += _list("Ids that no requirement has", coverage.ghosts)
    lines += _list("Changed source without a marker", coverage.markerless_changed_source)
    lines += _list("Changed lines without a marker near them", coverage.hunks_without_marker)
    lines += _list("Opted out without a reason", coverage.optout_missing_reason)
    lines += _list("Opted out", tuple(f"{each.file}: {each.reason}" for each in coverage.opt_outs))
    lines += _list("Stale evidence", found.stale.stale) + _list("Verified, but the last record failed", found.defects)
    audit = found.audit
    commits = counted(audit.commits_in_range, "commit")
    signed = f"{commits} on the register; the last by {audit.last_author} ({audit.last_status})"
    return "\n".join((*lines, signed if audit.commits_in_range else "No commit on the register in this range.", ""))


def _list(heading: str, items: tuple[str, ...]) -> list[str]:
    return [f"## {heading}", "", *(f"- {item}" for item in items), ""] if items else []
