"""Every command and the day of a server, with an empty home and alone on a network: nobody is told, and no file is left
outside of the project but those that docs/privacy.md lists.

    python -m tests.attack.quiet

Where the system gives no namespaces, `strace` says which addresses were spoken to, and only files in the usual places
below the empty home are seen.
"""

import argparse
import asyncio
import contextlib
import fnmatch
import ipaddress
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.attack.alone import NOT_POSSIBLE, NotPossible, Watch, enter, files_beside
from tests.attack.outcome import Outcome
from tests.attack.quiet_lines import COMMANDS, FILES, SHORT, TOOLS

ROOT = Path(__file__).parents[2]
PRIVACY = ROOT / "docs" / "privacy.md"
LISTED = "## Outside of the project"
NEEDED = (ROOT, *map(Path, (sys.prefix, sys.base_prefix, *filter(None, sys.path))))
CLEW = (sys.executable, "-m", "clew")
SECONDS = 300
TOKEN = "a-token-for-a-quiet-server"
ALL_TOOLS = ("--toolsets", "all")
"""The default ones depend on the project."""
TRACER = ("strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg")

Runs = Callable[[Path, list[str]], tuple[int, str]]


def run(rounds: int) -> Outcome:
    """All of it, once; each command in an interpreter of its own."""
    return tried("--whole")


def tried(*options: str) -> Outcome:
    """What a run finds in a process of its own."""
    command = [sys.executable, "-m", "tests.attack.quiet", "--inside", *options]
    apart = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if apart.returncode == 0:
        return outcome_of(apart.stdout)
    if apart.returncode != NOT_POSSIBLE:
        return Outcome(0, (f"the run ended with {apart.returncode}: {apart.stdout[-500:]}",))
    return traced([*command, "--traced"], apart.stdout.strip())


