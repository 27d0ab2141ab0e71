"""The address of a team's database. It may hold a password, which no message, log or listing ever shows."""

import re
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from clew.errors import ConfigError

SCHEMES = ("postgresql", "postgres")
HIDDEN = "***"
_SECRETS = ("password", "sslpassword")


def is_address(text: str) -> bool:
    return text.partition("://")[0] in SCHEMES


class Address:
    """Shown without its secrets, however it is printed."""

    __slots__ = ("shown", "url")

    def __init__(self, url: str) -> None:
        if not is_address(url):
            raise ConfigError(
                f"The store '{masked(url)}' is no address of a PostgreSQL database.",
                hint='It looks like "postgresql://user@host/database". Passwords belong into ~/.pgpass.',
            )
        self.url = url
        self.shown = masked(url)

    def __str__(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    def cleaned(self, text: str) -> str:
        """A message of the database or its driver without the secrets."""
        for secret in _secrets(self.url):
            text = text.replace(secret, HIDDEN)
        return text.replace(self.url, self.shown)


def masked(url: str) -> str:
    """An address without its secrets; any other text as it is."""
    if "://" not in url:
        return url
    try:
        parts = urlsplit(url)
        user, colon, _ = parts.netloc.rpartition("@")[0].partition(":")
        host = parts.netloc.rpartition("@")[2]
        place = f"{user}:{HIDDEN}@{host}" if colon else parts.netloc
        options = [(name, HIDDEN if name in _SECRETS else value) for name, value in parse_qsl(parts.query)]
        return urlunsplit(parts._replace(netloc=place, query=urlencode(options, safe="/*")))
    except ValueError:
        return re.sub(r"//.*", f"//{HIDDEN}", url)


def _secrets(url: str) -> set[str]:
    try:
        parts = urlsplit(url)
        given = [parts.netloc.rpartition("@")[0].partition(":")[2]]
        given += [value for name, value in parse_qsl(parts.query) if name in _SECRETS]
    except ValueError:
        return set()
    return {each for secret in given if secret for each in (secret, unquote(secret), quote(unquote(secret), safe=""))}
