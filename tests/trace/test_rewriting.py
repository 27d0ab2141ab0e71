"""Rewriting requirements with a language model that may be anything."""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import CreateMessageRequestParams, CreateMessageResult, TextContent

from clew.ai.opening import open_model
from clew.errors import Cancelled, ConfigError, Conflict, InvalidArgument, Unavailable
from clew.operation.listing import all_tools
from clew.operation.toolsets import Choice, choose
from clew.project import Project
from clew.surfaces.cli.main import main
from clew.surfaces.mcp.instructions import instructions
from clew.surfaces.mcp.server import Surface, build_server
from clew.trace.operations.files import TransformWithAi

Open = Callable[[Path], Project]

SPEC = """# Clock

## REQ-p00001: Keep time

**Level**: PRD | **Status**: Active

It keeps time.

## Assertions

A. The clock SHALL show the hour.
B. The clock SHALL show the minute.

*End* *Keep time* | **Hash**: 12345678

---

## REQ-d00001: Show the hour

**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001-A

*End* *Show the hour* | **Hash**: N/A
"""
BLOCK = SPEC[SPEC.index("## REQ-p00001") : SPEC.index("\n---")].rstrip("\n")
BETTER = BLOCK.replace("show the hour", "show the hour of the day").replace("It keeps", "It always keeps")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "spec").mkdir(parents=True)
    (root / "clew.toml").touch()
    (root / "spec" / "clock.md").write_bytes(SPEC.encode())
    return root


def spec(root: Path) -> str:
    return (root / "spec" / "clock.md").read_bytes().decode()


