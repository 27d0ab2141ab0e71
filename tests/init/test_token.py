"""The token for writes over HTTP: in the user's own file, named by a variable in the clients' files."""

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.init.conftest import Outcome

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
    token = own_token()
    assert token is not None
    assert str(token_path()) in done.out
    for file in project.rglob("*"):
        assert not file.is_file() or token not in file.read_text(encoding="utf-8", errors="replace")
    assert token not in done.out
    again = run_init("--client", client, "--url", URL)
    assert (again.code, own_token()) == (0, token)


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
