"""Repositories in which everything that can name a program for git names one.

Each way has a canary: a script that writes a file with the name of the way. `spring` is a plain git command that sets
the canary off, which shows that the trap is a real one.
"""

import contextlib
import io
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from clew.surfaces.cli.main import main

DEMO = Path(__file__).parents[2] / "examples" / "demo"
_WHO = ("-c", "user.name=Mallory", "-c", "user.email=mallory@example.com", "-c", "commit.gpgsign=false")


class Hostile(NamedTuple):
    """A repository with its traps."""

    root: Path
    canaries: Path
    """The scripts."""
    caught: Path
    """Where a script that ran leaves its name."""

    def script(self, way: str, code: int = 1) -> str:
        """The path of the script of a way."""
        file = self.canaries / way
        if not file.exists():
            # Git writes the signed text to whoever checks it, and dies where nobody reads that.
            reads = "cat >/dev/null\n" if way.startswith("gpg") else ""
            file.write_text(f"#!/bin/sh\ntouch '{self.caught / way}'\n{reads}exit {code}\n", encoding="utf-8")
            file.chmod(0o755)
        return str(file)

    def git(self, *arguments: str, stdin: str = "", **environment: str) -> str:
        """Plain git, as careless as can be."""
        done = subprocess.run(
            ["git", *_WHO, *arguments],
            cwd=self.root,
            capture_output=True,
            text=True,
            input=stdin,
            env={**os.environ, **environment},
            timeout=60,
            check=False,
        )
        return done.stdout.strip()

    def configure(self, key: str, value: str) -> None:
        subprocess.run(["git", "config", key, value], cwd=self.root, check=True, env=_quiet())

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def fired(self) -> set[str]:
        return {file.name for file in self.caught.iterdir()}


class Way(NamedTuple):
    name: str
    plant: Callable[[Hostile, str], None]
    """Gets the way's script."""
    spring: tuple[str, ...] = ()
    """Arguments of git; empty where git needs a terminal, or a newer version, to fall into it."""
    stdin: str = ""
    in_git_hooks: bool = False
    """Whether it goes into a repository whose hooks lie where git puts them, and some of whose objects are missing."""


def _quiet() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def _setting(key: str, lead: str = "") -> Callable[[Hostile, str], None]:
    return lambda place, script: place.configure(key, f"{lead}{script}")


def _filter(name: str, key: str, ending: str) -> Callable[[Hostile, str], None]:
    def plant(place: Hostile, script: str) -> None:
        _attribute(place, f"*.{ending} filter={name}")
        place.configure(f"filter.{name}.{key}", script)

    return plant


def _attribute(place: Hostile, line: str) -> None:
    with (place.root / ".gitattributes").open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def _included(place: Hostile, script: str) -> None:
    _attribute(place, "*.included filter=included")
    place.write("settings.inc", f'[filter "included"]\n\tclean = {script}\n')
    place.configure("include.path", "../settings.inc")


def _included_here(place: Hostile, script: str) -> None:
    _attribute(place, "*.conditional filter=conditional")
    place.write("conditional.inc", f'[filter "conditional"]\n\tclean = {script}\n')
    place.configure(f"includeIf.gitdir:**/{place.root.name}/.path", "../conditional.inc")


def _attributes_in(kind: str) -> Callable[[Hostile, str], None]:
    """A filter for `*.KIND`, by attributes that do not stand in the .gitattributes of the work tree."""

    def plant(place: Hostile, script: str) -> None:
        line = f"*.{kind} filter={kind}\n"
        if kind == "info":
            (place.root / ".git" / "info").mkdir(exist_ok=True)
            (place.root / ".git" / "info" / "attributes").write_text(line, "utf-8")
        else:
            place.configure("core.attributesFile", str(place.write("attributes.inc", line)))
        place.configure(f"filter.{kind}.clean", script)

    return plant


def _deep_textconv(place: Hostile, script: str) -> None:
    place.write("spec/deep/.gitattributes", "*.deep diff=deep\n")
    place.configure("diff.deep.textconv", script)


def _of_work_tree(place: Hostile, script: str) -> None:
    _attribute(place, "*.worktree filter=worktree")
    place.configure("extensions.worktreeConfig", "true")
    (place.root / ".git" / "config.worktree").write_text(f'[filter "worktree"]\n\tclean = {script}\n', "utf-8")


def _hook(name: str) -> Callable[[Hostile, str], None]:
    def plant(place: Hostile, script: str) -> None:
        folder = place.root / "hooks"
        folder.mkdir(exist_ok=True)
        shutil.copy(script, folder / name)
        # Git looks for a relative path in the work tree: whoever can commit can write there.
        place.configure("core.hooksPath", "hooks")

    return plant


def _own_hook(name: str) -> Callable[[Hostile, str], None]:
    return lambda place, script: shutil.copy(script, place.root / ".git" / "hooks" / name)


