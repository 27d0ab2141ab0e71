"""Section "made by": the commits that last changed the target's lines, and their authors."""

# Implements: REQ-d00361

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

import msgspec

from clew.derived.history import Commit, FileTouch
from clew.errors import ClewError
from clew.formats.code.outline import decoded
from clew.text.display import counted, one_line
from clew.why.answer import EvidenceSection, Fact, section
from clew.why.blame import MOST_LINES, Blame, Blamer
from clew.why.inquiry import Inquiry, commit_line, day
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
_MOST_RESTORED = 50


_MOST_UNREAD = 200
"""Commits that the kept history lacks are read from git, up to so many."""


class LineAuthor(msgspec.Struct, frozen=True):
    """A person or a bot, as .mailmap names them."""

    name: str
    email: str
    share: int
    """Lines; commits where lines are not known."""

    @property
    def is_bot(self) -> bool:
        return bool(_BOT.search(self.name) or _BOT.search(self.email.partition("@")[0]))


class LineOrigins(msgspec.Struct, frozen=True):
    """The commits behind lines, and their authors."""

    made_by: EvidenceSection
    authors: EvidenceSection
    commits: tuple[Commit, ...]
    """The commits that made the lines, the one with the most lines first."""
    people: tuple[LineAuthor, ...] = ()
    """The authors, bots included, the one with the largest share first."""


def made(inquiry: Inquiry) -> LineOrigins:
    """The commits and authors of the lines that were asked about. Formatting commits are skipped, .mailmap applies."""
    ready = inquiry.readiness
    path = inquiry.target.path
    if ready.head is None or path is None:
        reason = ready.notes[0] if ready.notes else "Not known: it is in no file."
        return LineOrigins(EvidenceSection("made_by", note=reason), EvidenceSection("authors", note="Not known."), ())
    touches = inquiry.history.of_path(path, _MOST_TOUCHES)
    blame = _blame(inquiry, path, ready.head)
    if blame is None:
        return _by_touches(inquiry, touches)
    if not blame.made:
        note = "Not known: none of these lines is committed yet."
        return LineOrigins(
            EvidenceSection("made_by", note=note),
            EvidenceSection("authors", note="Not known: nothing is committed."),
            (),
        )
    return _by_lines(inquiry, blame, touches)


def _blame(inquiry: Inquiry, path: str, head: str) -> Blame | None:
    first, last = inquiry.span
    if inquiry.text is None or not inquiry.text.lines or last - first >= MOST_LINES:
        return None
    follows = bool(inquiry.target.first)
    blamer = Blamer(inquiry.root, inquiry.history, head)
    return blamer.of(path, inquiry.text.data, first, last, inquiry.left, follows=follows)


def _by_lines(inquiry: Inquiry, blame: Blame, touches: Sequence[FileTouch]) -> LineOrigins:
    commits = commits_of(inquiry, [*blame.made, *blame.moved_by])
    chosen = sorted(blame.made, key=lambda id: (-blame.made[id], -_number(commits.get(id))))
    is_file = not inquiry.target.first
    facts = [*(_ends(inquiry, touches, set()) if is_file and touches else ())]
    shown = {fact.place for fact in facts}
    facts += (
        fact for fact in _shares(inquiry, blame, commits, chosen[:3] if is_file else chosen) if fact.place not in shown
    )
    facts += _moves(blame, commits)
    authors = Counter({(c.author, c.email): 0 for c in commits.values()})
    for id, number in blame.made.items():
        if id in commits:
            authors[commits[id].author, commits[id].email] += number
    people = _people(authors)
    unread = sum(1 for id in blame.made if id not in commits)
    return LineOrigins(
        section("made_by", facts, absent="Not known.", note=_note(inquiry, blame), most=_MOST_COMMITS + 2 * is_file),
        _authors(people, "line", note=f"{counted(unread, 'commit')} not read yet." if unread else ""),
        tuple(commits[id] for id in chosen if id in commits),
        people,
    )


def _shares(inquiry: Inquiry, blame: Blame, commits: dict[str, Commit], chosen: Sequence[str]) -> Iterator[Fact]:
    """The commits, each with the number of the lines it last changed; for lines, the first has its reasons."""
    total = sum(blame.made.values())
    shallow = git_history.is_shallow(inquiry.root)
    for place, id in enumerate(chosen):
        is_first = place == 0 and bool(inquiry.target.first)
        share = f"{blame.made[id]} of {counted(total, 'line')}: " if len(blame.made) > 1 else ""
        if shallow and id in blame.boundaries:
            commit_text = "this commit or an earlier one; the shallow clone begins with it"
        else:
            commit_text = (
                commit_line(commits[id], body=400 if is_first else 0)
                if id in commits
                else "a commit that is not read yet"
            )
        yield Fact(f"{share}{commit_text}", "recorded", id[:12])
        if is_first:
            yield from around(inquiry, commits.get(id))


def commits_of(inquiry: Inquiry, ids: Sequence[str]) -> dict[str, Commit]:
    """The commits; those missing in the stored history are asked of git."""
    found = inquiry.history.commits(ids)
    missing = [id for id in ids if id not in found][:_MOST_UNREAD]
    if missing:
        for record in git_history.commits(inquiry.root, missing):
            found[record.id] = Commit(
                0, record.id, record.time, record.author, record.email, record.message, record.parents
            )
    return found


def _number(commit: Commit | None) -> int:
    return commit.number if commit is not None else 0


