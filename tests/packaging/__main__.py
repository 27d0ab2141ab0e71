"""`make packaging`: installs Clew without the packages of its encoder, and with the lowest versions of everything it
needs, and tests both installations. It needs the package index."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.packaging.environment import ENCODER, PYTHON_VARIABLE
from tests.packaging.lowest import dependencies, never_installed, pins
from tests.packaging.tools import PIP, PROJECT, WORDS_LOCK, WORK, fresh, run, tool

# One part for each library whose lowest version could fail: the protocol (mcp, starlette, uvicorn, anyio), documents
# (docutils), configuration (tomlkit), files (pathspec), words (pystemmer, regex), meaning (numpy, onnxruntime), caches.
WITH_LOWEST_VERSIONS = (
    "tests/contract/test_000_elspais_queries.py",
    "tests/contract/test_002_kb_search.py",
    "tests/contract/test_003_spox.py",
    "tests/contract/test_004_register.py",
    "tests/store/test_contract_records.py",
    "tests/store/test_contract_transactions.py",
    "tests/formats/documents",
    "tests/init/test_clients_toml.py",
    "tests/workspace",
    "tests/search/test_embed_local.py",
    "tests/search/test_embed_minilm.py",
    "tests/search/test_vectors.py",
    "tests/search/test_words.py",
    "tests/surfaces/test_http.py",
    "tests/surfaces/test_mcp.py",
    "tests/surfaces/test_stdio.py",
    "tests/test_cache.py",
    "tests/test_config.py",
)


def main() -> int:
    checks: tuple[Callable[[], None], ...] = (
        pip_installs_without_the_encoder,
        uv_installs_without_the_encoder,
        lowest_versions_work,
    )
    failed = 0
    for check in checks:
        begin = time.monotonic()
        try:
            check()
            verdict = "passed"
        except (subprocess.CalledProcessError, AssertionError) as error:
            failed += 1
            verdict = f"FAILED: {error}"
        _say(f"{check.__name__.replace('_', ' ')}: {verdict} ({time.monotonic() - begin:.0f} s)")
    return 1 if failed else 0


def pip_installs_without_the_encoder() -> None:
    """The two commands of docs/getting-started.md."""
    python = fresh("without-encoder", with_pip=True)
    run(python, *PIP, "install", "--require-hashes", "-r", WORDS_LOCK)
    run(python, *PIP, "install", "--no-deps", PROJECT)
    _test(Path(sys.executable), "tests/packaging/test_without_encoder.py", environ={PYTHON_VARIABLE: str(python)})


def uv_installs_without_the_encoder() -> None:
    """The one command of docs/getting-started.md; that the packages are left out is all that may differ."""
    left_out, resolved = WORK / "without.txt", WORK / "without.lock"
    left_out.write_text("".join(f"{name}\n" for name in ENCODER), encoding="utf-8")
    run(tool("uv"), "pip", "compile", "--quiet", "--excludes", left_out, "pyproject.toml", "-o", resolved)
    names = pins(resolved).keys()
    assert "mcp" in names, "the dependencies were not resolved"
    assert not set(ENCODER) & names, "uv does not leave the packages out"


def lowest_versions_work() -> None:
    uv, resolved = tool("uv"), WORK / "lowest.lock"
    lowest_first = ("--resolution", "lowest-direct", "--python-version", "3.11")
    run(uv, "pip", "compile", "--quiet", *lowest_first, "--upgrade", "pyproject.toml", "-o", resolved)
    wrong = never_installed(dependencies(PROJECT), resolved)
    assert not wrong, "; ".join(wrong)
    python = WORK / "lowest" / "bin" / "python"
    run(uv, "venv", "--quiet", "--clear", "--python", "3.11", WORK / "lowest")
    install = ("pip", "install", "--quiet", "--python", python)
    tested = pins(PROJECT / "requirements-dev.lock")
    tools = [f"{name}=={tested[name][0]}" for name in ("pytest", "pytest-xdist", "hypothesis")]
    run(uv, *install, "-r", resolved, *tools)
    run(uv, *install, "--no-deps", "--no-cache", PROJECT)
    _test(python, "-n", "2", "--dist", "loadfile", *WITH_LOWEST_VERSIONS)


def _test(python: Path, *arguments: str, environ: dict[str, str] | None = None) -> None:
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    subprocess.run(command, cwd=PROJECT, env={**os.environ, **(environ or {})}, check=True)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
