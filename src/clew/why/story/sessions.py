"""Sessions with coding agents behind lines, as the repository's own records tell them.

A note or a trace names the session of a line; a checkpoint or a trailer names that of a commit.
"""

# Implements: REQ-d00795

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from clew.derived.history import Commit
from clew.errors import ClewError
from clew.formats.sessions import agent_trace, entire, git_ai, trailers
from clew.formats.sessions.model import AgentSession
from clew.text.display import counted
from clew.why.story.asking import GitQuestions
from clew.why.story.chain import LinesAt
from clew.why.story.squashed import OriginalLines, originals
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history
from clew.workspace.git.history import LONGEST_MESSAGE
from clew.workspace.git.objects import small_objects
from clew.workspace.regular import contents

_LONGEST_NOTE = 4 * 1024 * 1024
_LONGEST_PROMPTS = 256 * 1024
_LONGEST_METADATA = 256 * 1024
_LONGEST_COMMIT = 256 * 1024
_LONGEST_TRACES = 8 * 1024 * 1024
_MOST_CHECKPOINTS = 100
_MOST_WORDS = 6
"""Files of prompts that are read for one session."""
_MOST_COMMITS = 400
_MOST_LOSSES = 2
_PATTERNS = (
    *("refs/notes/ai", "refs/notes/ai-remote/*", "refs/notes/commitlore"),
    *(f"refs/heads/{entire.BRANCH}", f"refs/remotes/*/{entire.BRANCH}"),
)


class FoundSession(msgspec.Struct, frozen=True):
    session: AgentSession
    commit: str
    source: str
    """The record that tells of it."""
    lines: frozenset[tuple[str, str, int]]
    """Commit, path and number of the lines that were asked about."""
    words: tuple[str, ...] = ()
    """The objects of git that hold the prompts."""


class _Part(msgspec.Struct, frozen=True):
    """One session of a checkpoint."""

    folder: str
    metadata: bytes


