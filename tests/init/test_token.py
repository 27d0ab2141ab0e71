"""The token for writes over HTTP: in the user's own file, named by a variable in the clients' files."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import forked
from tests.init.conftest import Outcome

from clew.edit import replacing
from clew.errors import ConfigError
from clew.setup.token import make_token, own_token, token_path

URL = "http://127.0.0.1:8484/mcp"
SECRET = "CLEW_TOKEN"

Run = Callable[..., Outcome]


# Verifies: REQ-d00016-F
@pytest.mark.parametrize(
    ("client", "path", "entry"),
    [
        ("claude-code", ".mcp.json", ("mcpServers", {"Authorization": f"Bearer ${{{SECRET}}}"})),
        ("cursor", ".cursor/mcp.json", ("mcpServers", {"Authorization": f"Bearer ${{env:{SECRET}}}"})),
        ("vscode", ".vscode/mcp.json", ("servers", {"Authorization": f"Bearer ${{env:{SECRET}}}"})),
    ],
)
def test_a_client_of_a_running_server_gets_the_name_of_the_variable_and_never_the_token(
    run_init: Run, project: Path, client: str, path: str, entry: tuple[str, dict[str, str]]
) -> None:
    done = run_init("--client", client, "--url", URL)
    assert done.code == 0
    written = json.loads((project / path).read_text(encoding="utf-8"))[entry[0]]["clew"]
    assert written == {"type": "http", "url": URL, "headers": entry[1]}
    secret = own_token()
    assert secret is not None
    assert str(token_path()) in done.out
    for file in project.rglob("*"):
        assert not file.is_file() or secret not in file.read_text(encoding="utf-8", errors="replace")
    assert secret not in done.out
    again = run_init("--client", client, "--url", URL)
    assert (again.code, own_token()) == (0, secret)


# Verifies: REQ-d00016-F
def test_codex_reads_the_variable_by_itself(run_init: Run, home: Path) -> None:
    assert run_init("--client", "codex", "--url", URL).code == 0
    written = tomllib.loads((home / ".codex" / "config.toml").read_text(encoding="utf-8"))
    assert written["mcp_servers"]["clew"] == {"url": URL, "bearer_token_env_var": SECRET}


# Verifies: REQ-d00016-F
@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
def test_only_its_user_may_read_the_token(home: Path) -> None:
    assert own_token() is None
    path = make_token()
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(own_token() or "") >= 43
    path.chmod(0o640)
    with pytest.raises(ConfigError, match="other users"):
        own_token()


# Verifies: REQ-d00266-A
@pytest.mark.parametrize("content", ["", "\n", "short\n"])
def test_a_file_without_a_secret_in_it_starts_no_server(home: Path, project: Path, content: str) -> None:
    path = make_token()
    path.write_text(content, encoding="ascii")
    serve = [sys.executable, "-m", "clew", "serve", str(project), "--transport", "http", "--port", "0"]
    done = forked.run(serve, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(path) in done.stderr
    assert "16" in done.stderr
    with pytest.raises(ConfigError, match="at least 16"):
        make_token()


# Verifies: REQ-d00266-E
@pytest.mark.parametrize("options", [(), ("--read-only",)])
def test_a_server_makes_the_token_at_its_first_start_if_it_may_write(
    home: Path, project: Path, options: tuple[str, ...]
) -> None:
    serve = [sys.executable, "-m", "clew", "serve", str(project), "--transport", "http", "--port", "0", *options]
    with forked.Process(serve, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        said = next(line for line in server.stdout if line.startswith("Tools that write"))
        server.terminate()
    assert (own_token() is None) == bool(options)
    assert (str(token_path()) in said) == (not options)


# Verifies: REQ-d00266-B
def test_of_two_who_make_the_token_at_once_both_use_the_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, made = replacing.write_private, []

    def slowly(file: Path, data: bytes) -> None:
        if not made:
            made.append(data.decode())
            make_token()
            made.append(own_token())
        write(file, data)

    monkeypatch.setattr(replacing, "write_private", slowly)
    path = make_token()
    assert own_token() == made[1] != made[0].strip()
    assert [each.name for each in path.parent.iterdir()] == ["token"]


# Verifies: REQ-d00266-B
def test_the_token_never_lies_in_a_folder_of_the_project(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "settings")
    monkeypatch.chdir(project)
    assert token_path().is_absolute()
    assert not token_path().is_relative_to(project)
