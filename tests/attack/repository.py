"""Attack: a clone whose files and settings name programs. Whatever Clew is asked to do in it, none may run."""

import contextlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.attack.hostile_git import WAYS, Hostile, build, spring
from tests.attack.outcome import Outcome
from tests.mcp_client import McpClient, Options

from clew.project import Project
from clew.surfaces.cli.main import main

OTHER_WAYS = 8
"""Those of the caller's environment, and programs in the project that are called as git or what git starts."""
_REQUIREMENT = ("-t", "Lock the door", "-s", "The system shall lock the door at night.", "-r", "Thieves come at night.")
COMMANDS: tuple[tuple[str, ...], ...] = (
    *(("status",), ("brief",), ("check",), ("doctor",), ("changed",), ("changed", "--base", "other")),
    *(("req", "status"), ("req", "brief"), ("req", "doctor"), ("req", "audit"), ("req", "stale"), ("req", "check")),
    *(("req", "review", "--base", "other"), ("req", "review", "--staged"), ("req", "diff", "other..HEAD")),
    *(("req", "validate", "--staged"), ("req", "add", *_REQUIREMENT, "-a", "The door is locked"), ("req", "coverage")),
    *(("req", "renumber", "--base", "other", "--dry-run"), ("req", "merge", "other"), ("req", "precheck")),
    *(("req", "setup"), ("change", "archive", "add-neap-warning", "--yes"), ("fix",)),
)
"""What a user types. The folder follows."""
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("get_project_summary", {}), ("get_workspace_info", {}), ("clew_brief", {}), ("list_safety_branches", {})),
    *(("req_review", {"base": "other"}), ("req_audit", {}), ("req_check", {"base": "other"}), ("req_stale", {})),
    *(("req_diff", {"spec": "other..HEAD"}), ("req_doctor", {}), ("req_brief", {}), ("req_coverage", {})),
)
_WRITES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("req_test_record", {"id": "REQ-0001", "result": "pass"}),
    ("mutate_update_title", {"node_id": "REQ-d00001", "new_title": "Another title"}),
    ("save_mutations", {"save_branch": True}),
)


def run(rounds: int) -> Outcome:
    """Everything that asks git, in both repositories, as often as there are rounds."""
    failures: list[str] = []
    for _ in range(rounds):
        for in_git_hooks in (False, True):
            with tempfile.TemporaryDirectory() as folder, _environment(Path(folder)) as hostile_program:
                place = build(Path(folder), in_git_hooks=in_git_hooks)
                hostile_program(place)
                use(place)
                failures += sorted(place.fired())
    return Outcome(rounds * (len(WAYS) + OTHER_WAYS), tuple(f"The canary of {name} ran." for name in failures))


def live(folder: Path, *, in_git_hooks: bool) -> dict[str, bool]:
    """By name of each way that has such a command, whether plain git runs its canary: the traps are real."""
    with _environment(folder):
        place = build(folder, in_git_hooks=in_git_hooks)
        ways = [way for way in WAYS if way.spring and way.in_git_hooks is in_git_hooks]
        return {way.name: spring(place, way) for way in ways}


def use(place: Hostile) -> None:
    """Work in the project as its user and as an agent, also in the folder that looks like a repository."""
    bare = place.root / "docs" / "bare"
    for folder in (place.root, bare) if bare.exists() else (place.root,):
        with contextlib.chdir(folder):
            _serve(folder, read_only=True)
            for command in COMMANDS if folder == place.root else COMMANDS[:6]:
                _type(command)
    _serve(place.root, read_only=False)


def _type(command: tuple[str, ...]) -> None:
    """A command may fail: what counts is what ran."""
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet), contextlib.suppress(SystemExit):
        main(list(command))


def _serve(folder: Path, *, read_only: bool) -> None:
    project = Project.open(folder)
    try:
        with McpClient(project, Options(toolsets=("all",), read_only=read_only, names="portable")) as client:
            for tool, arguments in (*_CALLS, *(() if read_only else _WRITES)):
                client.result(tool, **arguments)
            if not read_only:
                for branch in client("list_safety_branches")["branches"]:
                    client.result("restore_from_safety_branch", branch_name=branch["name"])
    finally:
        project.close()


@contextlib.contextmanager
def _environment(folder: Path) -> Iterator[Any]:
    """A user without settings, and a caller's environment that names programs too."""
    before = dict(os.environ)
    os.environ.update({"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "settings")})

    def poison(place: Hostile) -> None:
        os.environ["PATH"] = os.pathsep.join((".", "", before["PATH"]))
        found = shutil.which("git", path=before["PATH"])
        canary = f"#!/bin/sh\n'{place.script('program-in-the-project')}'\nexec '{found}' \"$@\"\n"
        (place.root / "git").write_text(canary, "utf-8")
        (place.root / "git").chmod(0o755)
        for program in ("gpg", "gpgsm", "ssh-keygen"):
            shutil.copy(place.script(f"{program}-in-the-project"), place.root / program)
        os.environ["GIT_EXTERNAL_DIFF"] = place.script("variable-external-diff")
        os.environ["GIT_PAGER"] = os.environ["PAGER"] = place.script("variable-pager")
        os.environ["GIT_SSH_COMMAND"] = place.script("variable-ssh")
        os.environ["GIT_CONFIG_COUNT"] = "1"
        os.environ["GIT_CONFIG_KEY_0"] = "core.fsmonitor"
        os.environ["GIT_CONFIG_VALUE_0"] = place.script("variable-settings")

    try:
        yield poison
    finally:
        os.environ.clear()
        os.environ.update(before)
