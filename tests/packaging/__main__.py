"""`make packaging`: builds the wheel and the source archive, installs them without the packages of the encoder, with
the newest and with the lowest versions of everything they need, starts them by uvx, and tests each installation. It
needs the package index."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.packaging.built import Built, build
from tests.packaging.environment import COMMAND_VARIABLE, ENCODER, PYTHON_VARIABLE
from tests.packaging.lowest import dependencies, never_installed, pins
from tests.packaging.tools import PIP, PROJECT, WORDS_LOCK, WORK, fresh, run, tool

# One part for each library of which a version could fail: the protocol (mcp, starlette, uvicorn, anyio), documents
# (docutils), configuration (tomlkit), files (pathspec), words (pystemmer, regex), meaning (numpy, onnxruntime), caches.
WITH_OTHER_VERSIONS = (
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
    shutil.rmtree(WORK / "dist", ignore_errors=True)
    built = build(WORK / "dist")
    failed = 0
    for check in CHECKS:
        begin = time.monotonic()
        try:
            check(built)
            verdict = "passed"
        except (subprocess.CalledProcessError, AssertionError) as error:
            failed += 1
            verdict = f"FAILED: {error}"
        _say(f"{check.__name__.replace('_', ' ')}: {verdict} ({time.monotonic() - begin:.0f} s)")
    return 1 if failed else 0


def pip_installs_without_the_encoder(built: Built) -> None:
    """The two commands of docs/getting-started.md, with the wheel."""
    python = fresh("without-encoder", with_pip=True)
    run(python, *PIP, "install", "--require-hashes", "-r", WORDS_LOCK)
    run(python, *PIP, "install", "--no-deps", built.wheel)
    _test(Path(sys.executable), "tests/packaging/test_without_encoder.py", environ={PYTHON_VARIABLE: str(python)})


def uv_installs_without_the_encoder(built: Built) -> None:
    """The one command of docs/getting-started.md; that the packages are left out is all that may differ."""
    left_out, resolved = WORK / "without.txt", WORK / "without.lock"
    left_out.write_text("".join(f"{name}\n" for name in ENCODER), encoding="utf-8")
    run(tool("uv"), "pip", "compile", "--quiet", "--excludes", left_out, "pyproject.toml", "-o", resolved)
    names = pins(resolved).keys()
    assert "mcp" in names, "the dependencies were not resolved"
    assert not set(ENCODER) & names, "uv does not leave the packages out"


def uvx_serves(built: Built) -> None:
    """What a client's configuration says, with the wheel in the place of the index."""
    uvx = (str(tool("uv")), "tool", "run", "--quiet", "--from", str(built.wheel), "clew-mcp")
    run(Path(uvx[0]), *uvx[1:], "--version")
    _test(Path(sys.executable), "tests/packaging/test_serving.py", environ={COMMAND_VARIABLE: json.dumps(uvx)})


def newest_versions_work(built: Built) -> None:
    uv, python = tool("uv"), _environment("newest")
    run(uv, *_install(python), "--upgrade", f"{built.wheel}[lsp]", *_test_tools())
    _test(python, "-n", "2", "--dist", "loadfile", *WITH_OTHER_VERSIONS)


def lowest_versions_work(built: Built) -> None:
    uv, resolved = tool("uv"), WORK / "lowest.lock"
    lowest_first = ("--resolution", "lowest-direct", "--python-version", "3.11", "--extra", "lsp")
    run(uv, "pip", "compile", "--quiet", *lowest_first, "--upgrade", "pyproject.toml", "-o", resolved)
    wrong = never_installed(dependencies(PROJECT, "lsp"), resolved)
    assert not wrong, "; ".join(wrong)
    python = _environment("lowest")
    run(uv, *_install(python), "-r", resolved, *_test_tools())
    run(uv, *_install(python), "--no-deps", "--no-cache", built.sdist)
    _test(python, "-n", "2", "--dist", "loadfile", *WITH_OTHER_VERSIONS)


CHECKS: tuple[Callable[[Built], None], ...] = (
    pip_installs_without_the_encoder,
    uv_installs_without_the_encoder,
    uvx_serves,
    newest_versions_work,
    lowest_versions_work,
)


def _environment(name: str) -> Path:
    run(tool("uv"), "venv", "--quiet", "--clear", "--python", "3.11", WORK / name)
    return WORK / name / "bin" / "python"


def _install(python: Path) -> tuple[str | Path, ...]:
    return ("pip", "install", "--quiet", "--python", python)


def _test_tools() -> list[str]:
    tested = pins(PROJECT / "requirements-dev.lock")
    return [f"{name}=={tested[name][0]}" for name in ("pytest", "pytest-xdist", "hypothesis", "jsonschema")]


def _test(python: Path, *arguments: str, environ: dict[str, str] | None = None) -> None:
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    subprocess.run(command, cwd=PROJECT, env={**os.environ, **(environ or {})}, check=True)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
