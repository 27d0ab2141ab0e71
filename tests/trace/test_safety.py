"""Safety branches in real repositories."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from clew.errors import ClewError, InvalidArgument, NotFound, Refused
from clew.trace.safety.branches import create, list_all
from clew.trace.safety.restore import restore

NOW = datetime(2026, 2, 15, 9, 30, tzinfo=UTC)
LATER = datetime(2026, 2, 15, 9, 31, tzinfo=UTC)


def run(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "--no-optional-locks", *identity, *arguments], cwd=root, check=True, capture_output=True
    )
    return done.stdout.decode("utf-8", "surrogateescape")


def files(root: Path) -> dict[str, tuple[str, bytes]]:
    """Every file below a folder with its kind and content, git's own left out."""
    found: dict[str, tuple[str, bytes]] = {}
    for path in sorted(root.rglob("*")):
        name = os.fsdecode(os.fsencode(path.relative_to(root)))
        if name.split("/")[0] == ".git":
            continue
        if path.is_symlink():
            found[name] = ("link", os.fsencode(path.readlink()))
        elif path.is_file():
            found[name] = ("program" if os.access(path, os.X_OK) else "file", path.read_bytes())
    return found


def git_state(root: Path) -> dict[str, object]:
    """What a user would miss if it changed."""
    folder = root / run(root, "rev-parse", "--git-dir").strip()
    return {
        "head": (folder / "HEAD").read_bytes(),
        "index": (folder / "index").read_bytes() if (folder / "index").exists() else None,
        "stash": run(root, "stash", "list"),
        "status": run(root, "status", "--porcelain", "-z", "-uall"),
        "branches": [line for line in run(root, "branch").splitlines() if "safety/" not in line],
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a committed, a staged, a changed, a removed, a new and an ignored file."""
    root = tmp_path / "project"
    (root / "spec").mkdir(parents=True)
    run(root, "init", "-q", "-b", "main")
    for name in ("committed", "staged", "changed", "removed", "tool"):
        (root / "spec" / name).write_text(f"{name} one\n", encoding="utf-8")
    (root / ".gitignore").write_text("*.log\n", encoding="utf-8")
    run(root, "add", ".")
    run(root, "commit", "-qm", "first")
    (root / "spec" / "staged").write_text("staged two\n", encoding="utf-8")
    run(root, "add", ".")
    (root / "spec" / "staged").write_text("staged three\n", encoding="utf-8")
    (root / "spec" / "changed").write_bytes(b"changed two\r\nno end of line, no UTF-8: \xff")
    (root / "spec" / "removed").unlink()
    (root / "spec" / "tool").chmod(0o755)
    (root / "spec" / "new").write_text("new one\n", encoding="utf-8")
    (root / "spec" / "link").symlink_to("committed")
    (root / "spec" / "noise.log").write_text("ignored one\n", encoding="utf-8")
    return root


def spoil(root: Path) -> None:
    """Change everything in every way."""
    for name in ("committed", "staged", "changed", "noise.log"):
        (root / "spec" / name).write_text("spoiled\n", encoding="utf-8")
    (root / "spec" / "new").unlink()
    (root / "spec" / "link").unlink()
    (root / "spec" / "link").write_text("no link any more\n", encoding="utf-8")
    (root / "spec" / "tool").chmod(0o644)
    (root / "spec" / "removed").mkdir()
    (root / "spec" / "removed" / "inside").write_text("a folder where nothing was\n", encoding="utf-8")
    (root / "later").mkdir()
    (root / "later" / "created").write_text("created since\n", encoding="utf-8")


# Verifies: REQ-d00050-A+B
def test_a_safety_branch_holds_every_state_and_touches_nothing_of_the_users(root: Path) -> None:
    before, state = files(root), git_state(root)
    branch = create(root, "REQ-d00001", NOW)
    assert branch.name == "safety/REQ-d00001-20260215-093000"
    assert files(root) == before
    assert git_state(root) == state
    held = run(root, "ls-tree", "-r", "--name-only", branch.name).split()
    assert held == [".gitignore", "spec/changed", "spec/committed", "spec/link", "spec/new", "spec/staged", "spec/tool"]
    assert run(root, "show", f"{branch.name}:spec/staged") == "staged three\n"
    assert run(root, "show", f"{branch.name}^2:spec/staged") == "staged two\n"
    assert run(root, "rev-parse", f"{branch.name}^").strip() == branch.made_on == run(root, "rev-parse", "main").strip()


# Verifies: REQ-d00050-C+D
def test_restoring_brings_back_every_byte_and_loses_nothing(root: Path) -> None:
    then = files(root)
    branch = create(root, "REQ-d00001", NOW)
    spoil(root)
    spoiled, state = files(root), git_state(root)
    restored = restore(root, branch.name, LATER)
    ignored = {"spec/noise.log"}
    assert {name: file for name, file in files(root).items() if name not in ignored} == {
        name: file for name, file in then.items() if name not in ignored
    }
    assert (root / "spec" / "noise.log").read_text(encoding="utf-8") == "spoiled\n"
    assert not (root / "later").exists()
    assert {key: git_state(root)[key] for key in ("head", "index", "stash", "branches")} == {
        key: state[key] for key in ("head", "index", "stash", "branches")
    }
    assert set(restored.written) == {
        "spec/changed",
        "spec/committed",
        "spec/link",
        "spec/new",
        "spec/staged",
        "spec/tool",
    }
    assert set(restored.removed) == {"later/created", "spec/removed/inside"}
    assert restored.saved_as is not None
    restore(root, restored.saved_as.name, LATER)
    assert files(root) == spoiled


# Verifies: REQ-d00050-D
def test_restoring_what_is_there_already_makes_no_branch(root: Path) -> None:
    branch = create(root, "x", NOW)
    restored = restore(root, branch.name, LATER)
    assert (restored.written, restored.removed, restored.saved_as) == ((), (), None)
    assert [each.name for each in list_all(root)] == [branch.name]


# Verifies: REQ-d00050-D
def test_what_became_ignored_is_saved_before_it_is_overwritten_and_what_was_ignored_stays(root: Path) -> None:
    (root / "spec" / "build.log").write_text("ignored then\n", encoding="utf-8")
    branch = create(root, "x", NOW)
    (root / ".gitignore").write_text("new\n", encoding="utf-8")
    (root / "spec" / "new").write_text("ignored by now, and changed\n", encoding="utf-8")
    restored = restore(root, branch.name, LATER)
    assert (root / "spec" / "new").read_text(encoding="utf-8") == "new one\n"
    assert (root / "spec" / "build.log").read_text(encoding="utf-8") == "ignored then\n"
    assert restored.removed == ()
    assert restored.saved_as is not None
    assert run(root, "show", f"{restored.saved_as.name}:spec/new") == "ignored by now, and changed\n"


# Verifies: REQ-d00050-B
def test_a_file_that_is_about_to_change_is_held_even_if_git_ignores_it(root: Path) -> None:
    branch = create(root, "x", NOW, also=["spec/noise.log"])
    (root / "spec" / "noise.log").write_text("changed\n", encoding="utf-8")
    restore(root, branch.name, LATER)
    assert (root / "spec" / "noise.log").read_text(encoding="utf-8") == "ignored one\n"


# Verifies: REQ-d00050-C
@pytest.mark.parametrize("setting", ["true", "input"])
def test_line_ends_come_back_as_they_were_whatever_git_converts(root: Path, setting: str) -> None:
    run(root, "config", "core.autocrlf", setting)
    mixed = {"lf": b"a\nb\n", "crlf": b"a\r\nb\r\n", "mixed": b"a\r\nb\nc\r\n"}
    for name, content in mixed.items():
        (root / "spec" / name).write_bytes(content)
    run(root, "-c", "core.safecrlf=false", "add", ".")
    run(root, "commit", "-qm", "ends")
    branch = create(root, "x", NOW)
    for name in mixed:
        (root / "spec" / name).write_bytes(b"spoiled\n")
    restore(root, branch.name, LATER)
    assert {name: (root / "spec" / name).read_bytes() for name in mixed} == mixed


# Verifies: REQ-d00050-E
def test_it_works_before_the_first_commit_and_without_a_branch(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("one\n", encoding="utf-8")
    unborn = create(tmp_path, "x", NOW)
    assert unborn.made_on is None
    (tmp_path / "a").write_text("two\n", encoding="utf-8")
    restore(tmp_path, unborn.name, LATER)
    assert (tmp_path / "a").read_text(encoding="utf-8") == "one\n"
    run(tmp_path, "add", ".")
    run(tmp_path, "commit", "-qm", "first")
    run(tmp_path, "checkout", "-q", "--detach")
    detached = create(tmp_path, "x", LATER)
    (tmp_path / "a").unlink()
    restore(tmp_path, detached.name, LATER)
    assert (tmp_path / "a").read_text(encoding="utf-8") == "one\n"


# Verifies: REQ-d00050-E
def test_it_works_in_a_linked_work_tree_and_beside_submodules(root: Path, tmp_path: Path) -> None:
    run(root, "commit", "-qam", "all")
    linked = tmp_path / "linked"
    run(root, "worktree", "add", "-q", "-b", "work", str(linked))
    part = tmp_path / "part"
    part.mkdir()
    run(part, "init", "-q")
    (part / "p").write_text("p\n", encoding="utf-8")
    run(part, "add", ".")
    run(part, "commit", "-qm", "p")
    run(linked, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(part), "part")
    (linked / "part" / "p").write_text("changed inside\n", encoding="utf-8")
    (linked / "spec" / "committed").write_text("two\n", encoding="utf-8")
    branch = create(linked, "x", NOW)
    (linked / "spec" / "committed").write_text("three\n", encoding="utf-8")
    (linked / "part" / "p").write_text("changed again\n", encoding="utf-8")
    restore(linked, branch.name, LATER)
    assert (linked / "spec" / "committed").read_text(encoding="utf-8") == "two\n"
    assert (linked / "part" / "p").read_text(encoding="utf-8") == "changed again\n"
    assert [each.name for each in list_all(root)] == [each.name for each in list_all(linked)]


# Verifies: REQ-d00050-E
def test_a_project_that_is_a_folder_of_a_repository_restores_only_itself(root: Path) -> None:
    (root / "outside").write_text("one\n", encoding="utf-8")
    branch = create(root / "spec", "x", NOW)
    (root / "outside").write_text("two\n", encoding="utf-8")
    (root / "spec" / "new").write_text("two\n", encoding="utf-8")
    restored = restore(root / "spec", branch.name, LATER)
    assert restored.written == ("new",)
    assert (root / "outside").read_text(encoding="utf-8") == "two\n"
    assert (root / "spec" / "new").read_text(encoding="utf-8") == "new one\n"


# Verifies: REQ-d00050-B
@pytest.mark.skipif(os.name != "posix", reason="such names cannot be on Windows")
def test_files_of_any_name_are_held(root: Path) -> None:
    names = [b"new\nline", b'"quoted"', b"b\xff", b"sp ace", b"-option", b"[id]*"]
    for name in names:
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(name)
    then = files(root)
    branch = create(root, "x", NOW)
    for name in names:
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).unlink()
    restore(root, branch.name, LATER)
    assert files(root) == then


# Verifies: REQ-d00050-E
def test_while_a_merge_is_unfinished_the_files_are_held_as_they_lie(root: Path) -> None:
    run(root, "commit", "-qam", "all")
    for branch, text in (("one", "1\n"), ("two", "2\n")):
        run(root, "checkout", "-q", "-b", branch, "main")
        (root / "spec" / "committed").write_text(text, encoding="utf-8")
        run(root, "commit", "-qam", branch)
    somebody = ("-c", "user.name=T", "-c", "user.email=t@example.invalid")
    subprocess.run(["git", *somebody, "merge", "-q", "one"], cwd=root, check=False, capture_output=True)
    conflicted = (root / "spec" / "committed").read_bytes()
    assert b"<<<<<<<" in conflicted
    state = git_state(root)
    made = create(root, "x", NOW)
    assert git_state(root) == state
    (root / "spec" / "committed").write_text("resolved\n", encoding="utf-8")
    restore(root, made.name, LATER)
    assert (root / "spec" / "committed").read_bytes() == conflicted


# Verifies: REQ-d00050-F
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("safety/x; rm -rf .", InvalidArgument),
        ("safety/$(id)", InvalidArgument),
        ("safety/`id`", InvalidArgument),
        ("safety/../main", InvalidArgument),
        ("safety/a..b", InvalidArgument),
        ("safety/x.lock", InvalidArgument),
        ("--all", InvalidArgument),
        ("main", InvalidArgument),
        ("refs/heads/main", InvalidArgument),
        ("safety/", InvalidArgument),
        ("safety/x\n", InvalidArgument),
        ("", InvalidArgument),
        ("safety/none", NotFound),
        ("safety/foreign", Refused),
    ],
)
def test_no_other_branch_can_be_restored(root: Path, name: str, error: type[ClewError]) -> None:
    run(root, "branch", "safety/foreign")
    before = files(root)
    with pytest.raises(error) as raised:
        restore(root, name, NOW)
    assert raised.value.hint
    assert files(root) == before
    assert list_all(root) == ()


# Verifies: REQ-d00050-F
def test_a_reason_of_any_letters_gives_a_name_that_is_safe(root: Path) -> None:
    names = [create(root, reason, NOW).name for reason in ("a;b $(c) ../d", "..", "x", "x")]
    assert names == [
        "safety/a-b-c-d-20260215-093000",
        "safety/change-20260215-093000",
        "safety/x-20260215-093000",
        "safety/x-20260215-093000-2",
    ]
    assert [branch.reason for branch in list_all(root)] == ["x", "x", "change", "a-b-c-d"]


# Verifies: REQ-d00050-E
def test_without_git_there_is_a_clear_refusal_and_an_empty_list(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="git init"):
        create(tmp_path, "x", NOW)
    assert list_all(tmp_path) == ()


# Verifies: REQ-d00050-E
def test_a_project_that_the_repository_around_it_ignores_is_refused(root: Path) -> None:
    inner = root / "inner.log"
    inner.mkdir()
    with pytest.raises(Refused, match="ignores"):
        create(inner, "x", NOW)


# Verifies: REQ-d00050-E
def test_a_branch_called_safety_is_named_as_what_stands_in_the_way(root: Path) -> None:
    run(root, "branch", "safety")
    with pytest.raises(Refused, match="'safety' blocks"):
        create(root, "x", NOW)


# Verifies: REQ-d00050-D
def test_a_write_protected_file_stops_a_restoration_before_it_begins(root: Path) -> None:
    branch = create(root, "x", NOW)
    (root / "spec" / "changed").write_text("spoiled\n", encoding="utf-8")
    (root / "spec" / "committed").write_text("spoiled\n", encoding="utf-8")
    (root / "spec" / "committed").chmod(0o444)
    before = files(root)
    with pytest.raises(Refused, match="spec/committed"):
        restore(root, branch.name, LATER)
    assert files(root) == before


# Verifies: REQ-d00050-D
def test_a_folder_that_became_a_link_out_of_the_project_is_replaced_not_followed(root: Path, tmp_path: Path) -> None:
    branch = create(root, "x", NOW)
    elsewhere = tmp_path / "elsewhere"
    (root / "spec").rename(elsewhere)
    (root / "spec").symlink_to(elsewhere)
    restore(root, branch.name, LATER)
    assert not (root / "spec").is_symlink()
    assert (root / "spec" / "new").read_text(encoding="utf-8") == "new one\n"
    assert (elsewhere / "new").read_text(encoding="utf-8") == "new one\n"


# Verifies: REQ-d00050-A
def test_the_variables_of_a_hook_do_not_lead_astray(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = git_state(root)
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.chdir(root)
    create(root, "x", NOW)
    monkeypatch.delenv("GIT_INDEX_FILE")
    monkeypatch.delenv("GIT_DIR")
    assert git_state(root) == state
    assert not (tmp_path / "elsewhere").exists()
