"""Commands of `clew req` that look at code, tests and git."""

import argparse
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.formats.register.ids import normalise
from clew.register.git import remap, revisions
from clew.register.git.precheck import STEPS, Precheck, precheck
from clew.register.reports import coverage, review, staleness
from clew.register.reports.review_summary import summary
from clew.register.rules import lint
from clew.register.service import RegisterService
from clew.surfaces.cli.req_commands import Command, table, taking
from clew.text.counting import counted


def _coverage_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--path", default=".", help="a folder of the project")
    parser.add_argument("--ext", action="append", default=[], help="endings of files to look into; may be repeated")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--unlinked-files", action="store_true", help="files that cite no requirement")
    which.add_argument("--by-file", action="store_true", help="for each file what it cites")
    which.add_argument("--by-req", action="store_true", help="for each requirement where it is cited")
    which.add_argument("--remap", action="append", default=[], metavar="OLD=NEW", help="rewrite an id in the files")
    parser.add_argument("--apply", action="store_true", help="write what --remap would change")
    parser.add_argument("--strict", action="store_true", help="exit code 1 on orphans, ghosts and retired ids")
    parser.add_argument("--allow", action="append", default=[], metavar="ID", help="an orphan that is allowed")


def _coverage(service: RegisterService, args: argparse.Namespace) -> Any:
    if args.apply and not args.remap:
        raise InvalidArgument("--apply says nothing without --remap.", hint="Pass --remap REQ-0003=REQ-0007 as well.")
    if args.remap:
        return service.remap(args.remap, args.path, apply=args.apply)
    mentions = service.mentions(args.path, args.ext)
    if args.unlinked_files:
        return coverage.unlinked_files(mentions)
    if args.by_file:
        return coverage.by_file(mentions)
    found = coverage.coverage(service.register, mentions, lines=True)
    return coverage.by_requirement(found) if args.by_req else found


def _has_gaps(found: Any, args: argparse.Namespace) -> bool:
    if not args.strict or not isinstance(found, coverage.Coverage):
        return False
    allowed = {normalise(id) for id in args.allow} | set(found.drafts_unmarked)
    return bool(set(found.orphans) - allowed or found.ghosts or found.obsolete_referenced)


def _coverage_text(found: Any) -> str:
    if isinstance(found, remap.RemapReport):
        rows = [(f"{each.file}:{each.line}", each.old, "->", each.new) for each in found.changes]
        done = "rewritten" if found.applied else "to rewrite; --apply does it"
        return "\n".join(filter(None, (table(rows), f"{len(rows)} places {done}")))
    if isinstance(found, coverage.ByRequirement):
        return table((id, " ".join(places)) for id, places in found.requirements.items())
    if isinstance(found, coverage.UnlinkedFiles):
        return "\n".join((*found.unlinked, f"{found.linked} of {found.scanned} files cite a requirement"))
    if isinstance(found, coverage.ByFile):
        return table((row.file, " ".join(row.req_ids)) for row in found.files)
    lines = [f"{len(found.referenced)} referenced, {len(found.orphans)} orphans, {len(found.ghosts)} ghosts"]
    lines += [f"orphan  {id}" for id in found.orphans]
    lines += [f"ghost   {id}  {', '.join(places)}" for id, places in found.ghosts.items()]
    lines += [f"retired {id}  {', '.join(places)}" for id, places in found.obsolete_referenced.items()]
    return "\n".join(lines)


def _stale_text(found: staleness.Report) -> str:
    rows = table((row.id, row.state.value, row.record_commit, " ".join(row.changed_files)) for row in found.rows)
    counts = ", ".join(f"{number} {word}" for word, number in msgspec.to_builtins(found.summary).items())
    return f"{rows}\n{counts}" if rows else counts


def _diff_text(found: revisions.Diff) -> str:
    lines = [f"+ {id}" for id in found.added] + [f"- {id}" for id in found.removed]
    lines += [f"~ {each.id}: {'; '.join(each.transitions)}" for each in found.changed]
    return "\n".join(lines) or "Nothing changed."


def _review_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base", default="origin/main", help="what to compare with (default: origin/main, else main)")
    parser.add_argument("--path", default=".", help="a folder of the project")
    parser.add_argument("--ext", action="append", default=[], help="only files with this ending; may be repeated")
    parser.add_argument("--summary", action="store_true", help="a line for each requirement, with what comes next")
    parser.add_argument(
        "--marker-near-hunks", type=int, metavar="N", help="ask for a marker within N lines of every change"
    )
    parser.add_argument("--no-defects", action="store_true", help="fail on verified requirements with failed evidence")
    parser.add_argument("--ignore", action="append", default=[], metavar="GLOB", help="files that need no marker")
    parser.add_argument("--staged", action="store_true", help="what the next commit would hold")
    parser.add_argument("--gate", action="store_true", help="exit code 1 where the change does not pass")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--new", action="store_true", help="findings of added and changed requirements only")
    scope.add_argument("--all", action="store_true", help="all findings, even with --staged")


