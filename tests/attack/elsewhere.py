"""Attack: an unpacked folder whose `.git` leads, in every known way, to a repository of the user.

Whatever Clew is asked to do there, nothing of that repository may be shown or changed."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import forked
from tests.attack.outcome import Outcome

SECRET = "The vault opens with the word marmalade"
SUBJECT = "Hide the key under the flowerpot"


Way = Callable[[Path, Path], None]
COMMANDS = (
    ("recall", "vault"),
    ("memory", "list"),
    ("why", "HEAD"),
    ("why", "key.md"),
    ("why", "key.md:1"),
    ("context", "key.md"),
    ("brief",),
    ("status",),
    ("search", "vault"),
    ("remember", "Something else entirely"),
    ("changed",),
    ("doctor",),
)
"""What a user types there."""


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    options = ["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *identity, *options, *arguments], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def by_file(folder: Path, private: Path) -> None:
    (folder / ".git").write_text(f"gitdir: {private}/.git\n", encoding="utf-8")


def by_link(folder: Path, private: Path) -> None:
    (folder / ".git").symlink_to(private / ".git")


def by_commondir(folder: Path, private: Path) -> None:
    own = folder / ".git"
    own.mkdir()
    for name in ("HEAD", "index"):
        (own / name).write_bytes((private / ".git" / name).read_bytes())
    (own / "commondir").write_text(f"{private}/.git\n", encoding="utf-8")


def by_a_work_tree_of_its_own_making(folder: Path, private: Path) -> None:
    """It names itself as the work tree, but the repository does not."""
    own = folder.parent / "beside" / "worktrees" / "w"
    own.mkdir(parents=True)
    (own / "HEAD").write_bytes((private / ".git" / "HEAD").read_bytes())
    (own / "gitdir").write_text(f"{folder}/.git\n", encoding="utf-8")
    (own / "commondir").write_text(f"{private}/.git\n", encoding="utf-8")
    (folder / ".git").write_text(f"gitdir: {own}\n", encoding="utf-8")


def by_the_work_tree_of_another(folder: Path, private: Path) -> None:
    tree = private.parent / "tree"
    git(private, "worktree", "add", "-q", "-b", "work", str(tree))
    (folder / ".git").symlink_to(tree / ".git")


def by_links_in_a_repository(folder: Path, private: Path) -> None:
    git(folder, "init", "-q")
    for name in ("objects", "refs"):
        subprocess.run(["rm", "-r", str(folder / ".git" / name)], check=True)
        (folder / ".git" / name).symlink_to(private / ".git" / name)
    (folder / ".git" / "clew").symlink_to(private / ".git" / "clew")


WAYS = (
    by_file,
    by_link,
    by_commondir,
    by_a_work_tree_of_its_own_making,
    by_the_work_tree_of_another,
    by_links_in_a_repository,
)


def make_private(root: Path) -> Path:
    """A repository of the user's, in which something was remembered."""
    root.mkdir()
    git(root, "init", "-q")
    (root / "key.md").write_text("# Key\n", encoding="utf-8")
    (root / "clew.toml").touch()
    git(root, "add", ".")
    git(root, "commit", "-qm", SUBJECT)
    code, text = clew("remember", SECRET, "-C", str(root))
    if code:
        raise RuntimeError(text)
    return root


def unpack(folder: Path, private: Path, way: Way) -> Path:
    folder.mkdir()
    (folder / "clew.toml").touch()
    (folder / "key.md").write_text("# Key\n", encoding="utf-8")
    way(folder, private)
    return folder


def clew(*words: str, text: str = "") -> tuple[int, str]:
    done = forked.run([sys.executable, "-m", "clew", *words], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def state(private: Path) -> tuple[bytes, tuple[str, ...]]:
    """What writing to the memory of a repository would change."""
    memory = private / ".git" / "clew" / "memory.db"
    return memory.read_bytes(), tuple(sorted(each.name for each in memory.parent.iterdir()))


def faults(folder: Path, private: Path, name: str) -> Iterator[str]:
    """Give every command in the folder, and a hook, and say what got through."""
    before = state(private)
    event = json.dumps({"session_id": "s", "cwd": str(folder), "prompt": "the vault in key.md opens with a word"})
    asked = [((*words, "-C", str(folder)), "") for words in COMMANDS]
    for words, text in (*asked, (("hook", "UserPromptSubmit", "--host", "claude-code"), event)):
        code, said = clew(*words, text=text)
        if code == 3 or "marmalade" in said or "flowerpot" in said:
            yield f"`clew {' '.join(words[:2])}` in a folder {name.replace('_', ' ')} ended with {code}: {said}"
        if state(private) != before:
            yield f"`clew {' '.join(words[:2])}` in a folder {name.replace('_', ' ')} changed the repository."
            before = state(private)


def run(rounds: int) -> Outcome:
    found: list[str] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder, _own_state(Path(folder)):
            private = make_private(Path(folder) / "private")
            for way in WAYS:
                unpacked = unpack(Path(folder) / way.__name__, private, way)
                found += faults(unpacked, private, way.__name__)
    return Outcome(rounds * len(WAYS) * (len(COMMANDS) + 1), tuple(found))


@contextmanager
def _own_state(folder: Path) -> Iterator[None]:
    """A user who trusts nothing, and hooks that get the time that they need."""
    own = {"XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/settings", "CLEW_HOOK_SECONDS": "60"}
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
