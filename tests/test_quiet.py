"""Packages that would report to their makers."""

import json
import os
import subprocess
import sys
from pathlib import Path

ENCODING = """if True:
    import json, os, subprocess, sys
    from clew.config import EmbedSettings
    from clew.search.embed.opening import open_embedder
    open_embedder(EmbedSettings()).embed(["text"])
    child = "import os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    child = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True)
    print(json.dumps([os.environ["ORT_DISABLE_TELEMETRY"], child.stdout.strip()]))
"""


# Verifies: REQ-d00610-A
def test_the_encoder_reports_nothing_although_the_environment_asks_for_it(tmp_path: Path) -> None:
    # The package is silent by itself where these say that somebody tests.
    silencing = {"CI", "TF_BUILD", "GITHUB_ACTIONS", "ORT_RUNNING_UNIT_TESTS"}
    kept = {name: value for name, value in os.environ.items() if name not in silencing and "XDG_" not in name}
    folders = {name: str(tmp_path) for name in ("HOME", "TMPDIR")}
    done = subprocess.run(
        [sys.executable, "-c", ENCODING],
        cwd=tmp_path,
        env={**kept, **folders, "ORT_DISABLE_TELEMETRY": "0", "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert json.loads(done.stdout) == ["1", "1"]
    assert list(tmp_path.iterdir()) == []
