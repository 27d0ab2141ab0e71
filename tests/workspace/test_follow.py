"""The follower: what is new, changed or gone, told once. All times are set explicitly; no test waits."""

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import FormatError
from clew.text.hashing import content_hash
from clew.workspace import follow
from clew.workspace.files import FileEntry
from clew.workspace.find import Selection
from clew.workspace.follow import RACY_NS, FileContents, FileState, Follower, KeptNames, is_settled
from clew.workspace.survey import survey

LONG_AGO = 1_600_000_000
AHEAD = 4_000_000_000
"""Never settled: a file of that time changed after it was read."""
NOTES = Selection(folders=(".",), patterns=("*.md",))


def write(root: Path, path: str, text: str, at: float = LONG_AGO) -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    os.utime(place, (at, at))


def follower(root: Path, **selections: Selection) -> Follower:
    return Follower(root, selections or {"notes": NOTES}, max_file_bytes=1_000)


def take(follower: Follower, root: Path) -> tuple[set[str], set[str], set[str]]:
    """What is new, changed and gone, after which it is noted as a reader would."""
    changes = follower.changes()
    follower.forget(changes.gone)
    read = {key: content_hash((root / key[0]).read_bytes()) for key in changes.entries}
    follower.note(
        {key: FileState.at_reading(changes.entries[key], digest, changes.looked_ns) for key, digest in read.items()}
    )
    return {key[0] for key in changes.new}, {key[0] for key in changes.changed}, {key[0] for key in changes.gone}


# Verifies: REQ-d00003-E
def test_files_are_new_then_changed_then_gone_and_each_is_told_once(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "one")
    write(tmp_path, "in/b.md", "two")
    write(tmp_path, "c.txt", "not selected")
    files = follower(tmp_path)
    assert not files.is_current()
    assert take(files, tmp_path) == ({"a.md", "in/b.md"}, set(), set())
    assert files.is_current()
    assert take(files, tmp_path) == (set(), set(), set())
    write(tmp_path, "a.md", "ONE", LONG_AGO + 1)
    write(tmp_path, "d.md", "new")
    (tmp_path / "in" / "b.md").unlink()
    assert not files.is_current()
    assert take(files, tmp_path) == ({"d.md"}, {"a.md"}, {"in/b.md"})
    assert files.is_current()


def test_what_nobody_noted_is_told_again(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "one")
    files = follower(tmp_path)
    assert files.changes().new == files.changes().new == {("a.md", "notes")}
    assert not files.is_current()


# Verifies: REQ-d00003-E
@pytest.mark.parametrize("at", [LONG_AGO, AHEAD])
def test_an_edit_of_the_same_size_and_time_is_found_where_the_time_was_young(tmp_path: Path, at: int) -> None:
    write(tmp_path, "a.md", "one", at)
    files = follower(tmp_path)
    take(files, tmp_path)
    assert files.is_current()
    write(tmp_path, "a.md", "two", at)
    was_young = at == AHEAD
    assert files.is_current() is not was_young
    assert take(files, tmp_path) == (set(), {"a.md"} if was_young else set(), set())
    assert files.is_current()


# Verifies: REQ-d00003-E
@pytest.mark.parametrize("place", ["", "in/", "in/deep/"])
def test_a_new_ignore_file_is_noticed_in_and_above_the_folders_that_are_looked_into(tmp_path: Path, place: str) -> None:
    write(tmp_path, "in/deep/a.md", "one")
    for folder in ("in/deep", "in", "."):
        os.utime(tmp_path / folder, (LONG_AGO, LONG_AGO))
    files = follower(tmp_path, notes=Selection(folders=("in",), patterns=("*.md",), gitignore=True))
    assert take(files, tmp_path) == ({"in/deep/a.md"}, set(), set())
    assert files.is_current()
    (tmp_path / f"{place}.gitignore").write_text("a.md\n", encoding="utf-8")
    assert not files.is_current()
    assert take(files, tmp_path) == (set(), set(), {"in/deep/a.md"})


# Verifies: REQ-d00003-E
def test_another_size_is_found_though_the_time_is_the_same(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "one")
    files = follower(tmp_path)
    take(files, tmp_path)
    assert files.is_current()
    write(tmp_path, "a.md", "longer")
    assert not files.is_current()
    assert take(files, tmp_path) == (set(), {"a.md"}, set())
    assert files.is_current()


# Verifies: REQ-d00003-E
def test_an_empty_file_that_is_gone_is_not_taken_for_the_young_one_that_was_read(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "", AHEAD)
    files = follower(tmp_path)
    take(files, tmp_path)
    folder_time = tmp_path.stat().st_mtime_ns
    (tmp_path / "a.md").unlink()
    os.utime(tmp_path, ns=(folder_time, folder_time))
    assert not files.is_current()


