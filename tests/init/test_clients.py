"""Client configurations: where they are, what is written, and what is never touched."""

import json
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from clew.errors import ConfigError, Conflict, InvalidArgument, OutsideProject, Refused
from clew.setup.clients.configure import CLIENTS, client_config, config_path, own_command, write_plan
from clew.setup.hooks import with_hooks, without_hooks

# Verifies: REQ-d00018-C+D

JSON_CLIENTS = [name for name, client in CLIENTS.items() if client.format == "json"]


def parsed(path: Path) -> dict:
    text = path.read_text(encoding="utf-8-sig")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


def install(client: str, root: Path, *, force: bool = False) -> str:
    plan = client_config(client, root, ("clew",), force=force)
    write_plan(plan)
    return plan.state


def entry(client: str, root: Path) -> dict:
    return parsed(config_path(client, root))[CLIENTS[client].parent]["clew"]


@pytest.mark.parametrize(
    ("client", "place", "parent", "expected"),
    [
        ("claude-code", "{root}/.mcp.json", "mcpServers", {"type": "stdio", "args": ["serve", "."]}),
        (
            "cursor",
            "{root}/.cursor/mcp.json",
            "mcpServers",
            {"type": "stdio", "args": ["serve", "."], "cwd": "${workspaceFolder}"},
        ),
        (
            "vscode",
            "{root}/.vscode/mcp.json",
            "servers",
            {"type": "stdio", "args": ["serve", "."], "cwd": "${workspaceFolder}"},
        ),
        ("codex", "{home}/.codex/config.toml", "mcp_servers", {"args": ["serve", "{root}"]}),
        ("gemini", "{root}/.gemini/settings.json", "mcpServers", {"args": ["serve", "."]}),
        (
            "copilot",
            "{root}/.github/mcp.json",
            "mcpServers",
            {"type": "local", "args": ["serve", "."], "tools": ["*"]},
        ),
        ("zed", "{root}/.zed/settings.json", "context_servers", {"args": ["serve", "."]}),
        ("opencode", "{root}/opencode.json", "mcp", {"type": "local", "command": ["clew", "serve", "."]}),
    ],
)
def test_each_client_gets_its_own_format_in_its_own_place(project, home, client, place, parent, expected):
    assert install(client, project) == "create"
    if "args" in expected:
        expected = {**expected, "args": [part.format(root=project) for part in expected["args"]]}

    assert config_path(client, project) == Path(place.format(root=project, home=home))
    assert parsed(config_path(client, project)) == {parent: {"clew": {"command": "clew", **expected}}}


# Verifies: REQ-d00442-C
def test_opencode_keeps_the_file_with_comments_in_its_name(project):
    (project / "opencode.jsonc").write_text('{"theme": "dark"}\n')

    assert install("opencode", project) == "add"
    assert parsed(project / "opencode.jsonc")["theme"] == "dark"
    assert not (project / "opencode.json").exists()


# Verifies: REQ-d00442-C
@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("copilot", {"type": "http", "url": "URL", "headers": {"Authorization": "Bearer ${CLEW_TOKEN}"}}),
        ("opencode", {"type": "remote", "url": "URL", "headers": {"Authorization": "Bearer {env:CLEW_TOKEN}"}}),
    ],
)
def test_a_running_server_is_named_as_each_client_spells_it(project, client, expected):
    write_plan(client_config(client, project, ("clew",), url="URL"))

    assert entry(client, project) == expected


# Verifies: REQ-d00442-C, REQ-d00862-E
def test_settings_of_zed_with_comments_are_edited_in_place(project):
    (project / ".zed").mkdir()
    (project / ".zed/settings.json").write_text('// mine\n{"tab_size": 2}\n')

    write_plan(client_config("zed", project, ("clew",)))
    text = (project / ".zed/settings.json").read_text()
    assert text.startswith('// mine\n{"tab_size": 2, "context_servers": {"clew": ')


@pytest.mark.parametrize(
    ("platform", "variable", "place"),
    [
        ("linux", None, "{home}/.config/Claude"),
        ("linux", "XDG_CONFIG_HOME", "{home}/elsewhere/Claude"),
        ("darwin", None, "{home}/Library/Application Support/Claude"),
        ("win32", "APPDATA", "{home}/elsewhere/Claude"),
        ("win32", None, "{home}/AppData/Roaming/Claude"),
    ],
)
def test_claude_desktop_is_found_where_each_system_keeps_it(project, home, monkeypatch, platform, variable, place):
    monkeypatch.setattr(sys, "platform", platform)
    if variable:
        monkeypatch.setenv(variable, str(home / "elsewhere"))

    path = config_path("claude-desktop", project)

    assert path == Path(place.format(home=home)) / "claude_desktop_config.json"
    assert install("claude-desktop", project) == "create"
    assert entry("claude-desktop", project) == {"command": "clew", "args": ["serve", str(project)]}


