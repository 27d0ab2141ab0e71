"""Access tokens and issuers made by somebody who wants in, or wants the server to stop answering."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from typing import BinaryIO

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from tests.transports.test_team import PING, RESOURCE, Issuer, admitted

from clew.setup.tokens import Principal
from clew.surfaces.mcp.transports.access import oauth
from clew.surfaces.mcp.transports.access.oauth import OAuthSettings

pytestmark = pytest.mark.anyio

ADA = Principal("ada", may_write=True)


@pytest.fixture(autouse=True)
def own_configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))


class Mint(Issuer):
    """An issuer with keys of several kinds."""

    def __init__(self) -> None:
        self.rsa = rsa.generate_private_key(65537, 2048)
        self.edwards = ed25519.Ed25519PrivateKey.generate()
        self.more: list[dict[str, object]] = []
        self.withdrawn: set[str] = set()
        self.trickles = False
        self.trickled = threading.Event()
        """Set when somebody who was sent one byte after the other has gone."""
        super().__init__()

    def pages(self) -> dict[str, object]:
        pages = super().pages()
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.rsa.public_key()))
        edwards = json.loads(jwt.algorithms.OKPAlgorithm.to_jwk(self.edwards.public_key()))
        known = [*pages["/realms/dev/keys"]["keys"], {**public, "kid": "rsa", "alg": "RS256"}, {**edwards, "kid": "ed"}]  # type: ignore[index]
        secret = {"kty": "oct", "k": encoded(b"k" * 64), "kid": "shared", "alg": "HS256"}
        for_encryption = {**public, "kid": "enc", "use": "enc"}
        keys = [each for each in [*known, secret, for_encryption, *self.more] if each.get("kid") not in self.withdrawn]
        return {**pages, "/realms/dev/keys": {"keys": keys}}

    def send_raw(self, file: BinaryIO) -> None:
        super().send_raw(file)
        pace = threading.Event()
        try:
            while self.trickles:
                file.write(b" ")
                file.flush()
                pace.wait(0.01)
        except OSError:
            self.trickled.set()

    def claims(self, **changed: object) -> dict[str, object]:
        now = int(time.time())
        return {"iss": self.url, "aud": RESOURCE, "sub": "ada", "scope": "clew:write", "exp": now + 600, **changed}

    def head(self, **head: object) -> str:
        """A token of the good key, whose head is signed as it is."""
        return self.signed({"alg": "ES256", "typ": "JWT", "kid": "k1", **head})

    def signed(self, head: object, claims: object = None) -> str:
        said = self.claims() if claims is None else claims
        raw = claims if isinstance(claims, bytes) else json.dumps(said).encode()
        said_head = head if isinstance(head, bytes) else json.dumps(head).encode()
        message = f"{encoded(said_head)}.{encoded(raw)}"
        algorithm = jwt.get_algorithm_by_name("ES256")
        return f"{message}.{encoded(algorithm.sign(message.encode(), self.key))}"

    def other(self, key: object, algorithm: str, kid: str, **claims: object) -> str:
        return jwt.encode(self.claims(**claims), key, algorithm=algorithm, headers={"kid": kid})  # type: ignore[arg-type]


@pytest.fixture
def mint() -> Iterator[Mint]:
    made = Mint()
    yield made
    made.close()


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def with_shared_secret(mint: Mint, secret: bytes, kid: str) -> str:
    message = (
        f"{encoded(json.dumps({'alg': 'HS256', 'kid': kid}).encode())}.{encoded(json.dumps(mint.claims()).encode())}"
    )
    return f"{message}.{encoded(hmac.new(secret, message.encode(), hashlib.sha256).digest())}"


def public_texts(mint: Mint) -> list[bytes]:
    """The public keys in every spelling in which a library might take one for a secret."""
    public = (mint.key.public_key(), mint.rsa.public_key())
    forms = (serialization.Encoding.PEM, serialization.Encoding.DER)
    plain = serialization.PublicFormat.SubjectPublicKeyInfo
    return [key.public_bytes(form, plain) for key in public for form in forms]


def attacks(mint: Mint) -> dict[str, str]:
    mine = ec.generate_private_key(ec.SECP256R1())
    my_rsa = rsa.generate_private_key(65537, 2048)
    my_public = {**json.loads(jwt.algorithms.ECAlgorithm.to_jwk(mine.public_key())), "kid": "k1"}
    address = f"{mint.url}/attackers-keys"
    good = mint.token()
    head, payload, signature = good.split(".")
    no_algorithm = encoded(json.dumps({"alg": "none", "kid": "k1"}).encode())
    now = int(time.time())

    def forged(**more: object) -> str:
        return jwt.encode(mint.claims(), mine, algorithm="ES256", headers={"kid": "k1", **more})

    found = {
        "none": f"{no_algorithm}.{payload}.",
        "nOnE": f"{encoded(json.dumps({'alg': 'nOnE', 'kid': 'k1'}).encode())}.{payload}.",
        "none with the signature": f"{no_algorithm}.{payload}.{signature}",
        "no signature": f"{head}.{payload}.",
        "two parts": f"{head}.{payload}",
        "five parts": f"{good}.a.b",
        "an own key in the head": forged(jwk=my_public),
        "an address of keys": forged(jku=address),
        "an address of certificates": forged(x5u=address),
        "certificates": forged(x5c=["AAAA"]),
        "an own key and an unknown id": jwt.encode(
            mint.claims(), mine, algorithm="ES256", headers={"kid": address, "jku": address}
        ),
        "a weaker algorithm of the same key": mint.other(mint.rsa, "PS256", "rsa"),
        "another key's algorithm": mint.other(my_rsa, "RS256", "k1"),
        "a key for encryption": mint.other(mint.rsa, "RS256", "enc"),
        "the published secret": mint.other("k" * 64, "HS256", "shared"),
        "critical that nobody knows": mint.head(crit=["exp", "x"], x=1),
        "a detached text": mint.head(b64=False, crit=["b64"]),
        "an algorithm that is no text": mint.head(alg=["ES256"]),
        "no algorithm": mint.head(alg=None),
        "a head that is an array": mint.signed(["ES256"]),
        "a deep head": mint.signed(b"[" * 9_000 + b"]" * 9_000),
        "a deep head in an object": mint.signed(b'{"alg":"ES256","kid":"k1","x":' + b"[" * 9_000 + b"]" * 9_000 + b"}"),
        "a head of a huge number": mint.signed(b'{"alg":"ES256","kid":"k1","x":' + b"9" * 9_000 + b"}"),
        "a deep text": mint.signed({"alg": "ES256", "kid": "k1"}, b"[" * 9_000 + b"]" * 9_000),
        "an end at infinity": mint.signed({"alg": "ES256", "kid": "k1"}, mint.claims(exp=float("inf"))),
        "an end that is no number": mint.signed({"alg": "ES256", "kid": "k1"}, mint.claims(exp=float("nan"))),
        "a beginning at infinity": mint.signed({"alg": "ES256", "kid": "k1"}, mint.claims(nbf=float("inf"))),
        "made at infinity": mint.signed({"alg": "ES256", "kid": "k1"}, mint.claims(iat=float("inf"))),
        "an audience that is an object": mint.token(aud={RESOURCE: 1}),
        "an audience in an array in an array": mint.token(aud=[[RESOURCE]]),
        "an issuer in an array": mint.signed({"alg": "ES256", "kid": "k1"}, mint.claims(iss=[mint.url])),
        "an issuer with a slash": mint.token(iss=f"{mint.url}/"),
        "ended before the leeway": mint.token(exp=now - 60),
        "begins after the leeway": mint.token(nbf=now + 90),
        "made after the leeway": mint.token(iat=now + 90),
        "half a surrogate pair": mint.signed({"alg": "ES256", "kid": "\ud800"}),
        "huge": "a." * 12_000,
        "only points": "...",
        "no base64": "é.ü.ö",
    }
    for number, text in enumerate(public_texts(mint)):
        for kid in ("k1", "rsa"):
            found[f"the public key as a secret {number} {kid}"] = with_shared_secret(mint, text, kid)
    for kid in ("../../../../dev/null", "/dev/null", "/proc/self/environ", "k1\0", "' OR 1=1 --", "", "K1", "k1 "):
        found[f"a key's name {kid!r}"] = with_shared_secret(mint, b"", kid)
        found[f"a key's name {kid!r}, signed"] = forged(kid=kid)
    for kid in (None, 1, ["k1"], {"a": 1}, "k" * 9_000):
        found[f"a key's name {str(kid)[:20]}"] = mint.head(kid=kid)
    return found


def settings(mint: Mint) -> OAuthSettings:
    return OAuthSettings(issuer=mint.url, resource=RESOURCE, keys=f"{mint.url}/keys")


# Verifies: REQ-d00662-A+B
async def test_no_forged_token_gets_in_and_each_is_refused_in_order(serve, mint):
    async with serve(team=True, oauth=settings(mint)) as http:
        assert await admitted(http, mint.token())
        assert await admitted(http, mint.head(x=1, jku="http://127.0.0.1:9/keys"))
        assert await admitted(http, mint.other(mint.rsa, "RS256", "rsa"))
        assert await admitted(http, mint.other(mint.edwards, "EdDSA", "ed"))
        for why, token in attacks(mint).items():
            answer = await http.post("/mcp", json=PING, headers=[("Authorization", f"Bearer {token}".encode())])
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized"), why
            assert await admitted(http, mint.token()), why
        assert set(mint.asked) == {"/realms/dev/keys"}, "no address of a token's head was asked"


# Verifies: REQ-d00662-D
def test_a_new_key_becomes_good_and_a_withdrawn_one_ceases_to_be(mint, monkeypatch):
    monkeypatch.setattr(oauth, "_AGAIN_SECONDS", -1.0)
    checking = oauth.Issuer(settings(mint))
    assert checking.principal(mint.token()) == ADA
    fresh = ec.generate_private_key(ec.SECP256R1())
    token = mint.token(key=fresh, kid="k2")
    assert checking.principal(token) is None
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(fresh.public_key()))
    mint.more.append({**public, "kid": "k2"})
    assert checking.principal(token) == ADA
    mint.withdrawn.add("k1")
    monkeypatch.setattr(oauth, "_KEYS_SECONDS", -1.0)
    while checking.principal(mint.token()) is not None:
        pass
    assert checking.principal(token) == ADA


# Verifies: REQ-d00662-D
def test_many_unknown_keys_make_one_question(mint):
    checking = oauth.Issuer(settings(mint))
    assert checking.principal(mint.token()) == ADA
    threads = [
        threading.Thread(target=checking.principal, args=(mint.token(kid=f"made up {number}"),))
        for number in range(200)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert mint.asked == ["/realms/dev/keys"]


# Verifies: REQ-d00662-C
def test_keys_are_not_fetched_from_where_an_issuer_redirects(mint):
    for status in (301, 302, 303, 307, 308):
        asked = len(mint.asked)
        mint.raw = f"HTTP/1.0 {status} Moved\r\nLocation: {mint.url}/elsewhere\r\n\r\n".encode()
        assert oauth.Issuer(settings(mint)).principal(mint.token()) is None
        assert mint.asked[asked:] == ["/realms/dev/keys"]


# Verifies: REQ-d00662-C
@pytest.mark.parametrize("kind", ["many keys", "many bytes", "deep"])
def test_what_an_issuer_sends_is_bounded(mint, kind):
    checking = oauth.Issuer(settings(mint))
    if kind == "many keys":
        assert checking.principal(mint.token()) == ADA
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(mint.key.public_key()))
        mint.more += [{**public, "kid": f"more {number}"} for number in range(500)]
        checking = oauth.Issuer(settings(mint))
        assert checking.principal(mint.token(kid="more 499")) is None
        assert checking.principal(mint.token()) is None
        return
    body = (
        b'{"keys": [' + b" " * oauth._LARGEST_ANSWER + b"]}" if kind == "many bytes" else b'{"keys":' + b"[" * 400_000
    )
    mint.raw = b"HTTP/1.0 200 OK\r\n\r\n" + body
    assert checking.principal(mint.token()) is None
    mint.raw = None


# Verifies: REQ-d00662-C
@pytest.mark.parametrize("begins", [b"", b"HTTP/1.0 200 OK\r\nX-", b"HTTP/1.0 200 OK\r\n\r\n{"])
def test_an_issuer_that_sends_one_byte_after_the_other_is_given_up(mint, monkeypatch, begins):
    monkeypatch.setattr(oauth, "_WHOLE_SECONDS", 0.2)
    mint.raw, mint.trickles = begins, True
    checking = oauth.Issuer(settings(mint))
    assert checking.principal(mint.token()) is None
    assert mint.trickled.wait(60), "the connection was closed while the issuer still sent"


# Verifies: REQ-d00662-C
def test_an_issuer_with_tls_names_no_keys_without(mint):
    assert oauth._may_name(mint.url, f"{mint.url}/keys")
    assert oauth._may_name("https://id.example.org", "https://keys.example.org/keys")
    for address in ("http://127.0.0.1:80/keys", "http://id.example.org/keys", "file:///etc/passwd", "https://["):
        assert not oauth._may_name("https://id.example.org", address)
