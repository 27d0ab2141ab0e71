"""Sections "reason" and "made by": the commits that decided the target's lines, and the people behind them."""

# Implements: REQ-d00361

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

import msgspec

from clew.derived.history import Commit, FileTouch
from clew.errors import ClewError
from clew.formats.code.facts.model import CLASS
from clew.text.display import counted, one_line
from clew.why.answer import EvidenceSection, Fact, section
from clew.why.inquiry import Inquiry, commit_line, day, references_in
from clew.why.story.chain import REVERTS, Chain, LinesAt
from clew.why.story.line_story import MOST_LINES, LineStory, StoryTeller
from clew.why.story.reason import body_of, reason_in, says_nothing, says_why, whole_message, words_of
from clew.why.story.ties import CommitTies, attempts_before, ties_of
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history
from clew.workspace.keeping import start_thread

_BOT = re.compile(
    r"\[bot\]|(?:^|[-_. +@])bots?(?:$|[-_. +@])|dependabot|renovate|greenkeeper|github-actions|pre-commit-ci|mergify"
    r"|snyk-bot|semantic-release|allcontributors|weblate|imgbot|bors\b",
    re.IGNORECASE,
)
_CHAIN_SECONDS = 1.0
"""Longest time that an answer waits for the chain behind the commits that touched the lines last, where none is left:
without the chain, it says that it may go back further."""
_MOST_COMMITS = 5
_MOST_FACTS = 12
_MOST_TOUCHES = 500
_LONGEST_MESSAGE = 1_200
_MOST_STEPS = 4


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
    """The commits that decided the lines, the one with the most lines first."""
    people: tuple[LineAuthor, ...] = ()
    """The authors, bots included, the one with the largest share first."""
    reason: EvidenceSection | None = None
    """The sentence that says why."""
    decided: tuple[LinesAt, ...] = ()
    touched: tuple[LinesAt, ...] = ()
    """The lines where they were decided, and where they were touched last."""


def made(inquiry: Inquiry) -> LineOrigins:
    """The commits and authors of the lines that were asked about. Commits that decided nothing are passed, .mailmap
    applies."""
    ready = inquiry.readiness
    path = inquiry.target.path
    if ready.head is None or path is None:
        reason = ready.notes[0] if ready.notes else "Not known: it is in no file."
        return LineOrigins(EvidenceSection("made_by", note=reason), EvidenceSection("authors", note="Not known."), ())
    touches = inquiry.history.of_path(path, _MOST_TOUCHES)
    story = _story(inquiry, path, ready.head, inquiry.questions.seconds)
    if story is None:
        return _by_touches(inquiry, touches)
    if not story.chain.decided:
        note = "Not known: none of these lines is committed yet."
        return LineOrigins(
            EvidenceSection("made_by", note=note),
            EvidenceSection("authors", note="Not known: nothing is committed."),
            (),
        )
    return _by_lines(inquiry, story, touches)


def begin_story(inquiry: Inquiry) -> None:
    """Have git asked about the lines, and the chain behind them followed, while the history and the source files are
    read."""
    head = git.head(inquiry.root)
    if head is None or inquiry.target.path is None or not inquiry.target.first:
        return
    path = inquiry.target.path

    def begin() -> None:
        with suppress(ClewError):
            _story(inquiry, path, head, inquiry.questions.seconds)

    start_thread("clew-story", begin)


def _story(inquiry: Inquiry, path: str, head: str, seconds: float) -> LineStory | None:
    first, last = inquiry.span
    if inquiry.text is None or not inquiry.text.lines or last - first >= MOST_LINES:
        return None
    follows = bool(inquiry.target.first)
    teller = StoryTeller(inquiry.root, inquiry.history, head)
    patience = max(inquiry.left, _CHAIN_SECONDS)
    return teller.of(path, inquiry.text.data, first, last, seconds, follows=follows, patience=patience)


