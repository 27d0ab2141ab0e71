"""Bytes as text, whatever their encoding."""

import codecs
import re

from clew.formats.diagnostics import Diagnostic

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 8192
_MOSTLY = 0.7
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LINE_END = re.compile(r"\r\n?|\n")


def decoded(data: bytes) -> tuple[str, tuple[Diagnostic, ...]]:
    """The text, without byte order mark and with its own line ends. Nothing but a note where the bytes are no text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strict(data[len(mark) :], encoding)
    if (unmarked := _unmarked(data[:_LOOKED_AT])) is not None:
        return _strict(data, unmarked)
    if b"\0" in data[:_LOOKED_AT]:
        problem = "The file holds NUL bytes, so it is not text. Leave it out of docs.patterns in clew.toml."
        return "", (Diagnostic("documents.binary", "error", problem, 1),)
    return _strict(data, "utf-8")


def _unmarked(data: bytes) -> str | None:
    """UTF-16 that does not say so: nearly every sign of a western text has one byte that is zero, always the same."""
    half = len(data) // 2
    for encoding, zeros, others in (("utf-16-le", data[1::2], data[::2]), ("utf-16-be", data[::2], data[1::2])):
        if half and zeros.count(0) >= half * _MOSTLY and not _NO_TEXT.search(others):
            return encoding
    return None


def _strict(data: bytes, encoding: str) -> tuple[str, tuple[Diagnostic, ...]]:
    try:
        return data.decode(encoding), ()
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(data[: error.start].decode(encoding, "replace"))) + 1
    if encoding != "utf-8":
        problem = f"The file says it is {encoding.upper()}, but is not. Save it as UTF-8."
        return data.decode(encoding, "replace"), (Diagnostic("documents.encoding", "warning", problem, line),)
    return _mixed(data, line)


def _mixed(data: bytes, line: int) -> tuple[str, tuple[Diagnostic, ...]]:
    """Lines that are no UTF-8 are read as Windows-1252, which is what most files that are not UTF-8 were saved as."""
    text = "".join(_either(part) for part in data.splitlines(keepends=True))
    problem = "The line is not UTF-8; it was read as Windows-1252. Save the file as UTF-8."
    return text, (Diagnostic("documents.encoding", "warning", problem, line),)


def _either(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


def sound(text: str) -> str:
    """The text with halves of characters, which an escape in a string can make, as question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
