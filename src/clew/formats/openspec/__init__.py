"""Specs and changes as Spec Oxide and OpenSpec write them.

| module | subject |
|---|---|
| `layout` | which file is what, and the ids of specs and changes |
| `reader` | a file's bytes to records and back, exactly |
| `outline` | what most questions need of a spec, beside the whole of it in sealed form |
| `slugs`, `references` | short names, and how code and tests cite specs by them |
| `tasks`, `proposal`, `metadata`, `change` | the files of a change |
| `rules`, `validate_spec`, `validate_change` | the rules of both tools, and Clew's own |
| `apply`, `difference`, `edits` | what a change does to a spec, shown, done and taken back |
| `touches`, `conflicts`, `dependencies` | what open changes do to each other |

What a reader reports. Codes are stable; the severity is the reader's own view.

| code | severity | what it says |
|---|---|---|
| `openspec.delta_header` | error | a section of a delta looks like an operation, but is none |
| `openspec.duplicate_section` | error, warning | a section occurs twice; both are read |
| `openspec.empty_name` | error | a requirement or scenario without a name |
| `openspec.foreign_heading` | warning, info | a heading among requirements that is none is kept as text |
| `openspec.header_style` | info | a heading was accepted in another than the usual spelling |
| `openspec.indented_header` | warning | an indented heading is text |
| `openspec.metadata` | error, info | a line of `.openspec.yaml` cannot be used |
| `openspec.metadata_flag` | error | `skip_specs` or `retire_capabilities` is neither true nor false |
| `openspec.misplaced_spec` | warning | a `spec.md` directly in the folder of specs has no id and is not read |
| `openspec.more` | info | how many further diagnostics of a code are not listed |
| `openspec.not_utf8` | warning | bytes that are not UTF-8 |
| `openspec.scenario_depth` | warning | a scenario with more or fewer than four number signs was accepted |
| `openspec.scenario_not_header` | warning | a line `**Scenario:** ...` is text |
| `openspec.section_depth` | error, warning | Requirements or Purpose has another level than two |
| `openspec.step_order` | info | AND or BUT continues nothing |
| `openspec.stray_heading` | warning | a requirement or scenario of the wrong level, outside any requirement, is text |
| `openspec.unclosed_fence` | warning | a code fence is never closed |
| `openspec.unlabelled_scenario` | info | a heading of level four without `Scenario:` is counted as a scenario |
| `openspec.unpaired_rename` | error | a FROM without TO, or the other way round, renames nothing |
| `openspec.unreadable_rename` | error | a section RENAMED, or a heading in it, names no pair |
"""

# Implements: REQ-d00070

READER_VERSION = 5
"""Goes up whenever the same bytes give other records; records cached under another version are not used."""