# Verifies: REQ-d00003-E
def test_the_time_of_a_young_file_counts_once_its_content_was_compared_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md", "one", AHEAD)
    files = follower(tmp_path)
    take(files, tmp_path)
    assert files.states["a.md", "notes"].mtime_ns == 0
    monkeypatch.setattr(follow, "is_settled", lambda *times: True)
    assert files.is_current()
    assert files.states["a.md", "notes"].mtime_ns == AHEAD * 10**9


# Verifies: REQ-d00003-E
def test_a_file_that_comes_without_another_time_of_its_young_folder_is_found(tmp_path: Path) -> None:
    write(tmp_path, "in/a.md", "one")
    os.utime(tmp_path / "in", (AHEAD, AHEAD))
    files = follower(tmp_path)
    take(files, tmp_path)
    assert files.is_current()
    write(tmp_path, "in/b.md", "two")
    os.utime(tmp_path / "in", (AHEAD, AHEAD))
    assert not files.is_current()
    assert take(files, tmp_path) == ({"in/b.md"}, set(), set())


def test_the_same_file_is_followed_for_each_selection_that_finds_it(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "one")
    files = follower(tmp_path, notes=NOTES, all=Selection(folders=(".",), patterns=("*",)))
    changes = files.changes()
    assert list(changes.entries) == [("a.md", "notes"), ("a.md", "all")]
    take(files, tmp_path)
    assert list(files.changes(again=["all"]).entries) == [("a.md", "all")]
    files.select({"notes": NOTES})
    assert files.changes().gone == (("a.md", "all"),)


def test_a_file_that_cannot_be_read_is_told_once_it_can(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "x" * 2_000)
    files = follower(tmp_path)
    changes = files.changes()
    key, entry = next(iter(changes.entries.items()))
    files.note({key: FileState.at_reading(entry, "", changes.looked_ns)})
    assert files.is_current()
    assert not files.changes().entries
    write(tmp_path, "a.md", "x")
    assert not files.is_current()
    assert files.changes().changed == {key}


def test_everything_can_be_noted_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, "old.md", "one")
    write(tmp_path, "young.md", "one", AHEAD)
    files = follower(tmp_path)
    files.note_all()
    assert files.is_current()
    write(tmp_path, "young.md", "two", AHEAD)
    assert not files.is_current()
    files.note_all()
    assert files.is_current()
    (tmp_path / "old.md").unlink()
    files.note_all()
    assert (files.is_current(), list(files.keys)) == (True, [("young.md", "notes")])


def test_own_writes_are_expected_and_those_of_others_are_not(tmp_path: Path) -> None:
    write(tmp_path, "in/a.md", "one")
    os.utime(tmp_path / "in", (LONG_AGO, LONG_AGO))
    files = follower(tmp_path)
    take(files, tmp_path)
    write(tmp_path, "in/a.md", "two")
    os.utime(tmp_path / "in", (LONG_AGO + 5, LONG_AGO + 5))
    files.wrote(["in/a.md"])
    assert files.is_current()
    write(tmp_path, "in/b.md", "three")
    files.wrote(["in/a.md"])
    assert not files.is_current()


def test_many_files_are_looked_at_no_more_often_than_pays(tmp_path: Path) -> None:
    now = [100.0]

    def clock() -> float:
        now[0] += 1.0
        return now[0]

    write(tmp_path, "a.md", "one")
    files = Follower(tmp_path, {"notes": NOTES}, max_file_bytes=1_000, many_files=2, monotonic=clock)
    take(files, tmp_path)
    assert files.is_probably_current()
    write(tmp_path, "b.md", "two")
    assert not files.is_probably_current(), "few files are looked at every time"
    take(files, tmp_path)
    assert files.is_probably_current()
    write(tmp_path, "c.md", "three")
    assert files.is_probably_current(), "the look at many files took one second, so the next four need none"
    now[0] += follow.PAUSE_SHARE
    assert not files.is_probably_current()
    assert not files.is_probably_current(), "after a change there is no pause"


PATHS = st.sampled_from(["a.md", "b.md", "in/a.md", "in/deep/c.md", "x.txt"])
TEXTS = st.sampled_from(["one", "two", "three"])
TIMES = st.sampled_from([LONG_AGO, LONG_AGO + 1, AHEAD, AHEAD + 1])


