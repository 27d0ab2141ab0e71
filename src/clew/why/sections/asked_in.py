"""Section "asked in": the sessions with coding agents in which the lines were asked for, and the words of the prompt.

Decisions that commits record in trailers are read here as well; they are shown with those that were remembered.
"""

# Implements: REQ-d00795, REQ-d00796

from collections.abc import Iterator, Mapping, Sequence

from clew.derived.history import Commit
from clew.formats.sessions import trailers
from clew.memory.texts.scrub import scrub
from clew.text.display import counted, one_line
from clew.why.answer import EvidenceSection, Fact, section
from clew.why.inquiry import Inquiry, day
from clew.why.sections.made import LineOrigins, commits_of
from clew.why.story.chain import LinesAt
from clew.why.story.on_disk import might_be_read, with_transcripts
from clew.why.story.reason import words_of
from clew.why.story.sessions import FoundSession, SessionRecords, joined

LONGEST_WORDS = 400
_LONGEST_OF_COMMIT = 2_000
_LONGEST_DECISION = 300
_MOST_FACTS = 5
_MOST_LATER = 2
_MOST_DECISIONS = 5
_MOST_DECIDING = 3
_MOST_LATER_RECORDS = 200


def asked_in(inquiry: Inquiry, origins: LineOrigins, records: SessionRecords) -> EvidenceSection | None:
    """The section; None where the repository holds no record of any session, and these commits name none."""
    places = list(dict.fromkeys([*origins.decided, *origins.touched]))
    if not places:
        return None
    commits = commits_of(inquiry, list(dict.fromkeys(each.commit for each in places)))
    found = records.behind(places, commits)
    if not found and not records.kinds:
        return None
    deciding = {each.commit for each in origins.decided}
    total = sum(len(each.lines) for each in origins.touched)
    first = _worded(inquiry, records, joined(each for each in found if each.commit in deciding))
    later = _worded(inquiry, records, joined(each for each in found if each.commit not in deciding))
    facts = list(_facts(inquiry, first, commits, 0 if deciding else total))
    if facts and deciding and not any(each.session.prompts for each in later):
        # One fact: in a small answer, the second would be left out.
        facts[0] = Fact(f"{facts[0].text}{_since(later, commits)}", facts[0].basis, facts[0].place)
    else:
        facts += _facts(inquiry, later, commits, total, since="since then " if deciding else "")
    # Where a repository holds no records, a squash lost none.
    lost = records.lost if records.kinds else ()
    note = " ".join(filter(None, (_note(found, origins.touched), *lost, _hint(inquiry, [*first, *later]))))
    return section("asked_in", facts, absent=_absent(records), note=note, most=_MOST_FACTS)


def _worded(inquiry: Inquiry, records: SessionRecords, found: Sequence[FoundSession]) -> list[FoundSession]:
    return with_transcripts(inquiry.call, records.with_words(found, _MOST_FACTS), _MOST_FACTS)


def _hint(inquiry: Inquiry, found: Sequence[FoundSession]) -> str:
    is_missing = might_be_read(inquiry.call, found)
    return "`clew trust --grant sessions` lets Clew look for its words on this disk." if is_missing else ""


def _since(later: Sequence[FoundSession], commits: Mapping[str, Commit]) -> str:
    """The sessions that touched the lines after the one that decided them, without words of their own."""
    said = (f"{_who(each, commits.get(each.commit))[:-1]} ({each.commit[:12]})" for each in later[:_MOST_LATER])
    return f" Touched since by {'; '.join(said)}." if later else ""


def asked_in_commit(inquiry: Inquiry, commit: Commit, records: SessionRecords) -> EvidenceSection | None:
    found = _worded(inquiry, records, records.of_commit(commit))
    if not found and not records.kinds:
        return None
    facts = _facts(inquiry, found, {commit.id: commit}, 0)
    return section("asked_in", facts, absent=_absent(records), note=_hint(inquiry, found), most=_MOST_FACTS)


def recorded_decisions(inquiry: Inquiry, commits: Sequence[Commit], records: SessionRecords) -> list[Fact]:
    """Rejected alternatives, limits and warnings that the deciding commits record."""
    return _decisions(inquiry, commits[:_MOST_DECIDING], records) if commits and inquiry.target.first else []


