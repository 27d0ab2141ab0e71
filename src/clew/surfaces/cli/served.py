"""Commands of other processes that a server answers on its open project.

A command is taken only where this process would print exactly what the other one would: the same Clew, the same
environment, the same configuration, no drafts. Everything else is declined before anything is done, and whoever asked
carries the command out itself.
"""

# Implements: REQ-d00756

import argparse
import json
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec

from clew.config import load
from clew.errors import Cancelled, ClewError
from clew.ipc.listener import Connection
from clew.operation.call import Call, Progress
from clew.operation.declare import Operation
from clew.operation.listing import all_verbs
from clew.project import Project
from clew.surfaces.cli import asking
from clew.surfaces.cli.groups import group_of
from clew.surfaces.cli.opening import Here, tell_root
from clew.text.terminal import Recording, recording
from clew.workspace.git.run import program_in
from clew.workspace.own_program import code_state
from clew.workspace.root import admitted

log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.05
_SIGN_EVERY_SECONDS = 1.0
_LARGEST_ANSWER = 32 * 1024 * 1024
"""A command that prints more is carried out by itself."""
_ENDING_SECONDS = 2.0


Traits = tuple[bool, bool, Annotated[int, msgspec.Meta(ge=1)] | None]


class Declined(Exception):
    """The command has to be carried out in the process where it was given."""


class Asked(msgspec.Struct, frozen=True):
    """A command from another process."""

    folder: str
    """Its current folder."""
    program: list[str]
    environment: dict[str, str]
    words: list[str] = []
    """The name of the command and what follows; none where only the way is asked for."""
    named: bool = False
    terminal: tuple[Traits, Traits] = ((False, False, None), (False, False, None))
    root: str = ""


class CommandAnswers:
    most_at_once = 4

    def __init__(self, project: Project) -> None:
        self._project = project
        self._code = ""
        self._stop = threading.Event()
        self._idle = threading.Condition()
        self.under_way = 0
        """The requests that are being answered."""

    def begin(self) -> None:
        self._code = code_state()

    def end(self, patience: float) -> None:
        """Cancel work under way; the asking process carries it out itself."""
        self._stop.set()
        with self._idle:
            self._idle.wait_for(lambda: not self.under_way, timeout=min(patience, _ENDING_SECONDS))

    def answer(self, request: dict[str, Any], connection: Connection) -> None:
        with self._counted():
            try:
                asked = msgspec.convert(request, Asked)
                self._compare(asked)
                if not asked.words:
                    connection.send({"taken": True, "process": os.getpid()})
                    return
                command = Command(self._project, asked)
            except (Declined, msgspec.ValidationError) as problem:
                connection.send({"taken": False, "reason": str(problem)})
                return
            if connection.send({"taken": True}):
                self._carry_out(command, connection)

    def _carry_out(self, command: "Command", connection: Connection) -> None:
        """Run a command in a thread of its own, while this one checks whether the asking process still waits."""
        done = threading.Event()
        answers: list[bytes] = []

        def run() -> None:
            try:
                answers.append(command.run())
            except (Declined, Cancelled) as problem:
                log.debug("A command is carried out where it was given: %s", problem)
            except Exception:
                # It happens there again, and is said there.
                log.info("A command could not be answered", exc_info=True)
            finally:
                done.set()

        threading.Thread(target=run, name="clew-command", daemon=True).start()
        sign = time.monotonic() + _SIGN_EVERY_SECONDS
        while not done.wait(_LOOK_SECONDS):
            if self._stop.is_set() or not connection.is_open():
                command.cancel()
                # It keeps its place until it stops, so that no more than a few are ever under way.
                done.wait(_ENDING_SECONDS if self._stop.is_set() else None)
                return
            if time.monotonic() >= sign:
                sign += _SIGN_EVERY_SECONDS
                connection.send({})
        # A project that is being closed may have answered with less.
        if answers and not self._stop.is_set():
            connection.send_line(answers[0])

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._idle:
            self.under_way += 1
        try:
            yield
        finally:
            with self._idle:
                self.under_way -= 1
                self._idle.notify_all()

    def _compare(self, asked: Asked) -> None:
        """Declined where this process may answer otherwise than the one that asks."""
        if self._stop.is_set():
            raise Declined("the server is closing")
        if asked.program != asking.program():
            raise Declined("the server is another version of Clew, or runs on another Python")
        if code_state() != self._code:
            raise Declined("Clew was changed after the server started")
        self._compare_environment(asked.environment)
        self._compare_project()

    def _compare_environment(self, theirs: Mapping[str, str]) -> None:
        ours = asking.environment()
        differing = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name) and name != "PATH")
        if differing:
            raise Declined(f"the server was started with another value of {', '.join(differing[:5])}")
        if program_in(ours.get("PATH", os.defpath)) != program_in(theirs.get("PATH", os.defpath)):
            raise Declined("the server uses another git")

    def _compare_project(self) -> None:
        project = self._project
        context = project.context
        try:
            config = load(project.config.root)
        except ClewError as error:
            raise Declined("the configuration cannot be read") from error
        if config != project.config:
            raise Declined("the configuration or the trust in it changed after the server started")
        if config.ai.key_variable or config.embedder.kind == "endpoint":
            # Its key is in a variable that nobody sends to another process.
            raise Declined("the project uses a service with a key")
        if not context.keeper.is_built:
            project.build_in_background()
            raise Declined("the server is still reading the project")
        if context.recovered or context.store_problem or context.shared_problem:
            raise Declined("the server has something to say about its start")
        if project.unsaved().count:
            raise Declined("there are drafts, which only the server shows")