def answering(monkeypatch: pytest.MonkeyPatch, folder: Path, answer: str, *, before: str = "pass") -> Path:
    """Configure a program that keeps what it was asked and prints an answer."""
    program = folder / "model.py"
    (folder / "answer.txt").write_bytes(answer.encode("utf-8", "surrogateescape"))
    program.write_text(
        "import os, sys, pathlib, time\n"
        "here = pathlib.Path(__file__).parent\n"
        "(here / 'asked.txt').write_bytes(sys.stdin.buffer.read())\n"
        f"{before}\n"
        "sys.stdout.buffer.write((here / 'answer.txt').read_bytes())\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("CLEW_AI_COMMAND", f"'{sys.executable}' '{program}'")
    return folder / "asked.txt"


def transform(project: Project, prompt: str = "Better, please.", **more: Any) -> Any:
    request = TransformWithAi(req_id="p1", prompt=prompt, **more)
    return project.files.transform_with_ai(request, None, lambda: None)


# Verifies: REQ-d00052-A+F, REQ-o00022-A+D
def test_a_program_rewrites_one_requirement_and_nothing_else(
    opened: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(monkeypatch, tmp_path, BETTER)
    project = opened(root)
    change = transform(project)
    assert spec(root) == SPEC.replace(BLOCK, BETTER)
    assert "+A. The clock SHALL show the hour of the day.\n" in change.diff
    assert change.model == sys.executable
    assert BLOCK in asked.read_text(encoding="utf-8")
    assert "Better, please." in asked.read_text(encoding="utf-8")
    detail = project.trace.requirement("p1")
    assert (detail.hash, detail.hash_state) == ("12345678", "stale")


# Verifies: REQ-d00052-E
def test_nothing_in_a_prompt_is_read_by_a_shell(
    opened: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(monkeypatch, tmp_path, BETTER)
    prompt = f"'; touch {tmp_path}/harm; echo $(touch {tmp_path}/harm) `touch {tmp_path}/harm` \0 --option"
    transform(opened(root), prompt)
    assert prompt in asked.read_text(encoding="utf-8")
    assert not (tmp_path / "harm").exists()


# Verifies: REQ-d00052-F
@pytest.mark.parametrize(
    "answer",
    [
        BETTER,
        f"\n\n{BETTER}\n\n",
        f"```markdown\n{BETTER}\n```",
        f"Here it is:\n\n```\n{BETTER}\n```\n\nI hope you like it.",
        BETTER.replace("\n", "\r\n"),
        BETTER.replace("## REQ-p00001", "#### REQ-p00001"),
        BETTER.replace("12345678", "deadbeef"),
        BETTER.replace("*End* *Keep time* | **Hash**: 12345678", "*End* *Keep time*"),
        BETTER.replace("*End* *Keep time* | **Hash**: 12345678", ""),
        BETTER.replace("*End* *Keep time*", "*End* *Another title*"),
    ],
)
def test_the_heading_and_the_end_marker_are_those_of_the_project(
    opened: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    answering(monkeypatch, tmp_path, answer)
    transform(opened(root))
    assert spec(root).replace("\n\n\n", "\n\n") == SPEC.replace(BLOCK, BETTER)


# Verifies: REQ-o00022-A
def test_line_ends_are_those_of_the_file(
    opened: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "spec" / "clock.md").write_bytes(SPEC.replace("\n", "\r\n").encode())
    answering(monkeypatch, tmp_path, BETTER)
    transform(opened(root))
    assert spec(root) == SPEC.replace(BLOCK, BETTER).replace("\n", "\r\n")


# Verifies: REQ-d00052-C
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("", "no requirement"),
        ("I am sorry, I cannot do that.", "no requirement"),
        ("\udcff\udcfe\udc80", "no requirement"),
        (BETTER.replace("REQ-p00001", "REQ-p00002"), "REQ-p00002"),
        (f"{BETTER}\n\n## REQ-p00003: More\n\n*End* *More*\n", "2 requirements"),
        (BETTER.replace("A. The clock SHALL show the hour of the day.\n", ""), "drops assertion A"),
        (BETTER.replace("B. The", "A. The"), "label A is used twice"),
        (BETTER.replace("The clock SHALL show the minute.", ""), "no text"),
        (BETTER.replace("**Status**: Active", "**Status**: Active | **Implements**: REQ-p00099"), "REQ-p00099"),
        (BETTER.replace("PRD", "DEV"), "level"),
        (BETTER.replace("**Level**: PRD | **Status**: Active", "No metadata."), "no level"),
        (BETTER.replace(": Keep time", ": Keep *the* time"), "asterisk"),
        (BETTER.replace("It always", "```\nIt always"), "sound"),
        (BETTER.replace("keeps", "keeps\x07"), "control characters"),
        (BETTER[: BETTER.index("## Assertions")], "drops assertion A|no assertions"),
    ],
)
def test_an_answer_that_is_no_sound_requirement_changes_nothing(
    opened: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, says: str
) -> None:
    answering(monkeypatch, tmp_path, answer)
    with pytest.raises(Unavailable, match=says):
        transform(opened(root))
    assert spec(root) == SPEC


# Verifies: REQ-d00052-D
@pytest.mark.parametrize(
    ("before", "seconds", "says"),
    [
        ("sys.exit('no such model')", "600", "code 1: no such model"),
        ("os.kill(os.getpid(), 9)", "600", "code -9"),
        ("time.sleep(60)", "0.2", "within 0.2 s"),
        ("os.spawnl(os.P_WAIT, '/bin/sleep', 'sleep', '60')", "0.2", "within 0.2 s"),
        ("sys.stdout.write('x' * 5_000_000)", "600", "4,194,304 bytes"),
    ],
)
def test_a_program_that_misbehaves_gives_an_error_and_changes_nothing(
    opened: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, seconds: str, says: str
) -> None:
    answering(monkeypatch, tmp_path, BETTER, before=before)
    monkeypatch.setenv("CLEW_AI_TIMEOUT", seconds)
    with pytest.raises(Unavailable, match=says):
        transform(opened(root))
    assert spec(root) == SPEC


# Verifies: REQ-o00022-B, REQ-d00052-D
def test_a_file_that_changes_while_the_model_thinks_is_left_alone(
    opened: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = root / "spec" / "clock.md"
    answering(monkeypatch, tmp_path, BETTER, before=f"pathlib.Path({str(place)!r}).write_text('theirs')")
    with pytest.raises(Conflict, match=r"spec/clock\.md"):
        transform(opened(root))
    assert spec(root) == "theirs"


# Verifies: REQ-d00052-D
def test_waiting_for_a_program_can_be_given_up(
    opened: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, tmp_path, BETTER, before="time.sleep(60)")

    def give_up() -> None:
        raise Cancelled("The call was cancelled.")

    with pytest.raises(Cancelled):
        opened(root).files.transform_with_ai(TransformWithAi(req_id="p1", prompt="Better."), None, give_up)
    assert spec(root) == SPEC


# Verifies: REQ-d00052-B
def test_without_a_model_the_error_says_how_to_get_one(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLEW_AI_COMMAND", "CLEW_AI_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError) as raised:
        transform(opened(root))
    for word in ("CLEW_AI_COMMAND", "CLEW_AI_URL", "CLEW_AI_MODEL", "CLEW_AI_KEY", "sampling", "env"):
        assert word in raised.value.hint
    assert spec(root) == SPEC


# Verifies: REQ-d00052-E
@pytest.mark.parametrize("table", ["[ai]\ncommand = 'touch ran'\n", "[ai]\nurl = 'https://example.com'\n"])
def test_a_project_that_is_not_trusted_cannot_choose_a_program_or_an_address(
    opened: Open, root: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLEW_AI_COMMAND", "CLEW_AI_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(root)
    (root / "clew.toml").write_text(table, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"No language model.*`ai\.(command|url)`.*`clew trust`"):
        transform(opened(root))
    assert not (root / "ran").exists()


# Verifies: REQ-d00052-E, REQ-d00261-D
def test_the_users_own_configuration_and_a_trusted_project_name_a_model(
    opened: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, tmp_path, BETTER)
    command = f'[ai]\ncommand = "{os.environ["CLEW_AI_COMMAND"]}"\ntimeout_seconds = 60.0\n'
    monkeypatch.delenv("CLEW_AI_COMMAND")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    own = tmp_path / "settings" / "clew" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(command, encoding="utf-8")
    assert transform(opened(root), dry_run=True).success
    own.unlink()
    (root / "clew.toml").write_text(command, encoding="utf-8")
    assert main(["trust", str(root), "--yes"]) == 0
    assert transform(opened(root)).success
    assert "hour of the day" in spec(root)


# Verifies: REQ-d00052-B+D
@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"CLEW_AI_COMMAND": "x", "CLEW_AI_URL": "http://localhost"}, "both"),
        ({"CLEW_AI_COMMAND": "'x"}, "cannot be read"),
        ({"CLEW_AI_URL": "http://localhost"}, "CLEW_AI_MODEL"),
        ({"CLEW_AI_URL": "file:///etc/passwd", "CLEW_AI_MODEL": "m"}, "http"),
        ({"CLEW_AI_URL": "https://u:p@example.com", "CLEW_AI_MODEL": "m"}, "http"),
        ({"CLEW_AI_URL": "http://[", "CLEW_AI_MODEL": "m"}, "http"),
        ({"CLEW_AI_URL": "http://example.com", "CLEW_AI_MODEL": "m", "CLEW_AI_KEY": "k"}, "unencrypted"),
        ({"CLEW_AI_URL": "https://example.com", "CLEW_AI_MODEL": "m", "CLEW_AI_KEY": "a b"}, "no key"),
        ({"CLEW_AI_COMMAND": "x", "CLEW_AI_TIMEOUT": "soon"}, "CLEW_AI_TIMEOUT"),
        ({"CLEW_AI_COMMAND": "x", "CLEW_AI_TIMEOUT": "-1"}, "CLEW_AI_TIMEOUT"),
        ({}, "No language model"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        open_model(environment=settings)


# Verifies: REQ-d00052-D
def test_a_program_that_is_not_there_is_named(
    opened: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_AI_COMMAND", str(tmp_path / "nothing"))
    with pytest.raises(ConfigError, match="nothing"):
        transform(opened(root))


# Verifies: REQ-o00022-C
@pytest.mark.parametrize("prompt", ["", "  ", "x" * 8_001])
def test_a_prompt_has_bounds(opened: Open, root: Path, prompt: str) -> None:
    with pytest.raises(InvalidArgument, match="characters"):
        transform(opened(root), prompt)


# A service


@contextmanager
def service(answer: Callable[[dict[str, Any]], tuple[int, bytes]]) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A service on this machine, with the headers of what it was asked."""
    seen: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({**self.headers, "path": self.path})
            code, content = answer(body)
            self.send_response(code)
            if code == 302:
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def completion(text: str | None) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


# Verifies: REQ-d00052-A
def test_a_service_rewrites_a_requirement(opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLEW_AI_COMMAND", raising=False)
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> tuple[int, bytes]:
        asked.append(body)
        return 200, completion(BETTER)

    with service(answer) as (url, seen):
        monkeypatch.setenv("CLEW_AI_URL", url)
        monkeypatch.setenv("CLEW_AI_MODEL", "small")
        monkeypatch.setenv("CLEW_AI_KEY", "secret")
        change = transform(opened(root))
    assert spec(root) == SPEC.replace(BLOCK, BETTER)
    assert asked[0]["model"] == "small"
    assert BLOCK in asked[0]["messages"][1]["content"]
    assert (seen[0]["Authorization"], seen[0]["path"]) == ("Bearer secret", "/v1/chat/completions")
    assert "secret" not in change.model


# Verifies: REQ-d00052-D
@pytest.mark.parametrize(
    ("code", "content", "says"),
    [
        (200, b"<html>", "no chat completion"),
        (200, b'{"choices": []}', "no text"),
        (200, completion(None), "no text"),
        (200, b"x" * 5_000_000, "longer than"),
        (302, b"", "302"),
        (401, b"key secret is wrong", r"401: key \*\*\* is wrong"),
        (500, b"", "500"),
    ],
)
def test_a_service_that_misbehaves_gives_an_error_and_changes_nothing(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch, code: int, content: bytes, says: str
) -> None:
    monkeypatch.delenv("CLEW_AI_COMMAND", raising=False)
    with service(lambda body: (code, content)) as (url, _):
        monkeypatch.setenv("CLEW_AI_URL", url)
        monkeypatch.setenv("CLEW_AI_MODEL", "small")
        monkeypatch.setenv("CLEW_AI_KEY", "secret")
        with pytest.raises(Unavailable, match=says):
            transform(opened(root))
    assert spec(root) == SPEC


# Verifies: REQ-d00052-D
def test_a_service_that_is_not_there_is_named(opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLEW_AI_COMMAND", raising=False)
    monkeypatch.setenv("CLEW_AI_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("CLEW_AI_MODEL", "small")
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1"):
        transform(opened(root))


# The client's own model


async def through_client(project: Project, era: str, answer: str | None) -> tuple[dict[str, Any], list[str]]:
    listing = choose(all_tools(), Choice(profile="elspais"))
    server = build_server(Surface(project, listing), instructions(listing))
    asked: list[str] = []

    async def sample(context: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        assert params.system_prompt is not None
        content = params.messages[0].content
        assert isinstance(content, TextContent)
        asked.append(content.text)
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text=answer or ""), model="own")

    callback = sample if answer is not None else None
    async with Client(server, mode=era, sampling_callback=callback) as client:
        result = await client.call_tool("transform_with_ai", {"req_id": "p1", "prompt": "Better, please."})
    assert result.structured_content is not None
    return result.structured_content, asked


# Verifies: REQ-d00052-A
@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_the_clients_own_model_serves_in_both_eras(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch, era: str
) -> None:
    for name in ("CLEW_AI_COMMAND", "CLEW_AI_URL"):
        monkeypatch.delenv(name, raising=False)
    answer, asked = await through_client(opened(root), era, BETTER)
    assert answer["success"] is True
    assert spec(root) == SPEC.replace(BLOCK, BETTER)
    assert len(asked) == 1
    assert BLOCK in asked[0]


# Verifies: REQ-d00052-C+D
@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_client_without_a_model_or_with_a_bad_answer_changes_nothing(
    opened: Open, root: Path, monkeypatch: pytest.MonkeyPatch, era: str
) -> None:
    for name in ("CLEW_AI_COMMAND", "CLEW_AI_URL"):
        monkeypatch.delenv(name, raising=False)
    project = opened(root)
    for answer, code in ((None, "config"), ("garbage", "unavailable")):
        data, _ = await through_client(project, era, answer)
        assert data["code"] == code
    assert spec(root) == SPEC


# Verifies: REQ-d00052-A
@pytest.mark.anyio
async def test_a_configured_model_is_preferred_to_the_clients(
    opened: Open, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, tmp_path, BETTER)
    answer, asked = await through_client(opened(root), "legacy", "never asked")
    assert (answer["success"], asked) == (True, [])