def traced(command: list[str], refused: str) -> Outcome:
    """The same, where strace says what was spoken to."""
    if shutil.which("strace") is None:
        return Outcome(0, (), skipped=f"no namespace can be made here ({refused}), and strace is not installed")
    with tempfile.TemporaryDirectory(prefix="clew-") as folder:
        trace = Path(folder, "trace")
        done = subprocess.run(
            [*TRACER, "-o", str(trace), *command], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            return Outcome(0, (f"the run ended with {done.returncode}: {done.stdout[-500:]}",))
        outcome = outcome_of(done.stdout)
        with trace.open(errors="replace") as lines:
            return Outcome(outcome.tried, (*outcome.faults, *dict.fromkeys(spoken_to(lines))), outcome.counts)


_ADDRESS = re.compile(r'sin6?_port=htons\((\d+)\).*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")')


def spoken_to(lines: Iterable[str]) -> Iterator[str]:
    """The addresses of other machines, and name servers, in what strace wrote."""
    for line in lines:
        for port, four, six in _ADDRESS.findall(line):
            address = ipaddress.ip_address((four or six).removeprefix("::ffff:"))
            if port == "53":
                yield f"a look-up at {address}"
            elif not address.is_loopback and port != "0":
                yield f"{address} at port {port}"


def outcome_of(text: str) -> Outcome:
    told = json.loads(text.splitlines()[-1])
    return Outcome(told["tried"], tuple(told["faults"]), told["counts"])


def listed() -> tuple[str, ...]:
    """The files outside of a project that the page on privacy lists, as patterns."""
    _, _, after = PRIVACY.read_text(encoding="utf-8").partition(f"{LISTED}\n")
    table = after.partition("\n## ")[0]
    return tuple(
        path for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for path in re.findall("`(.*?)`", row)
    )


class World:
    """A project, an empty home, and a folder for temporary files; what appears beside the project is news."""

    def __init__(self, base: Path, empty: tuple[Path, ...], watch: Watch | None) -> None:
        self.base = base
        self.project = base / "demo"
        self.home = base / "home"
        self.temporary = base / "tmp"
        self.faults: list[str] = []
        self.tried = 0
        self._watch = watch
        self._places = (base, *empty)
        self._left_out = {self.project, *NEEDED}
        for folder in (self.home, self.temporary):
            folder.mkdir()
        subprocess.run([sys.executable, str(ROOT / "examples" / "history.py"), str(self.project)], check=True)
        for name, text in FILES.items():
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text(text, encoding="utf-8")
        for name in ("base.req", "ours.req", "theirs.req"):
            shutil.copy(self.project / "project.req", self.project / name)
        self._allowed = tuple(map(self._absolute, listed()))
        self._written: set[str] = set()
        self._known = files_beside(self._left_out, self._places)
        self.look("making the project")

    def _absolute(self, pattern: str) -> str:
        places = {"~": self.home, "$TMPDIR": self.temporary}
        first, _, rest = pattern.partition("/")
        return str(places[first] / rest)

    def never_written(self) -> list[str]:
        """What the page lists and nothing wrote, but for what is there for a while only."""
        return [
            f"docs/privacy.md lists {each}, which nothing wrote"
            for each in self._allowed
            if each not in self._written and not each.startswith(str(self.temporary))
        ]

    def look(self, after: str) -> None:
        """Note what was left and who was told since the last look."""
        self.tried += 1
        files = files_beside(self._left_out, self._places)
        for path in sorted(files - self._known):
            allowed = {each for each in self._allowed if fnmatch.fnmatch(str(path), each)}
            self._written |= allowed
            if not allowed:
                self.faults.append(f"{after}: {path} was written, which docs/privacy.md does not list")
        self._known = files
        if self._watch is not None:
            self.faults += [f"{after}: {said}" for said in self._watch.seen()]


def inside(whole: bool, is_traced: bool) -> Outcome:
    watch, empty = (None, ()) if is_traced else enter(NEEDED)
    with tempfile.TemporaryDirectory(prefix="clew-quiet-") as folder:
        # Nothing of the user's environment plays a part: some packages are silent where it says that somebody tests.
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "SSL_CERT_FILE") if name in os.environ}
        places = {"HOME": f"{folder}/home", "TMPDIR": f"{folder}/tmp"}
        os.environ.clear()
        os.environ.update(kept | places | {"PYTHONDONTWRITEBYTECODE": "1"})
        world = World(Path(folder), empty, watch)
        carry_out(world, whole)
        asyncio.run(day(world))
        world.faults += world.never_written() if whole else []
    return Outcome(world.tried, tuple(world.faults), {"files allowed": len(listed())})


# Commands


def carry_out(world: World, whole: bool) -> None:
    made = {"memory": "", "other": ""}
    for line in COMMANDS.strip().splitlines():
        if not whole and not line.startswith(SHORT):
            continue
        words = shlex.split(line.format(**made))
        runs = in_own_interpreter if whole or words[0] == "hook" else in_this_interpreter
        code, said = runs(world.project, [*words, "--json"] if words[0] == "remember" else words)
        if code not in (0, 1):
            world.faults.append(f"`clew {line}` ended with {code}: {said[-300:]}")
        elif words[0] == "remember":
            made["memory" if not made["memory"] else "other"] = json.loads(said)["node_id"]
        world.look(f"`clew {line}`")


def in_own_interpreter(folder: Path, words: list[str]) -> tuple[int, str]:
    done = subprocess.run(
        [*CLEW, *words], cwd=folder, input="{}", capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return done.returncode, done.stdout or done.stderr


def in_this_interpreter(folder: Path, words: list[str]) -> tuple[int, str]:
    from tests.in_process import run as run_here

    done = run_here(folder, *words)
    return done.returncode, done.stdout or done.stderr


# The day of a server


async def day(world: World) -> None:
    """Each tool over stdio and over HTTP, the page, an editor, an agent's hook, and a register's servers."""
    import httpx2
    from mcp.client.stdio import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    environment = dict(os.environ)

    def parameters(*words: str) -> Any:
        return StdioServerParameters(command=CLEW[0], args=[*CLEW[1:], *words], env=environment, cwd=world.project)

    await call_tools(world, "over stdio", parameters("serve", *ALL_TOOLS))
    os.environ["CLEW_TOKEN"] = TOKEN
    with listening(world, "serve", *ALL_TOOLS, "--transport", "http", "--port", "0") as address:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=SECONDS) as http:
            await call_tools(world, "over HTTP", streamable_http_client(address, http_client=http))
        fetch(world, address.removesuffix("/mcp"))
        code, said = in_own_interpreter(world.project, ["hook", "UserPromptSubmit", "--host", "claude-code"])
        world.faults += [f"a hook ended with {code}: {said}"] if code else []
        world.look("a hook beside a server")
    del os.environ["CLEW_TOKEN"]
    with listening(world, "web", "--port", "0") as address:
        fetch(world, address.removesuffix("/mcp"))
    with listening(world, "req", "serve", "--port", "0") as address:
        fetch(world, address)
    await call_nothing(world, parameters("req", "mcp"))
    await edit(world)
    type_into(world, "req", "tui")


