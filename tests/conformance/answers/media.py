"""The smallest valid picture and sound, built rather than pasted so that a reader can see what they hold."""

import base64
import struct
import zlib


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def red_pixel() -> str:
    """A PNG of one red pixel, base64."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    scanline = b"\x00" + bytes((255, 0, 0))
    png = (
        b"\x89PNG\r\n\x1a\n"
        + _png_chunk(b"IHDR", header)
        + _png_chunk(b"IDAT", zlib.compress(scanline))
        + _png_chunk(b"IEND", b"")
    )
    return base64.b64encode(png).decode()


def silence() -> str:
    """A WAV of ten milliseconds of silence (8 kHz, mono, 8 bit), base64."""
    samples = b"\x80" * 80
    fmt = struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
    chunks = b"fmt " + struct.pack("<I", len(fmt)) + fmt + b"data" + struct.pack("<I", len(samples)) + samples
    return base64.b64encode(b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks).decode()
