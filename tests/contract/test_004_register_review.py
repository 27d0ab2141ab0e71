"""The source of req: the tools that look at code, tests and git."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.register.served import GOOD, Served, make_project


@pytest.fixture(params=["project.req", "docs/spec/project.req"], ids=["at the root", "in a folder"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    """A committed project with two requirements, of which a file of code mentions the first."""
    made = make_project(tmp_path / "project", place=request.param)
    made.add()
    made.add(title="Tell the owner")
    made.write("src/lock.rs", "// REQ-0001: the lock\nfn lock() {}\n")
    made.commit("begin")
    yield made
    made.close()


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Served]:
    made = make_project(tmp_path / "plain", git=False)
    made.add()
    yield made
    made.close()


# Verifies: REQ-d00089-D
def test_req_coverage_maps_ids_to_files_and_back(served: Served) -> None:
    served.write("src/more.py", "x = 1  # REQ-0001\ny = 2  # REQ-0001 and REQ-10000, REQ-0009\n")
    served.write("src/none.py", "z = 3\n")
    served.write("tests/test_it.py", "# REQ-0002\n")
    served.write("ignored/copy.py", "# REQ-0002\n")
    found = served.call("req_coverage")
    assert found["mode"] == "default"
    assert found["referenced"] == {"REQ-0001": ["src/lock.rs", "src/more.py"], "REQ-0002": ["tests/test_it.py"]}
    assert found["ghosts"] == {"REQ-0009": ["src/more.py"], "REQ-10000": ["src/more.py"]}
    assert (found["orphans"], found["obsolete_referenced"], found["test_only"]) == ([], {}, ["REQ-0002"])
    assert served.call("req_coverage", lines=True)["referenced"]["REQ-0001"] == [
        *("src/lock.rs:1", "src/more.py:1", "src/more.py:2"),
    ]
    served.call("req_delete", id="2", reason="gone")
    served.add()
    again = served.call("req_coverage")
    assert again["obsolete_referenced"] == {"REQ-0002": ["tests/test_it.py"]}
    assert again["orphans"] == again["drafts_unmarked"] == ["REQ-0003"]

    unlinked = served.call("req_coverage", unlinked_files=True, path="src")
    assert (unlinked["mode"], unlinked["scanned"], unlinked["unlinked"]) == ("unlinked_files", 3, ["src/none.py"])
    by_file = served.call("req_coverage", by_file=True, extensions=["rs"])
    assert (by_file["mode"], by_file["files"]) == ("by_file", [{"file": "src/lock.rs", "req_ids": ["REQ-0001"]}])
    assert served.error("req_coverage", path="../..")["code"] == "REQ-E-INVALID-INPUT"


# Verifies: REQ-d00089-D
def test_req_check_and_diff_look_at_what_changed(served: Served) -> None:
    served.call("req_update", id="1", reason="clearer", title="Lock accounts.", add_tag=["x"])
    served.add(title="A third one")
    served.write("src/new.rs", "// REQ-0001 REQ-0077\n")
    found = served.call("req_check", base="HEAD")
    assert {
        "ok",
        "base",
        "path",
        "changed_requirements",
        "errors",
        "warnings",
        "findings",
        "changed_files",
    } <= found.keys()
    assert (found["ok"], found["base"], found["path"]) == (True, "HEAD", ".")
    assert found["changed_requirements"] == ["REQ-0001", "REQ-0003"]
    assert found["findings"][0]["req_id"] == "REQ-0001"
    assert found["findings"][0]["severity"] == "warning"
    assert found["changed_files"] == ["src/new.rs"]
    assert found["coverage"] == [
        {"file": "src/new.rs", "req_ids": ["REQ-0001", "REQ-0077"], "unknown_ids": ["REQ-0077"], "has_markers": True}
    ]
    served.commit("more")

    diff = served.call("req_diff", spec="HEAD~1..HEAD")
    assert (diff["spec"], diff["added"], diff["removed"], diff["empty"]) == ("HEAD~1..HEAD", ["REQ-0003"], [], False)
    assert diff["changed"] == [
        {"id": "REQ-0001", "transitions": ["title changed", "tags: none -> x"], "reason": "clearer"}
    ]
    assert served.call("req_diff", spec="HEAD~1")["added"] == ["REQ-0003"]
    assert served.call("req_diff", spec="HEAD..")["empty"]


# Verifies: REQ-d00089-E
@pytest.mark.parametrize("name", ["nowhere", "--output=x", "$(touch x)", "a;b", "", "REQ-0001", "HEAD~99", "a\0b"])
def test_what_is_no_revision_is_refused(served: Served, name: str) -> None:
    for tool, arguments in (
        ("req_check", {"base": name}),
        ("req_diff", {"spec": name}),
        ("req_review", {"base": name, "gate": True}),
    ):
        assert served.error(tool, **arguments)["code"] == "REQ-E-INVALID-INPUT", tool
    assert not (served.root / "x").exists()


# Verifies: REQ-d00089-E
def test_outside_of_git_every_tool_says_so(plain: Served) -> None:
    for tool, arguments in (
        ("req_check", {"base": "main"}),
        ("req_diff", {"spec": "main"}),
        ("req_audit", {}),
        ("req_review", {}),
        ("req_test_record", {"id": "1", "result": "pass"}),
    ):
        assert plain.error(tool, **arguments)["code"] == "REQ-E-INVALID-INPUT", tool
    assert plain.call("req_verify", id="1", by="inspection", notes="read")["commit"] == "(no git)"
    assert plain.call("req_stale")["summary"]["unknown"] == 1
    assert plain.call("req_brief")["last_spec_change"] is None
    assert not plain.call("req_doctor")["ok"]


# Verifies: REQ-d00089-D
def test_req_test_record_and_stale_follow_the_content_of_files(served: Served) -> None:
    recorded = served.call("req_test_record", id="1", result="pass", notes="by hand")
    head = served.git("rev-parse", "HEAD")
    assert recorded == {"commit": head, "id": "REQ-0001", "outcome": "pass"}
    record = served.call("req_show", id="1")["tests"][0]
    assert (record["kind"], record["linked_files"]) == ("Automated", ["./src/lock.rs"])

    found = served.call("req_stale")
    assert found["summary"] == {"fresh": 1, "drifted": 0, "stale": 0, "no_records": 1, "unknown": 0}
    assert found["rows"][0] == {"id": "REQ-0001", "state": "fresh", "record_commit": head[:9], "changed_files": []}
    assert found["rows"][1]["state"] == "no-records"
    served.write("README.md", "REQ-0001 is nice\n")
    served.commit("prose")
    assert served.call("req_stale")["summary"]["fresh"] == 1

    served.write("src/lock.rs", "// REQ-0001: the lock\nfn lock() { panic!() }\n")
    stale = served.call("req_stale", only_stale=True)
    assert stale["summary"]["stale"] == 1
    assert stale["rows"] == [
        {"id": "REQ-0001", "state": "STALE", "record_commit": head[:9], "changed_files": ["src/lock.rs"]}
    ]
    assert served.error("req_test_record", id="9", result="pass")["code"] == "REQ-E-NOT-FOUND"
    assert served.error("req_test_record", id="1", result="maybe")["code"] == "REQ-E-INVALID-INPUT"


CARGO = """
running 3 tests
test locking::req_0001_locks_after_five ... ok
test req_0001_refuses ... ignored
test req_0002_tells ... FAILED
test other ... ok
"""
PYTEST = "tests/test_a.py::test_req_0001_locks PASSED [ 50%]\ntests/test_a.py::test_req_0002_tells SKIPPED [100%]\n"
JUNIT = """<testsuite name="s"><testcase classname="t" name="test_req_0001_locks"/>
<testcase classname="t" name="test_req_0002_tells"><failure message="no"/></testcase></testsuite>"""
JSON = json.dumps({"tests": [{"nodeid": "tests/test_a.py::test_req_0001_locks", "outcome": "passed"}]})


# Verifies: REQ-d00089-D, REQ-d00086-A
@pytest.mark.parametrize(
    ("log", "outcomes"),
    [
        (CARGO, {"REQ-0001": "pass", "REQ-0002": "fail"}),
        (PYTEST, {"REQ-0001": "pass", "REQ-0002": "none"}),
        (JUNIT, {"REQ-0001": "pass", "REQ-0002": "fail"}),
        (JSON, {"REQ-0001": "pass"}),
    ],
    ids=["cargo", "pytest", "junit", "json"],
)
def test_req_test_run_reads_logs_and_promotes(served: Served, log: str, outcomes: dict[str, str]) -> None:
    served.move("1", "approved", "implemented")
    served.write("log.txt", log)
    dry = served.call("req_test_run", from_file="log.txt", dry_run=True, promote=True)
    assert (dry["dry_run"], dry["promoted"]) == (True, [])
    assert served.call("req_show", id="1")["tests"] == []
    done = served.call("req_test_run", from_file="log.txt", promote=True)
    assert {row["req_id"]: row["outcome"] for row in done["results"]} == outcomes
    assert {"ok", "matched_requirements", "promoted", "results"} <= done.keys()
    assert {"req_id", "exists", "outcome", "passed", "failed", "ignored"} == done["results"][0].keys()
    assert done["promoted"] == ["REQ-0001"]
    assert served.call("req_show", id="1")["status"] == "Verified"
    assert len(served.call("req_show", id="2")["tests"]) == (outcomes.get("REQ-0002") == "fail")


# Verifies: REQ-d00089-D
def test_a_log_without_ids_matches_nothing(served: Served) -> None:
    served.write("log.txt", "test other ... ok\n")
    assert served.call("req_test_run", from_file="log.txt")["matched"] == 0
    assert served.error("req_test_run", from_file="none.txt")["code"] == "REQ-E-NOT-FOUND"
    assert served.error("req_test_run", from_file="../../etc/passwd")["code"] == "REQ-E-INVALID-INPUT"


# Verifies: REQ-d00089-B
def test_req_verify_records_and_promotes(served: Served) -> None:
    refused = served.error("req_verify", id="1", by="inspection", notes="read it", promote=True)
    assert refused["code"] == "REQ-E-REFUSED"
    assert served.call("req_show", id="1")["tests"] == []
    served.move("1", "approved", "implemented")
    done = served.call("req_verify", id="1", by="composition", notes="read it", cites=["REQ-0002"], promote=True)
    assert done == {
        "commit": served.git("rev-parse", "HEAD"),
        "id": "REQ-0001",
        "kind": "composition",
        "promoted": True,
    }
    assert served.error("req_verify", id="1", by="guessing", notes="x")["code"] == "REQ-E-INVALID-INPUT"


# Verifies: REQ-d00089-D
def test_req_audit_reports_commits_and_violations(served: Served) -> None:
    served.add()
    served.commit("a third; with | signs")
    found = served.call("req_audit")
    assert (found["ok"], len(found["entries"])) == (True, 2)
    assert found["entries"][0].keys() == {"commit", "date", "author", "signature_status", "signer", "subject"}
    assert (found["entries"][0]["author"], found["entries"][0]["signature_status"]) == ("Ann", "no-signature")
    assert len(served.call("req_audit", limit=1)["entries"]) == 1
    gated = served.call("req_audit", gate=True, require_good_signature=True, required_signers=["ann"])
    assert not gated["ok"]
    assert gated["violations"][0]["why"] == [
        "signature status 'no-signature' is not 'good'",
        "signer '' not in required list",
    ]


# Verifies: REQ-d00089-D
def test_a_signed_commit_is_recognised(served: Served, tmp_path: Path) -> None:
    key = tmp_path / "key"
    made = subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], capture_output=True)
    if made.returncode != 0:
        pytest.skip("ssh-keygen cannot make a key here")
    (tmp_path / "signers").write_text(f"ann@example.org {(tmp_path / 'key.pub').read_text()}")
    for name, value in (
        ("gpg.format", "ssh"),
        ("user.signingkey", str(key)),
        ("gpg.ssh.allowedSignersFile", str(tmp_path / "signers")),
        ("commit.gpgsign", "true"),
    ):
        served.git("config", name, value)
    served.add()
    served.commit("signed")
    found = served.call("req_audit", gate=True, require_good_signature=True, required_signers=["ANN@example"])
    assert found["entries"][0]["signature_status"] == "good"
    assert [each["commit"] for each in found["violations"]] == [found["entries"][1]["commit"]]


# Verifies: REQ-d00089-D
def test_req_review_returns_the_whole_report_even_when_the_gate_fails(served: Served) -> None:
    served.git("checkout", "-q", "-b", "work")
    served.add(title="A third one.")
    served.write("src/bare.rs", "fn bare() {}\n")
    served.write("src/string.rs", 'fn f() { g("REQ-0001") }\n')
    served.write("src/ghost.rs", "// REQ-0099\n// REQ-NONE: generated by hand\n")
    served.write("src/silent.rs", "// REQ-NONE\n")
    served.write("src/good.rs", "/* REQ-0002, REQ-0001 */\n")
    served.write("tests/it.rs", "fn t() {}\n")
    served.commit("work")
    found = served.call("req_review", base="main", gate=True)
    assert found.keys() >= {
        *("base", "added", "removed", "changed", "validate", "coverage", "stale", "defects", "audit", "ok", "failures"),
    }
    assert (found["ok"], found["base"], found["added"]) == (False, "main", ["REQ-0003"])
    coverage = found["coverage"]
    assert coverage["markerless_changed_source"] == ["src/bare.rs", "src/string.rs"]
    assert coverage["ghosts"] == ["REQ-0099 (in src/ghost.rs)"]
    assert coverage["opt_outs"] == [{"file": "src/ghost.rs", "reason": "generated by hand"}]
    assert coverage["optout_missing_reason"] == ["src/silent.rs"]
    assert coverage["referenced"] == ["REQ-0001", "REQ-0002"]
    assert found["audit"]["commits_in_range"] == 1
    assert len(found["failures"]) == 3
    assert [row["id"] for row in found["validate"]["findings"]][-1] == "REQ-0003"
    new = served.call("req_review", base="main", new=True)
    assert {row["id"] for row in new["validate"]["findings"]} == {"REQ-0003"}
    text = served.text("req_review", base="main", json=False)
    assert text.startswith("# Requirements since main")
    assert "src/bare.rs" in text


# Verifies: REQ-d00089-D
def test_a_staged_review_reads_what_is_staged(served: Served) -> None:
    served.write("src/bare.rs", "fn bare() {}\n")
    served.git("add", "src/bare.rs")
    served.write("src/bare.rs", "// REQ-0001\nfn bare() {}\n")
    served.write("src/other.rs", "fn other() {}\n")
    found = served.call("req_review", staged=True, gate=True)
    assert found["coverage"]["markerless_changed_source"] == ["src/bare.rs"]
    assert found["validate"]["findings"] == []
    served.git("add", "src/bare.rs")
    assert served.call("req_review", staged=True)["ok"]
    assert len(served.call("req_review", staged=True, all=True)["validate"]["findings"]) > 0


# Verifies: REQ-d00089-D
def test_a_review_falls_back_to_main_and_a_gate_never_opens_for_want_of_a_base(served: Served) -> None:
    assert served.call("req_review")["ok"]
    served.git("branch", "-m", "main", "trunk")
    assert served.call("req_review")["ok"]
    assert served.error("req_review", gate=True)["code"] == "REQ-E-INVALID-INPUT"
    served.git("checkout", "-q", "--detach")
    assert served.call("req_review", base="trunk")["ok"]


# Verifies: REQ-d00089-D
def test_worktrees_and_shallow_clones_work_like_any_other(served: Served, tmp_path: Path) -> None:
    served.add(title="Only here")
    served.commit("second")
    served.git("worktree", "add", "-q", str(tmp_path / "tree"), "HEAD")
    subprocess.run(["git", "clone", "-q", "--depth", "1", served.root.as_uri(), str(tmp_path / "shallow")], check=True)
    for place in ("tree", "shallow"):
        other = Served(tmp_path / place)
        try:
            assert other.call("req_list")["count"] == 3
            assert other.call("req_audit")["entries"]
            assert other.call("req_stale")["summary"]["no_records"] == 3
        finally:
            other.close()
    shallow = Served(tmp_path / "shallow")
    try:
        assert "--unshallow" in shallow.error("req_diff", spec="HEAD~1")["hint"]
    finally:
        shallow.close()


# Verifies: REQ-d00089-D
def test_req_lint_finds_what_the_rules_let_pass(served: Served) -> None:
    served.move("2", "approved", "implemented")
    served.call("req_test_record", id="1", result="fail")
    found = served.call("req_lint")
    assert found.keys() >= {"project", "total", "by_status", "validator", "quality"}
    quality = found["quality"]
    assert quality["markerless_active"] == quality["no_test_record"] == ["REQ-0002"]
    assert quality["short_rationale"] == [{"id": "REQ-0001", "words": 5}, {"id": "REQ-0002", "words": 5}]
    assert quality["single_acceptance_functional"] == ["REQ-0001", "REQ-0002"]
    assert quality["verification_kinds"] == {"automated": 1, "composition": 0, "inspection": 0}
    assert served.text("req_lint", json=False).startswith("# Quality of demo")


# Verifies: REQ-d00089-D
def test_req_doctor_names_what_is_missing(served: Served) -> None:
    found = served.call("req_doctor")
    assert found.keys() >= {"ok", "failed", "advisory_failed", "checks"}
    assert (found["ok"], found["failed"], found["advisory_failed"]) == (False, 4, 3)
    served.write(".gitattributes", "*.req merge=req-merge\n*.req -text eol=lf\n")
    served.git("config", "merge.req-merge.driver", "req renumber --base %O || true")
    served.write(".git/hooks/pre-commit", "#!/bin/sh\n# managed-by: req-hooks\n# mode: strict\nreq validate\n")
    (served.root / ".git/hooks/pre-commit").chmod(0o755)
    checks = {check["name"]: check for check in served.call("req_doctor")["checks"]}
    assert {name for name, check in checks.items() if not check["ok"]} == {
        *("merge driver", "commit signing"),
        *("post-commit hook", "commit-msg hook"),
    }
    assert "loses the other" in checks["merge driver"]["detail"]
    assert served.call("req_brief")["hook_mode"] == "strict"


# Verifies: REQ-d00086-C
def test_evidence_of_what_was_never_committed_does_not_outlive_it(served: Served) -> None:
    served.write("src/lock.rs", "// REQ-0001\nfn lock() {}\n")
    served.commit("begin")
    served.write("src/lock.rs", "// REQ-0001\nfn lock() { tried() }\n")
    served.call("req_test_record", id="1", result="pass")
    assert served.call("req_stale")["summary"]["fresh"] == 1
    served.git("checkout", "-q", "--", "src/lock.rs")
    assert served.call("req_stale", only_stale=True)["rows"][0]["changed_files"] == ["src/lock.rs"]


# Verifies: REQ-d00089-D
def test_a_detached_head_is_a_commit_like_any_other(served: Served) -> None:
    served.git("checkout", "-q", "--detach")
    assert served.call("req_test_record", id="1", result="pass")["commit"] == served.git("rev-parse", "HEAD")
    served.write("src/lock.rs", "// REQ-0001\nfn locked() {}\n")
    served.commit("detached")
    assert served.call("req_check", base="main")["changed_files"] == ["src/lock.rs"]
    assert served.call("req_review", base="main", gate=True)["coverage"]["referenced"] == ["REQ-0001"]
    assert served.call("req_stale")["summary"]["stale"] == 1


# Verifies: REQ-d00089-C
def test_coverage_of_a_large_project_comes_in_pages_that_miss_nothing(served: Served) -> None:
    mutations = [{**GOOD, "kind": "add", "title": f"Requirement number {number}"} for number in range(3, 503)]
    served.call("req_batch", mutations=mutations)
    for number in range(3, 403):
        served.write(f"src/part_{number}.py", f"# REQ-{number:04}\n# REQ-{number + 5000}\n")
    found: dict[str, dict[str, object]] = {"referenced": {}, "ghosts": {}}
    orphans: list[str] = []
    cursor = None
    while True:
        page = served.call("req_coverage", **({"cursor": cursor} if cursor else {}))
        assert page["totals"]["referenced"] == 401
        orphans += page["orphans"]
        for name, group in found.items():
            group.update(page[name])
        cursor = page["next_cursor"]
        if cursor is None:
            break
        assert page["truncated"]
    assert (len(found["referenced"]), len(found["ghosts"]), len(orphans)) == (401, 400, 101)
    small = served.call("req_coverage", unlinked_files=True, limit=1)
    assert (small["scanned"], len(small["unlinked"])) == (401, 0)


# Verifies: REQ-d00089-C
def test_a_review_too_large_for_one_answer_is_cut_and_says_so(served: Served) -> None:
    mutations = [{**GOOD, "kind": "add", "title": f"Requirement number {number}"} for number in range(3, 803)]
    served.call("req_batch", mutations=mutations)
    for number in range(400):
        served.write(f"src/part_{number}.py", "x = 1\n")
    found = served.call("req_review", base="HEAD", gate=True)
    assert found["truncated"]
    assert "400 changed source files without a marker" in found["failures"]
    assert served.call("req_lint")["truncated"]
    assert served.call("req_review", base="HEAD", json=False)["truncated"]