def _by_lines(inquiry: Inquiry, story: LineStory, touches: Sequence[FileTouch]) -> LineOrigins:
    chain = story.chain
    commits = commits_of(inquiry, [*chain.decided, *(step.commit for step in chain.steps)])
    chosen = sorted(chain.decided, key=lambda id: (-chain.decided[id], -_number(commits.get(id))))
    is_file = not inquiry.target.first
    facts = [*(_ends(inquiry, touches, set()) if is_file and touches else ())]
    shown = {fact.place for fact in facts}
    facts += (
        fact for fact in _shares(inquiry, chain, commits, chosen[:3] if is_file else chosen) if fact.place not in shown
    )
    authors = Counter({(c.author, c.email): 0 for c in commits.values()})
    for id, number in chain.decided.items():
        if id in commits:
            authors[commits[id].author, commits[id].email] += number
    people = _people(authors)
    unread = sum(1 for id in chain.decided if id not in commits)
    first = commits.get(chosen[0])
    return LineOrigins(
        section("made_by", facts, absent="Not known.", note=_note(inquiry, story), most=_MOST_FACTS),
        _authors(people, "line", note=f"{counted(unread, 'commit')} not read yet." if unread else ""),
        tuple(commits[id] for id in chosen if id in commits),
        people,
        reason_of(inquiry, first)
        if first is not None and not is_file and not _is_cut(inquiry, chain, first.id)
        else None,
        chain.places,
        story.touched,
    )


def _is_cut(inquiry: Inquiry, chain: Chain, id: str) -> bool:
    """True if an earlier commit that is not here may have decided the lines."""
    return id in chain.boundaries and git_history.is_shallow(inquiry.root)


def _shares(inquiry: Inquiry, chain: Chain, commits: dict[str, Commit], chosen: Sequence[str]) -> Iterator[Fact]:
    """The commits, each with how many of the lines it decided; the first with its message and what belongs to it, where
    lines are asked about."""
    total = sum(chain.decided.values())
    for place, id in enumerate(chosen[:_MOST_COMMITS]):
        is_first = place == 0 and bool(inquiry.target.first)
        share = f"{chain.decided[id]} of {counted(total, 'line')}: " if len(chain.decided) > 1 else ""
        commit = commits.get(id)
        if _is_cut(inquiry, chain, id):
            commit_text = "this commit or an earlier one; the shallow clone begins with it"
        elif commit is None:
            commit_text = "a commit that is not read yet"
        else:
            commit_text = commit_line(commit)
            if is_first and (message := whole_message(commit.message, _LONGEST_MESSAGE)):
                commit_text += f" Its message: {message}"
        yield Fact(f"{share}{commit_text}", "recorded", id[:12])
        if is_first and commit is not None and not _is_cut(inquiry, chain, id):
            yield from _steps(chain, commits)
            yield from around(inquiry, commit)
            yield from _begun(inquiry, chain, commits)
            yield from _attempts(inquiry, commit, chain)
    if len(chosen) > _MOST_COMMITS:
        yield Fact(
            f"{len(chosen) - _MOST_COMMITS} more commits decided lines of it", "recorded", chosen[_MOST_COMMITS][:12]
        )


def _steps(chain: Chain, commits: dict[str, Commit]) -> Iterator[Fact]:
    """The commits that came after the deciding one and decided nothing, the oldest first."""
    steps = sorted(chain.steps, key=lambda step: _number(commits.get(step.commit)))
    for step in steps[:_MOST_STEPS]:
        about = commit_line(commits[step.commit]) if step.commit in commits else "a commit that is not read yet"
        yield Fact(f"since then {step.action}: {about}", "recorded", step.commit[:12])
    if len(chain.steps) > _MOST_STEPS:
        yield Fact(
            f"since then {len(chain.steps) - _MOST_STEPS} more decided nothing", "recorded", steps[-1].commit[:12]
        )


