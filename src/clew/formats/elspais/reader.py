"""Reads elspais markdown of either dialect without losing a byte, and writes it back."""

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.elspais.headers import Header, HeaderReader, read_end
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.journey import JourneyReader
from clew.formats.elspais.lines import END, RequirementLines
from clew.formats.elspais.records import Block, FileRecords, Remainder
from clew.formats.elspais.requirement import RequirementReader
from clew.text.display import shortened
from clew.text.lines import Span
from clew.text.markdown import BLANK, BOM


def read(data: bytes, grammar: IdGrammar) -> FileRecords:
    """The requirements, journeys and free text of a file. Never fails: what is odd becomes a diagnostic."""
    findings = DiagnosticLog()
    lines = RequirementLines(data, grammar.header_prefixes)
    if lines.invalid_line:
        message = (
            "The file is not UTF-8; its bytes are kept, but those that do not fit read as U+FFFD. Save it as UTF-8."
        )
        findings.warning("not_utf8", lines.invalid_line, message)
    if lines.fence_line:
        message = "This code fence is never closed, so the rest of the file is read as code. Close it."
        findings.warning("unclosed_fence", lines.fence_line, message)
    blocks = _BlockReader(lines, grammar, findings).read()
    if data.startswith(BOM):
        blocks = _with_bom(blocks)
    return FileRecords(tuple(blocks), findings.diagnostics())


class _BlockReader:
    """Cuts a file into blocks that cover it without gap or overlap."""

    def __init__(self, lines: RequirementLines, grammar: IdGrammar, findings: DiagnosticLog) -> None:
        self._lines = lines
        self._findings = findings
        self._headers = HeaderReader(lines, grammar, findings)
        self._requirements = RequirementReader(lines, grammar, findings)
        self._journeys = JourneyReader(lines, grammar, findings)
        self._blocks: list[Block] = []
        self._position = 0
        """The first line that belongs to no block yet."""
        self._first_lines: dict[str, int] = {}

    def read(self) -> list[Block]:
        header: Header | None = None
        for index in self._lines.marks:
            if self._lines.kinds[index] == END:
                self._end(header, index)
                header = None
                continue
            following = self._headers.read(index)
            if following is not None:
                self._unended(header, index)
                header = following
        self._unended(header, len(self._lines))
        self._remainder(len(self._lines))
        return self._blocks

    def _end(self, header: Header | None, index: int) -> None:
        """Close the open block at its End marker."""
        text = self._lines.text[index]
        if header is None:
            message = f"{shortened(text)!r} ends nothing: no requirement or journey is open here. Remove it."
            self._findings.warning("stray_end", index + 1, message)
            return
        marker = read_end(text, index + 1, header, self._findings)
        self._remainder(header.index)
        reader = self._journeys if header.is_journey else self._requirements
        self._add(reader.read(header, index + 1, marker), header, index + 1)

    def _unended(self, header: Header | None, stop: int) -> None:
        """Close the open block at the next header or the end of the file; blank lines and a rule there are not its."""
        if header is None:
            return
        lines = self._lines
        while stop > header.index + 1 and (lines.kinds[stop - 1] == BLANK or self._is_rule(stop - 1)):
            stop -= 1
        message = f"{header.written_id} has no End marker. Close it with `*End* *{shortened(header.title)}*`."
        self._findings.warning("missing_end", header.line, message)
        self._remainder(header.index)
        reader = self._journeys if header.is_journey else self._requirements
        self._add(reader.read(header, stop, None), header, stop)

    def _is_rule(self, index: int) -> bool:
        """True if the line is `---` below a blank one, so that it underlines nothing."""
        return self._lines.text[index].strip() == "---" and self._lines.kinds[index - 1] == BLANK

    def _add(self, block: Block, header: Header, stop: int) -> None:
        first = self._first_lines.setdefault(header.id, header.line)
        if first != header.line:
            message = f"{header.id} is already defined in line {first}. Give one of the two another id."
            self._findings.error("duplicate_id", header.line, message)
        self._blocks.append(block)
        self._position = stop

    def _remainder(self, stop: int) -> None:
        if stop > self._position:
            lines, first = self._lines, self._position
            self._blocks.append(Remainder(lines.raw(first, stop), lines.span(first, stop)))
            self._position = stop


def _with_bom(blocks: list[Block]) -> list[Block]:
    """The byte order mark as free text, so that a requirement in the first line still begins with its heading."""
    first = blocks[0] if blocks else None
    if isinstance(first, Remainder):
        span = Span(0, first.span.end, 1, first.span.end_line)
        return [Remainder(f"\ufeff{first.raw}", span), *blocks[1:]]
    return [Remainder("\ufeff", Span(0, len(BOM), 1, 1)), *blocks]
