"""elspais markdown: requirements and user journeys in the February and the August 2026 dialect.

| module | subject |
|---|---|
| `settings` | `.elspais.toml` in every layout it has had |
| `ids` | the grammar of ids, references and labels |
| `reader` | a file's bytes to records and back, exactly |
| `hashes` | whether a stored hash still fits the assertions |
| `changelog` | whether a requirement has the entries that the settings ask for |

What a reader reports. Codes are stable; the severity is the reader's own view.

| code | severity | what it says |
|---|---|---|
| `elspais.assertions_without_heading` | warning | a list `A. ...` without an Assertions heading is read as text |
| `elspais.bare_header` | info | a header without `#` was accepted, because metadata follows it |
| `elspais.bare_id_line` | info | a line `ID: ...` without `#` or metadata is kept as text |
| `elspais.changelog_entry` | warning | a line of the Changelog does not have the five parts of an entry |
| `elspais.changelog_incomplete` | error | an entry lacks what the settings demand of it |
| `elspais.changelog_missing` | error | an Active requirement has no entry, and the settings demand one |
| `elspais.changelog_stale` | error | the newest entry names another hash than the End marker |
| `elspais.duplicate_id` | error | two blocks of the file have the same id |
| `elspais.duplicate_label` | error | two assertions of the requirement have the same label |
| `elspais.empty_assertion` | warning | a label without text |
| `elspais.empty_title` | warning | a header without a title |
| `elspais.end_title` | warning | the End marker names another title than the header |
| `elspais.field_value` | warning | Level or Status is not one word |
| `elspais.foreign_header` | info | a heading begins with an id of another scheme |
| `elspais.id_style` | info | a header's id was accepted in another than the canonical spelling |
| `elspais.label_in_text` | info | what looks like a label continues the text before it |
| `elspais.label_style` | warning | an indented, longer or differently styled label was accepted |
| `elspais.late_metadata` | warning | a field below a heading is plain text |
| `elspais.malformed_end` | warning | an End marker that cannot be read still closes its block |
| `elspais.malformed_header` | warning | a heading begins like an id, but does not follow the grammar |
| `elspais.missing_end` | warning | a requirement or journey without End marker |
| `elspais.more` | info | how many further diagnostics of a code are not listed |
| `elspais.not_utf8` | warning | bytes that are not UTF-8 |
| `elspais.reference_style` | info | a reference was accepted in another than the canonical spelling |
| `elspais.repeated_field` | warning | Level or Status is given twice |
| `elspais.repeated_reference` | warning | the same reference is given twice |
| `elspais.repeated_step` | warning | two steps of a journey have the same number |
| `elspais.shared_letter` | warning | settings: two levels share a letter |
| `elspais.stray_end` | warning | an End marker where nothing is open |
| `elspais.too_many_assertions` | warning | more assertions than the settings allow |
| `elspais.trailing_comma` | info | a list ends in a comma |
| `elspais.unclosed_fence` | warning | a code fence is never closed |
| `elspais.unknown_field` | info | something between the bars of a metadata line is no known field |
| `elspais.unknown_level` | warning | a level the settings do not define |
| `elspais.setting_not_obeyed` | info | settings: a value that Clew does not go by |
| `elspais.unknown_setting` | info | settings: a key Clew does not know |
| `elspais.validates_in_section` | warning | a journey's Validates is in a section, where it is plain text |

A reference that does not follow the grammar is no diagnostic: it is a `Reference` with `malformed` set, and so becomes
a broken reference of the graph.
"""

# Implements: REQ-d00007

READER_VERSION = 2
"""Goes up whenever the same bytes give other records; records cached under another version are not used."""
