"""What pyproject.toml and the locks promise to whoever installs Clew."""

from packaging.utils import canonicalize_name
from tests.packaging.__main__ import CHECKS, WITH_OTHER_VERSIONS
from tests.packaging.environment import ENCODER
from tests.packaging.lowest import dependencies, lowest, pins
from tests.packaging.tools import PROJECT, TOOLS_LOCK, WORDS_LOCK

from clew.search.embed.minilm import VOCABULARY, WEIGHTS


# Verifies: REQ-d00038-D
def test_the_lock_without_the_encoder_names_every_other_dependency() -> None:
    locked = pins(WORDS_LOCK)
    needed = [each for each in dependencies(PROJECT) if each.name not in ENCODER]
    assert needed
    for each in needed:
        assert locked[canonicalize_name(each.name)], each
        assert all(each.specifier.contains(version) for version in locked[canonicalize_name(each.name)]), each
    assert not set(ENCODER) & locked.keys()


# Verifies: REQ-d00038-D
def test_the_lock_without_the_encoder_has_the_versions_that_the_tests_run_with() -> None:
    tested = pins(PROJECT / "requirements-dev.lock")
    assert {name: versions for name, versions in pins(WORDS_LOCK).items() if tested.get(name) != versions} == {}


# Verifies: REQ-d00038-E
def test_every_dependency_has_a_lowest_version() -> None:
    assert [str(each) for each in dependencies(PROJECT) if lowest(each) is None] == []


# Verifies: REQ-d00031-E
def test_the_packages_of_the_encoder_are_required_in_the_version_whose_files_are_trusted() -> None:
    required = {each.name: str(each.specifier) for each in dependencies(PROJECT)}
    for file in (WEIGHTS, VOCABULARY):
        assert required[file.package] == f"=={file.version}"


def test_locks_name_no_index() -> None:
    for lock in (WORDS_LOCK, TOOLS_LOCK, *(PROJECT / f"requirements-{name}.lock" for name in ("dev", "browser"))):
        assert "://" not in lock.read_text(encoding="utf-8"), lock.name


# Verifies: REQ-d00520-C
def test_make_packaging_installs_wheel_and_source_archive_in_each_way() -> None:
    names = [check.__name__ for check in CHECKS]
    assert names == [
        "pip_installs_without_the_encoder",
        "uv_installs_without_the_encoder",
        "uvx_serves",
        "newest_versions_work",
        "lowest_versions_work",
    ]
    for path in WITH_OTHER_VERSIONS:
        assert (PROJECT / path).exists(), f"{path} is not there to be run"
