"""Who may read the page and who may write: keys, cookies, forms, origins, tokens, a read-only server."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from tests import forked
from tests.web.serving import PATIENCE, TOKEN, Visitor, main_of, plain, served


def small(folder: Path) -> Path:
    (folder / "notes.md").write_text("# Notes\n\nNothing secret.\n")
    return folder


# Verifies: REQ-d00416-A
def test_a_key_lets_a_browser_in_once_and_becomes_a_strict_cookie(tmp_path: Path) -> None:
    with served(small(tmp_path)) as site:
        address = site.page.address(site.endpoint)
        with httpx2.Client() as first:
            entered = first.get(address)
            assert entered.status_code == 303
            assert entered.headers["location"] == "/"
            cookie = entered.headers["set-cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=strict" in cookie
            assert "key=" not in first.get(site.base).text
            assert "can edit" in first.get(site.base).text
        with httpx2.Client() as second:
            again = second.get(address)
            assert again.status_code == 403
            assert "used before" in plain(again.text)
            assert "read only" in second.get(site.base).text


# Verifies: REQ-d00416-A
def test_a_cookie_outlives_the_server_that_gave_it_and_no_forged_one_is_taken(tmp_path: Path) -> None:
    small(tmp_path)
    with served(tmp_path) as site:
        port = int(site.base.rpartition(":")[2])
        with site.visitor() as visitor:
            cookies = dict(visitor.http.cookies)
    ((name, genuine),) = cookies.items()
    nonce, until, signature = genuine.split(".")
    forged = [
        "", "x", f"{nonce}.{until}.", f"{nonce}.{int(until) + 1}.{signature}", f"{nonce}.1.{signature}",
        f"{'0' * 32}.{until}.{signature}", f"{nonce}.{until}.{'0' * 64}", f".{until}.{signature}", "..", "ä.1.1",
    ]  # fmt: skip
    with served(tmp_path, port=port) as site:
        assert "can edit" in httpx2.get(site.base, cookies={name: genuine}).text
        for value in forged:
            answer = httpx2.get(site.base, headers={"Cookie": f"{name}={value}".encode()})
            assert answer.status_code == 200
            assert "can edit" not in answer.text, value


# Verifies: REQ-d00416-A
def test_the_token_itself_lets_in_and_a_wrong_one_does_not(tmp_path: Path) -> None:
    with served(small(tmp_path)) as site, site.visitor(enters=False) as visitor:
        headers = {"Origin": site.base}
        assert visitor.http.post("/enter", data={"token": "guess"}, headers=headers).status_code == 403
        assert "can edit" not in visitor.get("/")
        visitor.http.post("/enter", data={"token": TOKEN}, headers=headers)
        assert "can edit" in visitor.get("/")


# Verifies: REQ-d00416-C
def test_where_reading_needs_a_token_nothing_is_shown_before(tmp_path: Path) -> None:
    with served(small(tmp_path), token=TOKEN) as site:
        with site.visitor(enters=False) as stranger:
            for address in ("/", "/documents", "/documents/notes.md", "/search?q=secret", "/nowhere"):
                text = stranger.get(address, 401)
                assert "secret" not in text
                assert tmp_path.name not in text
            assert stranger.http.get("/live").status_code == 401
            for path in ("/mcp", "/mcp%0A", "/healthz", "/sse"):
                assert stranger.http.post(path, json={}).status_code == 401, path
        with site.visitor() as visitor:
            assert "Nothing secret" in visitor.get("/documents/notes.md")
            # The cookie is no bearer token.
            assert visitor.http.post("/mcp", json={}).status_code == 401


# Verifies: REQ-d00416-B
def test_another_host_or_origin_gets_nothing(tmp_path: Path) -> None:
    with served(small(tmp_path)) as site, site.visitor() as visitor:
        assert visitor.http.get("/", headers={"Host": "evil.example"}).status_code == 421
        others = ("https://evil.example", "http://127.0.0.1:1", "http://localhost:3000", "null")
        for address in ("/", "/live", "/static/page.js", "/documents/notes.md"):
            for other in others:
                answer = visitor.http.get(address, headers={"Origin": other})
                assert answer.status_code == 403, (address, other)
                assert "access-control-allow-origin" not in answer.headers
        # Clients that run in a browser on this machine still reach the endpoint for agents.
        assert visitor.http.get("/healthz", headers={"Origin": "http://localhost:3000"}).status_code == 200
        answer = visitor.http.get("/", headers={"Origin": site.base})
        assert answer.status_code == 200
        assert "access-control-allow-credentials" not in answer.headers


# Verifies: REQ-d00417-B
def test_every_answer_forbids_inline_scripts_other_origins_and_frames(visitor: Visitor) -> None:
    for address in ("/", "/r/REQ-d00001", "/nowhere", "/enter", "/static/page.css", "/go?to=REQ-d00001"):
        headers = visitor.http.get(address, follow_redirects=False).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';"), address
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"


# Verifies: REQ-d00416-B, REQ-d00417-A
def test_no_page_has_an_inline_script_style_or_handler(visitor: Visitor) -> None:
    for address in ("/", "/requirements", "/r/REQ-d00006", "/changes/add-neap-warning", "/sources", "/activity"):
        html = visitor.get(address)
        assert re.findall(r"<script(?! type=\"module\" src=\"/static/)", html) == []
        assert re.findall(r"<style|\sstyle=|\son\w+=", html) == []


# Verifies: REQ-d00415-D
@pytest.mark.parametrize("command", ["web", "serve"])
def test_both_commands_serve_the_page_beside_the_endpoint(tmp_path: Path, command: str) -> None:
    small(tmp_path)
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}"\n')
    browser.chmod(0o755)
    options = ["--open"] if command == "web" else ["--transport", "http"]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "home"), "BROWSER": f"{browser} %s"}
    environment.pop("CLEW_TOKEN", None)
    started = [sys.executable, "-m", "clew", command, str(tmp_path), "--port", "0", *options]
    with forked.Process(started, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline() for _ in range(4)]
            address = next(line.split()[-1] for line in lines if "In a browser" in line)
            endpoint = next(line.split()[-1] for line in lines if line.startswith("Serving"))
            with httpx2.Client(timeout=PATIENCE, follow_redirects=True) as http:
                page = http.get(address)
                assert "can edit" in page.text
                assert f"claude mcp add --transport http clew {endpoint}" in plain(page.text)
                assert http.get(endpoint.replace("/mcp", "/healthz")).json()["ok"] is True
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
        assert process.returncode == 0
    if command == "web":
        assert opened.read_text().strip() == address


# Verifies: REQ-d00416-C
def test_private_notes_are_shown_to_who_was_let_in_only(tmp_path: Path) -> None:
    from clew.memory.operations.commands import Remember
    from clew.operation.call import Call, perform

    small(tmp_path)
    with served(tmp_path) as site:
        note = Remember(content="My own plan is to leave in May.", private=True)
        perform(note, Call(site.project, (), surface="cli"))
        with site.visitor(enters=False) as stranger, site.visitor() as owner:
            assert "leave in May" not in main_of(stranger.get("/memory"))
            assert "leave in May" in main_of(owner.get("/memory"))
