"""Bringing a file of an older format up to date. A pure function of the file's bytes."""

from typing import Any

import msgspec

from clew.formats.register import envelope
from clew.formats.register.canonical import digest, joined, parse, pretty
from clew.formats.register.model import Layout
from clew.formats.register.single import payload_of


class Migration(msgspec.Struct, frozen=True):
    before: str
    after: str
    data: bytes | None
    """The new content of the file; None where the file is up to date."""


def migrate(data: bytes, name: str = "project.req") -> Migration:
    """From req-v1 or v2 to the format of today. Each of the steps so far leaves the requirements as they are and only
    renews the tag and the checksum. A file that does not match its old checksum is refused."""
    parsed = parse(data, name)
    document = parsed.document
    version = envelope.check_format(document, name, Layout.SINGLE)
    tag: str = document[envelope.FORMAT]
    if version == envelope.CURRENT:
        return Migration(tag, tag, None)
    seal = digest(joined(payload_of(parsed.parts)))
    envelope.check_integrity(envelope.stored_integrity(document, name), seal, name)
    migrated: dict[str, Any] = {
        **payload_of(document),
        **envelope.notice_in(document),
        envelope.FORMAT: envelope.FORMAT_TAG,
        envelope.INTEGRITY: seal,
    }
    return Migration(tag, envelope.FORMAT_TAG, pretty(migrated))
