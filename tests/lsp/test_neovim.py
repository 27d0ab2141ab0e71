"""A real editor, where one is installed: Neovim with the set-up of the page about editors."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("neovim.lua")
SECONDS = 300


# Verifies: REQ-d00522-A
# Verifies: REQ-d00522-B
# Verifies: REQ-d00522-C
# Verifies: REQ-d00522-D
# Verifies: REQ-d00522-E
@pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim")
def test_neovim_shows_follows_completes_and_mends(demo: Path, tmp_path: Path) -> None:
    page = (PROJECT / "docs" / "editors.md").read_text(encoding="utf-8")
    (setup,) = (block for block in re.findall(r"```lua\n(.*?)```", page, re.DOTALL) if "start_client" in block)
    (tmp_path / "init.lua").write_text(setup)
    programs = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["nvim", "--headless", "-u", str(tmp_path / "init.lua"), "-i", "NONE", "-S", str(SCRIPT)],
        cwd=demo,
        env={**os.environ, "PATH": programs, "HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    told: dict[str, Any] = {}
    for found in re.findall(r"\{\".*\}", done.stdout):
        told |= json.loads(found)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert set(told["findings"]) == {"trace.uncovered_assertion", "trace.broken_reference", "trace.stale_hash"}
    assert told["hover"].startswith("**REQ-d00002** The height between two turns")
    assert (told["definitions"], told["references"]) == (3, 9)
    assert told["completed"] == {"column": 15, "first": "REQ-d00001"}
    assert "96605ecf" in told["after"]
    assert told["left"] == 2
