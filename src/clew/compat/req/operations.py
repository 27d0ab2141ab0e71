"""Commands of req that prepare a clone and check it before a commit.

A check runs the project's own checks as far as cargo knows them, then those of the register. Cargo runs what the
project says, build scripts included, so the project has to be trusted.
"""

import subprocess
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.compat.req.clients import tell_claude_code
from clew.errors import ClewError, OutsideProject
from clew.operation.call import Call
from clew.operation.declare import Option
from clew.register.change.draft import author_of
from clew.register.change.transaction import new_register
from clew.register.git.agents_block import install
from clew.register.git.hooks import STRICT_LINES
from clew.register.git.setup import SetupReport, SetupStep, bounds_of, set_up, take_down
from clew.register.operations.fields import RegisterOperation, register_of
from clew.register.operations.review import ReviewChange
from clew.register.service import RegisterService
from clew.text.terminal import table
from clew.trust import ConfigurationTrust

AGENTS = "AGENTS.md"

Strict = Annotated[
    bool | None,
    Meta(description=f"Ask for a marker within {STRICT_LINES} lines of changes, or (--no-strict) in the file only"),
]
ClaudeCode = Annotated[bool, Meta(description="Add the register to Claude Code's settings, in .claude")]

_CARGO = {
    "fmt": ("cargo", "fmt", "--check"),
    "clippy": ("cargo", "clippy", "--all-targets", "--", "-D", "warnings"),
    "test": ("cargo", "test"),
}
STEPS = (*_CARGO, "validate", "coverage", "review")
PASSED, FAILED, SKIPPED = "ok", "FAILED", "skipped"


class SetupOperation(RegisterOperation):
    """An operation that prepares a clone step by step."""

    def render(self, result: SetupReport) -> str:
        return table(("ok" if step.done else "SKIPPED", step.what, step.detail) for step in result.steps)

    def exit_code(self, result: SetupReport) -> int:
        return 0 if result.ok else 1


class SetUpClone(
    SetupOperation,
    verb="req setup",
    summary="install hooks, .gitattributes and the merge driver in this clone",
    writes=True,
):
    """Prepares a clone: hooks, .gitattributes, the merge driver and the text for agents."""

    strict: Strict = None
    name: Annotated[str | None, Meta(description="Make a register of this name if there is none"), Option("-n")] = None
    hooks: Annotated[bool, Option(about="only .gitattributes and the merge driver")] = True
    agents: Annotated[bool, Option(about="leave AGENTS.md alone")] = True
    uninstall: Annotated[bool, Meta(description="Remove the hooks again")] = False
    claude_code: ClaudeCode = False

    def run(self, call: Call) -> SetupReport:
        root, file = call.project.config.root, register_of(call).file
        if self.uninstall:
            return take_down(root, file.place)
        steps: list[SetupStep] = []
        if self.name and not file.exists():
            file.create(new_register(self.name, author_of(call)))
            steps.append(SetupStep("register", True, f"made {file.place}"))
        steps += set_up(root, file.place, strict=self.strict, hooks=self.hooks).steps
        if self.agents:
            steps.append(_tell_agents(root))
        if self.claude_code:
            steps.append(tell_claude_code(root))
        return _reported(steps)


class ChangeHooks(SetupOperation, verb="req hooks", summary="install the hooks, or remove them", writes=True):
    """Installs the hooks of git, or removes them."""

    what: Annotated[
        Literal["install", "uninstall"],
        Meta(description="Install or remove the hooks"),
        Option(positional=True),
    ]
    strict: Strict = None
    claude_code: ClaudeCode = False

    def run(self, call: Call) -> SetupReport:
        root, place = call.project.config.root, register_of(call).file.place
        if self.what == "uninstall":
            return take_down(root, place)
        done = set_up(root, place, strict=self.strict)
        return _reported([*done.steps, *([tell_claude_code(root)] if self.claude_code else [])])


def _tell_agents(root: Path) -> SetupStep:
    file = root / AGENTS
    try:
        installed = install(file, "agents", within=bounds_of(root, file))
    except OutsideProject as error:
        return SetupStep(AGENTS, False, str(error))
    return SetupStep(AGENTS, True, "renewed" if installed.changed else "as it should be")


