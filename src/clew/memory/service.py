"""The memory of a project: opened when somebody first needs it, and seen by each caller in their own scope."""

import hashlib
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from clew.cache import Cache
from clew.context import Context
from clew.errors import InvalidArgument, StoreCorrupt, StoreError
from clew.memory.cognition.agreement import RecentQuestions
from clew.memory.cognition.learning.observations import Observations
from clew.memory.cognition.modulators import SessionAdjustments, is_profile, modulated, note_reward, note_search
from clew.memory.curation.curate import Curator
from clew.memory.curation.linking import MemoryLinker
from clew.memory.curation.merge import Merger
from clew.memory.model import EXCHANGES, MIRRORS, Origin, TrustLevel
from clew.memory.places import Places
from clew.memory.pulse import Pulse, Pulses
from clew.memory.recall.ranking import Recall
from clew.memory.scope import PERSON, Viewer
from clew.memory.scratchpad import Scratchpad
from clew.memory.storage.changes import ChangeJournal
from clew.memory.storage.history import MemoryHistory
from clew.memory.storage.home import Home, is_there
from clew.memory.storage.library import MemoryReader
from clew.memory.storage.region import RememberedRegion
from clew.memory.storage.units import MemoryUnits
from clew.memory.texts.scrub import scrub
from clew.memory.writing.remember import Stored, Writer
from clew.memory.writing.requests import Note
from clew.once import close_parts, lazy
from clew.store.person import signed
from clew.text.display import shortened

if TYPE_CHECKING:
    from clew.memory.cognition.dreams.dream import Dreams
    from clew.memory.curation.gaps import CurationTask, Gap
    from clew.memory.mirror.service import Mirror
    from clew.memory.recall.ranking import RecalledMemory
    from clew.memory.storage.jsonl import ImportedLines
    from clew.memory.views import ListedMemory
    from clew.operation.call import Call

_MOST_SESSIONS = 1_024
_EMPTY_FOR = timedelta(seconds=5)
_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,128}")


