"""Grants by name: given, shown, required and taken back, each for itself."""

import io
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from clew.config import load
from clew.errors import Refused
from clew.surfaces.cli.main import main
from clew.trust import ALLOWED, Grant, give, given, is_granted, records_file, require, revoke, trust_of

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ANYWHERE = [grant for grant in Grant if grant is not Grant.REPOSITORY]
"""Those that any folder can have; the other needs a repository elsewhere."""
OTHERS = [grant for grant in ANYWHERE if grant is not Grant.CONFIGURATION]
ASKS = '[ai]\ncommand = "model"\n'


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
    (root / "clew.toml").write_text(ASKS, encoding="utf-8")
    return root


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(project: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    main(["trust", str(project), "--show", "--json"])
    return {each["name"]: each for each in json.loads(capsys.readouterr().out)["grants"]}


# Verifies: REQ-d00635-A
@pytest.mark.parametrize("grant", ANYWHERE)
def test_one_grant_is_given_and_taken_back_without_the_others(
    project: Path, capsys: pytest.CaptureFixture[str], grant: Grant
) -> None:
    assert main(["trust", str(project), "--grant", grant, "--yes"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert grant is Grant.CONFIGURATION or f"The grant `{grant}`: {ALLOWED[grant].what}" in said
    assert {name for name, each in shown(project, capsys).items() if each["granted"]} == {grant}
    for other in ANYWHERE:
        if other is not grant:
            assert main(["trust", str(project), "--grant", other, "--yes"]) == 0
    assert main(["trust", str(project), "--revoke", grant]) == 0
    assert {name for name, each in shown(project, capsys).items() if not each["granted"]} == {grant, "repository"}
    assert main(["trust", str(project), "--revoke", grant]) == 0
    assert f"had no grant `{grant}`" in capsys.readouterr().out


# Verifies: REQ-d00635-A
def test_without_a_name_all_grants_are_taken_back_also_of_a_folder_behind_the_option(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [word for grant in ANYWHERE for word in ("--grant", grant)]
    assert main(["trust", str(project), *names, "--yes"]) == 0
    assert {name for name, each in shown(project, capsys).items() if each["granted"]} == set(ANYWHERE)
    assert main(["trust", "--revoke", str(project)]) == 0
    assert not any(each["granted"] for each in shown(project, capsys).values())
    assert json.loads(records_file().read_bytes()) == {"projects": {}, "grants": {}}


# Verifies: REQ-d00635-A
def test_a_grant_that_does_not_exist_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["trust", str(project), "--grant", "everything"])
    assert main(["trust", str(project), "--revoke", "everything"]) == 2
    assert "`sessions`" in capsys.readouterr().err


# Verifies: REQ-d00635-A
@pytest.mark.parametrize("grant", OTHERS)
def test_a_grant_is_shown_and_asked_for_and_needs_yes_where_nobody_can_be_asked(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], grant: Grant
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main(["trust", str(project), "--grant", grant]) == 2
    assert "--yes" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert main(["trust", str(project), "--grant", grant]) == 1
    assert not is_granted(project, grant)
    before, asked, _ = capsys.readouterr().out.partition("[y/N]")
    assert asked
    assert ALLOWED[grant].what in " ".join(before.split())
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert main(["trust", str(project), "--grant", grant]) == 0
    assert is_granted(project, grant)


# Verifies: REQ-d00635-B
def test_every_grant_is_listed_with_what_it_allows_and_since_when(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    give(project, Grant.STORE, NOW)
    listed = shown(project, capsys)
    assert set(listed) == set(Grant)
    assert all(each["allows"] for each in listed.values())
    assert listed["store"]["since"] == "2026-01-02T03:04:05+00:00"
    assert listed["history"]["since"] is None
    assert listed["history"]["is_used"]
    assert not listed["tests"]["is_used"]
    main(["trust", str(project), "--show"])
    text = " ".join(capsys.readouterr().out.split())
    assert "store: given 2026-01-02T03:04:05+00:00" in text
    assert "history: not given" in text
    assert f"{ALLOWED[Grant.TESTS].what} (nothing asks for it yet)" in text


# Verifies: REQ-d00635-B
def test_a_configuration_that_changed_is_shown_as_not_given_for_what_it_says_now(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trust", str(project), "--yes"]) == 0
    (project / "clew.toml").write_text(ASKS.replace("model", "other"), encoding="utf-8")
    listed = shown(project, capsys)["configuration"]
    assert not listed["granted"]
    assert listed["since"]
    main(["trust", str(project), "--show"])
    assert "for other keys or values than now" in " ".join(capsys.readouterr().out.split())


# Verifies: REQ-d00635-C
@pytest.mark.parametrize("grant", OTHERS)
def test_what_needs_a_grant_is_refused_with_the_command_that_gives_it(project: Path, grant: Grant) -> None:
    with pytest.raises(Refused, match=str(grant)) as refused:
        require(project, grant, "Somebody asks")
    assert f"`clew trust --grant {grant}`" in (refused.value.hint or "")
    assert main(["trust", str(project), "--grant", grant, "--yes"]) == 0
    require(project, grant, "Somebody asks")
    assert revoke(project, [grant]) == (grant,)
    assert not is_granted(project, grant)


# Verifies: REQ-d00635-D
def test_a_project_that_was_trusted_before_keeps_its_configuration_and_gets_nothing_more(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trust", str(project), "--yes"]) == 0
    before = {"projects": json.loads(records_file().read_bytes())["projects"]}
    # The file as the version before had it.
    records_file().write_text(json.dumps(before), encoding="utf-8")
    assert load(project).trust.is_trusted
    assert {name for name, each in shown(project, capsys).items() if each["granted"]} == {"configuration"}
    give(project, Grant.TESTS, NOW)
    assert json.loads(records_file().read_bytes())["projects"] == before["projects"]
    assert load(project).trust.is_trusted


# Verifies: REQ-d00635-D
def test_a_grant_of_a_later_version_survives_a_change_by_this_one(project: Path) -> None:
    give(project, Grant.TESTS, NOW)
    records = json.loads(records_file().read_bytes())
    records["grants"][str(project)]["telepathy"] = {"at": "2030-01-01T00:00:00+00:00", "bound": ""}
    records_file().write_text(json.dumps(records), encoding="utf-8")
    assert set(given(project)) == {Grant.TESTS}
    give(project, Grant.STORE, NOW)
    revoke(project, [Grant.TESTS])
    assert set(json.loads(records_file().read_bytes())["grants"][str(project)]) == {"telepathy", "store"}


# Verifies: REQ-d00635-E
def test_a_grant_holds_for_the_real_path_and_for_what_it_is_bound_to(project: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(project)
    give(link, Grant.STORE, NOW, bound="this")
    assert is_granted(project, Grant.STORE, bound="this")
    assert is_granted(link, Grant.STORE, bound="this")
    assert not is_granted(project, Grant.STORE, bound="that")
    assert not is_granted(project, Grant.STORE)
    assert not is_granted(tmp_path, Grant.STORE, bound="this")
    project.rename(tmp_path / "moved")
    assert not is_granted(tmp_path / "moved", Grant.STORE, bound="this")


# Verifies: REQ-d00635-C
def test_a_record_that_cannot_be_read_grants_nothing(project: Path) -> None:
    give(project, Grant.STORE, NOW)
    records_file().write_bytes(b"{")
    assert not is_granted(project, Grant.STORE)
    assert trust_of(project, {}).state == "untrusted"
    with pytest.raises(ValueError, match="trust_of"):
        is_granted(project, Grant.CONFIGURATION)
