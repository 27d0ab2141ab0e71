"""Reports of test runs: what became of each test, and which lines were executed.

| module | format |
|---|---|
| `junit` | JUnit XML, as nearly every test runner writes it |
| `pytest_json` | pytest-json-report, pytest-reportlog, and plain lists of outcomes |
| `acceptance` | what became of user journeys, as CSV |
| `coverage` | LCOV, and `coverage json` with or without contexts |

The content decides, not the name of the file. No content makes a reader fail; what it cannot use it reports.

| code | severity | what it says |
|---|---|---|
| `results.broken` | error | the file is cut off or is not the XML or JSON it begins as |
| `results.entities` | error | the XML declares entities, so it was not read |
| `results.cut_off` | warning | a tracefile ends inside a record |
| `results.empty` | warning | the file holds no result of any test and no executed line |
| `results.stray_line` | warning | a line of a tracefile belongs to no file |
| `results.unknown_format` | warning | the file is no report that Clew reads |
| `results.unknown_status` | warning | a test ended in a way that says neither yes nor no |
| `results.unnamed` | warning | a result names no test |
| `results.unreadable_line` | warning | a line of a tracefile that cannot be read |
| `results.more` | info | how many further diagnostics of a code are not listed |
"""

# Implements: REQ-d00040