def _review(service: RegisterService, args: argparse.Namespace) -> review.Review | str:
    if args.marker_near_hunks is not None and args.marker_near_hunks < 0:
        raise InvalidArgument(f"{args.marker_near_hunks} is no number of lines.", hint="Pass 0 or more.")
    found = service.review(
        *(args.base, args.path),
        gate=args.gate,
        staged=args.staged,
        only_new=args.new,
        everything=args.all,
        ignore=tuple(args.ignore),
        extensions=tuple(args.ext),
        near=args.marker_near_hunks,
        no_defects=args.no_defects,
    )
    return summary(found, service.register) if args.summary and not args.json else found


def _review_text(found: review.Review | str) -> str:
    return found if isinstance(found, str) else review.to_markdown(found)


def _review_fails(found: review.Review | str, args: argparse.Namespace) -> bool:
    if isinstance(found, str):
        return False
    return found.validate.errors > 0 or (found.gate and not found.ok)


def _precheck_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--skip", action="append", default=[], choices=STEPS, metavar="STEP", help=", ".join(STEPS))
    parser.add_argument("--keep-going", action="store_true", help="do the steps after one that failed, too")
    parser.add_argument("--base", default="origin/main", help="what the review compares with")


def _precheck_text(found: Precheck) -> str:
    return table((each.state, each.name, each.detail) for each in found.steps)


def _check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("base", help="a branch, tag or commit")
    parser.add_argument("--path", default=".", help="a folder of the project")


def _check_text(found: revisions.Check) -> str:
    lines = [f"{row.id}  {row.level}  {row.rule_code}  {row.message}" for row in found.findings]
    lines += [f"{each.file}: {' '.join(each.req_ids) or 'no marker'}" for each in found.coverage]
    return "\n".join(
        (*lines, f"{counted(len(found.changed_requirements), 'requirement')} changed, {counted(found.errors, 'error')}")
    )


def _audit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--limit", type=int, default=50, help="commits at most")
    parser.add_argument("--gate", action="store_true", help="exit code 1 where a commit breaks the policy")
    parser.add_argument("--require-good-signature", action="store_true", help="every commit must be signed well")
    parser.add_argument("--require-signer", action="append", default=[], metavar="NAME", help="who may sign")


def _audit(service: RegisterService, args: argparse.Namespace) -> Any:
    if args.limit < 1:
        raise InvalidArgument(f"--limit is {args.limit}; it has to be at least 1.", hint="Leave it out for 50.")
    return service.audit(
        limit=args.limit,
        gate=args.gate,
        require_good_signature=args.require_good_signature,
        required_signers=args.require_signer,
    )


def _audit_text(found: Any) -> str:
    rows = table(
        (each.commit[:9], each.date[:10], each.signature_status, each.author, each.subject) for each in found.entries
    )
    broken = "\n".join(f"violation {each.commit[:9]}: {'; '.join(each.why)}" for each in found.violations)
    return "\n".join(filter(None, (rows, broken))) or "No commit changed the register."


def _doctor_text(found: Any) -> str:
    verdicts = (("ok" if each.ok else "note" if each.advisory else "FAIL", each) for each in found.checks)
    return table((verdict, each.name, each.detail) for verdict, each in verdicts)


def _path(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--path", default=".", help="a folder of the project")


def _stale_arguments(parser: argparse.ArgumentParser) -> None:
    _path(parser)
    parser.add_argument("--only-stale", action="store_true", help="only what is out of date")


CODE = (
    Command(
        "coverage",
        "which requirements the files mention",
        _coverage,
        _coverage_arguments,
        _coverage_text,
        _has_gaps,
    ),
    Command(
        "stale",
        "evidence that is out of date; exit code 1 if any is",
        lambda service, args: service.stale(args.path, only_stale=args.only_stale),
        _stale_arguments,
        _stale_text,
        lambda found, args: found.summary.stale > 0,
    ),
    Command(
        "diff",
        "what changed between two revisions",
        lambda service, args: service.diff(args.spec),
        taking("spec", help="BASE..HEAD, BASE.. or BASE"),
        _diff_text,
    ),
    Command(
        "check",
        "rules and mentions for what changed since a revision",
        lambda service, args: service.check(args.base, args.path),
        _check_arguments,
        _check_text,
        lambda found, args: not found.ok,
    ),
    Command(
        "review",
        "everything a reviewer of a change wants to know",
        _review,
        _review_arguments,
        _review_text,
        _review_fails,
    ),
    Command(
        "precheck",
        "everything a commit should pass: formatting, tests, rules, coverage, review",
        lambda service, args: precheck(service, skip=args.skip, keep_going=args.keep_going, against=args.base),
        _precheck_arguments,
        _precheck_text,
        lambda found, args: not found.ok,
    ),
    Command(
        "audit",
        "who changed and signed the register",
        _audit,
        _audit_arguments,
        _audit_text,
        lambda found, args: not found.ok,
    ),
    Command(
        "lint",
        "quality beyond the rules; exit code 1 on errors of the validator",
        lambda service, args: service.lint(args.path),
        _path,
        lint.to_markdown,
        lambda found, args: found.validator.errors > 0,
    ),
    Command(
        "doctor",
        "is this clone set up to keep the register sound",
        lambda service, args: service.doctor(),
        text=_doctor_text,
        is_no=lambda found, args: not found.ok,
    ),
)