class MemoryService:
    def __init__(self, context: Context) -> None:
        self.context = context
        self._own_session = f"session-{secrets.token_hex(8)}"
        """Of a process that serves one client only."""
        self._agents: Cache[str, str] = Cache(_MOST_SESSIONS)
        """Agent of each session."""
        self.pulses = Pulses()
        self.questions = RecentQuestions()
        """The last questions of each session, for the gauges."""
        self.adjustments = SessionAdjustments()
        self.observations = Observations()
        """Observations about the use of shown memories."""
        self.scratchpad = Scratchpad()
        self._asked: Cache[str, list[Gap]] = Cache(_MOST_SESSIONS)
        """Gaps of which a session was asked, the latest last."""

    @lazy
    def home(self) -> Home:
        return Home(self.context)

    @property
    def exists(self) -> bool:
        """True if anything was ever remembered here; makes nothing. A team's memory that cannot be opened counts as
        none for now: what needs no memory is answered, and its notes say why."""
        if MemoryService.home.if_made(self) is not None:
            return True
        return is_there(self.context) if self.context.config.store is None else self.context.shared is not None

    # Implements: REQ-d00621-B
    @property
    def doubt(self) -> str | None:
        """The reason why memories are shown only to somebody who asks for them; None if they are the user's own, or
        there are none."""
        return self.home.doubt if self.exists else None

    @lazy
    def units(self) -> MemoryUnits:
        return MemoryUnits(self.context, self.home)

    def renewed_after(self, error: StoreCorrupt) -> bool:
        """True if an error came from the index of the memory, which the next question makes anew."""
        home = MemoryService.home.if_made(self)
        return home is not None and home.index.is_damaged(error)

    @property
    def dreams_made(self) -> "Dreams | None":
        """The dreams of this process, if anybody ever asked for one."""
        return MemoryService.dreams.if_made(self)

    @property
    def changes(self) -> ChangeJournal:
        return ChangeJournal(self.home.store, self.context.clock, self.follow_files)

    @lazy
    def mirror(self) -> "Mirror":
        """The files that are kept in step with the memory."""
        from clew.memory.mirror.service import Mirror

        return Mirror(self)

    @lazy
    def dreams(self) -> "Dreams":
        from clew.memory.cognition.dreams.dream import Dreams

        return Dreams(self)

    @property
    def has_mirror(self) -> bool:
        return self.home.store.get(MIRRORS, self.home.name) is not None

    def next_gap(self, session: str | None, gaps: "Sequence[Gap]") -> "Gap":
        """The first gap of which the session was not asked yet; of those that are left, the one asked longest ago."""
        asked = self._asked.get_or_make(session or "", list)
        gap = next((each for each in gaps if each not in asked), None) or next(each for each in asked if each in gaps)
        asked[:] = [*(each for each in asked if each in gaps and each != gap), gap]
        return gap

    def follow_files(self) -> None:
        """Bring the mirror in step, if there is one."""
        if self.has_mirror:
            self.mirror.follow()

    def view(self, call: "Call", *, session_id: str | None = None, agent_id: str | None = None) -> "MemoryView":
        """The memory as the caller sees it."""
        is_person = call.surface != "mcp"
        session = self.session_of(call, session_id)
        agent = _checked("agent_id", agent_id)
        # Few tools take an agent's name: a name given once in a session counts for its other calls too.
        if session is not None and agent is not None:
            self._agents.put(session, agent)
        elif session is not None:
            agent = self._agents.get(session)
        self.follow_files()
        principal = self.home.principal
        if principal is not None:
            agent = "/".join(each for each in (principal, agent) if each)
        viewer = Viewer(folder=self.home.inside, agent=agent, session=session, is_owner=is_person, principal=principal)
        return MemoryView(self, viewer, is_person=is_person)

    def at_place(self, call: "Call", place: str, limit: int = 20) -> "tuple[ListedMemory, ...]":
        """List the memories about a place, decisions and pitfalls first; makes nothing."""
        from clew.memory.recall.listing import at_place

        return at_place(self.view(call), place, limit) if self.exists and self.doubt is None else ()

    def decisions(self, call: "Call", limit: int = 5) -> "tuple[ListedMemory, ...]":
        """The latest decisions and pitfalls of the project; makes nothing."""
        from clew.memory.recall.listing import decisions

        return decisions(self.view(call), limit) if self.exists and self.doubt is None else ()

    def curation_tasks(self, call: "Call", most: int) -> "list[CurationTask]":
        """Memories that need attention, of each kind at most so many; makes nothing."""
        from clew.memory.curation.gaps import curation_tasks

        return curation_tasks(self.view(call), most) if self.exists and self.doubt is None else []

    def import_lines(self, call: "Call", text: str, *, as_document: bool, dry_run: bool) -> "ImportedLines":
        """Import memories from lines of JSON, as far as they are not stored yet."""
        from clew.memory.storage.jsonl import imported

        return imported(self.view(call), text, as_document=as_document, dry_run=dry_run)

    def export_lines(self, call: "Call") -> tuple[str, ...]:
        """The memories that may be shown to the team, as lines of JSON; makes nothing."""
        from clew.memory.scope import MemoryFilters
        from clew.memory.storage.jsonl import exported

        return exported(self.view(call), MemoryFilters(), private=False).lines if self.exists else ()

    def pulse(self, session: str | None) -> Pulse:
        """The pulse of a session. Where its last question found nothing and five seconds have passed, the workspace is
        empty, and the user should be asked."""
        pulse, last = self.pulses.get(session), self.questions.last(session)
        if not last or last[-1].ranked or self.context.clock() - last[-1].at < _EMPTY_FOR:
            return pulse
        return msgspec.structs.replace(pulse, suggested_action="epistemic_action")

    def shared_view(self) -> "MemoryView":
        """The memory as everybody sees it, for what is done on nobody's behalf."""
        return MemoryView(self, Viewer(folder=self.home.inside))

    @property
    def region(self) -> RememberedRegion:
        """The memories as a part of the graph."""
        return RememberedRegion(lambda: MemoryReader(self.home, Viewer(folder=self.home.inside)))

    def session_of(self, call: "Call", given: str | None = None) -> str | None:
        """The session of a call: the one it names, or that of its transport; None where there is none."""
        if given is not None:
            return _checked("session_id", given)
        if call.surface == "cli" or call.session is None:
            return None
        if not call.session:
            return self._own_session
        return f"session-{hashlib.sha256(call.session.encode()).hexdigest()[:16]}"

    def close(self) -> None:
        # The home is declared first and closed last.
        close_parts(self)