class SessionRecords:
    """The records of one repository. Paths are those of git."""

    def __init__(self, root: Path, questions: GitQuestions) -> None:
        self._root = root
        self._questions = questions
        output = git.answer(root, "for-each-ref", "--format=%(refname)", *_PATTERNS, seconds=questions.seconds)
        names = (output or b"").decode("utf-8", "replace").split("\n")
        self._notes = [each for each in names if each.startswith("refs/notes/ai")]
        self._decisions = [each for each in names if each.startswith("refs/notes/commitlore")]
        self._checkpoints = [each for each in names if each.endswith(entire.BRANCH)]
        self._traces = _traces(root)
        self.lost: tuple[str, ...] = ()
        """Words on what squashed commits lost, of the lines that were asked about last."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of records that are here, apart from trailers."""
        found = {
            "notes of git-ai": self._notes,
            "checkpoints of Entire": self._checkpoints,
            "Agent Trace": self._traces,
        }
        return tuple(name for name, records in found.items() if records)

    def behind(self, places: Sequence[LinesAt], commits: Mapping[str, Commit]) -> list[FoundSession]:
        """The sessions of these lines, one for each commit and record."""
        wanted = sorted(places, key=lambda each: -len(each.lines))[:_MOST_COMMITS]
        messages = self._messages([commits[each.commit] for each in wanted if each.commit in commits])
        found = self._told(wanted, messages)
        known = {each.commit for each in found}
        found += self._before_squash([each for each in wanted if each.commit not in known], commits)
        known = {each.commit for each in found}
        found += (each for each in _credited(wanted, messages) if each.commit not in known)
        return found

    def _told(self, places: Sequence[LinesAt], messages: Mapping[str, str]) -> list[FoundSession]:
        return [*self._noted(places), *self._traced(places), *self._named(places, messages)]

    def _before_squash(self, places: Sequence[LinesAt], commits: Mapping[str, Commit]) -> Iterator[FoundSession]:
        """The sessions of the commits that were squashed into those that name none."""
        before = originals(self._root, places, commits, self._questions)
        self.lost = tuple(_losses(before))
        ids = list(dict.fromkeys(each.commit for each in before.places))
        try:
            records = git_history.commits(self._root, ids, compares=False) if ids else []
        except ClewError:
            return
        messages = {each.id: each.message for each in records}
        for each in self._told(before.places, messages):
            by_commit: dict[str, set[tuple[str, str, int]]] = {}
            for line in each.lines:
                if line in before.squashed:
                    by_commit.setdefault(before.squashed[line][0], set()).add(before.squashed[line])
            for commit, lines in by_commit.items():
                source = f"{each.source}, by {each.commit[:12]}, which was squashed into it"
                yield msgspec.structs.replace(each, commit=commit, source=source, lines=frozenset(lines))

    def of_commit(self, commit: Commit) -> list[FoundSession]:
        """The sessions that a commit came from."""
        place = LinesAt(commit.id, "", ())
        messages = self._messages([commit])
        (note,) = self._notes_on([commit.id])
        noted = [
            FoundSession(each, commit.id, "the note of git-ai on it", frozenset())
            for each in git_ai.sessions_in(note or b"")
        ]
        return joined([*noted, *self._named([place], messages)]) or list(_credited([place], messages))

    def decisions_on(self, commits: Sequence[Commit]) -> dict[str, str]:
        """The messages of commits, with the CommitLore notes on them."""
        messages = self._messages(commits)
        for ref in self._decisions:
            for id, note in zip(messages, self._on(ref, list(messages)), strict=True):
                messages[id] += f"\n\n{note.decode('utf-8', 'replace')}" if note is not None else ""
        return messages

    def _messages(self, commits: Iterable[Commit]) -> dict[str, str]:
        """Whole messages: the history keeps the beginning of a long one, and trailers stand at its end."""
        found = {each.id: each.message for each in commits}
        long = [id for id, message in found.items() if len(message) > LONGEST_MESSAGE - 1_000]
        for id, data in zip(long, self._read(long, _LONGEST_COMMIT), strict=True):
            if data is not None:
                found[id] = data.partition(b"\n\n")[2].decode("utf-8", "replace")
        return found

    def _notes_on(self, ids: Sequence[str]) -> list[bytes | None]:
        found: list[bytes | None] = [None] * len(ids)
        for ref in self._notes:
            notes = self._on(ref, ids)
            found = [first if first is not None else second for first, second in zip(found, notes, strict=True)]
        return found

    def _on(self, ref: str, ids: Sequence[str]) -> list[bytes | None]:
        """The notes on commits, which git keeps below folders of two digits once there are many."""
        names = [f"{ref}:{path}" for id in ids for path in (f"{id[:2]}/{id[2:]}", id, f"{id[:2]}/{id[2:4]}/{id[4:]}")]
        found = self._read(names, _LONGEST_NOTE)
        return [next(filter(None, found[at : at + 3]), None) for at in range(0, len(found), 3)]

    def _noted(self, places: Sequence[LinesAt]) -> Iterator[FoundSession]:
        for place, note in zip(places, self._notes_on([each.commit for each in places]), strict=True):
            for each in git_ai.attributed(note, place.path, place.lines) if note is not None else ():
                lines = frozenset((place.commit, place.path, line) for line in each.lines)
                yield FoundSession(each.session, place.commit, "the note of git-ai on it", lines)

    def _traced(self, places: Sequence[LinesAt]) -> Iterator[FoundSession]:
        wanted = {(each.commit, each.path): each for each in places} if self._traces else {}
        revisions, paths = frozenset(commit for commit, _ in wanted), frozenset(path for _, path in wanted)
        for each in agent_trace.ranges_in(self._traces, revisions, paths) if wanted else ():
            place = wanted.get((each.revision, each.path))
            lines = [line for line in place.lines if each.first <= line <= each.last] if place is not None else []
            if lines:
                at = frozenset((each.revision, each.path, line) for line in lines)
                yield FoundSession(each.session, each.revision, "a record of Agent Trace", at)

    def _named(self, places: Sequence[LinesAt], messages: Mapping[str, str]) -> Iterator[FoundSession]:
        """The sessions that messages name by the id of a checkpoint or a session."""
        asked = [(place, id) for place in places for id in trailers.checkpoints_in(messages.get(place.commit, ""))]
        parts = self._parts([id for _, id in asked[:_MOST_CHECKPOINTS]])
        for place, id in asked:
            source = f"checkpoint {id} of Entire" if id in parts else f"checkpoint {id} of Entire, which is not here"
            near = [each for each in parts.get(id, ()) if place.path and entire.touched(each.metadata, place.path)]
            for each in near or parts.get(id) or [_Part("", b"{}")]:
                session = entire.session_in(each.metadata)
                signed = _signed(session if session.id else msgspec.structs.replace(session, id=id), messages, place)
                words = (f"{each.folder}/prompt.txt",) if each.folder else ()
                yield FoundSession(signed, place.commit, source, _all(place), words)
        for place in places:
            for session in trailers.sessions_in(messages.get(place.commit, "")):
                signed = _signed(session, messages, place)
                yield FoundSession(signed, place.commit, "a trailer of its message", _all(place))

    def _parts(self, ids: Sequence[str]) -> dict[str, list[_Part]]:
        """The sessions of the checkpoints that are here."""
        found: dict[str, list[_Part]] = {}
        for ref in self._checkpoints if ids else ():
            left = [id for id in dict.fromkeys(ids) if id not in found]
            heads = self._read([f"{ref}:{entire.folder_of(id)}/metadata.json" for id in left], _LONGEST_METADATA)
            folders = [
                (id, f"{ref}:{folder}")
                for id, head in zip(left, heads, strict=True)
                if head is not None
                for folder in entire.parts_of(id, head)
            ]
            metadata = self._read([f"{folder}/metadata.json" for _, folder in folders], _LONGEST_METADATA)
            for (id, folder), data in zip(folders, metadata, strict=True):
                found.setdefault(id, []).append(_Part(folder, data or b"{}"))
        return found

    def with_words(self, found: Sequence[FoundSession], most: int) -> list[FoundSession]:
        """The first of the sessions with their prompts, which are read only for what is shown."""
        shown = found[:most]
        names = [name for each in shown for name in each.words[:_MOST_WORDS]]
        texts = dict(zip(names, self._read(names, _LONGEST_PROMPTS), strict=True))
        filled = []
        for each in shown:
            prompts = [prompt for name in each.words for prompt in entire.prompts_in(texts.get(name) or b"")]
            prompts = list(dict.fromkeys((*each.session.prompts, *prompts)))
            session = msgspec.structs.replace(each.session, prompts=tuple(prompts))
            filled.append(msgspec.structs.replace(each, session=session))
        return [*filled, *found[most:]]

    def _read(self, names: Sequence[str], longest: int) -> list[bytes | None]:
        return small_objects(self._root, names, longest, seconds=self._questions.seconds)


