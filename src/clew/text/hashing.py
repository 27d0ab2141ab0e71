"""The hash by which Clew compares contents, and a short one by which it looks texts up."""

import hashlib
import zlib


def content_hash(data: bytes, size: int = 16) -> str:
    """The hash of so many bytes, as hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=size).hexdigest()


def short_hash(text: str) -> int:
    """A hash of four bytes for looking a text up: two texts may have the same, so the texts are compared too."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