def _decisions(inquiry: Inquiry, commits: Sequence[Commit], records: SessionRecords) -> list[Fact]:
    facts: list[Fact] = []
    for id, message in records.decisions_on(commits).items():
        newer = _newer(inquiry, message)
        for each in trailers.decisions_in(message):
            why = f", because {_shown(each.why, _LONGEST_DECISION)}" if each.why else ""
            said = f"{each.kind}: {_shown(each.text, _LONGEST_DECISION)}{why}{newer}"
            facts.append(Fact(said, "recorded", id[:12]))
    return facts


def recorded_in(inquiry: Inquiry, commit: Commit, records: SessionRecords) -> EvidenceSection | None:
    """The decisions that one commit records; None where it records none."""
    facts = _decisions(inquiry, [commit], records)
    return section("decided", facts, absent="", most=_MOST_DECISIONS) if facts else None


def _newer(inquiry: Inquiry, message: str) -> str:
    """The words on a later record that replaces the one in this message."""
    for id in trailers.record_ids_in(message):
        for later in inquiry.history.naming(id, _MOST_LATER_RECORDS) if id else ():
            if id in trailers.superseded_in(later.message):
                return f" (superseded by {later.id[:12]})"
    return ""


def _facts(
    inquiry: Inquiry, found: Sequence[FoundSession], commits: Mapping[str, Commit], total: int, *, since: str = ""
) -> Iterator[Fact]:
    for each in found:
        share = f"{len(each.lines)} of {counted(total, 'line')}: " if total > 1 and each.lines else ""
        text = f"{since}{share}{_who(each, commits.get(each.commit))}{_words(inquiry, each, commits.get(each.commit))}"
        yield Fact(f"{text} Known from {each.source}.", "recorded", each.commit[:12])


def _who(found: FoundSession, commit: Commit | None) -> str:
    session = found.session
    author = one_line(commit.author, 60) if commit is not None else ""
    on = session.date or (day(commit.time) if commit is not None else "")
    if session.by_person:
        return f"{session.person.partition('<')[0].strip() or 'a person'} without an agent, {on}."
    agent = session.agent or "an agent that is not named"
    model = f" ({session.model})" if session.model and session.model != agent else ""
    person = one_line((session.person or author).partition("<")[0], 60)
    id = f", session {session.id}" if session.id and session.id not in found.source else ""
    return f"{agent}{model} with {person or 'nobody named'}, {on}{id}."


def _words(inquiry: Inquiry, found: FoundSession, commit: Commit | None) -> str:
    """The prompt that has most words in common with the commit and the target; of equals the last."""
    prompts = found.session.prompts
    if not prompts:
        return "" if found.session.by_person else " Its words are not kept here."
    about = words_of(f"{commit.message[:2_000] if commit is not None else ''} {inquiry.target.name}")
    place = max(range(len(prompts)), key=lambda at: (len(about & words_of(prompts[at])), at))
    longest = LONGEST_WORDS if inquiry.target.commit is None else _LONGEST_OF_COMMIT
    which = f" (prompt {place + 1} of {len(prompts)})" if len(prompts) > 1 else ""
    return f' Asked{which}: "{_shown(prompts[place], longest)}"'


def _shown(text: str, longest: int) -> str:
    """A text of somebody on one line, without secrets."""
    return one_line(scrub(text).text, longest)


def _absent(records: SessionRecords) -> str:
    places = ", ".join((*records.kinds, "trailers of messages"))
    return f"Not known: no session is recorded for it (looked in {places})."


def _note(found: Sequence[FoundSession], touched: Sequence[LinesAt]) -> str:
    """The number of lines that a record attributes to an agent."""
    asked = {(each.commit, each.path, line) for each in touched for line in each.lines}
    agents = {line for each in found for line in each.lines if not each.session.by_person} & asked
    if len(asked) < 2 or not agents:
        return ""
    return f"{len(agents):,} of {counted(len(asked), 'line')} belong to a session or a commit with an agent."