def _losses(before: OriginalLines) -> Iterator[str]:
    for commit, number in list(before.absent.items())[:_MOST_LOSSES]:
        yield (
            f"{commit[:12]} stands for pull request #{number}, whose commits are not in this clone: what they record is"
            f" not known here (`git fetch origin refs/pull/{number}/head:refs/pull/{number}/head`)."
        )
    if before.unlike:
        yield f"Not in the commits that were squashed, as it stands here: {counted(before.unlike, 'line')}."


def _all(place: LinesAt) -> frozenset[tuple[str, str, int]]:
    return frozenset((place.commit, place.path, line) for line in place.lines)


def _signed(session: AgentSession, messages: Mapping[str, str], place: LinesAt) -> AgentSession:
    """The session with the agent or the model that the commit credits, where it credits one only."""
    names = trailers.agents_in(messages.get(place.commit, ""))
    if len(names) != 1 or session.model:
        return session
    return msgspec.structs.replace(session, **({"model": names[0]} if session.agent else {"agent": names[0]}))


def joined(found: Iterable[FoundSession]) -> list[FoundSession]:
    """One for each session, with the lines of all its commits, those with the most lines first."""
    by_session: dict[tuple[str, ...], list[FoundSession]] = {}
    for each in found:
        session = each.session
        who = (session.id,) if session.id else (session.agent, session.model, session.person, each.source)
        by_session.setdefault(who, []).append(each)
    whole = []
    for same in by_session.values():
        best = max(same, key=lambda each: (len(each.session.prompts), bool(each.words), len(each.lines)))
        lines = frozenset(line for each in same for line in each.lines)
        words = dict.fromkeys(name for each in same for name in each.words)
        whole.append(msgspec.structs.replace(best, lines=lines, words=tuple(words)))
    return sorted(whole, key=lambda each: -len(each.lines))


def _credited(places: Sequence[LinesAt], messages: Mapping[str, str]) -> Iterator[FoundSession]:
    """The agents that commits credit, where nothing says more."""
    for place in places:
        lines = _all(place)
        for name in trailers.agents_in(messages.get(place.commit, "")):
            yield FoundSession(AgentSession(agent=name), place.commit, "a trailer of its message", lines)


def _traces(root: Path) -> bytes:
    top = git.toplevel(root) or root
    try:
        return contents(top / agent_trace.FILE, _LONGEST_TRACES)
    except OSError:
        return b""