def test_codex_may_live_elsewhere(project, home, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", str(home / "codex"))

    assert config_path("codex", project) == home / "codex" / "config.toml"


def test_an_unknown_client_is_refused_with_the_known_ones(project):
    with pytest.raises(InvalidArgument, match="'notepad'") as caught:
        client_config("notepad", project, ("clew",))
    assert "claude-code" in caught.value.hint


@pytest.mark.parametrize("client", list(CLIENTS))
def test_running_twice_changes_nothing(project, client):
    install(client, project)
    first = config_path(client, project).read_bytes()

    assert install(client, project) == "same"
    assert config_path(client, project).read_bytes() == first


@pytest.mark.parametrize("client", list(CLIENTS))
def test_an_empty_file_is_as_good_as_none(project, client):
    path = config_path(client, project)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(" \n")

    assert install(client, project) == "create"
    assert entry(client, project)["command"] in ("clew", ["clew", "serve", "."])


@pytest.mark.parametrize("client", JSON_CLIENTS)
@pytest.mark.parametrize("force", [False, True])
def test_another_entry_of_that_name_is_replaced_only_by_force_and_keeps_its_settings(project, client, force):
    path, parent = config_path(client, project), CLIENTS[client].parent
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = {"command": "/opt/clew", "args": [], "env": {"A": "1"}}
    path.write_text(json.dumps({parent: {"clew": mine, "other": {"command": "x"}}}, indent=4))
    before = path.read_bytes()

    assert install(client, project, force=force) == ("replace" if force else "differs")

    if not force:
        assert path.read_bytes() == before
        return
    assert entry(client, project)["command"] in ("clew", ["clew", "serve", "."])
    assert entry(client, project)["env"] == {"A": "1"}
    assert ("args" in entry(client, project)) == (client != "opencode")
    assert parsed(path)[parent]["other"] == {"command": "x"}


@pytest.mark.parametrize("value", ["null", '"text"', '{"url": "https://example.com", "headers": {}}'])
def test_an_entry_of_another_nature_goes_entirely_and_only_by_force(project, value):
    path = project / ".mcp.json"
    path.write_text(f'{{"mcpServers": {{"clew": {value}}}}}')

    assert install("claude-code", project) == "differs"
    assert install("claude-code", project, force=True) == "replace"
    assert entry("claude-code", project) == {"type": "stdio", "command": "clew", "args": ["serve", "."]}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"servers": {}, / mine\n}', "not JSON"),
        (b'{"servers": {"a": {},,}}', "not JSON"),
        (b'{"servers": {}', "not JSON"),
        (b'{"a": NaN}', "NaN"),
        (b"[]", "not a JSON object"),
        (b'{"servers": []}', "'servers' is not an object"),
        (b'{"servers": {}, "servers": {}}', "2 times"),
        (b'{"servers": {"clew": 1, "clew": 2}}', "2 times"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_the_lines_to_paste(project, content, reason):
    path = project / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(content)

    with pytest.raises(Refused) as caught:
        client_config("vscode", project, ("clew",), force=True)

    assert str(path) in caught.value.message
    assert reason in caught.value.message
    assert json.loads(caught.value.hint.partition("\n")[2])["servers"]["clew"]["command"] == "clew"
    assert path.read_bytes() == content


def test_a_file_that_changed_since_the_plan_is_a_conflict_and_keeps_the_change(project):
    plan = client_config("claude-code", project, ("clew",))
    (project / ".mcp.json").write_text('{"mine": 1}')

    with pytest.raises(Conflict, match=r"\.mcp\.json"):
        write_plan(plan)
    assert (project / ".mcp.json").read_text() == '{"mine": 1}'


def test_the_mode_of_the_file_is_kept_and_beside_a_copy_of_the_former_one_no_other_file_stays(project):
    path = project / ".mcp.json"
    path.write_text("{}")
    path.chmod(0o640)

    install("claude-code", project)

    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(file.name for file in project.iterdir()) == [".clew", ".mcp.json"]
    (copy,) = (project / ".clew" / "backups").iterdir()
    assert (copy.read_text(), stat.S_IMODE(copy.stat().st_mode)) == ("{}", 0o640)


def test_a_linked_configuration_in_the_home_folder_stays_a_link(project, home):
    real = home / "dotfiles" / "codex.toml"
    real.parent.mkdir()
    real.write_text("# mine\n")
    path = config_path("codex", project)
    path.parent.mkdir()
    path.symlink_to(real)

    install("codex", project)

    assert path.is_symlink()
    assert tomllib.loads(real.read_text())["mcp_servers"]["clew"]["command"] == "clew"


@pytest.mark.parametrize("link", [".vscode/mcp.json", ".vscode"])
def test_a_link_that_leads_out_of_the_project_is_refused(project, home, link):
    (home / "mcp.json").write_text("{}")
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(home / "mcp.json" if link.endswith("json") else home)

    with pytest.raises(OutsideProject, match="outside the project"):
        client_config("vscode", project, ("clew",))
    assert (home / "mcp.json").read_text() == "{}"


def test_a_link_to_itself_is_an_error_that_names_it(project):
    (project / ".mcp.json").symlink_to(project / ".mcp.json")

    with pytest.raises(ConfigError, match=r"\.mcp\.json"):
        client_config("claude-code", project, ("clew",))


@pytest.mark.parametrize("obstacle", ["file for folder", "folder for file"])
def test_a_place_that_cannot_be_written_is_an_error_that_names_it(project, obstacle):
    if obstacle == "file for folder":
        (project / ".cursor").write_text("a file where a folder is needed")
    else:
        (project / ".cursor" / "mcp.json").mkdir(parents=True)

    with pytest.raises(ConfigError, match=r"mcp\.json"):
        install("cursor", project)


@pytest.mark.parametrize("protected", ["file", "folder"])
def test_write_protection_is_respected(project, protect, protected):
    path = project / ".mcp.json"
    path.write_text("{}")
    protect(path if protected == "file" else project)

    with pytest.raises(ConfigError, match=r"\.mcp\.json"):
        install("claude-code", project)
    assert [(file.name, file.read_text()) for file in project.iterdir()] == [(".mcp.json", "{}")]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
def test_a_write_that_fails_midway_leaves_the_old_file_and_nothing_else(project):
    path = project / ".mcp.json"
    path.write_text('{"mine": 1}')
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from clew.setup.clients.configure import client_config, write_plan\n"
        "from clew.errors import ConfigError\n"
        "plan = client_config('claude-code', Path(sys.argv[1]), ('clew',))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))\n"
        "try:\n"
        "    write_plan(plan)\n"
        "except ConfigError as error:\n"
        "    sys.exit(7 if 'cannot be written' in error.message else 1)\n"
    )

    done = subprocess.run([sys.executable, "-c", script, str(project)], check=False)

    assert done.returncode == 7
    assert [(file.name, file.read_text()) for file in project.iterdir()] == [(".mcp.json", '{"mine": 1}')]


