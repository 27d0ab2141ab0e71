"""Secrets are taken out of a text before it is stored; the answer names their kind and place, never their value."""

import re

import msgspec


class Redaction(msgspec.Struct, frozen=True):
    kind: str
    start: int
    end: int
    """Characters of the text as it was given."""


class Scrubbed(msgspec.Struct, frozen=True):
    text: str
    found: tuple[Redaction, ...] = ()


_PATTERNS = (
    ("private_key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ("aws_access_key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("github_token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})\b"),
    ("slack_token", r"\bxox[abprs]-[A-Za-z0-9-]{10,}\b"),
    ("api_key", r"\bsk-[A-Za-z0-9_-]{20,}\b"),
    ("google_api_key", r"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("bearer_token", r"(?<=[Bb]earer )[A-Za-z0-9._~+/-]{20,}=*"),
    ("url_password", r"(?<=://)[^\s:/@]+:[^\s:/@]+(?=@)"),
    (
        "password",
        r"(?i:(?<=password=)|(?<=password: )|(?<=passwd=)|(?<=secret=)|(?<=token=)|(?<=api_key=))[^\s'\"]{6,}",
    ),
)
_ANY = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS))


def scrub(text: str) -> Scrubbed:
    """The text with each secret replaced by its kind."""
    found = tuple(Redaction(match.lastgroup or "", *match.span()) for match in _ANY.finditer(text))
    if not found:
        return Scrubbed(text)
    return Scrubbed(_ANY.sub(lambda match: f"[REDACTED:{match.lastgroup}]", text), found)