class Command:
    """One command of another process."""

    def __init__(self, project: Project, asked: Asked) -> None:
        self._project = project
        self._asked = asked
        self._operation = _operation_of(asked.words)
        self._args = self._parsed()
        self._call: Call | None = None
        self._is_cancelled = False

    def cancel(self) -> None:
        self._is_cancelled = True
        if self._call is not None:
            self._call.cancel()

    def run(self) -> bytes:
        """The output of the command, and its exit code."""
        from clew.surfaces.cli.output import told
        from clew.surfaces.cli.verbs import answer_verb

        recorded = Recording(*self._asked.terminal)
        with recording(recorded):
            try:
                code = answer_verb(self._operation, self._args, self)
            except Cancelled:
                raise
            except ClewError as error:
                code = told(error)
        # A draft that came meanwhile may be in what was read.
        if self._project.unsaved().count:
            raise Declined("there are drafts")
        line = json.dumps({"code": code, "printed": recorded.pieces()}).encode()
        if len(line) > _LARGEST_ANSWER:
            raise Declined("the answer is too long")
        return line

    def _parsed(self) -> argparse.Namespace:
        """The options, with the folder as the process that asks means it."""
        from clew.surfaces.cli.verbs import parser_of

        with recording(Recording()):
            try:
                args = parser_of(self._operation).parse_args(self._asked.words[1:])
            except SystemExit as error:
                raise Declined("it has no answer but help or usage") from error
        place: str | None = getattr(args, "in_folder", None)
        self.folder = Path(self._asked.folder, place or "")
        is_named = self._asked.named or place is not None or not isinstance(args.folder, Here)
        args.folder = str(self.folder / args.folder)
        try:
            root = admitted(Path(args.folder), named=is_named)
        except (ClewError, OSError, ValueError) as error:
            raise Declined("its folder is not to be read") from error
        if root != self._project.config.root:
            raise Declined("it is about another project")
        return args

    def admit(self) -> None:
        """It was admitted when it was taken."""

    @contextmanager
    def opened(self) -> Iterator[Project]:
        if group_of(self._operation.about.verb).tells_folder:
            tell_root(self._project, self._args.folder)
        yield self._project

    def progress(self) -> Progress:
        return lambda done, total, message: None

    def began(self, call: Call) -> None:
        """Tell the asking process that it can cancel the call from now on."""
        self._call = call
        if self._is_cancelled:
            call.cancel()

    def start_indexing(self, root: Path) -> None:
        raise Declined("the search index has to be built")


def _operation_of(words: Sequence[str]) -> type[Operation]:
    """The operation of a command that servers answer."""
    listed = all_verbs().get(words[0])
    if listed is None or not listed.operation.about.served:
        raise Declined("it is no command that a server answers")
    return listed.operation
