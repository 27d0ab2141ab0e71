"""Client libraries, each in an environment of its own, which lists and calls the tools of a real server."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.packaging.tools import PROJECT, tool

WORK = PROJECT / ".clients"
SCRIPTS = Path(__file__).with_name("scripts")
SECONDS = 180
ACCEPTED = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
"""What interfaces of models accept as the name of a tool."""
ANSWER = "Reading a tide table"
"""What the demo says of the requirement that every client asks for."""


class Library(NamedTuple):
    name: str
    requirements: tuple[str, ...]
    script: str

    @property
    def python(self) -> Path:
        return WORK / re.sub(r"\W+", "-", self.name) / "bin" / "python"

    def install(self) -> None:
        """Install it unless the same requirements are there."""
        home = self.python.parent.parent
        wanted = "\n".join(self.requirements)
        done = home / "requirements.txt"
        if done.exists() and done.read_text(encoding="utf-8") == wanted:
            return
        shutil.rmtree(home, ignore_errors=True)
        uv = tool("uv")
        subprocess.run([uv, "venv", "--quiet", "--python", "3.11", home], check=True, timeout=SECONDS)
        install = [uv, "pip", "install", "--quiet", "--python", self.python, *self.requirements]
        subprocess.run(install, check=True, timeout=SECONDS)
        done.write_text(wanted, encoding="utf-8")

    def version(self) -> str:
        package = re.split(r"[\[<>=~!]", self.requirements[0])[0]
        asked = f"from importlib.metadata import version; print(version({package!r}))"
        done = subprocess.run([self.python, "-c", asked], capture_output=True, text=True, check=True, timeout=SECONDS)
        return done.stdout.strip()

    def ask(self, kind: str, *words: str) -> str:
        """Let it list and call over a transport; returns what is wrong with what it got, or nothing."""
        command = [self.python, SCRIPTS / self.script, kind, *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=WORK, check=False)
        except subprocess.TimeoutExpired:
            return f"no answer within {SECONDS} seconds"
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["it failed without a word"])[-1]
        return problem_with(json.loads(done.stdout.splitlines()[-1]))


def problem_with(got: dict[str, object]) -> str:
    """What is wrong with the tools that a client saw and the answer that it got."""
    names = [str(name) for name in got["names"]] if isinstance(got["names"], list) else []
    refused = [name for name in names if not ACCEPTED.fullmatch(name)]
    if len(names) < 20:
        return f"only {len(names)} tools were listed"
    if refused:
        return f"models refuse these names: {', '.join(refused)}"
    return "" if ANSWER in str(got["answer"]) else f"the answer is {str(got['answer'])[:200]!r}"


LIBRARIES = (
    # It imports a name of pydantic that later versions of pydantic do not have.
    Library("mcp 1.9", ("mcp==1.9.4", "pydantic<2.12"), "sdk_1.py"),
    Library("mcp 1.30", ("mcp>=1.30,<2",), "sdk_1.py"),
    Library("mcp 2", ("mcp>=2.3,<3",), "sdk_2.py"),
    Library("fastmcp", ("fastmcp",), "fastmcp_client.py"),
    Library("pydantic-ai", ("pydantic-ai-slim[mcp]",), "pydantic_ai_client.py"),
    Library("langchain-mcp-adapters", ("langchain-mcp-adapters",), "langchain_client.py"),
    Library("openai-agents", ("openai-agents",), "openai_agents_client.py"),
)
