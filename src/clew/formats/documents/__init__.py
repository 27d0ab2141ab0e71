"""Documents: markdown, reStructuredText, HTML, plain text, notebooks and the docstrings of Python modules.

| module | subject |
|---|---|
| `reader` | a file's bytes to a document: its front matter, its sections, each with a name that lasts, its links |
| `markdown`, `rst`, `html`, `plain`, `notebook`, `docstrings` | one format each, cut into blocks |
| `reference` | pages of the manual, OpenAPI and GraphQL |
| `chunks` | sections to pieces of a useful size |
| `links` | links that lead to other places of the project |

What a reader reports. Codes are stable.

| code | severity | what it says |
|---|---|---|
| `documents.binary` | error | the file is not text |
| `documents.encoding` | warning | a line is not UTF-8; it was read as Windows-1252 |
| `documents.front_matter` | warning | a line of the front matter cannot be read |
| `documents.long_output` | info | an output of a notebook was cut |
| `documents.notebook` | error | the notebook is not JSON |
| `documents.open_fence` | warning | a code block is never closed |
| `documents.syntax` | error | the Python module has a syntax error |
"""

# Implements: REQ-d00090
