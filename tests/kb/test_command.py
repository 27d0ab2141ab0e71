"""`clew kb`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.kb.answer.answering import answer
from clew.kb.answer.requests import EvidenceRequest
from clew.project import Project
from clew.surfaces.cli.main import main
from clew.text.tokens import estimate_tokens

GUIDE = """# Guide

The margin is the water that is wanted under the keel.

## Setting it

Set `APP_MARGIN`, or pass `--margin METRES`.
The default margin is 0.5 metres. See REQ-d00001.

```sh
app --margin 0.7
```
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def root(make: Callable[..., Project]) -> Path:
    requirement = (
        "## REQ-d00001: Margin\n\n**Level**: DEV | **Status**: Active\n\nText.\n\n## Assertions\n\nA. It SHALL.\n\n"
        "*End* *Margin* | **Hash**: 00000000\n"
    )
    project = make({"docs/guide.md": GUIDE, "docs/other.md": "# Other\n\nNothing.\n", "spec/a.md": requirement})
    return project.config.root


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def ran(*arguments: str) -> tuple[int, str, str]:
        code = main(["kb", *arguments, "-C", str(root)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return ran


# Verifies: REQ-d00097-A
def test_a_question_is_answered_from_the_files_as_they_are_now_with_file_and_line(run: Run, root: Path) -> None:
    code, out, _ = run("ask", "what is the default margin?")
    assert code == 0
    assert out.startswith("docs/guide.md:")
    assert "  Guide > Setting it  " in out
    assert "The default margin is 0.5 metres." in out
    assert "    ```sh\n    app --margin 0.7\n    ```\n" in out
    (root / "docs/guide.md").write_text("# Guide\n\nThe default margin is now 0.6 metres.\n")
    code, out, _ = run("ask", "what is the default margin?", "--json")
    quotes = json.loads(out)["quotes"]
    (quote,) = quotes
    assert "The default margin is now 0.6 metres." in quote["quote"]
    assert quote["line"] <= 3 == quote["end_line"]


# Verifies: REQ-d00097-A
def test_documents_are_indexed_searched_shown_and_walked(run: Run, root: Path) -> None:
    assert run("index")[:2] == (0, "documents: 2 added, 0 changed, 0 moved, 0 removed, 0 unchanged\n")
    code, out, _ = run("status", "--json")
    assert (code, json.loads(out)["documents"]) == (0, 2)
    assert run("reconcile")[1].endswith("no differences\n")
    code, out, _ = run("search", "default", "margin")
    assert code == 0
    place, _, trail = out.splitlines()[0].partition("  ")
    assert trail == "Guide > Setting it"
    # The line of what is shown, not that of its heading.
    assert GUIDE.splitlines()[int(place.removeprefix("docs/guide.md:")) - 1][:12] in out
    code, out, _ = run("show", "docs/guide.md#setting-it")
    assert (code, GUIDE[GUIDE.index("## Setting") :].strip() in out) == (0, True)
    assert "doc:docs/guide.md#setting-it" in run("show", "docs/guide.md")[1]
    assert run("graph", "REQ-d00001")[1].startswith("REQ-d00001\n  ← MENTIONS doc:docs/guide.md#setting-it\n")
    assert "← MENTIONS doc:docs/guide.md#setting-it" in run("graph", "APP_MARGIN")[1]
    (root / "docs/other.md").unlink()
    code, out, _ = run("reconcile", "--dry-run")
    assert (code, out.splitlines()[1:]) == (1, ["document without file: docs/other.md", "1 difference, 1 left"])
    assert run("reconcile")[0] == 0


# Verifies: REQ-d00243-A
def test_what_everybody_mentions_is_shown_in_part_and_that_is_said(run: Run, root: Path) -> None:
    for number in range(40):
        (root / f"docs/page-{number:02}.md").write_text(f"# Page {number}\n\nSet `APP_DRAUGHT` here.\n")
    for limit in (25, 3):
        _, out, _ = run("graph", "APP_DRAUGHT", *(("--limit", str(limit)) if limit != 25 else ()))
        first, *lines, last = out.splitlines()
        assert first == "entity:environment_variable:APP_DRAUGHT"
        assert len(lines) == limit
        assert all(line.startswith("  ← MENTIONS doc:docs/page-") for line in lines)
        assert last == f"  and more; --limit above {limit} shows them"
    (found,) = json.loads(run("graph", "APP_DRAUGHT", "--limit", "100", "--json")[1]).values()
    assert (len(found["links"]), found["is_cut"]) == (40, False)
    assert found["links"][0]["type"] == "MENTIONS"


# Verifies: REQ-d00243-B
@pytest.mark.parametrize("command", [("show", "docs/other.md"), ("graph", "docs/other.md")])
def test_what_the_configuration_hides_is_hidden_from_every_command(
    run: Run, root: Path, command: tuple[str, ...]
) -> None:
    assert run(*command)[0] == 0
    (root / "clew.toml").write_text((root / "clew.toml").read_text() + '\n[kb]\ndoc_tags = ["guide"]\n')
    code, out, _ = run(*command)
    assert (code, out) == (1, "")


# Verifies: REQ-d00097-C
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("show", "docs/none.md"), 1, "There is no document or section 'docs/none.md'."),
        (("graph", "nothing"), 1, "Nothing that documents are about is called 'nothing'."),
        (("search",), 2, "clew kb search needs to know what."),
        (("search", "x", "--limit", "0"), 2, "--limit is 0"),
        (("graph", "x", "--limit", "-1"), 2, "--limit is -1"),
    ],
)
def test_what_cannot_be_answered_says_why_and_what_to_do(
    run: Run, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done, out, err = run(*arguments)
    assert (done, out) == (code, "")
    assert message in err
    assert "`clew kb" in err or "Pass 1" in err


# Verifies: REQ-d00097-B
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    words=st.lists(st.sampled_from(["margin", "keel", "water", "S3", "?", "app", "metres", "zzz", "the"]), max_size=6)
)
def test_quotes_stay_small_are_the_same_each_time_and_stand_where_they_say(root: Path, words: list[str]) -> None:
    project = Project.open(root)
    project.kb.index()
    question = " ".join(words)
    found = answer(project.kb.finder, EvidenceRequest(question=question))
    assert found == answer(project.kb.finder, EvidenceRequest(question=question))
    assert len(found.quotes) <= 6
    for quote in found.quotes:
        assert estimate_tokens(quote.quote) <= 80
        lines = (root / quote.path).read_text().splitlines()
        assert quote.quote in "\n".join(lines[quote.line - 1 : quote.end_line])
    project.close()


# Verifies: REQ-d00401-D
def test_no_preview_is_a_bare_heading(run: Run, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "docs" / "tides.md").write_text("# Tides\n\n## Spring tides\n\nThe highest ones.\n", encoding="utf-8")
    code, out, _ = run("search", "what are tides?")
    assert code == 0
    assert "    Sections below: Spring tides" in out.splitlines()
    (root / "docs" / "charts.rst").write_text("Charts\n======\n\n.. toctree::\n\n   north\n", encoding="utf-8")
    _, out, _ = run("search", "charts")
    assert "    No text of its own." in out.splitlines()
    assert "    # Charts" not in out.splitlines()
    assert main(["search", "tides", "--kind", "document", "-C", str(root), "--json"]) == 0
    found = {each["id"]: each.get("preview", "") for each in json.loads(capsys.readouterr().out)["results"]}
    assert found["doc:docs/tides.md#tides"] == ""
