"""Headers and ends of requirements and journeys."""

import re

import msgspec

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.elspais.fields import ReferenceList, metadata_fields
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.lines import RequirementLines, plain_heading
from clew.text.markdown import BLANK, HEADING

_FOREIGN_ID = re.compile(r"[A-Z][A-Z0-9]{1,15}-[A-Za-z]{0,4}[0-9]{1,10}")
_HASH = re.compile(r"\*\*Hash\*\*:\s*(\S+)", re.IGNORECASE)
_SHOWN = 80


class Header(msgspec.Struct, frozen=True, gc=False):
    """The first line of a requirement or journey."""

    index: int
    id: str
    written_id: str
    title: str
    depth: int
    """Number of `#`; 0 for a bare line, as the February dialect allowed."""
    is_journey: bool

    @property
    def line(self) -> int:
        return self.index + 1


class EndMarker(msgspec.Struct, frozen=True, gc=False):
    """The last line of a requirement or journey."""

    title: str
    stored_hash: str | None


class HeaderReader:
    """Decides which lines begin a block, and says why a line that looks like it does not."""

    def __init__(self, lines: RequirementLines, grammar: IdGrammar, findings: DiagnosticLog) -> None:
        self._lines = lines
        self._grammar = grammar
        self._findings = findings

    def read(self, index: int) -> Header | None:
        """The header in this line, if it is one."""
        bare = self._lines.kinds[index] != HEADING
        depth, text = (0, self._lines.text[index].strip()) if bare else self._lines.heading(index)
        written, colon, title = text.partition(":")
        written, title = written.strip(), title.strip()
        parsed = self._grammar.parse_header(written) if colon else None
        if parsed is None:
            if not bare:
                self._explain(text, written if colon else "", index + 1)
            return None
        if bare and not self._begins_block(index):
            return None
        if not title:
            message = f"{written} has no title. Write one after the colon."
            self._findings.warning("empty_title", index + 1, message)
        if parsed.notes:
            message = f"{written!r} is read as {parsed.target} (differs in {', '.join(parsed.notes)})."
            self._findings.info("id_style", index + 1, message)
        return Header(index, parsed.target, written, title, depth, self._grammar.is_journey(parsed.target))

    def _begins_block(self, index: int) -> bool:
        """True if a line without `#` is a header: it has blank lines around it, and metadata or assertions follow."""
        if index and self._lines.kinds[index - 1] != BLANK and self._lines.text[index - 1].strip() != "---":
            return False
        following = index + 1
        while following < len(self._lines) and self._lines.kinds[following] == BLANK:
            following += 1
        written = self._lines.text[index][:_SHOWN]
        if following < len(self._lines) and self._is_metadata_or_assertions(following):
            message = f"{written!r} has no `#`; it counts as a header because metadata follows. Write it as a heading."
            self._findings.info("bare_header", index + 1, message)
            return True
        message = f"{written!r} reads like a header, but has no `#` and no metadata follows; it is kept as text."
        self._findings.info("bare_id_line", index + 1, message)
        return False

    def _is_metadata_or_assertions(self, index: int) -> bool:
        if self._lines.kinds[index] == HEADING:
            return plain_heading(self._lines.heading(index)[1]) == "assertions"
        silent = ReferenceList(self._grammar, DiagnosticLog())
        return metadata_fields(self._lines.text[index], silent) is not None

    def _explain(self, text: str, before_colon: str, line: int) -> None:
        if self._grammar.resembles(text):
            message = (
                f"The heading {text[:_SHOWN]!r} begins like an id, but is not `ID: title` in the project's grammar;"
                " it is kept as text. Correct the id, or write a colon and a title after it."
            )
            self._findings.warning("malformed_header", line, message)
        elif before_colon and _FOREIGN_ID.fullmatch(before_colon):
            message = f"{before_colon!r} is not an id of this project, so the heading is kept as text."
            self._findings.info("foreign_header", line, message)


def read_end(text: str, line: int, header: Header, findings: DiagnosticLog) -> EndMarker:
    """The End marker in this line, which closes the block even where it is damaged."""
    rest = text.removeprefix("*End*").strip()
    before, bar, after = rest.rpartition("|")
    match = _HASH.fullmatch(after.strip()) if bar else None
    title = before.strip() if match is not None else rest
    if len(title) < 2 or not (title.startswith("*") and title.endswith("*")):
        message = f"{text[:_SHOWN]!r} is not `*End* *title* | **Hash**: value`; it still closes {header.written_id}."
        findings.warning("malformed_end", line, message)
        return EndMarker("", match[1] if match is not None else None)
    title = title[1:-1].strip()
    if title != header.title and not (header.is_journey and title == header.id):
        message = f"The End marker says {title[:_SHOWN]!r}, the header {header.title[:_SHOWN]!r}. Make them the same."
        findings.warning("end_title", line, message)
    return EndMarker(title, match[1] if match is not None else None)