def _reported(steps: list[SetupStep]) -> SetupReport:
    return SetupReport(all(step.done for step in steps), tuple(steps))


class CheckBeforeCommit(
    RegisterOperation,
    verb="req precheck",
    summary="all checks before a commit: formatting, tests, rules, coverage, review",
):
    """Runs the checks of cargo, where the project is trusted, and those of the register, one after another."""

    skip: Annotated[
        tuple[Literal["fmt", "clippy", "test", "validate", "coverage", "review"], ...],
        Option(metavar="STEP", about="fmt, clippy, test, validate, coverage, review"),
    ] = ()
    keep_going: Annotated[bool, Meta(description="Do the steps after one that failed, too")] = False
    base: Annotated[str, Meta(description="The base of the review"), Option(metavar="BASE")] = "origin/main"

    def run(self, call: Call) -> Any:
        return precheck(
            register_of(call),
            skip=self.skip,
            keep_going=self.keep_going,
            against=self.base,
            trust=call.project.context.live.now().trust,
        )

    def render(self, result: Any) -> str:
        return table((each.state, each.name, each.detail) for each in result.steps)

    def exit_code(self, result: Any) -> int:
        return 0 if result.ok else 1


class PrecheckStep(msgspec.Struct, frozen=True):
    name: str
    state: str
    """ok, FAILED or skipped."""
    detail: str


class Precheck(msgspec.Struct, frozen=True):
    ok: bool
    steps: tuple[PrecheckStep, ...]


def precheck(
    service: RegisterService, *, skip: Collection[str], keep_going: bool, against: str, trust: ConfigurationTrust
) -> Precheck:
    if _has_cargo(service.root) and not set(_CARGO) <= set(skip):
        trust.require("Cargo runs programs of the project, such as build scripts and tests")
    done: list[PrecheckStep] = []
    for name in STEPS:
        stopped = not keep_going and any(step.state == FAILED for step in done)
        if name in skip or stopped:
            done.append(PrecheckStep(name, SKIPPED, "an earlier step failed" if stopped else "as asked"))
        else:
            done.append(_step(name, service, against))
    return Precheck(all(step.state != FAILED for step in done), tuple(done))


def _step(name: str, service: RegisterService, against: str) -> PrecheckStep:
    if name in _CARGO:
        return _cargo(name, service.root)
    examine: dict[str, Callable[[], Iterator[str]]] = {
        "validate": lambda: _rules(service),
        "coverage": lambda: _gaps(service),
        "review": lambda: iter(service.review(ReviewChange(base=against, gate=True)).failures),
    }
    try:
        failures = list(examine[name]())
    except ClewError as error:
        return PrecheckStep(name, FAILED, str(error))
    return PrecheckStep(name, FAILED if failures else PASSED, "; ".join(failures))


def _rules(service: RegisterService) -> Iterator[str]:
    errors = service.validate().errors
    if errors:
        yield f"{errors} errors; `clew req validate` shows them"


def _gaps(service: RegisterService) -> Iterator[str]:
    found = service.coverage()
    orphans = set(found.orphans) - set(found.drafts_unmarked)
    counts = {"orphans": orphans, "ghosts": found.ghosts, "retired ids in use": found.obsolete_referenced}
    yield from (f"{len(ids)} {what}; `clew req coverage` shows them" for what, ids in counts.items() if ids)


def _has_cargo(root: Path) -> bool:
    return (root / "Cargo.toml").exists()


def _cargo(name: str, root: Path) -> PrecheckStep:
    if not _has_cargo(root):
        return PrecheckStep(name, SKIPPED, "there is no Cargo.toml")
    try:
        done = subprocess.run(_CARGO[name], cwd=root, capture_output=True, text=True, check=False)
    except OSError as error:
        return PrecheckStep(name, FAILED, f"cargo cannot be run: {error.strerror}")
    lines = (done.stdout + done.stderr).strip().splitlines()
    return PrecheckStep(name, FAILED, lines[-1] if lines else "") if done.returncode else PrecheckStep(name, PASSED, "")
