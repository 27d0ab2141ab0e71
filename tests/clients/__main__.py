"""`make clients`: real clients list and call over stdio and HTTP, and the programs of the hosts check and install what
is made for them. It needs the package indexes; what is installed stays in `.clients` and `.conformance`."""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.clients.hosts import Hosts, checks
from tests.clients.libraries import LIBRARIES, WORK, Library
from tests.packaging.tools import PROJECT

CLEW = (sys.executable, "-m", "clew")


def main(only: list[str]) -> int:
    WORK.mkdir(exist_ok=True)
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        demo = folder / "demo"
        shutil.copytree(PROJECT / "examples" / "demo", demo, ignore=shutil.ignore_patterns(".clew"))
        with _served(demo) as url:
            ways = {"stdio": (*CLEW, "serve", str(demo)), "http": (url,)}
            for library in LIBRARIES:
                if not only or library.name in only:
                    wrong += _tried(f"{library.name} is installed", library.install)
                    for kind, words in ways.items():
                        wrong += _tried(f"{_named(library)} over {kind}", partial(library.ask, kind, *words))
            if not only or "hosts" in only:
                wrong += _hosts(folder, ways)
    _say("all passed" if not wrong else f"{wrong} failed")
    return 1 if wrong else 0


def _named(library: Library) -> str:
    try:
        return f"{library.name} ({library.version()})"
    except (OSError, subprocess.SubprocessError):
        return library.name


def _hosts(folder: Path, ways: dict[str, tuple[str, ...]]) -> int:
    hosts = Hosts(folder / "home")
    wrong = 0
    for kind, words in ways.items():
        wrong += _tried(f"Inspector over {kind}", partial(hosts.inspector, kind, *words))
    for said, check in checks().items():
        place = folder / re.sub(r"\W+", "-", said)
        place.mkdir()
        wrong += _tried(said, partial(check, hosts, place))
    return wrong


def _tried(said: str, check: Callable[[], str | None]) -> int:
    begin = time.monotonic()
    try:
        problem = check() or ""
    except (AssertionError, subprocess.SubprocessError, OSError, ValueError) as error:
        problem = f"{type(error).__name__}: {error}"
    _say(f"{said}: {f'FAILED: {problem}' if problem else 'passed'} ({time.monotonic() - begin:.0f} s)")
    return 1 if problem else 0


@contextmanager
def _served(demo: Path) -> Iterator[str]:
    """A server over HTTP; the address is on the first line that it prints."""
    command = [*CLEW, "serve", str(demo), "--transport", "http", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None, "the server printed no address"
        yield found[0]
    finally:
        server.terminate()
        server.wait(30)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
