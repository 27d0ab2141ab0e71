import ast
import json
import sys
from pathlib import Path

import pytest

from fairwater.cli import main

DEMO = Path(__file__).parent.parent
ASK = ["--table", str(DEMO / "data" / "saltmouth.csv"), "--date", "2026-06-02", "--bar-depth", "0.4"]


@pytest.mark.parametrize(("draught", "status"), [("1.8", 0), ("9", 1), ("-1", 2)])
# Verifies: REQ-d00008-A, REQ-o00004-B
def test_the_exit_status_tells_window_none_or_wrong_question(draught, status, capsys):
    assert main([*ASK, f"--draught={draught}"]) == status


# Verifies: REQ-d00008-B, REQ-o00002-B
def test_a_refused_table_leaves_nothing_on_standard_output(tmp_path, capsys):
    table = tmp_path / "broken.csv"
    table.write_text("2026-06-02T02:35,0.9,low\n2026-06-02T08:44,4.4,high\n2026-06-02T08:44,0.9,low\n")

    assert main(["--table", str(table), "--date", "2026-06-02", "--draught", "1.8"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("fairwater: broken.csv, line 3")


# Verifies: REQ-p00003-B
def test_words_and_json_answer_the_same_question(capsys):
    main([*ASK, "--draught", "1.8"])
    words = capsys.readouterr().out
    main([*ASK, "--draught", "1.8", "--json"])
    windows = json.loads(capsys.readouterr().out)["windows"]

    assert [window["begins"][11:16] in words for window in windows] == [True, True, True]


# Verifies: REQ-o00004-A, REQ-p00003-A
def test_nothing_is_imported_that_does_not_come_with_python():
    modules = set()
    for path in (DEMO / "src" / "fairwater").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                modules.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                modules.add((node.module or "").partition(".")[0])

    assert modules - {"fairwater"} <= sys.stdlib_module_names
    assert not modules & {"socket", "urllib", "http", "ssl", "smtplib", "ftplib"}
