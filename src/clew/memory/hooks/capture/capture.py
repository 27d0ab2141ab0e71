"""From events to memories, without a language model: only statements in a recognisable form.

| what | from |
|---|---|
| corrections and decisions | sentences of the user's prompts |
| tests that failed and pass again | exit codes and reports, with the files edited in between |
| commits | git, after a command that made one |
| changed requirements | edited files against the last commit, when a turn ends |

Everything else stays an episode.
"""

import json
import logging
import os
from collections.abc import Callable
from typing import Any, cast

import msgspec

from clew.errors import ClewError
from clew.memory.arguments import KindName
from clew.memory.hooks.capture import commits, requirements, runs
from clew.memory.hooks.capture.episodes import ACTOR, Episodes
from clew.memory.hooks.capture.statements import statements_in
from clew.memory.hooks.event import HookEvent
from clew.memory.hooks.payload import LONGEST_TEXT, without_private
from clew.memory.model import Memory, MemoryKind, Origin, TrustLevel
from clew.memory.service import MemoryView
from clew.memory.texts.scrub import scrub
from clew.memory.writing.requests import Note
from clew.workspace.git import api as git
from clew.workspace.regular import opened

log = logging.getLogger(__name__)

_STATED, _SHOWN, _DONE = 0.7, 0.5, 0.4
_MOST_CITED = 8

_TAIL = 256 * 1024


class Capture:
    """Handles the events of one session."""

    def __init__(self, view: MemoryView, folder: str) -> None:
        self._view = view
        self._context = view.service.context
        self._episodes = Episodes(view, folder)
        self._is_here = folder == view.service.home.inside
        """Events of another project of the repository become episodes only: its files are not read here."""

    def handle(self, event: HookEvent) -> None:
        """Handle an event once."""
        if event.is_read:
            return
        if event.kind == "stop" and event.transcript and not event.text:
            event = last_answer(event)
        earlier = self._episodes.earlier(event.session)
        head = git.head(self._context.root) if event.kind == "start" or commits.makes_commits(event.command) else None
        episode = self._episodes.add(event, head=head)
        if episode is None or not self._is_here:
            return
        handlers: dict[str, Callable[[HookEvent, Memory, list[Memory]], None]] = {
            "prompt": self._statements,
            "tool": self._command,
            "failure": self._command,
            "stop": self._requirements,
        }
        handler = handlers.get(event.kind)
        if handler is not None:
            handler(event, episode, earlier)

    def _statements(self, event: HookEvent, episode: Memory, earlier: list[Memory]) -> None:
        for each in statements_in(event.text):
            why = f"The user said so in a session of {event.host}; recognised as a {each.form}"
            self._store(event, each.text, why, TrustLevel.USER, kind=each.kind, importance=_STATED)

    def _command(self, event: HookEvent, episode: Memory, earlier: list[Memory]) -> None:
        if runs.test_run(event.command) is not None:
            self._run(event, episode, earlier)
        if commits.makes_commits(event.command) and event.exit in (0, None):
            self._commits(event, earlier)

    def _run(self, event: HookEvent, episode: Memory, earlier: list[Memory]) -> None:
        failing = runs.failing_tests(self._context)
        if failing:
            self._episodes.note(episode, failing=list(failing))
        mended = runs.mended(event.command, event.exit, failing, earlier, self._context)
        if mended is None:
            return
        code = "" if mended.exit is None else f" with exit code {mended.exit}"
        named = ", ".join(mended.edited[:_MOST_CITED])
        text = f"`{mended.command}` failed{code} and passed again after an edit of {named}."
        if mended.tests:
            text += f" Tests that failed: {', '.join(mended.tests)}."
        why = f"Seen in a session of {event.host}: a failed run, an edit and a run that passed"
        about = (*mended.edited[:_MOST_CITED], *mended.tests[:_MOST_CITED])
        self._store(event, text, why, TrustLevel.TOOL, kind=MemoryKind.PITFALL, importance=_SHOWN, about=about)

    def _commits(self, event: HookEvent, earlier: list[Memory]) -> None:
        known = next((head for each in earlier if (head := each.metadata.get("head"))), None)
        if known is None and event.exit is None:
            # Nobody can tell whether the last commit is from this command.
            return
        for commit in commits.commits_since(self._context.root, known):
            text = f"Commit {commit.id[:10]}: {commit.message}"
            why = f"Committed in a session of {event.host}"
            self._store(event, text, why, TrustLevel.AGENT, importance=_DONE, about=commit.files, kind=MemoryKind.FACT)

    def _requirements(self, event: HookEvent, episode: Memory, earlier: list[Memory]) -> None:
        edited = requirements.edited_since_stop(earlier)
        for changed in requirements.changed_requirements(self._context, edited) if edited else ():
            why = f"Changed in a session of {event.host}, compared with the last commit"
            self._store(
                event, changed.text, why, TrustLevel.TOOL, importance=_SHOWN, about=(changed.id,), kind=MemoryKind.FACT
            )

    def _store(
        self,
        event: HookEvent,
        text: str,
        why: str,
        trust: TrustLevel,
        *,
        kind: MemoryKind,
        importance: float,
        about: tuple[str, ...] = (),
    ) -> None:
        there = tuple(each for each in about if self._exists(each))
        metadata: dict[str, Any] = {"captured": event.kind}
        name = cast(KindName, kind.value)
        note = Note(content=text, rationale=why, kind=name, importance=importance, metadata=metadata, about_=there)
        origin = Origin(trust=trust, actor=ACTOR, session=event.session, host=event.host)
        try:
            self._view.writer.store(note, origin, self._view.library.index.shown_in(event.session))
        except ClewError as error:
            log.warning("What a hook reported was not remembered: %s", error)

    def _exists(self, place: str) -> bool:
        try:
            self._view.places().cite(place)
        except ClewError:
            return False
        return True


def last_answer(event: HookEvent) -> HookEvent:
    """The event with the last text of the assistant in its transcript, JSON lines as Claude Code writes them; as it was
    where there is none. Read only where the user switched it on."""
    for line in reversed(_last_lines(event.transcript)):
        said = _answer_in(line)
        if said:
            text = scrub(without_private(said)[:LONGEST_TEXT]).text
            return msgspec.structs.replace(event, text=text)
    return event


def _last_lines(path: str) -> list[bytes]:
    try:
        with opened(path) as file:
            os.lseek(file, max(os.fstat(file).st_size - _TAIL, 0), os.SEEK_SET)
            return os.read(file, _TAIL).splitlines()
    except (OSError, ValueError):
        return []


def _answer_in(line: bytes) -> str:
    try:
        entry: Any = json.loads(line)
        if entry.get("type") != "assistant":
            return ""
        content = entry["message"]["content"]
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        return "\n".join(part["text"] for part in parts if part.get("type") == "text").strip()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ""