def around(inquiry: Inquiry, commit: Commit | None) -> Iterator[Fact]:
    """Facts around a commit: the commit that it reverts, the lines before it, and the merge that brought it in."""
    if commit is None:
        return
    if undone := REVERTS.search(commit.message):
        before = git.commit_of(inquiry.root, undone[1])
        known = commits_of(inquiry, [before]).get(before) if before is not None else None
        if known is not None:
            yield Fact(f"it reverts {commit_line(known, body=160)}", "recorded", known.id[:12])
            yield from _restored(inquiry, known)
    merge = _merge(inquiry, commit.id)
    known = commits_of(inquiry, [merge]).get(merge) if merge is not None else None
    if known is not None:
        yield Fact(f"merged by {commit_line(known, body=160)}", "recorded", known.id[:12])


def _restored(inquiry: Inquiry, removed: Commit) -> Iterator[Fact]:
    """The first author of a line that one commit removed and another brought back."""
    path, text = inquiry.target.path, inquiry.text
    if path is None or text is None or not removed.parents or not inquiry.target.first:
        return
    parent = removed.parents[0]
    (data,) = git_history.contents_at(inquiry.root, [(parent, path)])
    first, last = inquiry.span
    wanted = {line.strip() for line in text.lines[first - 1 : last] if line.strip()}
    rows = decoded(data).split("\n") if data is not None else []
    places = [number for number, line in enumerate(rows, 1) if line.strip() in wanted]
    if not places or len(places) > _MOST_RESTORED:
        return
    with suppress(ClewError):
        lines = git_history.blame(
            inquiry.root, path, places[0], places[-1], without_spaces=True, revision=parent, seconds=inquiry.seconds
        )
        made_first = dict.fromkeys(each.commit for each in lines or () if each.line in places)
        for id, commit in commits_of(inquiry, list(made_first)).items():
            yield Fact(f"first written by {commit_line(commit, body=200)}", "recorded", id[:12])


def _merge(inquiry: Inquiry, commit: str) -> str | None:
    about = (inquiry.readiness.head or "", commit, "merge")
    known = inquiry.history.kept(str, *about)
    if known is None:
        known = git_history.merge_of(inquiry.root, commit, seconds=inquiry.seconds) or ""
        inquiry.history.keep(known, *about)
    return known or None


def _moves(blame: Blame, commits: dict[str, Commit]) -> Iterator[Fact]:
    for id, (number, source) in blame.moved_by.items():
        about = commit_line(commits[id]) if id in commits else "a commit that is not read yet"
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


def _by_touches(inquiry: Inquiry, touches: Sequence[FileTouch]) -> LineOrigins:
    """The commits that touched the file, for lines without blame."""
    if not touches:
        reason = "Not known: the file is not committed, or its history is not read yet."
        return LineOrigins(EvidenceSection("made_by", note=reason), EvidenceSection("authors", note="Not known."), ())
    facts = list(_ends(inquiry, touches, set()))
    first, last = inquiry.span
    size = last - first + 1
    note = f"{size:,} lines are too many to ask git about each; name some of them." if size > MOST_LINES else ""
    if not note and inquiry.text is not None and inquiry.text.lines:
        note = "git blame timed out; these are the commits of the file."
    people = _people(Counter((touch.commit.author, touch.commit.email) for touch in touches))
    return LineOrigins(
        section("made_by", facts, absent="Not known.", note=note, most=_MOST_COMMITS),
        _authors(people, "commit"),
        tuple(touch.commit for touch in touches[:_MOST_COMMITS]),
        people,
    )


def _ends(inquiry: Inquiry, touches: Sequence[FileTouch], shown: set[str]) -> Iterator[Fact]:
    """The first and the last commit of a file, and its former names."""
    newest, oldest = touches[0], touches[-1]
    is_begin = oldest.status == "A" and inquiry.readiness.is_complete and not git_history.is_shallow(inquiry.root)
    last = "deleted by" if newest.status == "D" else "last changed by"
    for word, touch in (("begun by" if is_begin else "earliest known:", oldest), (last, newest)):
        if touch.commit.id[:12] in shown and word != "deleted by":
            continue
        shown.add(touch.commit.id[:12])
        yield Fact(f"{word} {commit_line(touch.commit, body=200)}", "recorded", touch.commit.id[:12])
    later = inquiry.history.renamed_to(inquiry.target.path or "") if inquiry.target.kind == "deleted file" else None
    if later is not None:
        yield Fact(
            f"renamed to {one_line(later.path, 100)} by {commit_line(later.commit)}", "recorded", later.commit.id[:12]
        )
    names = list(dict.fromkeys(touch.old for touch in touches if touch.status == "R" and touch.old))
    if names:
        renamed = next(touch for touch in touches if touch.status == "R")
        said = f"called {', '.join(one_line(name, 80) for name in names[:3])} before {day(renamed.commit.time)}"
        yield Fact(said, "recorded", renamed.commit.id[:12])
    if len(touches) > 1:
        is_all = len(touches) < _MOST_TOUCHES and inquiry.readiness.is_complete
        number = f"{len(touches)}{'' if is_all else '+'} commits touched it"
        yield Fact(number, "recorded", oldest.path)


def _people(counts: Counter[tuple[str, str]]) -> tuple[LineAuthor, ...]:
    return tuple(LineAuthor(name, email, number) for (name, email), number in counts.most_common() if number)


def _authors(people: Sequence[LineAuthor], unit: str, note: str = "") -> EvidenceSection:
    facts = [
        Fact(f"{one_line(each.name, 60)}: {counted(each.share, unit)}", "recorded", one_line(each.email, 60))
        for each in people
        if not each.is_bot
    ]
    bots = sum(1 for each in people if each.is_bot)
    notes = (note, f"{counted(bots, 'bot')} left out." if bots else "")
    return section("authors", facts, absent="Not known.", note=" ".join(filter(None, notes)), most=4)