class MemoryView:
    """The memory for one caller: everything that the caller may read and write."""

    def __init__(self, service: MemoryService, viewer: Viewer, *, is_person: bool = False) -> None:
        self.service = service
        self.viewer = viewer
        self.actor = signed(PERSON if is_person else viewer.agent or "agent", viewer.principal)
        self.trust = TrustLevel.USER if is_person else TrustLevel.AGENT
        self.changes = service.changes
        self.library = MemoryReader(service.home, viewer)
        self.units = service.units
        self.recall = Recall(self.library, self.units, self.places)
        self.writer = Writer(service.context, self.library, self.units, self.changes, self.places)
        self.linker = MemoryLinker(self.library, self.changes, self.actor)
        self.curator = Curator(self.library, self.units, self.changes, self.places, self.actor, self.linker)
        self.merger = Merger(self.library, self.units, self.changes, self.actor)
        self.history = MemoryHistory(self.library, self.changes)

    def places(self) -> Places:
        return Places(self.service.context, self.service.home.inside)

    def origin(self, host: str | None = None) -> Origin:
        return Origin(trust=self.trust, actor=self.actor, session=self.viewer.session, host=host)

    def store(self, note: Note) -> Stored:
        try:
            stored = self._store(note)
        except StoreCorrupt as error:
            # An error means that nothing was written.
            if not self.service.context.parts.renewed_after(error):
                raise
            stored = self._store(note)
        fit = min((stored.links + 2 * len(stored.cites)) / 4, 1.0)
        self.service.pulses.note(self.viewer.session, stored.steering_reward.novelty, fit)
        note_reward(self, stored.steering_reward.value)
        return stored

    def _store(self, note: Note) -> Stored:
        shown = self.library.index.shown_in(self.viewer.session) if self.viewer.session else ()
        return self.writer.store(note, self.origin(), shown)

    def near(self, text: str) -> list[str]:
        """The memories that are most like a text, best first."""
        return [each.id for each in self.units.alike(text, self.viewer)[0]]

    def injected(self) -> list[str]:
        """The memories that were injected in this session."""
        return self.library.index.shown_in(self.viewer.session, injected=True) if self.viewer.session else []

    def note_question(self, query: str, ranked: "Sequence[RecalledMemory]") -> None:
        """Note the results of a question, for the gauges of its session; a dream may end because of it."""
        if self.service.dreams_made is not None:
            self.service.dreams_made.queried()
        self.service.questions.note(self.viewer.session, query, self.service.context.clock(), ranked)
        note_search(self, len(ranked))

    def modulated(self, call: "Call", query: str, ranked: "list[RecalledMemory]") -> "list[RecalledMemory]":
        """The ranking as the modulators of the session make it; in other profiles than Context Graph's, as it was."""
        return modulated(self, query, ranked) if is_profile(call) else ranked

    def note_exchange(
        self,
        tool: str,
        query: str,
        shown: Sequence[str],
        *,
        scores: Sequence[float] = (),
        path: Sequence[str] = (),
        injected: bool | None = None,
        compacted: bool = False,
        reason: str = "",
    ) -> None:
        """Note which memories a call showed, with their similarities: that is their use, and they are not injected
        twice in a session. `path` is along which links somebody walked; `compacted` says that the client dropped what
        its session had been shown."""
        exchange = {
            "at": self.changes.now(),
            "tool": tool,
            "session": self.viewer.session,
            "agent": self.viewer.agent,
            "folder": self.viewer.folder,
            "query": shortened(scrub(query).text),
            "shown": list(shown),
            **({"scores": [round(score, 4) for score in scores]} if scores else {}),
            **({"path": list(path)} if path else {}),
            **({"compacted": True} if compacted else {}),
            "injected": injected,
            "reason": reason,
        }
        # A read-only memory is recalled too.
        with suppress(StoreError):
            id = f"{exchange['at']}-{secrets.token_hex(4)}"
            self.service.home.store.put(EXCHANGES, id, exchange, actor=self.actor, reason=tool)


def _checked(name: str, value: str | None) -> str | None:
    if value is not None and not _NAME.fullmatch(value):
        raise InvalidArgument(
            f"The argument '{name}' is '{shortened(value)}'; 1 to 128 printable characters are allowed.",
            hint="Use a name or an id.",
        )
    return value
