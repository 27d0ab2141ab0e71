"""One browser for the folder, and a tab that was let in."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.web.browser.driving import Tab, axe_source, browser
from tests.web.serving import Site, served

OpenTab = Callable[..., Tab]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as launched:
        yield launched


@pytest.fixture(scope="module")
def axe(chromium: Any) -> str:
    return axe_source()


@pytest.fixture
def fresh(folder: Path) -> Iterator[Site]:
    with served(folder) as site:
        yield site


@pytest.fixture
def open_tab(chromium: Any) -> Iterator[OpenTab]:
    """Opens a tab on a site. Afterwards nothing may have gone wrong in any of them."""
    contexts: list[Any] = []
    tabs: list[Tab] = []

    def opened(site: Site, *, enters: bool = True, width: int = 1280, scheme: str = "light", **options: Any) -> Tab:
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        contexts.append(context)
        tab = Tab(context, site.base)
        tabs.append(tab)
        if enters:
            tab.page.goto(site.page.address(site.endpoint))
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert [problem for tab in tabs for problem in tab.problems] == []
