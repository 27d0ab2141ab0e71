"""`clew init` as a user meets it."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from clew.errors import ConfigError, InvalidArgument, OutsideProject, Refused
from clew.setup.clients.configure import CLIENTS
from clew.surfaces.cli.commands import init

# Verifies: REQ-d00018-B


@pytest.fixture
def small(plant, requirement):
    return plant({"spec/a.md": requirement, "src/a.py": "", "docs/guide.md": "# Guide\n", "tests/test_a.py": ""})


def test_the_module_keeps_the_protocol_of_command_modules():
    assert init.EXAMPLE.startswith("clew init")


def test_the_first_run_says_what_was_found_and_writes_two_files(small, run_init):
    outcome = run_init()

    assert outcome.code == 0
    assert "requirements  spec: 1 requirement in 1 file" in outcome.out
    assert "docs          1 page (docs 1)" in outcome.out
    assert "created       clew.toml" in outcome.out
    assert tomllib.loads((small / "clew.toml").read_text())["requirements"] == {"folders": ["spec"]}
    assert (small / ".gitignore").read_bytes() == b".clew/\n"


def test_the_second_run_changes_nothing_and_says_so(small, run_init, snapshot):
    run_init("--client", "claude-code")
    before = snapshot(small)
    stamps = {path: (small / path).stat().st_mtime_ns for path in before}

    outcome = run_init("--client", "claude-code")

    assert outcome.code == 0
    assert "Nothing changed: everything is already in place." in outcome.out
    assert snapshot(small) == before
    assert {path: (small / path).stat().st_mtime_ns for path in before} == stamps


def test_without_a_client_every_client_is_offered_with_its_command_and_place(small, run_init):
    out = run_init().out

    for name in CLIENTS:
        assert f"clew init {small} --client {name}" in out
    assert ".vscode/mcp.json" in out


def test_inside_the_folder_the_offered_command_needs_no_path(small, run_init, monkeypatch):
    monkeypatch.chdir(small)

    assert "  clew init --client cursor " in run_init(folder=".").out


def test_several_clients_can_be_written_at_once(small, run_init, home):
    outcome = run_init("--client", "claude-code", "--client", "codex", "--client", "claude-code")

    assert outcome.code == 0
    assert json.loads((small / ".mcp.json").read_text())["mcpServers"]["clew"]["args"] == ["serve", "."]
    assert tomllib.loads((home / ".codex/config.toml").read_text())["mcp_servers"]["clew"]["args"][1] == str(small)
    assert "Next, in Claude Code: Start `claude` in this folder and approve the server" in outcome.out
    assert "Next, in Codex: Start `codex` again" in outcome.out


def test_a_dry_run_shows_everything_and_writes_nothing(small, run_init, snapshot):
    before = snapshot(small)

    outcome = run_init("--dry-run", "--client", "vscode")

    assert outcome.code == 0
    assert "would create  clew.toml" in outcome.out
    assert 'folders = ["spec"]' in outcome.out
    assert "would create  .vscode/mcp.json" in outcome.out
    assert snapshot(small) == before


def test_json_tells_the_same_as_data(small, run_init):
    first = json.loads(run_init("--json", "--client", "cursor").out)
    second = json.loads(run_init("--json", "--client", "cursor").out)

    assert first["findings"]["requirements"][0]["path"] == "spec"
    assert [(file["path"], file["state"]) for file in first["files"]] == [
        ("clew.toml", "create"),
        (".gitignore", "create"),
    ]
    assert [(client["client"], client["state"]) for client in first["clients"]] == [("cursor", "create")]
    assert [client["client"] for client in first["available_clients"]] == list(CLIENTS)
    assert (first["changed"], second["changed"]) == (True, False)


def test_an_existing_configuration_is_kept_and_the_difference_told(small, run_init):
    mine = '[project]\nname = "mine" # my own words\n[docs]\nfolders = ["docs", "wiki"]\n[server]\nread_only = true\n'
    (small / "clew.toml").write_text(mine)

    outcome = run_init()

    assert outcome.code == 0
    assert (small / "clew.toml").read_text() == mine
    assert 'docs.folders: clew.toml says ["docs", "wiki"], without it everything is read' in outcome.out
    assert "server.read_only: clew.toml says true, found nothing" in outcome.out
    assert 'requirements.folders: clew.toml says nothing, found ["spec"]' in outcome.out
    assert "--force" in outcome.out


def test_comments_and_order_are_no_difference(small, run_init):
    run_init()
    text = (small / "clew.toml").read_text()
    (small / "clew.toml").write_text(text + "# a note of mine\n")

    outcome = run_init("--force")

    assert "unchanged     clew.toml" in outcome.out
    assert (small / "clew.toml").read_text().endswith("# a note of mine\n")


def test_force_replaces_a_configuration_that_differs(small, run_init):
    (small / "clew.toml").write_text('[project]\nname = "mine"\n[docs]\nfolders = []\n')

    outcome = run_init("--force")

    assert "replaced      clew.toml" in outcome.out
    assert "docs.folders: clew.toml says []" in outcome.out
    settings = tomllib.loads((small / "clew.toml").read_text())
    assert ("docs" in settings, settings["project"]["name"]) == (False, "mine")


def test_a_project_in_a_folder_of_another_name_is_no_difference(small, run_init):
    run_init()
    renamed = small.rename(small.with_name("elsewhere"))

    assert "Nothing changed" in run_init(folder=renamed).out


def test_a_broken_configuration_stops_everything_unless_forced(small, run_init, snapshot):
    (small / "clew.toml").write_bytes(b"[project\n\xff")
    before = snapshot(small)

    with pytest.raises(ConfigError, match=r"clew\.toml.* is not valid TOML"):
        run_init("--client", "claude-code")
    assert snapshot(small) == before
    assert run_init("--force").code == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b".clew/\n"),
        (b"a\n", b"a\n.clew/\n"),
        (b"a", b"a\n.clew/\n"),
        (b"a\r\nb\r\n", b"a\r\nb\r\n.clew/\r\n"),
        (b"a\r\nb", b"a\r\nb\r\n.clew/\r\n"),
        (b"\xff\xfe\n", b"\xff\xfe\n.clew/\n"),
        (b"!\n[z-a]\n", b"!\n[z-a]\n.clew/\n"),
        (b"!.clew/\n", b"!.clew/\n.clew/\n"),
        (b"# .clew/\n", b"# .clew/\n.clew/\n"),
        (b".clew/\n", None),
        (b".clew", None),
        (b"\xef\xbb\xbf.clew/\n", None),
        (b"/.clew/\r\n", None),
        (b".*\n", None),
        (b"**/.clew/**\n", None),
    ],
)
def test_the_ignore_rule_is_added_once_and_in_the_files_own_manner(project, run_init, before, after):
    (project / ".gitignore").write_bytes(before)

    for _ in range(2):
        run_init()

    assert (project / ".gitignore").read_bytes() == (before if after is None else after)


def test_an_empty_folder_gets_a_configuration_to_fill_in(project, run_init):
    outcome = run_init()

    assert outcome.code == 0
    assert "project holds nothing that Clew reads yet." in outcome.out
    assert tomllib.loads((project / "clew.toml").read_text())["project"] == {"name": "project"}


def test_a_folder_that_is_none_is_refused(project, run_init):
    with pytest.raises(InvalidArgument, match="missing"):
        run_init(folder=project / "missing")


def test_a_client_file_that_cannot_be_edited_stops_everything_before_anything_is_written(small, run_init, snapshot):
    (small / ".vscode").mkdir()
    (small / ".vscode" / "mcp.json").write_text("{ my servers\n}")
    before = snapshot(small)

    with pytest.raises(Refused) as caught:
        run_init("--client", "claude-code", "--client", "vscode")

    assert '"servers"' in caught.value.hint
    assert snapshot(small) == before


def test_another_entry_of_that_name_is_reported_with_exit_code_one(small, run_init):
    (small / ".mcp.json").write_text('{"mcpServers": {"clew": {"command": "older"}}}')

    kept, forced = run_init("--client", "claude-code"), run_init("--client", "claude-code", "--force")

    assert kept.code == 1
    assert "another entry named clew" in kept.out
    assert '"args": [' in kept.out
    assert forced.code == 0
    assert json.loads((small / ".mcp.json").read_text())["mcpServers"]["clew"]["args"] == ["serve", "."]


@pytest.mark.parametrize("name", ["clew.toml", ".gitignore"])
def test_a_link_that_leads_out_of_the_project_is_never_written_through(small, home, run_init, snapshot, name):
    (home / "theirs").write_text("# theirs\n")
    (small / name).symlink_to(home / "theirs")

    with pytest.raises(OutsideProject, match=name):
        run_init("--force")
    assert (home / "theirs").read_text() == "# theirs\n"
    assert not (small / ("clew.toml" if name == ".gitignore" else ".gitignore")).exists()


def test_a_folder_that_may_not_be_written_is_named(small, run_init, protect, snapshot):
    before = snapshot(small)
    protect(small)

    with pytest.raises(ConfigError, match=r"clew\.toml.* cannot be written"):
        run_init()
    assert snapshot(small) == before


def test_what_was_not_looked_at_is_told(plant, run_init):
    plant({"inner/clew.toml": "", "inner/src/a.py": "", "src/a.py": ""})

    assert "left alone    inner: a project of its own" in run_init().out


def test_the_installed_command_speaks_through_its_exit_code(small, home):
    clew = str(Path(sys.executable).with_name("clew"))

    done = subprocess.run([clew, "init", str(small)], capture_output=True, text=True, check=False)
    wrong = subprocess.run([clew, "init", str(small / "missing")], capture_output=True, text=True, check=False)

    assert (done.returncode, wrong.returncode) == (0, 2)
    assert "created       clew.toml" in done.stdout
    assert wrong.stdout == ""
    assert "missing' is not a folder" in wrong.stderr


# Verifies: REQ-d00442-D
def test_the_next_step_in_the_client_is_told_and_memory_is_offered(small, run_init, monkeypatch):
    monkeypatch.setattr(init, "own_command", lambda: ("clew",))
    out = run_init("--client", "copilot", "--client", "gemini").out

    assert "Next, in Copilot CLI: Start `copilot` in this folder and trust the folder" in out
    assert "Next, in Gemini CLI: Start `gemini`" in out
    assert "--client gemini --memory` also lets the client's hooks remember" in out
    assert "Warning" not in out
    assert "Memory is not connected" not in run_init("--client", "gemini", "--memory").out


# Verifies: REQ-d00442-D, REQ-d00862-D
def test_a_shared_file_names_a_command_and_no_path_of_this_computer(small, home, run_init, monkeypatch):
    monkeypatch.setattr(init, "own_command", lambda: ("/home/me/.venv/bin/clew",))

    out = run_init("--client", "claude-code", "--client", "codex", "--memory").out

    assert '"command": "clew"' in (small / ".mcp.json").read_text()
    for path in (".mcp.json", ".claude/settings.json", ".codex/hooks.json"):
        assert "/home/me" not in (small / path).read_text()
    assert "/home/me/.venv/bin/clew" in (home / ".codex" / "config.toml").read_text()
    assert "Warning: .mcp.json names `clew`, as on the computers of a team" in out
    assert "Put /home/me/.venv/bin on the PATH" in out


# Verifies: REQ-d00442-A
def test_the_rule_of_what_is_read_is_shown_and_written(small, run_init):
    assert init.READING_RULE in run_init().out
    assert "are read in the whole project, as without this file" in (small / "clew.toml").read_text()