# Verifies: REQ-d00003-E
@given(rounds=st.lists(st.dictionaries(PATHS, st.one_of(st.none(), st.tuples(TEXTS, TIMES))), max_size=6))
def test_random_edits_are_all_told_once(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[dict[str, tuple[str, int] | None]]
) -> None:
    """Only an edit of the same size and time of a file that was old when it was read cannot be seen."""
    root = tmp_path_factory.mktemp("edits")
    files = follower(root)
    before: dict[str, tuple[str, int]] = {}
    for edits in rounds:
        now = dict(before)
        for path, edit in edits.items():
            if edit is None:
                (root / path).unlink(missing_ok=True)
                now.pop(path, None)
            else:
                was = before.get(path)
                unseen = was and was != edit and was[1] == edit[1] < AHEAD and len(was[0]) == len(edit[0])
                text, at = (edit[0], edit[1] + 2) if unseen else edit
                write(root, path, text, at)
                now[path] = (text, at)
        told = take(files, root)
        notes = {path for path in now if path.endswith(".md")}
        old = {path for path in before if path.endswith(".md")}
        assert told[0] == notes - old
        assert told[2] == old - notes
        really = {path for path in notes & old if now[path][0] != before[path][0]}
        touched = {path for path in notes & old if now[path] != before[path]}
        assert really <= told[1] <= touched
        assert take(files, root) == (set(), set(), set())
        before = now


# Verifies: REQ-d00003-E
def test_what_changed_within_the_racy_interval_before_it_was_read_is_not_settled() -> None:
    changed = 1_700_000_000_000_000_000
    read_after = {0: False, 100_000_000: False, RACY_NS: False, RACY_NS + 1: True}
    assert {wait: is_settled(changed, changed + wait) for wait in read_after} == read_after
    assert RACY_NS == 2_000_000_000, "the coarsest clock of a file system, that of FAT, has steps of two seconds"
    assert not is_settled(changed, changed - 1), "the clock of a file server may be ahead"


# Verifies: REQ-d00003-E
def test_the_time_of_a_file_that_is_not_settled_is_not_kept() -> None:
    entry = FileEntry("a.md", 3, LONG_AGO * 10**9)
    just_read = entry.mtime_ns + RACY_NS
    assert FileState.at_reading(entry, "hash", just_read).mtime_ns == 0
    assert FileState.at_reading(entry, "hash", just_read + 1).mtime_ns == entry.mtime_ns
    assert FileState.at_reading(entry, "hash", just_read + 1).matches(entry)
    assert not FileState.at_reading(entry, "", just_read + 1).matches(entry)


# Verifies: REQ-d00003-E
def test_contents_are_read_again_only_when_they_changed(tmp_path: Path) -> None:
    place = tmp_path / "a.req"
    contents = FileContents(10)
    write(tmp_path, "a.req", "one")
    first = contents.read(place)
    assert contents.read(place) is first
    write(tmp_path, "a.req", "two", LONG_AGO + 1)
    assert contents.read(place) == b"two"
    write(tmp_path, "a.req", "six", AHEAD)
    young = contents.read(place)
    assert contents.read(place) is young
    write(tmp_path, "a.req", "ten", AHEAD)
    assert contents.read(place) == b"ten"
    write(tmp_path, "a.req", "x" * 11)
    with pytest.raises(FormatError, match="11 bytes"):
        contents.read(place)


# Verifies: REQ-d00003-E
def test_what_is_made_of_names_is_made_again_only_when_one_came_or_went(tmp_path: Path) -> None:
    write(tmp_path, "in/a.md", "one")
    looks: list[int] = []

    def names() -> tuple[tuple[str, ...], dict[str, int]]:
        looks.append(1)
        seen = survey(tmp_path, 100)
        return seen.files, seen.marks

    def settle() -> None:
        for folder in (tmp_path, tmp_path / "in"):
            os.utime(folder, (LONG_AGO + len(looks), LONG_AGO + len(looks)))

    kept: KeptNames[tuple[str, ...]] = KeptNames(tmp_path)
    settle()
    assert [kept.get_or_make(names) for _ in range(3)] == [("in/a.md",)] * 3
    assert len(looks) == 1
    write(tmp_path, "in/a.md", "another content")
    assert kept.get_or_make(names) == ("in/a.md",)
    assert len(looks) == 1
    write(tmp_path, "in/b.md", "two")
    assert kept.get_or_make(names) == ("in/a.md", "in/b.md")
    # The folder changed just now: its time proves nothing.
    assert kept.get_or_make(names) == ("in/a.md", "in/b.md")
    assert len(looks) == 3
    write(tmp_path, ".gitignore", "a.md\n")
    settle()
    assert [kept.get_or_make(names) for _ in range(2)] == [(".gitignore", "in/b.md")] * 2
    write(tmp_path, ".gitignore", "b.md\n", LONG_AGO + 99)
    assert kept.get_or_make(names) == (".gitignore", "in/a.md")


