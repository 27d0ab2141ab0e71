"""The hash by which Clew tells whether two contents are the same, and a short one by which texts are found."""

import hashlib
import zlib


def content_hash(data: bytes, size: int = 16) -> str:
    """The hash of so many bytes, as hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=size).hexdigest()


def short_hash(text: str) -> int:
    """Four bytes that lead to a text in an index: two texts may have the same, so that the text is compared too."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
