"""Trust that is given, taken back or outdated while a server runs."""

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.mcp_client import McpClient, Options

from clew.project import Project
from clew.surfaces.cli.main import main

SPEC = """# Clock

## REQ-p00001: Keep time

**Level**: PRD | **Status**: Active

It keeps time.

## Assertions

A. The clock SHALL show the hour.

*End* *Keep time* | **Hash**: 12345678
"""
QUESTION = {"req_id": "REQ-p00001", "prompt": "Better, please.", "dry_run": True}
ALL = Options(toolsets=("all",))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("CLEW_AI_COMMAND", "CLEW_AI_URL", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "project"
    (root / "spec").mkdir(parents=True)
    (root / "spec" / "clock.md").write_text(SPEC, encoding="utf-8")
    return root


@pytest.fixture
def texts() -> Iterator[tuple[str, list[str]]]:
    """The address of a service that makes vectors, and the texts that it got."""
    got: list[str] = []

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            got.extend(asked)
            data = [{"index": number, "embedding": [1.0, float(len(text))]} for number, text in enumerate(asked)]
            content = json.dumps({"data": data}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", got
    server.shutdown()
    thread.join()
    server.server_close()


def trust(root: Path, *options: str) -> None:
    assert main(["trust", str(root), *options]) == 0


# Verifies: REQ-d00261-F
def test_a_server_that_runs_asks_a_program_only_as_long_as_the_user_trusts_it(root: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "model.py"
    program.write_text(f"import pathlib\npathlib.Path({str(ran)!r}).touch()\nprint('no requirement')\n", "utf-8")
    said = f"[ai]\ncommand = \"'{sys.executable}' '{program}'\"\n"
    (root / "clew.toml").write_text(said, encoding="utf-8")

    def runs(client: McpClient) -> bool:
        ran.unlink(missing_ok=True)
        assert client.result("transform_with_ai", **QUESTION).is_error
        return ran.exists()

    project = Project.open(root)
    try:
        with McpClient(project, ALL) as client:
            assert not runs(client)
            assert any("`ai.command`" in note for note in project.notes())
            trust(root, "--yes")
            assert runs(client)
            assert not any("`ai.command`" in note for note in project.notes())
            trust(root, "--revoke")
            assert not runs(client)
            trust(root, "--yes")
            assert runs(client)
            (root / "clew.toml").write_text(f"{said}timeout_seconds = 7.0\n", encoding="utf-8")
            assert not runs(client)
            (root / "clew.toml").write_text("[ai", encoding="utf-8")
            assert not runs(client)
            assert any("clew.toml" in note for note in project.notes())
    finally:
        project.close()


# Verifies: REQ-d00261-F
def test_a_server_that_runs_sends_texts_only_as_long_as_the_user_trusts_the_service(
    root: Path, texts: tuple[str, list[str]]
) -> None:
    url, got = texts
    service = f'[search]\nbackground = false\n[embedder]\nkind = "endpoint"\nurl = "{url}"\nmodel = "m"\n'
    (root / "clew.toml").write_text(service, encoding="utf-8")
    trust(root, "--yes")
    project = Project.open(root)
    try:
        with McpClient(project, ALL) as client:

            def sends(query: str) -> bool:
                got.clear()
                client("search", query=query)
                client("suggest_links")
                return bool(got)

            client("search", query="clock")
            project.index.make_vectors(lambda *_: None)
            assert sends("which hour is it")
            trust(root, "--revoke")
            assert not sends("what does the clock show")
            project.index.make_vectors(lambda *_: None)
            assert not got
            trust(root, "--yes")
            project.index.make_vectors(lambda *_: None)
            assert sends("how late is it now")
            (root / "clew.toml").write_text("[embedder", encoding="utf-8")
            assert not sends("does it strike at noon")
    finally:
        project.close()


# Verifies: REQ-d00261-G
def test_an_index_that_came_with_a_project_chooses_no_service(
    root: Path, tmp_path: Path, texts: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, got = texts
    monkeypatch.setenv("SECRET", "key-of-the-user")
    own = "[search]\nbackground = false\n"
    service = f'[embedder]\nkind = "endpoint"\nurl = "{url}"\nmodel = "m"\nkey_variable = "SECRET"\n'
    (root / "clew.toml").write_text(own + service, encoding="utf-8")
    trust(root, "--yes")
    assert main(["index", str(root)]) == 0
    assert got
    clone = tmp_path / "clone"
    shutil.copytree(root, clone)
    (clone / "clew.toml").write_text(own, encoding="utf-8")
    got.clear()
    for command in (("search", "which hour is it"), ("kb", "search", "time"), ("links", "suggest")):
        main([*command, "-C", str(clone)])
    assert got == []
