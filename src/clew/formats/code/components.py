"""The scripts in files that hold more than a script: single-file components of Vue and Svelte, pages of Astro, MDX."""

# Implements: REQ-d00363

import re

ENDINGS = (".vue", ".svelte", ".astro", ".mdx")
_SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_FRONT = re.compile(r"\A\s*---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_STATEMENT = re.compile(r"^(?:import|export)\b[^\n]*(?:\n(?![ \t]*\n)[^\n]+)*", re.MULTILINE)
_FENCED = re.compile(r"^([ \t]*)(`{3,}|~{3,})[^\n]*\n.*?(?:^\1\2[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_SIGN = re.compile(r"[^\n]")


def script_of(text: str, path: str) -> str:
    """The text with everything but its scripts blank, so that lines stay where they are."""
    kept: list[tuple[int, int]] = [match.span(1) for match in _SCRIPT.finditer(text)]
    if path.endswith(".astro") and (front := _FRONT.match(text)) is not None:
        kept.insert(0, front.span(1))
    if path.endswith(".mdx"):
        kept = [match.span() for match in _STATEMENT.finditer(_FENCED.sub(_blank, text))]
    pieces: list[str] = []
    position = 0
    for start, end in kept:
        if start >= position:
            pieces += (_SIGN.sub(" ", text[position:start]), text[start:end])
            position = end
    return "".join((*pieces, _SIGN.sub(" ", text[position:])))


def _blank(match: re.Match[str]) -> str:
    return _SIGN.sub(" ", match[0])
