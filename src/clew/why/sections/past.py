"""Sections about the history alone: a removed definition, a text, the number of an issue, a range of commits."""

# Implements: REQ-d00757

import re
from collections.abc import Iterator, Sequence

import msgspec

from clew.derived.history import Commit
from clew.text.display import counted, one_line
from clew.why.answer import EvidenceSection, Fact, section
from clew.why.inquiry import Inquiry, commit_line
from clew.why.sections.made import around, commits_of, reason_of
from clew.why.story.patient import SearchedPast
from clew.why.story.reason import body_of, reason_in
from clew.why.story.removed import TextEvent, TextStory, commits_naming, story_of_definition, story_of_text
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history

_MOST_EVENTS = 8
_MOST_COMMITS = 12
_MOST_COUNTED = 2_000


def past_sections(inquiry: Inquiry) -> tuple[EvidenceSection, ...]:
    """The sections for a target of one of these kinds."""
    match inquiry.target.kind:
        case "number":
            return _of_number(inquiry)
        case "commits":
            return _of_range(inquiry)
        case "text":
            story = story_of_text(_past(inquiry), inquiry.target.name)
        case _:
            story = story_of_definition(_past(inquiry), inquiry.target.name)
    return _of_story(inquiry, story)


def _past(inquiry: Inquiry) -> SearchedPast:
    return SearchedPast(inquiry.root, inquiry.history, inquiry.readiness.head or "", inquiry.questions.seconds)


def _of_story(inquiry: Inquiry, story: TextStory) -> tuple[EvidenceSection, ...]:
    looked = _looked(inquiry, story)
    if not story.events:
        note = f"No commit added or removed this text. {looked}" if story.is_done else f"Not known yet. {looked}"
        return (EvidenceSection("what", note=note),)
    commits = commits_of(inquiry, [event.commit for event in story.events])
    newest = story.events[0]
    commit = commits.get(newest.commit)
    if newest.added < 0 and not newest.renamed_to and commit is not None:
        newest = msgspec.structs.replace(newest, renamed_to=_renamed_to(inquiry.target.name, commit.message))
    facts = [fact for event in story.events if (fact := _told(event, commits)) is not None]
    note = looked if story.is_all else f"{looked} The newest are shown; there are earlier ones."
    made = [*facts[:_MOST_EVENTS], *(around(inquiry, commit) if commit is not None else ())]
    return (
        *((reason_of(inquiry, commit),) if commit is not None else ()),
        section("what", _what(inquiry, newest), absent="Not known."),
        section("made_by", made, absent="Not known.", note=note, most=_MOST_EVENTS + 6),
    )


def _looked(inquiry: Inquiry, story: TextStory) -> str:
    """Words on the commits that were looked through."""
    where = " for the files of this folder" if git.prefix_of(inquiry.root) else ""
    if story.total < 0:
        return "The commits are still being looked through. Ask again in a moment."
    all_or_newest = "the" if story.looked == story.total else "the newest"
    of = "" if story.looked == story.total else f" of {story.total:,}"
    found = f"Looked through {all_or_newest} {story.looked:,}{of} commits that lead to HEAD{where}, merges apart."
    if story.unreadable:
        found += f" Git cannot show {story.unreadable:,} of them."
    return found if story.is_done else f"{found} Ask again in a moment for the others."


def _what(inquiry: Inquiry, newest: TextEvent) -> Iterator[Fact]:
    is_definition = inquiry.target.kind == "removed symbol"
    place = f"{newest.path}:{newest.line}"
    if newest.renamed_to:
        now = inquiry.project.code.file.named(newest.renamed_to, 2) if is_definition else []
        where = f", now at {now[0].path}:{now[0].at}" if len(now) == 1 else ""
        said = f"a definition that is called {newest.renamed_to} since {newest.commit[:12]}{where}"
        yield Fact(said, "recorded", place)
    elif newest.added < 0:
        kind = "a definition" if is_definition else "a text"
        yield Fact(f"{kind} that {newest.commit[:12]} removed from {newest.path}", "recorded", place)
    else:
        yield Fact(f"last written by {newest.commit[:12]} in {newest.path}", "recorded", place)
    if newest.text:
        yield Fact(f"it read: {newest.text}", "recorded", place)


def _renamed_to(name: str, message: str) -> str:
    """The new name of a definition, where a message says that it renamed it."""
    last = re.escape(name.rpartition(".")[2].rpartition("::")[2])
    named = r"[`'\"]*(?:\w+(?:\.|::))*"
    found = re.search(
        rf"\brenam\w*\s+{named}{last}\b(?:\(\))?[`'\"]*\s*(?:to|into|as|->|=>)\s*{named}(\w+)", message, re.I
    )
    return found[1] if found is not None else ""


def _told(event: TextEvent, commits: dict[str, Commit]) -> Fact | None:
    commit = commits.get(event.commit)
    if commit is None:
        return None
    action = "added to" if event.added > 0 else "removed from" if event.added < 0 else "rewritten in"
    renamed = f" (renamed to {event.renamed_to})" if event.renamed_to else ""
    where = f"{action} {event.path}:{event.line}" if event.path else "added"
    return Fact(f"{where}{renamed} by {commit_line(commit)}", "recorded", commit.id[:12])


def _of_number(inquiry: Inquiry) -> tuple[EvidenceSection, ...]:
    number = inquiry.target.name
    ids = commits_naming(_past(inquiry), number)
    commits = commits_of(inquiry, ids)
    found = [commits[id] for id in ids if id in commits]
    main = _main(found, number)
    others = [Fact(commit_line(each), "recorded", each.id[:12]) for each in found if each is not main]
    said = f"{number} is named by {counted(len(found), 'commit')}"
    return (
        reason_of(inquiry, main),
        section("what", [Fact(said, "recorded", main.id[:12])], absent="Not known."),
        section(
            "made_by",
            [Fact(commit_line(main, body=600), "recorded", main.id[:12]), *around(inquiry, main), *others],
            absent="Not known.",
            most=_MOST_COMMITS,
        ),
    )


def _main(found: Sequence[Commit], number: str) -> Commit:
    """The commit that is the change itself: squashed under the number, else what closes it, else the oldest."""
    squashed = [each for each in found if each.subject.endswith(f"({number})")]
    closing = [each for each in found if len(each.parents) < 2]
    return (squashed or closing or list(found))[-1]


def _of_range(inquiry: Inquiry) -> tuple[EvidenceSection, ...]:
    names = inquiry.target.name.partition("..")
    first, last = (git.commit_of(inquiry.root, name) or name for name in (names[0], names[2]))
    path = inquiry.target.path
    ids = git_history.commits_between(inquiry.root, first, last, path, _MOST_COUNTED)
    commits = commits_of(inquiry, ids[:_MOST_COMMITS])
    facts = []
    for id in ids[:_MOST_COMMITS]:
        if id in commits:
            why = reason_in(body_of(commits[id].message))
            facts.append(Fact(f"{commit_line(commits[id])}{f' {why}' if why else ''}", "recorded", id[:12]))
    where = f" touch {one_line(path, 100)}" if path else " are in it"
    more = "+" if len(ids) == _MOST_COUNTED else ""
    said = Fact(
        f"{len(ids):,}{more} {'commit' if len(ids) == 1 else 'commits'}{where}, merges apart",
        "recorded",
        inquiry.target.name,
    )
    return (
        section("what", [said], absent="Not known."),
        section("made_by", facts, absent="No commit is in this range.", most=_MOST_COMMITS),
    )
