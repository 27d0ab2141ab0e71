"""The scripts in files that hold more than a script: single-file components of Vue and Svelte, pages of Astro, MDX."""

# Implements: REQ-d00363

import re
from collections.abc import Iterator

ENDINGS = (".vue", ".svelte", ".astro", ".mdx")
_OPENED = re.compile(r"<script\b", re.IGNORECASE)
_CLOSED = re.compile(r"</script\s*+>", re.IGNORECASE)
_FRONT = re.compile(r"\A\s*+---[ \t]*+\n(.*?)^---[ \t]*+$", re.DOTALL | re.MULTILINE)
_STATEMENT = re.compile(r"^(?:import|export)\b[^\n]*(?:\n(?![ \t]*\n)[^\n]+)*", re.MULTILINE)
_FENCE = re.compile(r"[ \t]*+(?:`{3,}+|~{3,}+)")
_SIGN = re.compile(r"[^\n]")


def script_of(text: str, path: str) -> str:
    """The text with everything but its scripts blank, so that lines stay where they are."""
    kept = list(_scripts(text))
    if path.endswith(".astro") and (front := _FRONT.match(text)) is not None:
        kept.insert(0, front.span(1))
    if path.endswith(".mdx"):
        kept = [match.span() for match in _STATEMENT.finditer(_without_fences(text))]
    pieces: list[str] = []
    position = 0
    for start, end in kept:
        if start >= position:
            pieces += (_SIGN.sub(" ", text[position:start]), text[start:end])
            position = end
    return "".join((*pieces, _SIGN.sub(" ", text[position:])))


def _scripts(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the scripts. One that is opened and never closed ends the search: nothing after it is closed either."""
    position = 0
    while opened := _OPENED.search(text, position):
        begin = text.find(">", opened.end()) + 1
        closed = _CLOSED.search(text, begin) if begin else None
        if closed is None:
            return
        yield begin, closed.start()
        position = closed.end()


def _without_fences(text: str) -> str:
    """Blocks of code between fences blank; one that nothing closes reaches to the end."""
    lines = text.split("\n")
    fence = ""
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence or found:
            lines[number] = " " * len(line)
        if fence:
            fence = "" if line.startswith(fence) else fence
        elif found:
            fence = found[0]
    return "\n".join(lines)
