"""Protection against programs that a repository names for git to run.

A repository's own configuration may be anybody's: it comes with an archive, a shared folder or a careless clone. Git
runs what it names as filter, hook, monitor, pager, transport or signature checker. Three means switch all of it off:
the environment, settings that win over every file, and options of single commands. The user's own configuration stays
in force, because it says who the user is, which folders are safe, and what checks signatures.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from clew.errors import Unavailable
from clew.workspace.git import parse
from clew.workspace.git.find import WorkTree

OLDEST = (2, 34)
"""Older versions lack what Clew switches programs off with."""

Settings = tuple[tuple[str, str], ...]

_ENVIRONMENT = {
    "LC_ALL": "C",
    # A question must never block the user's own git commands.
    "GIT_OPTIONAL_LOCKS": "0",
    # Nothing is fetched: an empty list wins over any `protocol.<name>.allow`, and older versions know no more.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PROTOCOL_FROM_USER": "0",
    # Nothing waits for input.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
}
_SETTINGS: Settings = (
    # An empty value means no program to every version; "false" would be the name of one before 2.36.
    ("core.fsmonitor", ""),
    ("core.hooksPath", os.devnull),
    ("core.pager", "cat"),
    ("core.editor", ":"),
    ("core.askPass", ""),
    ("core.alternateRefsCommand", ":"),
    ("core.sshCommand", ":"),
    ("credential.helper", ""),
    ("protocol.allow", "never"),
    ("safe.bareRepository", "explicit"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("log.showSignature", "false"),
    # Files that git refuses to go on without.
    ("blame.ignoreRevsFile", ""),
    ("diff.orderFile", os.devnull),
    # Answers that do not depend on the user's taste.
    ("core.quotePath", "off"),
    ("log.showRoot", "true"),
    ("blame.markIgnoredLines", "false"),
    ("blame.markUnblamableLines", "false"),
    ("color.ui", "false"),
    ("i18n.logOutputEncoding", "UTF-8"),
)
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    # A submodule has a configuration of its own, which was not checked.
    "diff": ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--ignore-submodules=all"),
    "log": ("--no-ext-diff", "--no-textconv", "--no-color", "--no-show-signature"),
    "blame": ("--no-textconv",),
    "status": ("--ignore-submodules=all",),
    "grep": ("--no-textconv", "--no-color", "--no-recurse-submodules"),
    "commit-tree": ("--no-gpg-sign",),
    **dict.fromkeys(
        (
            *("add", "cat-file", "check-attr", "check-ignore", "config", "for-each-ref", "hash-object", "ls-files"),
            *("ls-tree", "merge-base", "read-tree", "rev-list", "rev-parse", "symbolic-ref", "update-index"),
            *("update-ref", "write-tree"),
        ),
        (),
    ),
}
"""The commands that Clew uses, each with the options that switch off what it would run."""
_CHECKERS = {
    ("gpg.program", "gpg.openpgp.program"): "gpg",
    ("gpg.x509.program",): "gpgsm",
    ("gpg.ssh.program",): "ssh-keygen",
}
"""Settings that name a program that checks signatures, and what git runs without them."""
_FILTER_OFF = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
_OWN_SCOPES = frozenset({"local", "worktree"})
_VARYING = ("includeif.onbranch:", "includeif.hasconfig:")
"""Conditions whose outcome changes although no file of settings does."""


class Setting(msgspec.Struct, frozen=True):
    """A line of the configuration that holds for a work tree."""

    scope: str
    """system, global, local, worktree or command."""
    origin: str
    key: str
    """Section and name in lower case; what is between them as it is written."""
    value: str


class Configuration(msgspec.Struct, frozen=True):
    """The configuration of a work tree, and the state of the files it was read from."""

    overrides: Settings
    """Settings that have to be switched off by name."""
    filters: frozenset[str]
    """The names of filters that have a program."""
    seen: tuple[tuple[str, tuple[int, ...] | None], ...]
    is_lasting: bool
    """True if it is the same as long as the files are."""

    def is_current(self) -> bool:
        return self.is_lasting and all(_state(path) == state for path, state in self.seen)


def options(command: str) -> tuple[str, ...]:
    """The options that a command always gets. A command that is not listed here is not run."""
    if command not in _OPTIONS:
        raise Unavailable(f"Clew does not run `git {command}`.", hint="workspace/git/protect.py lists what it runs.")
    return _OPTIONS[command]


def inherited() -> dict[str, str]:
    """The caller's environment without variables of git. PATH has no relative folder, because git starts programs
    itself, such as gpg, and it would find them in the project."""
    found = {name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")}
    return found | {"PATH": absolute_folders(os.environ.get("PATH", os.defpath))}


def absolute_folders(path: str) -> str:
    """A PATH without its relative folders: each would be one of the project's."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if Path(folder).is_absolute())


