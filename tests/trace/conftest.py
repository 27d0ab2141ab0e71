"""Projects of a few requirements, written in short form, and tools called on them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.operation.call import OWN_SESSION, Call, carry_out
from clew.operation.listing import all_tools
from clew.project import Project

LEVELS = {"p": "PRD", "o": "OPS", "d": "DEV"}

Plant = Callable[..., Project]
Ask = Callable[..., dict[str, Any]]


def block(
    id: str, implements: Sequence[str], assertions: Sequence[str], *, title: str = "", status: str = "Active"
) -> str:
    """One requirement; `implements` may hold `refines ID`."""
    refines = [each.removeprefix("refines ") for each in implements if each.startswith("refines ")]
    implemented = [each for each in implements if not each.startswith("refines ")]
    fields = [f"**Level**: {LEVELS[id[0]]}", f"**Status**: {status}"]
    fields += [f"**Implements**: {', '.join(f'REQ-{each}' for each in implemented)}"] if implemented else []
    fields += [f"**Refines**: {', '.join(f'REQ-{each}' for each in refines)}"] if refines else []
    lines = "".join(f"{chr(65 + number)}. {text}\n" for number, text in enumerate(assertions))
    section = f"## Assertions\n\n{lines}\n" if lines else ""
    heading = title or f"Title of {id}"
    return f"## REQ-{id}: {heading}\n\n{' | '.join(fields)}\n\n{section}*End* *{heading}*\n\n"


@pytest.fixture
def plant(tmp_path: Path, opened: Callable[[Path], Project]) -> Plant:
    """Writes a project and opens it: requirements by short id with what they implement and their assertions, and other
    files by path."""

    def write(
        requirements: Mapping[str, Sequence[str]],
        *,
        assertions: Mapping[str, Sequence[str]] | None = None,
        titles: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
    ) -> Project:
        text = "".join(
            block(id, parents, (assertions or {}).get(id, ()), title=(titles or {}).get(id, ""))
            for id, parents in requirements.items()
        )
        for path, content in {"spec/all.md": text, "clew.toml": "", **(files or {})}.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(content, encoding="utf-8")
        project = opened(tmp_path)
        project.ensure_graph()
        return project

    return write


@pytest.fixture
def ask() -> Ask:
    """Calls a tool as any surface does and returns its structured answer."""

    def call(project: Project, tool: str, /, *, session: str | None = OWN_SESSION, **arguments: Any) -> dict[str, Any]:
        named = {each.name: each for each in all_tools()}
        data = carry_out(named[tool], arguments, Call(project, all_tools(), session=session)).data
        answer: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(data))
        return answer

    return call