def _hook_setting(place: Hostile, script: str) -> None:
    """Known to git since 2.54."""
    place.configure("hook.linter.event", "reference-transaction")
    place.configure("hook.linter.command", script)


def _driver(key: str) -> Callable[[Hostile, str], None]:
    def plant(place: Hostile, script: str) -> None:
        _attribute(place, f"*.{key} diff={key}driver")
        place.configure(f"diff.{key}driver.{key}", script)

    return plant


def _signature(kind: str) -> Callable[[Hostile, str], None]:
    def plant(place: Hostile, script: str) -> None:
        place.configure(f"gpg.{kind}.program", script)
        place.configure("gpg.ssh.allowedSignersFile", "/dev/null")
        place.configure("log.showSignature", "true")

    return plant


def _bare(place: Hostile, script: str) -> None:
    """A folder that anybody can commit."""
    bare = place.root / "docs" / "bare"
    for folder in ("objects", "refs"):
        (bare / folder).mkdir(parents=True)
        (bare / folder / ".keep").touch()
    (bare / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    config = f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {script}\n"
    (bare / "config").write_text(config, "utf-8")
    # It is also a project: otherwise Clew would look at the one around it.
    (bare / "clew.toml").write_text("", "utf-8")


def _submodule(place: Hostile, script: str) -> None:
    inner = Hostile(place.root / "src" / "inner", place.canaries, place.caught)
    inner.root.mkdir(parents=True)
    inner.git("init", "-q", "-b", "main")
    inner.write("a.py", "one = 1\n")
    inner.write(".gitattributes", "*.py filter=inner\n")
    inner.git("add", ".")
    inner.git("commit", "-qm", "inner")
    inner.configure("filter.inner.clean", script)
    place.git("add", "src/inner")
    inner.write("a.py", "one = 2\n")


def _promised(remote: str, key: str, value: str, url: str) -> Callable[[Hostile, str], None]:
    """A remote that git asks for objects that are missing."""

    def plant(place: Hostile, script: str) -> None:
        place.configure("extensions.partialClone", remote)
        place.configure(f"remote.{remote}.promisor", "true")
        place.configure(f"remote.{remote}.url", url.format(script=script))
        for scheme in ("ext", "file", "ssh", "git"):
            place.configure(f"protocol.{scheme}.allow", "always")
        if key:
            place.configure(key, value.format(script=script))

    return plant


def _alternates(place: Hostile, script: str) -> None:
    other = place.root / "docs" / "other" / "objects"
    other.mkdir(parents=True)
    other.with_name("refs").mkdir()
    (place.root / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (place.root / ".git" / "objects" / "info" / "alternates").write_text(f"{other}\n", "utf-8")
    place.configure("core.alternateRefsCommand", script)


_MISSING = ("cat-file", "-p", "HEAD:spec/missing.md")

WAYS: tuple[Way, ...] = (
    Way("submodule", _submodule, ("status", "--short", "src/inner")),
    Way("fsmonitor", _setting("core.fsmonitor"), ("status",)),
    Way("filter-clean", _filter("clean", "clean", "clean"), ("diff", "--", "spec/x.clean")),
    Way("filter-smudge", _filter("smudge", "smudge", "smudge"), ("cat-file", "--filters", "HEAD:spec/x.smudge")),
    Way("filter-process", _filter("process", "process", "process"), ("cat-file", "--filters", "HEAD:spec/x.process")),
    Way("filter-odd-name", _filter("a=b.c", "clean", "odd"), ("diff", "--", "spec/x.odd")),
    Way("filter-included", _included, ("diff", "--", "spec/x.included")),
    Way("filter-worktree", _of_work_tree, ("diff", "--", "spec/x.worktree")),
    Way("filter-included-here", _included_here, ("diff", "--", "spec/x.conditional")),
    Way("filter-of-info", _attributes_in("info"), ("diff", "--", "spec/x.info")),
    Way("filter-of-another-file", _attributes_in("named"), ("diff", "--", "spec/x.named")),
    Way("hook-reference-transaction", _hook("reference-transaction"), ("update-ref", "refs/x", "HEAD")),
    Way("hook-post-index-change", _hook("post-index-change"), ("add", "spec/new.md")),
    Way("hook-pre-commit", _hook("pre-commit"), ("commit", "--allow-empty", "-m", "x")),
    Way("hook-setting", _hook_setting),
    Way("pager", _setting("core.pager")),
    Way("pager-of-log", _setting("pager.log")),
    Way("diff-external", _setting("diff.external"), ("diff", "--", "spec/x.plain")),
    Way("diff-command", _driver("command"), ("diff", "--", "spec/x.command")),
    Way("diff-textconv", _driver("textconv"), ("log", "-p", "-1", "--", "spec/x.textconv")),
    Way("textconv-in-a-folder", _deep_textconv, ("log", "-p", "-1", "--", "spec/deep/x.deep")),
    Way("credential-helper", _setting("credential.helper", "!"), ("credential", "fill"), "protocol=https\nhost=h\n\n"),
    Way("ask-pass", _setting("core.askPass"), ("credential", "fill"), "protocol=https\nhost=h\nusername=u\n\n"),
    Way("editor", _setting("core.editor"), ("commit", "--no-verify", "--allow-empty")),
    Way("sequence-editor", _setting("sequence.editor")),
    Way("trailer", _setting("trailer.sign.command"), ("interpret-trailers", "--trailer", "sign=x"), "x\n"),
    Way("recent-objects", _setting("gc.recentObjectsHook")),
    Way("submodule-update", _setting("submodule.inner.update", "!")),
    Way("gpg", _signature("openpgp"), ("log", "-1", "--format=%G?", "signed-openpgp")),
    Way("gpg-x509", _signature("x509"), ("log", "-1", "--format=%G?", "signed-x509")),
    Way("gpg-ssh", _signature("ssh"), ("log", "-1", "--format=%G?", "signed-ssh")),
    Way("alternate-refs", _alternates, ("log", "-1", "--alternate-refs")),
    Way("alias", _setting("alias.brief", "!"), ("brief",)),
    Way("merge-driver", _setting("merge.req-merge.driver")),
    Way("bare-repository", _bare, ("-C", "docs/bare", "status")),
    Way("own-hook-of-refs", _own_hook("reference-transaction"), ("update-ref", "refs/x", "HEAD"), "", True),
    Way("own-hook-of-index", _own_hook("post-index-change"), ("add", "spec/new.md"), "", True),
    Way("lazy-fetch-ext", _promised("ext", "", "", "ext::{script}"), _MISSING, "", True),
    Way("lazy-fetch-ssh", _promised("ssh", "core.sshCommand", "{script}", "ssh://host/x"), _MISSING, "", True),
    Way("lazy-fetch-proxy", _promised("git", "core.gitProxy", "{script}", "git://host/x"), _MISSING, "", True),
    Way("lazy-fetch-pack", _promised("pack", "remote.pack.uploadpack", "{script}", "/nowhere"), _MISSING, "", True),
)

_BEGINNINGS = {"openpgp": "PGP SIGNATURE", "x509": "SIGNED MESSAGE", "ssh": "SSH SIGNATURE"}


def build(folder: Path, *, in_git_hooks: bool) -> Hostile:
    """One of the two repositories, with all of its ways planted."""
    place = Hostile(folder / "project", folder / "canaries", folder / "caught")
    for each in (place.canaries, place.caught):
        each.mkdir(parents=True)
    shutil.copytree(DEMO, place.root, ignore=shutil.ignore_patterns(".clew"))
    ways = [way for way in WAYS if way.in_git_hooks is in_git_hooks]
    place.git("init", "-q", "-b", "main")
    endings = ("clean", "smudge", "process", "odd", "included", "worktree", "plain", "command", "textconv")
    endings += ("conditional", "info", "named", "deep")
    folders = {"deep": "spec/deep"}
    files = [f"{folders.get(ending, 'spec')}/x.{ending}" for ending in endings]
    for file in files:
        place.write(file, "one\n")
    place.write("spec/missing.md", "# Nothing\n")
    place.git("add", ".")
    place.git("commit", "-qm", "first")
    for file in files:
        place.write(file, "two\n")
    _register_on_branches(place)
    for way in ways:
        way.plant(place, place.script(way.name))
    _sign(place)
    for file in files:
        place.write(file, "three\n")
    place.write("spec/new.md", "# New\n")
    if in_git_hooks:
        _lose(place, "HEAD:spec/missing.md")
        place.write("spec/missing.md", "# Nothing any more\n")
    shutil.rmtree(place.caught)
    place.caught.mkdir()
    return place


def _register_on_branches(place: Hostile) -> None:
    """A second commit that changes the register, and a branch that does not have it."""
    place.git("branch", "other")
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["req", "verify", "REQ-0001", "--by", "inspection", "--notes", "seen", "-C", str(place.root)]) == 0
    place.git("commit", "-qam", "second")


def _sign(place: Hostile) -> None:
    """Commits with signatures that somebody would have to check, the last of them on the branch itself."""
    raw = place.git("cat-file", "commit", "HEAD")
    head, _, message = raw.partition("\n\n")
    last = ""
    for kind, name in _BEGINNINGS.items():
        signature = f"gpgsig -----BEGIN {name}-----\n \n abcd\n -----END {name}-----"
        last = place.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{head}\n{signature}\n\n{message}\n")
        (place.root / ".git" / "refs" / "heads" / f"signed-{kind}").write_text(f"{last}\n", "utf-8")
    (place.root / ".git" / "refs" / "heads" / "main").write_text(f"{last}\n", "utf-8")


def _lose(place: Hostile, name: str) -> None:
    blob = place.git("rev-parse", name)
    (place.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


def spring(place: Hostile, way: Way) -> bool:
    """Whether plain git falls into the trap."""
    place.git(*way.spring, stdin=way.stdin, GIT_TERMINAL_PROMPT="0")
    return (place.caught / way.name).exists()
