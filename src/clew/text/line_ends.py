"""The ends of lines: LF, CRLF and CR. What is written into a file follows those that it has."""


def newline_of(data: bytes) -> bytes:
    """The line end that most lines of a file have."""
    pairs = data.count(b"\r\n")
    single, old = data.count(b"\n") - pairs, data.count(b"\r") - pairs
    if pairs > max(single, old):
        return b"\r\n"
    return b"\r" if old > single else b"\n"


def with_newlines(text: str, newline: bytes) -> bytes:
    return text.replace("\r\n", "\n").replace("\r", "\n").encode().replace(b"\n", newline)
