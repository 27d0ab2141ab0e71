"""The hash by which Clew tells whether two contents are the same."""

import hashlib


def content_hash(data: bytes, size: int = 16) -> str:
    """The hash of so many bytes, as hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=size).hexdigest()