def _begun(inquiry: Inquiry, chain: Chain, commits: dict[str, Commit]) -> Iterator[Fact]:
    """The commit with which the function began, or the symbol that was asked for, where a later one decided it."""
    symbol, path, text = inquiry.target.symbol, inquiry.target.path, inquiry.text
    head = inquiry.readiness.head
    is_part = inquiry.target.kind == "lines" and symbol is not None and symbol.kind == CLASS
    if symbol is None or path is None or text is None or head is None or is_part:
        return
    teller = StoryTeller(inquiry.root, inquiry.history, head)
    id = teller.begun(path, text.data, symbol.at, symbol.name, max(inquiry.left, _CHAIN_SECONDS))
    first = next(iter(chain.decided))
    commit = commits_of(inquiry, [id]).get(id) if id is not None and id != first else None
    if commit is None or _is_cut(inquiry, chain, commit.id) or commit.id in {step.commit for step in chain.steps}:
        return
    ties, _ = ties_and_merge(inquiry, commit)
    released = f" First in {ties.release}." if ties.release else ""
    tests = ", ".join(dict.fromkeys(each.path for each in ties.tests))
    changed = f" Changed with it: {one_line(tests, 160)}." if tests else ""
    yield Fact(f"{symbol.name} began with {commit_line(commit)}{released}{changed}", "recorded", commit.id[:12])


def _attempts(inquiry: Inquiry, commit: Commit, chain: Chain) -> Iterator[Fact]:
    path = inquiry.target.path
    known = {step.commit for step in chain.steps} | {commit.id}
    for attempt, taken_back in attempts_before(inquiry, commit, path) if path is not None else ():
        if attempt.id in known or taken_back.id in known or not _is_about(attempt, commit):
            continue
        why = reason_in(re.sub(r"This reverts commit \w+\.?", "", body_of(taken_back.message)))
        because = f": {why}" if why else ""
        yield Fact(
            f"tried before by {commit_line(attempt)} Taken back by {taken_back.id[:12]}{because}",
            "recorded",
            attempt.id[:12],
        )


def _is_about(attempt: Commit, commit: Commit) -> bool:
    """True if two commits have a subject or a number in common."""
    same = set(references_in(attempt.message)) & set(references_in(commit.message))
    return bool(same) or attempt.subject.casefold()[:40] == commit.subject.casefold()[:40]


def reason_of(inquiry: Inquiry, commit: Commit) -> EvidenceSection:
    """The section on the reason: author, date and release of the decision, and the sentence with its reason."""
    ties, merge = ties_and_merge(inquiry, commit)
    about = _subject_words(inquiry)
    sentence, source = reason_in(body_of(commit.message), about), "its message"
    of_merge = reason_in(body_of(merge.message), about) if merge is not None else ""
    entry = max(ties.entries, key=lambda each: len(about & words_of(each.text)), default=None)
    # The title of a branch says less than the changelog, as a rule.
    if not sentence and of_merge and (entry is None or says_why(of_merge)):
        sentence, source = of_merge, "the merge"
    if not sentence and entry is not None:
        sentence, source = one_line(entry.text, 280), "the changelog"
    released = f", first in {ties.release}" if ties.release else ""
    who = f"{one_line(commit.author, 40) or 'nobody'}, {day(commit.time)}{released}"
    subject = one_line(commit.subject, 160) or "(no message)"
    if sentence and sentence.rstrip(".") != subject.rstrip("."):
        said = (
            f"{subject}. {sentence}"
            if source == "its message"
            else f"{subject}. {source[0].upper()}{source[1:]} says: {sentence}"
        )
    else:
        said = subject
    note = "" if sentence or not says_nothing(commit.subject) else "The commit gives no reason."
    return section("reason", [Fact(f"{who}: {said}", "recorded", commit.id[:12])], absent="Not known.", note=note)


def _subject_words(inquiry: Inquiry) -> frozenset[str]:
    """Words of the lines and of the names that were asked about."""
    target = inquiry.target
    first, last = inquiry.span
    lines = inquiry.text.lines[first - 1 : min(last, first + 20)] if inquiry.text is not None and target.first else ()
    name = target.symbol.qualname if target.symbol is not None else target.name
    return words_of(" ".join((name, *lines)))


def ties_and_merge(inquiry: Inquiry, commit: Commit) -> tuple[CommitTies, Commit | None]:
    merged = _merge(inquiry, commit.id)
    merge = commits_of(inquiry, [merged]).get(merged) if merged is not None else None
    numbers = references_in(f"{commit.message}\n{merge.message if merge is not None else ''}")
    return ties_of(inquiry, commit, numbers), merge


