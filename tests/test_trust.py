"""`clew trust`, and what a project that is not trusted cannot decide."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests import forked

from clew.config import ClewToml, EmbedSettings, load
from clew.edit.locking import locked
from clew.errors import ConfigError
from clew.surfaces.cli.main import main
from clew.trust import FREE, records_file, reserved_keys, trust_of, user_configuration, without

ENDPOINT = """[embedder]
kind = "endpoint"
url = "http://127.0.0.1:1/v1"
model = "m"
key_variable = "AWS_SECRET_ACCESS_KEY"
texts_per_request = 7
"""
KEYS = ("embedder.key_variable", "embedder.kind", "embedder.model", "embedder.texts_per_request", "embedder.url")
SERVICE = ("url", "model", "dimensions", "key_variable", "timeout_seconds", "attempts", "pause_seconds")
RESERVED = {
    "project": {"id"},
    "register": {"logs"},
    "search": {"engine", "patience_seconds"},
    "ai": {"command", "url", "model", "key_variable", "timeout_seconds"},
    "embedder": {"threads", "folder", "sha256", "max_tokens", "texts_per_request", *SERVICE},
}
"""What needs trust. A new setting belongs here, or on the list of what every project may decide."""


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without settings, who trusts nothing."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "clew.toml").write_text(ENDPOINT, encoding="utf-8")
    return root


def own_settings(text: str) -> None:
    file = user_configuration()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# Verifies: REQ-d00261-A
def test_keys_of_a_project_that_is_not_trusted_are_ignored_and_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = load(project)
    assert config.embedder == EmbedSettings()
    assert config.trust.ignored == KEYS
    (note,) = config.notes
    assert all(f"`{key}`" in note for key in KEYS)
    assert "`clew trust`" in note
    assert main(["doctor", str(project)]) == 1
    assert note in capsys.readouterr().out


# Verifies: REQ-d00267-A
def test_every_setting_is_harmless_or_needs_trust() -> None:
    for table in msgspec.structs.fields(ClewToml):
        if table.name == "store":
            assert reserved_keys({"store": "local"}) == {"store": "local"}
            continue
        named = {field.name for field in msgspec.structs.fields(table.type)}
        free, reserved = FREE.get(table.name, set()), RESERVED.get(table.name, set())
        assert named == free | reserved, f"decide who may set {table.name}.{sorted(named ^ free ^ reserved)}"
        assert not free & reserved


# Verifies: REQ-d00267-A
@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ({"store": {"url": "postgresql://elsewhere"}}, ("store.url",)),
        ({"store": "postgresql://elsewhere"}, ("store",)),
        ({"ai": {"anything": 1}}, ("ai.anything",)),
        ({"embedder": {"kind": "minilm"}}, ()),
        ({"embedder": {"kind": "folder", "folder": "models"}}, ("embedder.folder", "embedder.kind")),
        ({"embedder": {"attempts": 1_000_000}}, ("embedder.attempts",)),
        ({"kb": {"graph": False}, "server": {"read_only": True}}, ()),
    ],
)
def test_what_is_not_known_to_be_harmless_does_not_count(
    tmp_path: Path, said: dict[str, Any], asked: tuple[str, ...]
) -> None:
    trust = trust_of(tmp_path, said)
    assert trust.ignored == asked
    assert reserved_keys(without(said, trust.ignored)) == {}


# Verifies: REQ-d00267-A
@pytest.mark.parametrize("folder", ["models/small", "../elsewhere", "/elsewhere"])
def test_a_model_of_the_project_needs_trust(project: Path, folder: str) -> None:
    (project / "clew.toml").write_text(f'[embedder]\nkind = "folder"\nfolder = "{folder}"\n', encoding="utf-8")
    assert load(project).embedder == EmbedSettings()
    assert main(["trust", str(project), "--yes"]) == 0
    assert load(project).embedder.folder == str(project / folder)


# Verifies: REQ-d00267-B
def test_two_who_trust_at_once_lose_nothing(user: Path) -> None:
    roots = [user / f"project{number}" for number in range(4)]
    started = []
    for root in roots:
        root.mkdir()
        (root / "clew.toml").write_text(ENDPOINT, encoding="utf-8")
        command = [sys.executable, "-m", "clew", "trust", str(root), "--yes"]
        started.append(forked.Process(command, stdout=subprocess.DEVNULL))
    assert [each.wait() for each in started] == [0] * len(roots)
    assert all(load(root).trust.is_trusted for root in roots)


# Verifies: REQ-d00267-B
def test_whoever_cannot_have_the_record_alone_changes_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.trust._LOCK_SECONDS", 0.0)
    lock = records_file().with_name("trust.lock")
    lock.parent.mkdir(parents=True)
    with lock.open("a+b") as file, locked(file, 0.0):
        assert main(["trust", str(project), "--yes"]) != 0
    assert not load(project).trust.is_trusted


# Verifies: REQ-d00261-A
def test_a_key_that_does_not_count_has_to_be_right_all_the_same(project: Path) -> None:
    (project / "clew.toml").write_text("[embedder]\nurl = 7\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"embedder\.url"):
        load(project)


# Verifies: REQ-d00261-B
def test_trust_holds_for_these_keys_and_values_and_is_kept_outside_of_the_project(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(each.name for each in project.iterdir())
    assert main(["trust", str(project), "--yes"]) == 0
    assert sorted(each.name for each in project.iterdir()) == before
    assert records_file().is_file()
    trusted = load(project)
    assert trusted.trust.state == "trusted"
    assert trusted.embedder.key_variable == "AWS_SECRET_ACCESS_KEY"
    assert trusted.notes == ()
    # What needs no trust may change, what needs it may not.
    (project / "clew.toml").write_text(f'[project]\nname = "renamed"\n{ENDPOINT}', encoding="utf-8")
    assert load(project).trust.is_trusted
    (project / "clew.toml").write_text(ENDPOINT.replace("127.0.0.1:1", "127.0.0.1:2"), encoding="utf-8")
    changed = load(project)
    assert changed.trust.state == "changed"
    assert changed.embedder.url is None
    assert "changed since" in changed.notes[0]
    assert main(["trust", str(project), "--yes"]) == 0
    assert load(project).trust.is_trusted


# Verifies: REQ-d00623-B
@pytest.mark.skipif(os.name == "nt", reason="permissions of files are POSIX ones")
def test_the_record_is_its_users_alone_also_one_that_others_could_read(project: Path) -> None:
    file = records_file()
    file.parent.mkdir(parents=True)
    file.write_text("{}", encoding="utf-8")
    file.chmod(0o644)
    assert main(["trust", str(project), "--grant", "store", "--yes"]) == 0
    assert [each.stat().st_mode & 0o077 for each in (file, file.with_name("trust.lock"))] == [0, 0]


# Verifies: REQ-d00261-B
def test_a_copy_of_a_trusted_project_is_not_trusted(project: Path, tmp_path: Path) -> None:
    assert main(["trust", str(project), "--yes"]) == 0
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "clew.toml").write_text(ENDPOINT, encoding="utf-8")
    assert load(copy).trust.state == "untrusted"


# Verifies: REQ-d00261-B
def test_a_record_that_cannot_be_read_trusts_nobody_and_is_named_by_clew_trust(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trust", str(project), "--yes"]) == 0
    records_file().write_bytes(b"{")
    assert load(project).trust.state == "untrusted"
    assert main(["trust", str(project), "--yes"]) == 2
    assert str(records_file()) in capsys.readouterr().err


# Verifies: REQ-d00261-C
def test_nobody_is_trusted_where_nobody_can_be_asked(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main(["trust", str(project)]) == 2
    assert "--yes" in capsys.readouterr().err
    assert not load(project).trust.is_trusted


# Verifies: REQ-d00261-C
@pytest.mark.parametrize(("said", "is_trusted"), [("y\n", True), ("\n", False), ("no\n", False), ("", False)])
def test_the_keys_are_shown_before_the_question(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str, is_trusted: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(said))
    assert main(["trust", str(project)]) == (0 if is_trusted else 1)
    shown = capsys.readouterr().out
    assert all(key in shown.partition("Trust this project?")[0] for key in KEYS)
    assert load(project).trust.is_trusted is is_trusted


# Verifies: REQ-d00261-C
def test_trust_is_shown_and_taken_back(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def show() -> tuple[int, str]:
        code = main(["trust", str(project), "--show", "--json"])
        return code, json.loads(capsys.readouterr().out)["state"]

    assert show() == (1, "untrusted")
    assert main(["trust", str(project), "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["asks_for"]["embedder.url"] == "http://127.0.0.1:1/v1"
    assert show() == (0, "trusted")
    assert main(["trust", str(project), "--revoke"]) == 0
    assert "no longer" in capsys.readouterr().out
    assert show() == (1, "untrusted")
    assert main(["trust", str(project), "--revoke"]) == 0
    assert "was not trusted" in capsys.readouterr().out


# Verifies: REQ-d00261-C
def test_no_sign_of_a_value_reaches_the_terminal(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "clew.toml").write_text(
        '[embedder]\nkind = "endpoint"\nurl = "http://a\\u001b[2J\\u202e"\n', encoding="utf-8"
    )
    assert main(["trust", str(project), "--show"]) == 1
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\u202e" not in shown


# Verifies: REQ-d00261-D
def test_the_users_own_configuration_holds_for_every_project(project: Path) -> None:
    own_settings('[embedder]\nkind = "endpoint"\nurl = "http://localhost:9/v1"\nmodel = "own"\nkey_variable = "OWN"\n')
    untrusted = load(project).embedder
    assert (untrusted.url, untrusted.model, untrusted.key_variable) == ("http://localhost:9/v1", "own", "OWN")
    (project / "clew.toml").write_text('[embedder]\nkind = "none"\n', encoding="utf-8")
    assert load(project).embedder.kind == "none"


# Verifies: REQ-d00261-D
def test_a_service_that_a_trusted_project_names_does_not_get_the_users_key(project: Path) -> None:
    own_settings('[embedder]\nkind = "endpoint"\nurl = "http://localhost:9/v1"\nmodel = "own"\nkey_variable = "OWN"\n')
    text = '[embedder]\nkind = "endpoint"\nurl = "http://127.0.0.1:1/v1"\nmodel = "m"\n'
    (project / "clew.toml").write_text(text, encoding="utf-8")
    assert main(["trust", str(project), "--yes"]) == 0
    found = load(project).embedder
    assert (found.url, found.key_variable) == ("http://127.0.0.1:1/v1", None)


# Verifies: REQ-d00261-D
@pytest.mark.parametrize("text", ["[embedder]\nkind = 'other'\n", "[kb]\ngraph = false\n", "[embedder\n"])
def test_a_mistake_in_the_users_own_configuration_names_the_file(project: Path, text: str) -> None:
    own_settings(text)
    with pytest.raises(ConfigError, match=r"config\.toml"):
        load(project)


# Verifies: REQ-d00261-E
def test_cargo_runs_only_in_a_trusted_project(
    project: Path, user: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs, ran = user / "programs", user / "ran"
    programs.mkdir()
    (programs / "cargo").write_text(f"#!/bin/sh\ntouch '{ran}'\n", encoding="utf-8")
    (programs / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    (project / "clew.toml").write_text("", encoding="utf-8")
    (project / "Cargo.toml").write_text("[package]\n", encoding="utf-8")
    assert main(["req", "init", "-n", "x", "-C", str(project)]) == 0
    capsys.readouterr()
    assert main(["req", "precheck", "-C", str(project)]) == 2
    assert "clew trust" in capsys.readouterr().err
    assert not ran.exists()
    assert main(["req", "precheck", "-C", str(project), "--skip", "fmt", "--skip", "clippy", "--skip", "test"]) in (
        0,
        1,
    )
    assert not ran.exists()
    assert main(["trust", str(project), "--yes"]) == 0
    assert main(["req", "precheck", "-C", str(project)]) in (0, 1)
    assert ran.exists()