# Verifies: REQ-d00003-E
def test_what_is_made_of_names_is_made_again_when_git_s_own_exclusions_change(tmp_path: Path) -> None:
    kept: KeptNames[tuple[str, ...]] = KeptNames(tmp_path)

    def names() -> tuple[tuple[str, ...], dict[str, int]]:
        seen = survey(tmp_path, 100)
        return seen.files, seen.marks

    write(tmp_path, "a.md", "one")
    write(tmp_path, "b.md", "two")
    write(tmp_path, ".git/info/other", "")
    os.utime(tmp_path, (LONG_AGO, LONG_AGO))
    assert kept.get_or_make(names) == ("a.md", "b.md")
    write(tmp_path, ".git/info/exclude", "a.md\n")
    assert kept.get_or_make(names) == ("b.md",)
    write(tmp_path, ".git/info/exclude", "b.md\n", LONG_AGO + 1)
    assert kept.get_or_make(names) == ("a.md",)


# Verifies: REQ-d00003-E
def test_contents_that_may_no_longer_be_read_are_not_given(tmp_path: Path) -> None:
    contents = FileContents(10)
    write(tmp_path, "a.req", "one")
    assert contents.read(tmp_path / "a.req") == b"one"
    (tmp_path / "a.req").unlink()
    with pytest.raises(FileNotFoundError):
        contents.read(tmp_path / "a.req")


# Verifies: REQ-d00003-E
@pytest.mark.parametrize("field", [stat.ST_MODE, stat.ST_UID])
def test_contents_are_opened_again_when_others_may_read_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, field: int
) -> None:
    """The system is asked whether they may be read: where this runs as its administrator it always says yes."""
    contents = FileContents(10)
    place = tmp_path / "a.req"
    write(tmp_path, "a.req", "one")
    contents.read(place)
    status = place.stat()
    told = list(status)
    told[field] += 1
    changed = os.stat_result(told, {"st_mtime_ns": status.st_mtime_ns})

    def refused(*_: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(follow.os, "open", refused)
        assert contents.read(place) == b"one"
        patched.setattr(follow.os, "stat", lambda _: changed)
        with pytest.raises(PermissionError):
            contents.read(place)


def folders_looked_into(work: Callable[[], object]) -> int:
    """How many folders the system lists for a piece of work."""
    listed = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal listed
        listed += event == "c_call" and argument is os.scandir

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return listed


# Verifies: REQ-d00690-A
def test_only_the_folder_whose_time_is_young_is_looked_into_again(tmp_path: Path) -> None:
    folders = [f"in{number}" for number in range(20)]
    for folder in folders:
        write(tmp_path, f"{folder}/a.md", "one")
    for folder in (*folders, "."):
        os.utime(tmp_path / folder, (LONG_AGO, LONG_AGO))
    os.utime(tmp_path / "in7", (AHEAD, AHEAD))
    files = follower(tmp_path)
    take(files, tmp_path)
    assert folders_looked_into(files.is_current) == 1
    assert folders_looked_into(files.changes) == 1
    write(tmp_path, "in7/b.md", "two")
    os.utime(tmp_path / "in7", (AHEAD, AHEAD))
    assert not files.is_current()
    assert take(files, tmp_path) == ({"in7/b.md"}, set(), set())
    (tmp_path / "in7" / "b.md").rename(tmp_path / "in7" / "c.md")
    os.utime(tmp_path / "in7", (AHEAD, AHEAD))
    assert take(files, tmp_path) == ({"in7/c.md"}, set(), {"in7/b.md"})


# Verifies: REQ-d00690-B
def test_a_link_that_leads_elsewhere_under_the_same_name_in_a_young_folder_is_noticed(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(root, "in/a.md", "one")
    write(tmp_path, "outside.md", "one")
    (root / "in" / "link.md").symlink_to("a.md")
    os.utime(root / "in", (AHEAD, AHEAD))
    files = follower(root)
    assert take(files, root)[0] == {"in/a.md", "in/link.md"}
    assert files.is_current()
    (root / "in" / "link.md").unlink()
    (root / "in" / "link.md").symlink_to(tmp_path / "outside.md")
    os.utime(root / "in", (AHEAD, AHEAD))
    assert not files.is_current()
    assert take(files, root) == (set(), set(), {"in/link.md"})


# Verifies: REQ-d00690-A
def test_after_an_own_write_only_its_folder_is_looked_into(tmp_path: Path) -> None:
    for folder in ("in", "on"):
        write(tmp_path, f"{folder}/a.md", "one")
    for folder in ("in", "on", "."):
        os.utime(tmp_path / folder, (LONG_AGO, LONG_AGO))
    files = follower(tmp_path)
    take(files, tmp_path)
    write(tmp_path, "in/a.md", "two")
    os.utime(tmp_path / "in", (LONG_AGO + 5, LONG_AGO + 5))
    files.wrote(["in/a.md"])
    assert folders_looked_into(files.is_current) == 1
    assert folders_looked_into(files.is_current) == 0
