"""Which HTTP settings may be served."""

import pytest

from clew.errors import ConfigError
from clew.surfaces.mcp.transports.settings import HttpSettings, check

# Verifies: REQ-d00016-A

EVERYWHERE = "0.0.0.0"
TOKEN = "correct-horse-battery"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LocalHost", "::1", "[::1]", "127.0.0.53"])
def test_loopback_needs_no_token(host):
    check(HttpSettings(host=host))


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.168.1.5", "clew.lan", "", "localhost.evil.example"])
def test_listening_beyond_loopback_needs_a_token(host):
    with pytest.raises(ConfigError) as refused:
        check(HttpSettings(host=host))
    assert "CLEW_TOKEN" in refused.value.hint
    assert "--token-file" in refused.value.hint
    check(HttpSettings(host=host, token=TOKEN))


@pytest.mark.parametrize(
    "token", ["", "short", "x" * 15, "with spaces in the middle", "ends-with-a-newline\n", "ünïcödé" * 5]
)
@pytest.mark.parametrize("name", ["token", "write_token"])
# Verifies: REQ-d00266-A
def test_a_weak_or_unusable_token_is_refused_even_on_loopback(name, token):
    with pytest.raises(ConfigError) as refused:
        check(HttpSettings(**{name: token}))
    assert refused.value.hint
    assert not token or token not in str(refused.value)


@pytest.mark.parametrize(
    "changed",
    [
        {"port": -1},
        {"port": 65536},
        {"max_body": 0},
        {"max_headers": -1},
        {"rate": 0},
        {"burst": 0},
        {"max_sessions": 0},
        {"idle_seconds": 0},
        {"heartbeat_seconds": 0},
        {"grace_seconds": -1},
        {"drain_seconds": -0.5},
        {"buffer_events": 0},
        {"buffer_bytes": 0},
        {"rate": float("nan")},
        {"allowed_hosts": ("http://clew.lan",)},
        {"allowed_hosts": ("clew.lan:8000",)},
        {"allowed_hosts": ("two words",)},
        {"allowed_origins": ("clew.lan",)},
        {"allowed_origins": ("https://clew.lan/path",)},
        {"allowed_origins": ("*",)},
    ],
)
def test_an_impossible_setting_is_refused_with_its_value_and_a_hint(changed):
    with pytest.raises(ConfigError) as refused:
        check(HttpSettings(**changed))
    value = next(iter(changed.values()))
    assert str(value[0] if isinstance(value, tuple) else value) in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize(
    "changed",
    [
        {"port": 0},
        {"grace_seconds": 0},
        {"drain_seconds": 0},
        {"allowed_hosts": ("clew.lan", "10.0.0.7", "::2", "[fe80::1]")},
        {"allowed_origins": ("https://clew.lan", "http://clew.lan:8080", "app://ide")},
    ],
)
def test_possible_settings_pass(changed):
    check(HttpSettings(**changed))


def test_the_token_is_not_shown():
    settings = HttpSettings(host=EVERYWHERE, token=TOKEN)
    assert TOKEN not in repr(settings)
    assert EVERYWHERE in repr(settings)
