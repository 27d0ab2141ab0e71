"""Registers for the tests: drafts in memory, and files on disk."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.register.served import OPEN
from tests.register.shell import Shell

from clew.formats.register.model import ActorKind, Register, RegisterLayout, Requirement
from clew.register.change.changes import add
from clew.register.change.draft import Author, Draft
from clew.register.change.transaction import RegisterFile, new_register
from clew.register.operations.edit import AddToRegister

NOW = Author("2026-06-01T12:00:00Z", "ann", ActorKind.HUMAN)
STATEMENT = "The system shall lock the account after five failed logins."

Make = Callable[..., Requirement]


@pytest.fixture
def now() -> Author:
    return NOW


@pytest.fixture
def new() -> Callable[..., AddToRegister]:
    """What somebody asks for; every part may be given."""

    def build(**parts: Any) -> AddToRegister:
        given: dict[str, Any] = {
            "title": "Lock the account",
            "statement": STATEMENT,
            "rationale": "Guessing has to stop.",
            "acceptance": ("The sixth login is refused",),
        }
        return AddToRegister(**(given | parts))

    return build


@pytest.fixture
def register() -> Register:
    return new_register("demo", NOW)


@pytest.fixture
def draft(register: Register) -> Draft:
    return Draft(register, NOW)


@pytest.fixture
def make(draft: Draft, new: Callable[..., AddToRegister]) -> Make:
    """Adds a requirement to the draft and changes it as wanted, past all rules."""

    def made(*, status: Any = None, links: Any = None, tests: Any = None, **parts: Any) -> Requirement:
        changes = {"status": status, "links": links, "tests": tests}
        requirement = draft.requirements[add(draft, new(**parts)).id]
        given = {name: value for name, value in changes.items() if value is not None}
        return draft.change(requirement, **given) if given else requirement

    return made


@pytest.fixture(params=[RegisterLayout.SINGLE, RegisterLayout.DIRECTORY], ids=lambda layout: layout.value)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> RegisterFile:
    """An empty register on disk, in either layout."""
    place = tmp_path / ("project.req" if request.param is RegisterLayout.SINGLE else "register")
    made = RegisterFile(place, layout=request.param, patience=5)
    made.create(msgspec.structs.replace(new_register("demo", NOW), layout=request.param))
    return made


@pytest.fixture
def single(tmp_path: Path) -> RegisterFile:
    made = RegisterFile(tmp_path / "project.req", patience=5)
    made.create(new_register("demo", NOW))
    return made


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    (tmp_path / "clew.toml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REQ_ACTOR", "ann")
    made = Shell(capsys)
    made.run("init", "-n", "demo", "--purpose", "Keep accounts safe")
    return made


@pytest.fixture(autouse=True)
def close_served() -> Iterator[None]:
    yield
    while OPEN:
        OPEN[-1].close()
