"""The container: it cannot be built here, so what its files name is held against what is there."""

import argparse
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.web.serving import TOKEN, served
from tests.web.test_admission import small

from clew.surfaces.cli.commands import serve
from clew.surfaces.mcp.transports.http import HEALTH_PATH

ROOT = Path(__file__).parent.parent
_NAME = re.compile(r"^([a-z0-9._-]+)==", re.MULTILINE)


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their arguments, continued lines joined."""
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
    lines = (line.strip() for line in text.splitlines())
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line and line[0] != "#")]


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return read


# Verifies: REQ-d00494-A
def test_everything_that_the_image_copies_is_there_and_let_through() -> None:
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from"):
            *sources, _ = rest.split()
            for source in sources:
                assert (ROOT / source).exists(), source
                assert source in let_through
    stages = [rest for name, rest in instructions() if name == "FROM"]
    assert all(re.match(r"python:3\.\d+-slim( AS build)?$", stage) for stage in stages)
    (user,) = (rest for name, rest in instructions() if name == "USER")
    assert user != "root"


# Verifies: REQ-d00494-A
def test_the_image_installs_by_hash_what_the_lock_names_and_the_lock_names_all_dependencies() -> None:
    installs = [rest for name, rest in instructions() if name == "RUN" and "pip install" in rest]
    assert "--require-hashes --requirement requirements-server.lock" in installs[0]
    assert "--no-deps --no-build-isolation" in installs[1]
    locked = {name.replace("_", "-") for name in _NAME.findall((ROOT / "requirements-server.lock").read_text())}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = (
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["postgres"],
        *project["dependency-groups"]["image"],
    )
    names = {re.split(r"[\[<>=;~! ]", each)[0].lower().replace("_", "-") for each in wanted}
    assert names <= locked


# Verifies: REQ-d00494-B
@pytest.mark.parametrize("place", ["Dockerfile", "compose.yaml"])
def test_the_command_of_the_container_is_one_that_clew_knows(place: str) -> None:
    if place == "Dockerfile":
        (entry,) = (json.loads(rest) for name, rest in instructions() if name == "ENTRYPOINT")
        (command,) = (json.loads(rest) for name, rest in instructions() if name == "CMD")
        assert entry == ["clew"]
    else:
        command = compose()["services"]["clew"]["command"]
    assert command[0] == "serve"
    parser = argparse.ArgumentParser(exit_on_error=False)
    serve.configure(parser)
    settings = parser.parse_args(command[1:])
    assert (settings.transport, settings.host, settings.port) == ("http", "0.0.0.0", 8484)


def health_check() -> str:
    """The program that the image's health check runs."""
    (check,) = (rest for name, rest in instructions() if name == "HEALTHCHECK")
    python, flag, program = json.loads(check[check.index("[") :])
    assert (python, flag) == ("python", "-c")
    return str(program)


# Verifies: REQ-d00494-B
@pytest.mark.parametrize("token", [None, TOKEN])
def test_the_health_check_passes_while_the_server_runs_and_fails_after(tmp_path: Path, token: str | None) -> None:
    def is_healthy(port: int) -> bool:
        program = health_check().replace("8484", str(port))
        return subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode == 0

    assert f"'{HEALTH_PATH}'" in health_check()
    with served(small(tmp_path), token=token) as site:
        port = int(site.base.rpartition(":")[2])
        assert is_healthy(port)
    assert not is_healthy(port)


# Verifies: REQ-d00494-B
def test_the_server_waits_for_a_healthy_database() -> None:
    services = compose()["services"]
    assert services["database"]["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
    assert services["clew"]["depends_on"]["database"]["condition"] == "service_healthy"


# Verifies: REQ-d00494-C
def test_the_server_runs_as_the_owner_of_the_checkout() -> None:
    given = re.fullmatch(r"\$\{(\w+):-(\d+):\d+\}", compose()["services"]["clew"]["user"])
    assert given is not None
    name, default = given.groups()
    assert default == next(rest for each, rest in instructions() if each == "USER")
    assert f"{name}=$(id -u):$(id -g)" in (ROOT / "docs" / "teams-search.md").read_text()


# Verifies: REQ-d00494-B
def test_compose_names_only_secrets_and_volumes_that_it_declares() -> None:
    read = compose()
    for service in read["services"].values():
        assert set(service.get("secrets", ())) <= set(read["secrets"])
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert source in read["volumes"] or source.startswith("${")
        for value in (*service.get("environment", {}).values(), *service.get("command", ())):
            for secret in re.findall(r"/run/secrets/([\w-]+)", value):
                assert secret in service["secrets"]
    assert read["services"]["clew"]["environment"]["CLEW_STORE"].startswith("postgresql://")
    assert shlex.split(read["services"]["clew"]["ports"][0])[0].startswith("127.0.0.1:")
