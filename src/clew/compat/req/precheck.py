"""What a change should pass before it is committed: the project's own checks as far as cargo knows them, then those of
the register. Cargo runs what the project says, build scripts included, so the project has to be trusted.
"""

import subprocess
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import msgspec

from clew.errors import ClewError
from clew.register.operations.review import ReviewChange
from clew.register.service import RegisterService
from clew.trust import Trust

_CARGO = {
    "fmt": ("cargo", "fmt", "--check"),
    "clippy": ("cargo", "clippy", "--all-targets", "--", "-D", "warnings"),
    "test": ("cargo", "test"),
}
STEPS = (*_CARGO, "validate", "coverage", "review")
PASSED, FAILED, SKIPPED = "ok", "FAILED", "skipped"


class Step(msgspec.Struct, frozen=True):
    name: str
    state: str
    """ok, FAILED or skipped."""
    detail: str


class Precheck(msgspec.Struct, frozen=True):
    ok: bool
    steps: tuple[Step, ...]


def precheck(
    service: RegisterService, *, skip: Collection[str], keep_going: bool, against: str, trust: Trust
) -> Precheck:
    if _has_cargo(service.root) and not set(_CARGO) <= set(skip):
        trust.require("Cargo runs programs of the project, such as build scripts and tests")
    done: list[Step] = []
    for name in STEPS:
        stopped = not keep_going and any(step.state == FAILED for step in done)
        if name in skip or stopped:
            done.append(Step(name, SKIPPED, "an earlier step failed" if stopped else "as asked"))
        else:
            done.append(_step(name, service, against))
    return Precheck(all(step.state != FAILED for step in done), tuple(done))


def _step(name: str, service: RegisterService, against: str) -> Step:
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
        return Step(name, FAILED, str(error))
    return Step(name, FAILED if failures else PASSED, "; ".join(failures))


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


def _cargo(name: str, root: Path) -> Step:
    if not _has_cargo(root):
        return Step(name, SKIPPED, "there is no Cargo.toml")
    try:
        done = subprocess.run(_CARGO[name], cwd=root, capture_output=True, text=True, check=False)
    except OSError as error:
        return Step(name, FAILED, f"cargo cannot be run: {error.strerror}")
    lines = (done.stdout + done.stderr).strip().splitlines()
    return Step(name, FAILED, lines[-1] if lines else "") if done.returncode else Step(name, PASSED, "")
