"""One editor for the tests that only ask, and one of their own for those that change files."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from tests.lsp.editor import Editor

DEMO = Path(__file__).parents[2] / "examples" / "demo"


class Session:
    """An editor whose questions are asked by plain functions."""

    def __init__(self, editor: Editor, call: Callable[..., Any]) -> None:
        self.editor = editor
        self._call = call

    def ask(self, question: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        async def asked() -> Any:
            answer = question(*arguments, **named)
            return await answer if hasattr(answer, "__await__") else answer

        return self._call(asked)


def session_in(root: Path, *arguments: str) -> Iterator[Session]:
    async def made() -> Editor:
        return Editor(root, *arguments)

    with start_blocking_portal("asyncio") as portal, portal.wrap_async_context_manager(portal.call(made)) as editor:
        yield Session(editor, portal.call)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """An editor that has the demo open; nobody changes it."""
    root = tmp_path_factory.mktemp("editor") / "demo"
    shutil.copytree(DEMO, root, ignore=shutil.ignore_patterns(".clew", "__pycache__", ".pytest_cache"))
    yield from session_in(root)


@pytest.fixture
def own(demo: Path) -> Iterator[Session]:
    yield from session_in(demo)