def test_the_command_is_the_plain_name_only_where_the_name_leads_here(monkeypatch, tmp_path):
    here = Path(sys.executable).parent
    assert shutil.which("clew", path=str(here)), "the package is installed next to the interpreter"

    monkeypatch.setenv("PATH", str(here))
    assert own_command() == ("clew",)

    other = tmp_path / "clew"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert own_command() == (str(here / "clew"),)

    monkeypatch.setattr(sys, "argv", [str(other)])
    assert own_command() == ("clew",)


# Verifies: REQ-d00520-D
def test_whoever_was_run_by_uvx_is_started_by_uvx(monkeypatch, tmp_path, project):
    environment = tmp_path / "uv" / "archive-v0" / "x7"
    (environment / "bin").mkdir(parents=True)
    (tmp_path / "uv" / "CACHEDIR.TAG").touch()
    monkeypatch.setattr(sys, "prefix", str(environment))

    assert own_command() == ("uvx", "clew-mcp")

    plan = client_config("claude-code", project, own_command())
    (entry,) = json.loads(plan.after)["mcpServers"].values()
    assert (entry["command"], entry["args"]) == ("uvx", ["clew-mcp", "serve", "."])
    hooks = with_hooks("claude-code", None, own_command())
    assert '"uvx clew-mcp hook SessionStart --host claude-code"' in hooks
    assert without_hooks("claude-code", hooks) is None