def commits_of(inquiry: Inquiry, ids: Sequence[str]) -> dict[str, Commit]:
    """The commits; those that the history does not hold yet are asked of git."""
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
    """Facts around a commit: the commit that it reverts, the merge that brought it in, its release, the entries of the
    changelog, the tests and the documents that changed with it."""
    if commit is None:
        return
    if undone := REVERTS.search(commit.message):
        before = git.commit_of(inquiry.root, undone[1])
        known = commits_of(inquiry, [before]).get(before) if before is not None else None
        if known is not None:
            yield Fact(f"it reverts {commit_line(known, body=160)}", "recorded", known.id[:12])
    ties, merge = ties_and_merge(inquiry, commit)
    if merge is not None:
        yield Fact(f"merged by {commit_line(merge, body=160)}", "recorded", merge.id[:12])
    for entry in ties.entries:
        version = f" of {entry.version}" if entry.version else ""
        yield Fact(f"changelog{version}: {entry.text}", "recorded", f"{entry.path}:{entry.line}")
    by_file: dict[str, list[str]] = {}
    for test in ties.tests:
        by_file.setdefault(test.path, []).append(test.name)
    for path, names in by_file.items():
        shown = ", ".join(filter(None, names)) or "tests"
        yield Fact(f"changed with it: {shown} in {one_line(path, 100)}", "recorded", path)
    if ties.documents:
        yield Fact(f"documented with it in {one_line(', '.join(ties.documents), 200)}", "recorded", ties.documents[0])


def _merge(inquiry: Inquiry, commit: str) -> str | None:
    about = (inquiry.readiness.head or "", commit, "merge 2")
    known = inquiry.history.kept(str, *about)
    if known is None:
        found = inquiry.questions.ask(lambda left: git_history.merge_of(inquiry.root, commit, seconds=left) or "", None)
        if found is None:
            return None
        known = found
        inquiry.history.keep(known, *about)
    return known or None


def _note(inquiry: Inquiry, story: LineStory) -> str:
    notes = list(story.notes)
    if story.chain.not_committed:
        notes.append(f"{counted(story.chain.not_committed, 'line')} not committed yet.")
    if story.chain.not_followed:
        notes.append(f"{counted(story.chain.not_followed, 'line')} not followed behind the last commit.")
    if not story.chain.is_whole:
        why = "contents are not in this clone" if git_history.is_partial(inquiry.root) else "there was no time"
        notes.append(f"The chain ends early, because {why}: an earlier commit may have decided the lines.")
    return " ".join(notes)


def _by_touches(inquiry: Inquiry, touches: Sequence[FileTouch]) -> LineOrigins:
    """The commits that touched the file, for lines without blame."""
    if not touches:
        reason = "Not known: the file is not committed."
        if not inquiry.readiness.is_complete:
            reason = "Not known yet: git is still being asked about these lines. Ask again in a moment."
        return LineOrigins(EvidenceSection("made_by", note=reason), EvidenceSection("authors", note="Not known."), ())
    facts = list(_ends(inquiry, touches, set()))
    first, last = inquiry.span
    size = last - first + 1
    note = f"{size:,} lines are too many to ask git about each; name some of them." if size > MOST_LINES else ""
    if not note and inquiry.text is not None and inquiry.text.lines:
        is_partial = git_history.is_partial(inquiry.root)
        why = "contents are not in this clone" if is_partial else "there was no time"
        note = f"The commits of these lines are not known, because {why}; these are the commits of the file."
    people = _people(Counter((touch.commit.author, touch.commit.email) for touch in touches))
    return LineOrigins(
        section("made_by", facts, absent="Not known.", note=note, most=_MOST_COMMITS),
        _authors(people, "commit"),
        tuple(touch.commit for touch in touches[:_MOST_COMMITS]),
        people,
        reason_of(inquiry, touches[0].commit) if touches[0].status == "D" else None,
    )


def _ends(inquiry: Inquiry, touches: Sequence[FileTouch], shown: set[str]) -> Iterator[Fact]:
    """The first and the last commit of a file, and what it was called before."""
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
