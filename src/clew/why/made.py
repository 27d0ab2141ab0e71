"""Section "made by": the commits that made the target's lines as they are, and the people behind them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from clew.derived.history import Commit, Touch
from clew.text.counting import counted
from clew.why.answer import Fact, Section, section
from clew.why.blame import MOST_LINES, Blame, Blamer
from clew.why.inquiry import Inquiry, day, one_line, told
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history

REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
_BOT = re.compile(
    r"\[bot\]|(?:^|[-_. +@])bots?(?:$|[-_. +@])|dependabot|renovate|greenkeeper|github-actions|pre-commit-ci|mergify"
    r"|snyk-bot|semantic-release|allcontributors|weblate|imgbot|bors\b",
    re.IGNORECASE,
)
_MOST_COMMITS = 5
_MOST_TOUCHES = 500


class Made(msgspec.Struct, frozen=True):
    made_by: Section
    authors: Section
    commits: tuple[Commit, ...]
    """Those that made the lines, the weightiest first."""


def made(inquiry: Inquiry) -> Made:
    ready = inquiry.readiness
    path = inquiry.target.path
    if ready.head is None or path is None:
        reason = ready.notes[0] if ready.notes else "Not known: it stands in no file."
        return Made(Section("made_by", note=reason), Section("authors", note="Not known."), ())
    touches = inquiry.history.of_path(path, _MOST_TOUCHES)
    blame = _blame(inquiry, path, ready.head)
    if blame is None:
        return _by_touches(inquiry, touches)
    if not blame.made:
        note = "Not known: none of these lines is committed yet."
        return Made(Section("made_by", note=note), Section("authors", note="Not known: nothing is committed."), ())
    return _by_lines(inquiry, blame, touches)


def _blame(inquiry: Inquiry, path: str, head: str) -> Blame | None:
    first, last = inquiry.span
    if inquiry.text is None or not inquiry.text.lines or last - first >= MOST_LINES:
        return None
    follows = bool(inquiry.target.first)
    blamer = Blamer(inquiry.root, inquiry.history, head)
    return blamer.of(path, inquiry.text.data, first, last, inquiry.left, follows=follows)


def _by_lines(inquiry: Inquiry, blame: Blame, touches: Sequence[Touch]) -> Made:
    commits = commits_of(inquiry, [*blame.made, *blame.moved_by])
    total = sum(blame.made.values())
    shallow = git_history.is_shallow(inquiry.root)
    chosen = sorted(blame.made, key=lambda id: (-blame.made[id], -_number(commits.get(id))))
    facts = []
    for place, id in enumerate(chosen):
        share = f"{blame.made[id]} of {counted(total, 'line')}: " if len(blame.made) > 1 else ""
        if shallow and id in blame.boundaries:
            facts.append(
                Fact(f"{share}this commit or an earlier one; the shallow clone begins with it", "recorded", id[:12])
            )
            continue
        about = told(commits[id], body=400 if place == 0 else 0) if id in commits else "a commit that is not read yet"
        facts.append(Fact(f"{share}{about}", "recorded", id[:12]))
        facts += around(inquiry, commits.get(id)) if place == 0 else ()
    facts += _moves(blame, commits)
    if not inquiry.target.first and touches:
        facts += _ends(inquiry, touches, {fact.place for fact in facts})
    authors = Counter({(c.author, c.email): 0 for c in commits.values()})
    for id, number in blame.made.items():
        if id in commits:
            authors[commits[id].author, commits[id].email] += number
    return Made(
        section("made_by", facts, absent="Not known.", note=_note(inquiry, blame), most=_MOST_COMMITS),
        _authors(authors, "line"),
        tuple(commits[id] for id in chosen if id in commits),
    )


def commits_of(inquiry: Inquiry, ids: Sequence[str]) -> dict[str, Commit]:
    """The commits; those that the history does not hold yet are asked of git."""
    found = inquiry.history.commits(ids)
    missing = [id for id in ids if id not in found][:20]
    if missing:
        for record in git_history.commits(inquiry.root, missing):
            found[record.id] = Commit(
                0, record.id, record.time, record.author, record.email, record.message, record.parents
            )
    return found


def _number(commit: Commit | None) -> int:
    return commit.number if commit is not None else 0


def around(inquiry: Inquiry, commit: Commit | None) -> Iterator[Fact]:
    """What a commit takes back, and which merge brought it in."""
    if commit is None:
        return
    if undone := REVERTS.search(commit.message):
        before = git.commit_of(inquiry.root, undone[1])
        known = commits_of(inquiry, [before]).get(before) if before is not None else None
        if known is not None:
            yield Fact(f"it takes back {told(known, body=160)}", "stated", known.id[:12])
    merge = _merge(inquiry, commit.id)
    known = commits_of(inquiry, [merge]).get(merge) if merge is not None else None
    if known is not None:
        yield Fact(f"merged by {told(known, body=160)}", "recorded", known.id[:12])


def _merge(inquiry: Inquiry, commit: str) -> str | None:
    about = (inquiry.readiness.head or "", commit, "merge")
    known = inquiry.history.kept(str, *about)
    if known is None:
        known = git_history.merge_of(inquiry.root, commit) or ""
        inquiry.history.keep(known, *about)
    return known or None


def _moves(blame: Blame, commits: dict[str, Commit]) -> Iterator[Fact]:
    for id, (number, source) in blame.moved_by.items():
        about = told(commits[id]) if id in commits else "a commit that is not read yet"
        yield Fact(f"{counted(number, 'line')} moved or copied here from {source} by {about}", "recorded", id[:12])


def _note(inquiry: Inquiry, blame: Blame) -> str:
    notes = list(blame.notes)
    if blame.not_committed:
        notes.append(f"{counted(blame.not_committed, 'line')} not committed yet.")
    for commits, why in ((blame.skipped.listed, "listed in .git-blame-ignore-revs"), (blame.skipped.spaces, "")):
        if commits:
            reason = why or "changed only white space here"
            named = ", ".join(id[:12] for id in commits[:3])
            notes.append(f"{counted(len(commits), 'commit')} skipped, {reason}: {named}.")
    return " ".join(notes)


def _by_touches(inquiry: Inquiry, touches: Sequence[Touch]) -> Made:
    """Where lines cannot be asked about: the commits that touched the file."""
    if not touches:
        absent = "Not known: git does not know this file" if git.head(inquiry.root) else "Not known"
        reason = f"{absent}, or its history is not read yet."
        return Made(Section("made_by", note=reason), Section("authors", note="Not known."), ())
    facts = list(_ends(inquiry, touches, set()))
    first, last = inquiry.span
    size = last - first + 1
    note = f"{size:,} lines are too many to ask git about each; name some of them." if size > MOST_LINES else ""
    authors = Counter((touch.commit.author, touch.commit.email) for touch in touches)
    return Made(
        section("made_by", facts, absent="Not known.", note=note, most=_MOST_COMMITS),
        _authors(authors, "commit"),
        tuple(touch.commit for touch in touches[:_MOST_COMMITS]),
    )


def _ends(inquiry: Inquiry, touches: Sequence[Touch], shown: set[str]) -> Iterator[Fact]:
    """The first and the last commit of a file, and what it was called before."""
    newest, oldest = touches[0], touches[-1]
    is_begin = oldest.status == "A" and not git_history.is_shallow(inquiry.root)
    last = "deleted by" if newest.status == "D" else "last changed by"
    for word, touch in (("begun by" if is_begin else "earliest known:", oldest), (last, newest)):
        if touch.commit.id[:12] in shown and word != "deleted by":
            continue
        shown.add(touch.commit.id[:12])
        yield Fact(f"{word} {told(touch.commit, body=200)}", "recorded", touch.commit.id[:12])
    names = list(dict.fromkeys(touch.old for touch in touches if touch.status == "R" and touch.old))
    if names:
        renamed = next(touch for touch in touches if touch.status == "R")
        said = f"called {', '.join(one_line(name, 80) for name in names[:3])} before {day(renamed.commit.time)}"
        yield Fact(said, "recorded", renamed.commit.id[:12])
    if len(touches) > 1:
        number = f"{len(touches)}{'+' if len(touches) == _MOST_TOUCHES else ''} commits touched it"
        yield Fact(number, "recorded", oldest.path)


def _authors(counts: Counter[tuple[str, str]], unit: str) -> Section:
    people = [(who, number) for who, number in counts.most_common() if number and not is_bot(*who)]
    bots = sum(1 for who, number in counts.items() if number and is_bot(*who))
    facts = [
        Fact(f"{one_line(name, 60)}: {counted(number, unit)}", "recorded", one_line(email, 60))
        for (name, email), number in people
    ]
    note = f"{counted(bots, 'bot')} left out." if bots else ""
    return section("authors", facts, absent="Not known.", note=note, most=4)


def is_bot(name: str, email: str) -> bool:
    return bool(_BOT.search(name) or _BOT.search(email.partition("@")[0]))
