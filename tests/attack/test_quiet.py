"""The short form of the search for whoever is told, and that it would find somebody."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.attack import quiet
from tests.attack.alone import NOT_POSSIBLE
from tests.attack.quiet_lines import COMMANDS, SERVERS, TOOLS

from clew.operation.listing import all_tools, all_verbs
from clew.operation.names import portable
from clew.operation.toolsets import Choice, choose
from clew.surfaces.cli.main import COMMANDS as MODULES
from clew.surfaces.cli.resolve import resolve

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has namespaces and strace")

REPORTS = """if True:
    import socket
    from pathlib import Path
    Path.home().joinpath("a-report").touch()
    for family, address in ((socket.AF_INET, "203.0.113.9"), (socket.AF_INET6, "2001:db8::9")):
        try:
            socket.socket(family).connect((address, 443))
        except OSError:
            pass
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"here I am", ("203.0.113.10", 4000))
    try:
        socket.getaddrinfo("reports.example.com", 443)
    except OSError:
        pass
    with socket.create_server(("127.0.0.1", 0)) as own:
        socket.create_connection(own.getsockname()).close()
        try:
            socket.socket(socket.AF_INET6).connect(("::ffff:127.0.0.1", own.getsockname()[1]))
        except OSError:
            pass
"""


def command_of(line: str) -> str:
    name, *words = shlex.split(line)
    if name in MODULES:
        return name
    return resolve(name, [each for each in words if not each.startswith("-")])[0].verb or name


# Verifies: REQ-d00611-A
def test_every_command_and_every_tool_that_is_listed_is_tried() -> None:
    tried = {command_of(line) for line in COMMANDS.strip().splitlines()} | set(SERVERS)
    assert tried == {*MODULES, *(listed.verb for listed in all_verbs().values())}
    default = choose(all_tools(), Choice(), {}).shown
    assert {portable(listed.tool) for listed in default if listed.tool} <= TOOLS.keys()


# Verifies: REQ-d00611-A+B
@pytest.mark.long
def test_nobody_is_told_and_nothing_is_left_outside_that_the_page_on_privacy_does_not_list() -> None:
    outcome = quiet.tried()
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    assert outcome.faults == ()
    assert outcome.tried > 80


def reported(*tracer: str) -> subprocess.CompletedProcess[str]:
    """How a program is seen that reports, with no way to any other machine."""
    command = [sys.executable, "-m", "tests.attack.alone", *tracer, sys.executable, "-c", REPORTS]
    done = subprocess.run(command, cwd=quiet.ROOT, capture_output=True, text=True, check=False)
    if done.returncode == NOT_POSSIBLE:
        pytest.skip(done.stdout)
    return done


# Verifies: REQ-d00611-A+B
def test_a_program_that_reports_is_seen() -> None:
    *sent, left = reported().stdout.splitlines()
    six = ["TCP to 2001:db8::9 at port 443"] if Path("/proc/net/if_inet6").exists() else []
    four = ["TCP to 203.0.113.9 at port 443", "UDP to 203.0.113.10 at port 4000", "a look-up of reports.example.com"]
    assert sorted(sent) == sorted(four + six)
    assert left.endswith("/a-report was written")


# Verifies: REQ-d00611-A
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_program_that_reports_is_seen_where_it_is_only_traced() -> None:
    seen = set(quiet.spoken_to(reported(*quiet.TRACER).stderr.splitlines()))
    assert {"203.0.113.9 at port 443", "203.0.113.10 at port 4000", "a look-up at 192.0.2.53"} <= seen
    assert not any(each.startswith(("127.", ":")) for each in seen)