def environment(tree: WorkTree, overrides: Settings = ()) -> dict[str, str]:
    """The whole environment of git in a work tree."""
    settings = (*_SETTINGS, *overrides)
    found = inherited() | _ENVIRONMENT
    # A setting of the repository could name any other folder as its work tree, and files are written there.
    found["GIT_WORK_TREE"] = str(tree.top)
    if tree.top != tree.top.parent:
        found["GIT_CEILING_DIRECTORIES"] = str(tree.top.parent)
    found["GIT_CONFIG_COUNT"] = str(len(settings))
    for number, (key, value) in enumerate(settings):
        found[f"GIT_CONFIG_KEY_{number}"] = key
        found[f"GIT_CONFIG_VALUE_{number}"] = value
    return found


LISTING = ("config", "--list", "--includes", "--show-scope", "--show-origin", "-z")


def read_configuration(tree: WorkTree, listing: bytes) -> Configuration:
    """The configuration in the output of `LISTING`."""
    settings = tuple(_settings(parse.fields(listing)))
    home = Path(os.environ.get("HOME") or os.devnull)
    known = {
        *(tree.common / "config", tree.own / "config.worktree", home / ".gitconfig"),
        Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git" / "config",
        *(tree.top / each.origin.removeprefix("file:") for each in settings if each.origin.startswith("file:")),
    }
    varies = any(
        each.key.startswith(_VARYING) or (each.scope in _OWN_SCOPES and each.key.startswith("include"))
        for each in settings
    )
    return Configuration(
        overrides=tuple(_overrides(settings)),
        filters=frozenset(
            name for name, key, value in _named(settings, "filter") if key in ("clean", "smudge", "process") and value
        ),
        seen=tuple((path, _state(path)) for path in sorted(map(str, known))),
        is_lasting=not varies,
    )


def _settings(fields: list[str]) -> Iterator[Setting]:
    for scope, origin, line in zip(fields[0::3], fields[1::3], fields[2::3], strict=True):
        key, _, value = line.partition("\n")
        if scope != "command":
            yield Setting(scope, origin, key, value)


def _overrides(settings: tuple[Setting, ...]) -> Iterator[tuple[str, str]]:
    """Settings that switch off programs a repository could name. Filters are off even if the user named the program,
    because the repository decides what they do (LFS, for one)."""
    for name in dict.fromkeys(name for name, _, _ in _named(settings, "filter")):
        yield from ((f"filter.{name}.{key}", value) for key, value in _FILTER_OFF)
    # Since 2.54 hooks may also be settings.
    for name in dict.fromkeys(name for name, _, _ in _named(settings, "hook")):
        yield f"hook.{name}.enabled", "false"
    for keys, usual in _CHECKERS.items():
        if any(each.key in keys and each.scope in _OWN_SCOPES for each in settings):
            of_user = [each.value for each in settings if each.key in keys and each.scope not in _OWN_SCOPES]
            yield from ((key, of_user[-1] if of_user else usual) for key in keys)


def _named(settings: Iterable[Setting], section: str) -> Iterator[tuple[str, str, str]]:
    """The settings with a name between section and key, as name, key and value."""
    for each in settings:
        start, _, rest = each.key.partition(".")
        name, dot, key = rest.rpartition(".")
        if start == section and dot:
            yield name, key, each.value


def _state(path: str) -> tuple[int, ...] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
