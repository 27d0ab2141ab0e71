"""The wheel and the source archive hold what an installation needs."""

import subprocess
import tarfile
import zipfile
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path

import pytest
from tests.packaging.built import Built, build
from tests.packaging.release_notes import release_notes
from tests.packaging.tools import PROJECT

from clew import __version__


def tracked(*folders: str) -> set[str]:
    listed = subprocess.run(["git", "ls-files", "-z", *folders], cwd=PROJECT, capture_output=True, check=True)
    return set(filter(None, listed.stdout.decode().split("\0")))


def text_in(wheel: Path, name: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (path,) = [each for each in archive.namelist() if each.endswith(f".dist-info/{name}")]
        return archive.read(path).decode()


# Verifies: REQ-d00520-A
def test_the_distribution_is_clew_mcp_and_has_both_commands(built: Built) -> None:
    metadata = Parser().parsestr(text_in(built.wheel, "METADATA"))
    assert (metadata["Name"], metadata["Version"]) == ("clew-mcp", __version__)
    scripts = ConfigParser()
    scripts.read_string(text_in(built.wheel, "entry_points.txt"))
    assert dict(scripts["console_scripts"]) == {
        "clew": "clew.surfaces.cli.main:entry",
        "clew-mcp": "clew.surfaces.cli.main:serve_entry",
    }


# Verifies: REQ-d00520-B
def test_the_wheel_holds_every_file_of_the_package_and_nothing_of_its_tests(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        names = set(archive.namelist())
    package = {name.removeprefix("src/") for name in tracked("src/clew")}
    assert len(package) > 500
    assert package <= names
    assert {name.partition("/")[0] for name in names} <= {
        "clew",
        f"clew_mcp-{__version__}.dist-info",
        f"clew_mcp-{__version__}.data",
    }


# Verifies: REQ-d00520-B
def test_the_source_archive_builds_the_same_wheel(built: Built, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    assert (source / "requirements-words.lock").is_file(), "what docs/getting-started.md names"
    again = build(tmp_path / "dist", source).wheel
    assert again.read_bytes() == built.wheel.read_bytes()


# Verifies: REQ-d00520-E
def test_release_notes_are_the_section_of_the_version() -> None:
    changelog = "# Changelog\n\n## [2.0.0] - 2026-01-02\n\n### Added\n\n- New.\n\n## [1.0.0] - 2025-01-02\n\n- Old.\n"
    assert release_notes(changelog, "2.0.0") == "### Added\n\n- New.\n"
    assert release_notes(changelog, "1.0.0") == "- Old.\n"
    with pytest.raises(SystemExit, match=r"no section '## \[3\.0\.0\]'; it has 2\.0\.0, 1\.0\.0"):
        release_notes(changelog, "3.0.0")
    with pytest.raises(SystemExit, match="says nothing about 2"):
        release_notes("## [2.0.0]\n\n## [1.0.0]\n\n- Old.\n", "2.0.0")


# Verifies: REQ-d00520-E
def test_this_version_has_release_notes() -> None:
    assert release_notes((PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"), __version__).count("\n- ") > 10
