"""Secrets in every field of a memory. None of them is real: each is put together when the test runs."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.memory_client import WHY, Memory, remembering, write_project

from clew.memory.texts.scrub import scrub

WORD = "q7Zk2Vx9Lm4Tn8Bw3Rc6Yd1Hf5Js0Gp"
HEX = "3f9a1c7e5b2d8064" * 4
LONG = (WORD * 4)[:90]


def _pem(name: str) -> str:
    return f"-----BEGIN {name}-----\n{WORD}\n{LONG}\n-----END {name}-----"


SECRETS: dict[str, str] = {
    "private_key": _pem("RSA PRIVATE KEY"),
    "private_key openssh": _pem("OPENSSH PRIVATE KEY"),
    "private_key escaped": _pem("PRIVATE KEY").replace("\n", "\\n"),
    "pgp_private_key": _pem("PGP PRIVATE KEY BLOCK"),
    "putty_private_key": f"PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 1\n{LONG}\nPrivate-MAC: {HEX[:40]}",
    "age_secret_key": "AGE-SECRET-" + f"KEY-1{WORD.upper()}",
    "aws_access_key": "AK" + "IA" + "Q7ZK2VX9LM4TN8BW",
    "aws_secret_key": f"aws_secret_access_key = {WORD}/{WORD[:8]}",
    "alibaba_access_key": "LT" + f"AI{WORD[:20]}",
    "google_api_key": "AI" + f"za{(WORD * 2)[:35]}",
    "google_oauth_secret": "GOC" + f"SPX-{WORD[:28]}",
    "google_oauth_token": "ya" + f"29.{LONG}",
    "azure_client_secret": f"abc8Q~{(WORD * 2)[:34]}",
    "azure_storage_key": f"AccountName=harbour;AccountKey={LONG[:86]}==",
    "azure_signature": f"https://harbour.example/blob?sv=2024&sig={LONG[:43]}%3D",
    "digitalocean_token": "do" + f"p_v1_{HEX}",
    "github_token": "gh" + f"p_{(WORD * 2)[:36]}",
    "github_token fine": "github" + f"_pat_{(WORD * 3)[:82]}",
    "gitlab_token": "gl" + f"pat-{WORD[:20]}",
    "slack_token": "xo" + f"xb-123456789012-{WORD[:24]}",
    "slack_webhook": f"https://hooks.slack.com/services/T00000000/B00000000/{WORD[:24]}",
    "discord_webhook": f"https://discord.com/api/webhooks/123456789012345678/{LONG[:68]}",
    "discord_token": f"M{WORD[:23]}.{WORD[:6]}.{WORD[:27]}",
    "telegram_token": f"123456789:AA{(WORD * 2)[:33]}",
    "stripe_key": "sk" + f"_live_{WORD[:24]}",
    "stripe_key webhook": "wh" + f"sec_{WORD}",
    "square_token": "sq" + f"0atp-{WORD[:22]}",
    "shopify_token": "shp" + f"at_{HEX[:32]}",
    "anthropic_key": "sk-" + f"ant-api03-{LONG}",
    "api_key": "sk-" + f"proj-{LONG[:48]}",
    "huggingface_token": "h" + f"f_{(WORD * 2)[:34]}",
    "npm_token": "np" + f"m_{(WORD * 2)[:36]}",
    "pypi_token": "pypi-" + f"AgEIcHlwaS5vcmc{LONG}",
    "rubygems_token": "rubygems" + f"_{HEX[:48]}",
    "docker_token": "dckr" + f"_pat_{WORD[:27]}",
    "sendgrid_key": "S" + f"G.{WORD[:22]}.{(WORD * 2)[:43]}",
    "mailgun_key": "key" + f"-{HEX[:32]}",
    "mailchimp_key": f"{HEX[:32]}-us" + "12",
    "twilio_key": "S" + f"K{HEX[:32]}",
    "databricks_token": "da" + f"pi{HEX[:32]}",
    "vault_token": "hv" + f"s.{WORD[:24]}",
    "terraform_token": f"{WORD[:14]}.atlas" + f"v1.{LONG[:60]}",
    "pulumi_token": "pu" + f"l-{HEX[:40]}",
    "doppler_token": "dp.p" + f"t.{(WORD * 2)[:43]}",
    "grafana_token": "gl" + f"sa_{WORD}_{HEX[:8]}",
    "new_relic_key": "NR" + f"AK-{WORD[:27].upper()}",
    "sentry_token": "sn" + f"trys_{LONG}",
    "linear_key": "lin" + f"_api_{(WORD * 2)[:40]}",
    "notion_token": "nt" + f"n_{(WORD * 2)[:46]}",
    "airtable_token": "pa" + f"t{WORD[:14]}.{HEX}",
    "atlassian_token": "AT" + f"ATT3xFfGF0{LONG}",
    "figma_token": "fi" + f"gd_{(WORD * 2)[:40]}",
    "postman_key": "PM" + f"AK-{HEX[:24]}-{HEX[:34]}",
    "supabase_token": "sb" + f"p_{HEX[:40]}",
    "tailscale_key": "ts" + f"key-auth-{WORD[:17]}",
    "heroku_key": "HR" + f"KU-{(WORD * 2)[:36]}",
    "jwt": f"eyJ{WORD}.eyJ{LONG}.{WORD}",
    "bearer_token": f"Authorization: Bearer {LONG[:40]}",
    "basic_authorization": "Authorization: Basic aGFyYm91cjpxN1prMlZ4OQ==",
    "url_password": "postgres://harbour:q7Zk/2Vx9@db.example:5432/tides",
    "url_password without name": "redis://:q7Zk2Vx9Lm@cache.example",
    "curl_password": "curl -u harbour:q7Zk2Vx9Lm https://api.example",
    "netrc_password": "machine api.example login harbour password q7Zk2Vx9Lm",
    "password": "password=q7Zk2Vx9Lm",
    "password with blanks": "password = q7Zk2Vx9Lm",
    "password of letters": "DB_PASSWORD=swordfishes",
    "password in YAML": "password: swordfishes",
    "password in JSON": '{"password" : "q7Zk 2Vx9 Lm"}',
    "password in quotes": "'passwd' = 'q7Zk2Vx9Lm'",
    "password dotted": "spring.datasource.password=q7Zk2Vx9Lm",
    "password exported": "export PGPASSWORD='q7Zk2Vx9Lm'",
    "password said": "the password is q7Zk2Vx9Lm",
    "password option": "mysql --password q7Zk2Vx9Lm",
    "client_secret": '"client_secret": "q7Zk2Vx9Lm4Tn8"',
    "secret dotted": "app.jwt.secret: q7Zk2Vx9Lm4Tn8Bw",
    "token exported": f"export HARBOUR_TOKEN={WORD}",
    "token arrow": f":token => '{WORD}'",
    "api_key named": f"api-key: {WORD}",
    "api_key exported": f'export OPENAI_API_KEY="{WORD}"',
    "access_key": f"secretKey := {WORD}",
    "access_token": f"refresh_token={WORD}",
    "key": f"export SERVICE_KEY={WORD}",
}
"""By kind, and where one kind has several forms, the form."""

VALUES = (WORD[:8], "q7Zk/2Vx9", "q7Zk 2Vx9", "swordfishes", HEX[:16], WORD.upper()[:8], "aGFyYm91cjpxN1prMlZ4OQ")
"""Of which every secret has one."""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        yield client


# Verifies: REQ-d00330-A, REQ-d00330-B, REQ-d00301-A
def test_no_byte_of_a_secret_is_on_disk_whatever_its_kind_and_field(memory: Memory) -> None:
    assert len({name.split()[0] for name in SECRETS}) >= 40
    for name, secret in SECRETS.items():
        stored = memory("store_memory", content=f"For {name} we use\n{secret}\nsince spring.", rationale=WHY)
        kinds = {each["kind"] for each in stored["redactions"]}
        expected = name.split()[0]
        assert expected in kinds or (name == expected and kinds), (name, stored["redactions"])
        assert not any(value in json.dumps(stored) for value in VALUES), name
        given = memory(
            "store_memory",
            content=f"A note about {name}.",
            rationale=f"Because of\n{secret}\nit was kept",
            tags=[secret.replace("\n", " ")[:300]],
            metadata={"title": secret[:200], "where": {"found": [secret]}, secret[:200]: 1},
        )
        assert {each["field"].split("[")[0].split(".")[0] for each in given["redactions"]} >= {
            "rationale",
            "tags",
            "metadata",
        }, (name, given["redactions"])
        assert not any(value in json.dumps(given) for value in VALUES), name
    memory("search_graph", query=SECRETS["password"])
    files = [path for path in memory.root.rglob("*") if path.is_file()]
    assert any(path.name == "memory.db" for path in files)
    held = {path.name: value for path in files for value in VALUES if value.encode() in path.read_bytes()}
    assert held == {}


# Verifies: REQ-d00330-A
def test_a_name_that_says_secret_hides_whatever_its_value_is(memory: Memory) -> None:
    stored = memory(
        "store_memory",
        content="The staging harbour has its own login.",
        rationale=WHY,
        metadata={"password": "plain words", "login": {"apiKey": "short"}, "tokens": 120, "key": "tides"},
    )
    assert [(each["kind"], each["field"]) for each in stored["redactions"]] == [
        ("named_secret", "metadata.password"),
        ("named_secret", "metadata.login.apiKey"),
    ]
    kept = memory("hydrate_citation", citation_tag=stored["citation_tag"])["metadata"]
    assert (kept["tokens"], kept["key"]) == (120, "tides")
    assert "plain words" not in json.dumps(kept)


# Verifies: REQ-d00330-C
@pytest.mark.parametrize(
    "note",
    [
        "The token estimate is 200 per query, and max_tokens=4096.",
        "password: str = field(default=None); token: Annotated[str, Meta(max_length=128)]",
        "Set `export API_KEY=$YOUR_KEY`, then `--token TOKEN`; password=os.environ['PW'] reads it.",
        "The key is that secrets are taken out: the answer names kind and place.",
        "primary_key=id, sort key: recorded_at, cache_key=(path, version)",
        "See https://example.org:8080/a@b and git@github.com:acme/harbour.git, commit 80f37a4c1e5b2d80.",
        "Authorization: the bearer authentication scheme is described in RFC 6750.",
        'secret = load_secret("tides"); api_key: <your api key>; password=${DB_PASSWORD}; passphrase: ...',
        "-----BEGIN CERTIFICATE-----\nMIIBtjCCAVugAwIBAgITBmyf1XSXNmY\n-----END CERTIFICATE-----",
    ],
)
def test_text_that_only_talks_about_secrets_stays(note: str) -> None:
    assert scrub(note).text == note


# Verifies: REQ-d00330-C
def test_time_grows_with_the_length_of_a_text_and_no_faster() -> None:
    units = ("eyJa-", "token=a1", "secret_key=", "://a:b", "password='", "-----BEGIN PRIVATE KEY-----", "glpat-", "a")
    for unit in units:
        took = []
        for size in (8_192, 65_536):
            text = (unit * (size // len(unit) + 1))[:size]
            began = time.process_time()
            scrub(text)
            took.append(time.process_time() - began)
        # Eight times the text; a quadratic pattern would take 64 times as long, which is seconds.
        assert took[1] < 30 * max(took[0], 0.05), (unit, took)
