"""A host of agents for tests: it runs the hooks of a session as real processes."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import forked

from clew.ipc.address import sockets
from clew.ipc.listener import HOOK, Listener
from clew.memory.hooks.answering import HookAnswers
from clew.project import Project

PATIENCE = "60"
"""Hooks of tests wait for as long as a slow machine needs."""
CLEW = (sys.executable, "-m", "clew")


class Host:
    """One session of an agent in a project."""

    def __init__(self, root: Path, session: str = "session-1", host: str = "claude-code") -> None:
        self.root, self.session, self.host = root, session, host
        self.command: tuple[str, ...] = (*CLEW, "hook")
        self._calls = 0

    def run(self, event: str, payload: dict[str, Any] | bytes, **environment: str) -> str:
        """What a hook prints; it has to exit with 0."""
        if isinstance(payload, dict):
            told = {"session_id": self.session, "cwd": str(self.root), "hook_event_name": event, **payload}
            payload = json.dumps(told).encode()
        done = forked.run(
            [*self.command, event, "--host", self.host],
            input=payload,
            capture_output=True,
            check=False,
            cwd=self.root,
            env={**os.environ, "CLEW_HOOK_SECONDS": PATIENCE, **environment},
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    def context(self, event: str, payload: dict[str, Any], **environment: str) -> str:
        """What reaches the agent."""
        printed = self.run(event, payload, **environment)
        told = json.loads(printed)["hookSpecificOutput"] if printed.strip() else {"hookEventName": event}
        assert told["hookEventName"] == event
        context: str = told.get("additionalContext", "")
        return context

    def start(self) -> str:
        return self.context("SessionStart", {"source": "startup"})

    def prompt(self, text: str, **environment: str) -> str:
        return self.context("UserPromptSubmit", {"prompt": text}, **environment)

    def tool(self, name: str, given: dict[str, Any], failed: str | None = None) -> str:
        self._calls += 1
        payload = {"tool_name": name, "tool_input": given, "tool_use_id": f"{self.session}-{self._calls}"}
        if failed is not None:
            return self.context("PostToolUseFailure", {**payload, "error": failed})
        return self.context("PostToolUse", {**payload, "tool_response": {"stdout": "", "interrupted": False}})

    def edit(self, path: str, text: str) -> str:
        (self.root / path).write_text(text, encoding="utf-8")
        return self.tool("Edit", {"file_path": str(self.root / path), "old_string": "a", "new_string": "b"})

    def stop(self) -> str:
        return self.context("Stop", {"stop_hook_active": False})


def listener_of(project: Project) -> Listener:
    root = project.config.root
    return Listener(root, {HOOK: HookAnswers(root, lambda: project.memory)})


@contextmanager
def listening(project: Project) -> Iterator[Listener]:
    """A server's side of hooks for a project that is open in this process."""
    project.context.store  # noqa: B018 - makes the state folder
    listener = listener_of(project)
    listener.start()
    try:
        wait_until(lambda: any(Path(path).exists() for path in sockets(str(project.config.root))))
        yield listener
    finally:
        listener.stop(patience=120)


def wait_until(holds: Callable[[], Any]) -> Any:
    """What a condition gives as soon as it holds; fails after a time that no machine needs."""
    deadline = time.monotonic() + 120
    while not (found := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found
