"""The Assertions section of a requirement: labelled entries, with sub-headings that group them."""

import re

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.lines import RequirementLines, unwrapped
from clew.formats.elspais.records import AssertionRecord, SectionRecord
from clew.text.markdown import BLANK, TEXT

ENTRY = re.compile(r"(\s*)([A-Z0-9]{1,4})\.(?:\s+|$)")
_RETIRED = re.compile(
    r"(?:<\s*(?:retired|removed)\b[^<>]*>|\[\s*(?:retired|removed)\b[^\[\]]*\]|\{\s*(?:retired|removed)\b[^{}]*\})",
    re.IGNORECASE,
)
_SENTENCE_ENDS = (".", ";", ":", "!", "?", ")", "`", '"', "*")


def is_retired(text: str) -> bool:
    """True if an assertion is marked as retired: `<RETIRED> ...` or, as was usual before, `[Removed - ...]`."""
    return text[:1] in ("<", "[", "{") and _RETIRED.match(text) is not None


class AssertionReader:
    """Reads the entries of one requirement; a requirement may have several Assertions sections."""

    def __init__(self, lines: RequirementLines, grammar: IdGrammar, findings: DiagnosticLog) -> None:
        self._lines = lines
        self._grammar = grammar
        self._findings = findings
        self._entries: list[AssertionRecord] = []
        self._groups: list[SectionRecord] = []
        self._labels: set[str] = set()

    def assertions(self) -> tuple[AssertionRecord, ...]:
        most = self._grammar.settings.label_max_count
        if len(self._entries) > most:
            line = self._entries[most].span.line
            message = f"{len(self._entries)} assertions, but at most {most} are allowed. Split the requirement."
            self._findings.warning("too_many_assertions", line, message)
        return tuple(self._entries)

    def groups(self) -> tuple[SectionRecord, ...]:
        """The emphasised lines between entries, and any text that is before the first entry."""
        return tuple(self._groups)

    def read(self, heading: int, stop: int) -> None:
        """Read the section below the heading in that line."""
        depth, title = self._lines.heading(heading)
        begin: int | None = None
        """First line of the entry being read; None while reading the text of a heading."""
        group, group_title, group_depth = heading, title, depth
        kinds, text = self._lines.kinds, self._lines.text
        for index in range(heading + 1, stop):
            if kinds[index] != TEXT:
                continue
            line = text[index]
            entry = ENTRY.match(line)
            if entry is not None and self._is_entry(entry, index, begin):
                self._close(begin, index, group, group_title, group_depth)
                begin, group_title = index, ""
            elif (inner := unwrapped(line.strip())) is not None:
                self._close(begin, index, group, group_title, group_depth)
                begin, group, group_title, group_depth = None, index, inner, 0
        self._close(begin, stop, group, group_title, group_depth)

    def _close(self, begin: int | None, stop: int, group: int, group_title: str, group_depth: int) -> None:
        if begin is not None:
            self._add_entry(begin, stop)
            return
        first, last = self._lines.trimmed(group + 1, stop)
        # A heading of assertions with no text of its own is nothing to keep; an emphasised one names a group.
        if group_title and (first < last or not group_depth):
            span = self._lines.text_span(group, last - 1 if first < last else group)
            self._groups.append(SectionRecord(group_title, self._lines.joined(first, last), group_depth, span))

    def _is_entry(self, entry: re.Match[str], index: int, begin: int | None) -> bool:
        """True if a line that begins like an entry is one.

        A label of the configured style at the left margin always is. An indented, longer or differently styled
        label was allowed in the February 2026 dialect, but may as well be a numbered list or the end of a wrapped
        sentence ("... through the\nAPI. Then ..."): it counts where a sentence can begin and no other list is meant.
        """
        indent, written = entry[1], entry[2]
        if not indent and self._grammar.is_label(written):
            return True
        label = self._grammar.label(written)
        if label is None or (written.isdigit() and begin is not None and self._is_lettered(begin)):
            return False
        previous = self._lines.text[index - 1].rstrip()
        after_sentence = not previous or previous.startswith("#") or previous.endswith(_SENTENCE_ENDS)
        if not after_sentence or label in self._labels:
            message = f"{written!r} looks like a label, but continues the text before it and is read so."
            self._findings.info("label_in_text", index + 1, message)
            return False
        style = self._grammar.settings.label_style
        message = (
            f"The label {written!r} is indented or not of the style {style}; it is accepted. Write it as `A. text`."
        )
        self._findings.warning("label_style", index + 1, message)
        return True

    def _is_lettered(self, begin: int) -> bool:
        entry = ENTRY.match(self._lines.text[begin])
        return entry is not None and not entry[2].isdigit()

    def _add_entry(self, begin: int, stop: int) -> None:
        lines = self._lines
        entry = ENTRY.match(lines.text[begin])
        if entry is None:
            return
        label = self._grammar.label(entry[2]) or entry[2]
        while stop > begin + 1 and lines.kinds[stop - 1] == BLANK:
            stop -= 1
        text = lines.text[begin][entry.end() :]
        if stop > begin + 1:
            text = "\n".join([text, *lines.text[begin + 1 : stop]])
        if not text.strip():
            self._findings.warning("empty_assertion", begin + 1, f"Assertion {label} has no text. Write it.")
        if label in self._labels:
            message = f"The label {label} is used twice; citations of it mean the first. Give each its own."
            self._findings.error("duplicate_label", begin + 1, message)
        self._labels.add(label)
        self._entries.append(AssertionRecord(label, text, lines.text_span(begin, stop - 1, entry[1])))