async def call_tools(world: World, how: str, server: Any) -> None:
    from mcp import Client

    memory = ""
    async with Client(server) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        if missing := TOOLS.keys() - names:
            world.faults.append(f"the tools {sorted(missing)} of the table are not listed")
        for name, arguments in TOOLS.items():
            given = {key: memory if value == "{memory}" else value for key, value in arguments.items()}
            answer = await client.call_tool(name, given)
            if answer.is_error:
                world.faults.append(f"{name} {how} fails: {answer.content}")
            elif name == "store_memory":
                memory = (answer.structured_content or {})["node_id"]
            world.look(f"{name} {how}")


async def call_nothing(world: World, server: Any) -> None:
    from mcp import Client

    async with Client(server) as client:
        await client.list_tools()
        world.look("the server of a register")


@contextlib.contextmanager
def listening(world: World, *words: str) -> Iterator[str]:
    """The address at which a command listens, until the block ends."""
    log = subprocess.Popen([*CLEW, *words], cwd=world.project, stdout=subprocess.PIPE, text=True)
    assert log.stdout is not None
    try:
        said = re.search(r"http://[\d.]+:\d+\S*", log.stdout.readline())
        assert said is not None
        yield said[0]
    finally:
        log.terminate()
        log.communicate()
        world.look(f"`clew {' '.join(words)}`")


def fetch(world: World, address: str) -> None:
    import httpx2

    answer = httpx2.get(address, timeout=SECONDS, follow_redirects=True)
    if answer.status_code >= 500:
        world.faults.append(f"{address} answers {answer.status_code}")
    world.look(f"a look at {address}")


async def edit(world: World) -> None:
    from tests.lsp.editor import Editor

    async with Editor(world.project, str(world.project)):
        world.look("an editor")


def type_into(world: World, *words: str) -> None:
    """A command that talks to a person at a terminal."""
    import pty

    leader, follower = pty.openpty()
    with os.fdopen(leader, "wb", buffering=0) as terminal:
        command = subprocess.Popen(
            [*CLEW, *words], cwd=world.project, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        os.close(follower)
        terminal.write(b"show 2\nquit\n")
        command.communicate(timeout=SECONDS)
    if command.returncode:
        world.faults.append(f"`clew {' '.join(words)}` ended with {command.returncode}")
    world.look(f"`clew {' '.join(words)}`")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack.quiet", description="Look for whoever is told.")
    parser.add_argument("--whole", action="store_true", help="every command, each in an interpreter of its own")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--traced", action="store_true", help="by strace, as where no namespace can be made")
    args = parser.parse_args()
    if not args.inside:
        from tests.attack.__main__ import report

        own = [sys.executable, "-m", "tests.attack.quiet", "--inside", "--whole", "--traced"]
        return report("quiet", traced(own, "it was asked for") if args.traced else tried("--whole"))
    try:
        outcome = inside(args.whole, args.traced)
    except NotPossible as error:
        sys.stdout.write(f"{error}\n")
        return NOT_POSSIBLE
    told = {"tried": outcome.tried, "faults": outcome.faults, "counts": dict(outcome.counts)}
    sys.stdout.write(f"\n{json.dumps(told)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
