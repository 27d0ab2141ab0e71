"""What the readers of documents make of files."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.formats.documents.chunks import chunks_of
from clew.formats.documents.model import BlockKind, Document
from clew.formats.documents.reader import read_document


def outline(document: Document) -> list[tuple[int, str, str]]:
    return [(section.level, section.title, section.key) for section in document.sections]


def kinds(document: Document, section: int = 0) -> list[str]:
    return [block.kind.value for block in document.sections[section].blocks]


# Verifies: REQ-d00090-A+C
def test_markdown_gives_sections_that_follow_its_headings_and_know_their_place() -> None:
    text = (
        "Before.\n\n# Guide\n\nHello *you*.\n\n## Set `up` #\n\n```md\n# not a heading\n```\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\nUnderlined\n----------\n\n- one\n  - inner\n\n    more\n- two\nlazy\n\n"
        "<!--\n# hidden\n-->\n\n    indented = code\n"
    )
    document = read_document(text.encode(), "docs/guide.md")
    assert outline(document) == [
        (0, "Guide", "preamble"),
        (1, "Guide", "guide"),
        (2, "Set up", "set-up"),
        (2, "Underlined", "underlined"),
    ]
    assert kinds(document, 2) == ["heading", "code", "table"]
    assert kinds(document, 3) == ["heading", "item", "item", "comment", "code"]
    item = document.sections[3].blocks[1]
    assert document.text[item.start : item.end] == "- one\n  - inner\n\n    more"
    assert [section.parent for section in document.sections] == [-1, -1, 1, 1]
    lines = text.splitlines()
    for section in document.sections:
        assert document.text[section.start : section.end] == "\n".join(lines[section.line - 1 : section.end_line])


# Verifies: REQ-d00090-B
def test_front_matter_is_kept_and_gives_the_title() -> None:
    text = (
        '---\ntitle: "A title"  # why not\ntags: [one, two]\nowners:\n  - Ann\n  - Bo\ndraft: true\nversion: 1.5\n'
        "about: >\n  long\n  text\n---\n# Heading\n"
    )
    document = read_document(text.encode(), "a.md")
    assert document.title == "A title"
    assert document.front_matter == {
        "title": "A title",
        "tags": ["one", "two"],
        "owners": ["Ann", "Bo"],
        "draft": True,
        "version": 1.5,
        "about": "long text",
    }
    assert outline(document) == [(1, "Heading", "heading")]
    toml = read_document(b'+++\ntitle = "T"\nweight = 3\n+++\ntext\n', "b.md")
    assert toml.front_matter == {"title": "T", "weight": 3}
    assert read_document(b"---\njust a line\n---\n", "c.md").front_matter == {}


# Verifies: REQ-d00090-A
def test_links_lead_to_other_documents_with_their_labels_and_never_to_the_web() -> None:
    text = (
        '# T\n\nSee [the guide](../guide.md#set-up "x"), [`code`][ref], [web](https://example.org/a.md), [here](#t), '
        "`[not](a.md)` and ![no](image.png).\n\n[ref]: other%20page.md\n"
    )
    links = read_document(text.encode(), "docs/a.md").links
    assert [(link.path, link.label, link.text) for link in links] == [
        ("../guide.md", "set-up", "the guide"),
        ("other page.md", "", "`code`"),
        ("", "t", "here"),
    ]
    assert text[links[0].start : links[0].end].startswith("[the guide](")


# Verifies: REQ-d00090-A
def test_sections_are_found_by_every_label_that_links_use() -> None:
    text = '# What\'s new?\n\n## Setup {#install}\n\n<a id="old-name"></a>\n\n## Notes\n\n## Notes\n'
    document = read_document(text.encode(), "a.md")
    assert [section.labels for section in document.sections] == [
        ("what-s-new", "whats-new"),
        ("install", "setup"),
        ("old-name", "notes"),
        ("notes",),
    ]
    assert [section.key for section in document.sections] == ["what-s-new", "install", "old-name", "notes"]


# Verifies: REQ-d00090-A+C
def test_restructured_text_is_read_with_its_titles_code_tables_and_references() -> None:
    text = (
        ":author: Ann\n\n=====\nTitle\n=====\n\nSee :doc:`install`, :ref:`text <far>` and `here <b.rst#x>`_.\n\n"
        ".. _far:\n\nPart\n----\n\nAn example::\n\n    Code\n    ----\n\n.. code-block:: python\n   :linenos:\n\n"
        "   x = 1\n\n   y = 2\n\n.. note::\n\n   Mind *this*.\n\n.. a comment\n\n+---+---+\n| a | b |\n+---+---+\n\n"
        "===  ===\nA    B\n===  ===\n1    2\n===  ===\n\n#. first\n   more\n#. second\n\n>>> 1 + 1\n2\n"
    )
    document = read_document(text.encode(), "a.rst")
    assert document.front_matter == {"author": "Ann"}
    assert outline(document) == [(1, "Title", "title"), (2, "Part", "far")]
    assert kinds(document, 1) == [
        *("heading", "prose", "code", "code", "prose", "prose", "table", "table", "item", "item", "code")
    ]
    assert [(link.path, link.label, link.anywhere) for link in document.links] == [
        ("install", "", False),
        ("", "far", True),
        ("b.rst", "x", False),
    ]


# Verifies: REQ-d00090-A+C
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Top\n===\n\n~~~~~\n Sub\n~~~~~\n\nDeep\n~~~~\n\nSub 2\n~~~~~\n", "1 Top, 2 Sub, 3 Deep, 3 Sub 2"),
        ("===\nTop\n===\n\nPart\n====\n\nPart 2\n======\n\n====\nNext\n====\n", "1 Top, 2 Part, 2 Part 2, 1 Next"),
        ("Top\n===\n\nA paragraph\nof two lines\n------------\n\nText.\n", "1 Top"),
        ("A title with a short underline\n----\n", "1 A title with a short underline"),
        ("No title\n---\n", ""),
        ("漢字の題\n========\n", "1 漢字の題"),
        ("Top\n===\nText at once.\n\n.. note::\n\n   Inner\n   -----\n", "1 Top"),
        ("Like this::\n\n---- a\n----\n\nTop\n===\n", "1 Top"),
        ("===  ===\nA    B\n===  ===\nx    y\n\nc\n--------\nd    e\n===  ===\n\nTop\n===\n", "1 Top"),
        ("Text\n\n----\n\nTop\n^^^\n", "1 Top"),
        ("A. Top\n======\n\n- x\n=\n", "1 A. Top"),
        (".. include:: /etc/hostname\n.. role:: odd\n.. raw:: html\n   :file: x\n\nTop\n===\n", "1 Top"),
    ],
)
def test_sections_of_restructured_text_are_those_of_docutils(text: str, expected: str) -> None:
    document = read_document(text.encode(), "a.rst")
    found = ", ".join(f"{level} {title}" for level, title, _ in outline(document) if level)
    assert found == expected


# Verifies: REQ-d00090-D
def test_a_title_that_skips_a_level_is_kept_though_docutils_refuses_it() -> None:
    text = "Top\n===\n\nDeep\n----\n\nDeeper\n~~~~~~\n\nNext\n====\n\nSkips\n~~~~~\n"
    document = read_document(text.encode(), "a.rst")
    assert [(level, title) for level, title, _ in outline(document)][-2:] == [(1, "Next"), (3, "Skips")]


# Verifies: REQ-d00401-A+B
def test_titles_and_directives_below_a_directive_are_not_read_as_text() -> None:
    text = (
        "Client\n======\n\n.. automodule:: client\n\n   Request objects\n   ---------------\n"
        "   .. autoclass:: Request\n      :members:\n\n   Options\n   ~~~~~~~\n   What can be set.\n\n"
        "   Not a ruler\n     ----\n   .. yet.\n\n.. testsetup::\n\n   import client\n"
    )
    shown = read_document(text.encode(), "a.rst").text.split("\n")
    assert [line.strip() for line in shown] == [
        "# Client",
        *["", "", "`client`", "", "**Request objects**", "", "`Request`", "", ""],
        *["**Options**", "", "What can be set.", "", "Not a ruler", "----", ".. yet.", "", "", "", "", ""],
    ]


# Verifies: REQ-d00401-B
@pytest.mark.parametrize("opening", [".. container:: wide", ".. only:: html", ".. rst-class:: wide"])
def test_what_a_directive_for_the_layout_holds_is_read_and_its_argument_is_not(opening: str) -> None:
    text = f"Ports\n=====\n\n{opening}\n   :name: box\n\n   The port is 8080.\n\nThe end.\n"
    shown = read_document(text.encode(), "a.rst").text.split("\n")
    assert [line.strip() for line in shown if line] == ["# Ports", "The port is 8080.", "The end."]


# Verifies: REQ-d00401-C+E
def test_a_note_before_a_title_stays_in_its_section_and_a_setting_names_the_next_one() -> None:
    text = (
        "Keys\n====\n\nA key opens the door.\n\n.. note:: Keep it in the safe.\n\n.. versionchanged:: 2.1 Of brass.\n\n"
        ".. autofunction:: doors.open\n\n.. py:function:: doors.shut()\n\nLocks\n-----\n\n.. tabs::\n\n"
        ".. setting:: LOCK_TIMEOUT\n\nTime\n----\n\nIn seconds.\n"
    )
    document = read_document(text.encode(), "a.rst")
    keys, locks, time = document.sections
    assert [document.text[block.start : block.end].strip() for block in keys.blocks[1:]] == [
        *("A key opens the door.", "Note: Keep it in the safe.", "Changed in version 2.1 Of brass."),
        *("`doors.open`", "`doors.shut()`"),
    ]
    assert [section.labels for section in (keys, locks, time)] == [("keys",), ("locks",), ("LOCK_TIMEOUT", "time")]


# Verifies: REQ-d00090-A
def test_html_is_read_as_a_person_would_read_it() -> None:
    text = (
        "<!doctype html><html><head><title>The  page</title><meta name=description content='About'>"
        "<style>h1 {}</style></head><body><nav><a href='index.html'>Home</a></nav>\n"
        "<section id='set-up'><h1>Set <em>up</em></h1>\n<p>One\n &amp; two.<script>no()</script></p>"
        "<pre>$ run\n  it</pre><ul><li>a<ul><li>inner</li></ul></li><li>b</li></ul>"
        "<table><tr><th>k</th><th>v</th></tr><tr><td>x</td><td>y</td></tr></table><dl><dt>Term</dt><dd>Means.</dd></dl>"
    )
    document = read_document(text.encode(), "a.html")
    assert document.title == "The page"
    assert document.front_matter["description"] == "About"
    assert "no()" not in document.text
    section = document.sections[1]
    assert (section.title, section.labels[0]) == ("Set up", "set-up")
    assert [document.text[block.start : block.end] for block in section.blocks] == [
        *("Set up", "One & two.", "$ run\n  it", "- a\n  - inner", "- b", "k | v\nx | y", "Term\n: Means.")
    ]
    assert [(link.path, link.text) for link in document.links] == [("index.html", "Home")]
    assert section.line == 2


# Verifies: REQ-d00090-A
def test_code_of_a_page_keeps_its_lines_wherever_it_stands_and_ends_with_its_block() -> None:
    def text(page: str) -> str:
        return read_document(page.encode(), "a.html").text

    assert text("<ul><li>Do<pre>a = 1\n  b = 2\n</pre>then  wait</li></ul>") == "- Do\na = 1\n  b = 2\nthen wait"
    assert text("<table><tr><td>1</td><td><pre>x\n  y</pre></td></tr></table>") == "1 | \nx\n  y"
    assert text("<pre>open\n  code<p>prose  of\nlines") == "open\n  code\n\nprose of lines"


# Verifies: REQ-d00090-A
def test_a_notebook_is_read_with_what_its_cells_printed() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Analysis\n", "\n", "Text about `x`."]},
        {
            "cell_type": "code",
            "source": "print('\"cell_type\": 1')",
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31m42\x1b[0m\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "df", "image/png": "AAAA"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": []},
            ],
        },
        {"cell_type": "raw", "source": "as is"},
    ]
    data = json.dumps(
        {"cells": cells, "metadata": {"kernelspec": {"display_name": "Python 3"}}, "nbformat": 4}, indent=1
    )
    document = read_document(data.encode(), "a.ipynb")
    assert outline(document) == [(1, "Analysis", "analysis")]
    assert kinds(document) == ["heading", "prose", "code", "output", "output", "output", "prose"]
    assert [document.text[b.start : b.end] for b in document.sections[0].blocks][3:6] == ["42", "df", "ValueError: bad"]
    assert document.front_matter == {"kernelspec": "Python 3"}
    code = document.sections[0].blocks[2]
    assert '"code"' in data.splitlines()[code.line - 1]
    assert read_document(b"{", "b.ipynb").diagnostics[0].code == "documents.notebook"


# Verifies: REQ-d00090-A
def test_docstrings_of_a_module_stand_under_the_names_of_what_they_document() -> None:
    text = (
        '"""About the module.\n\n>>> run()\n1\n"""\n\n\nclass Boat:\n    """A boat."""\n\n    def float(self):\n'
        '        """Keep up.\n\n        Parameters\n        ----------\n        x: deep\n        """\n\n\n'
        "def bare(): ...\n"
    )
    document = read_document(text.encode(), "src/harbour/boats.py")
    assert outline(document) == [
        (1, "harbour.boats", "harbour-boats"),
        (2, "Boat", "boat"),
        (3, "Boat.float", "boat/boat-float"),
    ]
    assert kinds(document) == ["heading", "prose", "code"]
    assert (document.sections[2].line, document.sections[2].end_line) == (12, 17)
    broken = read_document(b"def f(:\n", "a.py")
    assert [item.code for item in broken.diagnostics] == ["documents.syntax"]


# Verifies: REQ-d00090-A
def test_plain_text_has_headings_where_lines_are_underlined_or_in_capitals() -> None:
    text = "INTRODUCTION\n\nHello there.\n\nA part\n======\n\n- one\n- two\n  more\n\nNot a HEADING here\n"
    document = read_document(text.encode(), "notes.txt")
    assert outline(document) == [(2, "INTRODUCTION", "introduction"), (1, "A part", "a-part")]
    assert kinds(document, 1) == ["heading", "item", "item", "prose"]


# Verifies: REQ-d00090-D
def test_odd_files_are_read_as_far_as_possible_and_say_what_was_odd() -> None:
    open_fence = read_document(b"# T\n\n```\ncode\n# still code\n", "a.md")
    assert [(item.code, item.line) for item in open_fence.diagnostics] == [("documents.open_fence", 3)]
    mixed = read_document("fine é\n".encode() + "caf\xe9\n".encode("latin-1"), "a.txt")
    assert mixed.text == "fine é\ncafé\n"
    assert [(item.code, item.line) for item in mixed.diagnostics] == [("documents.encoding", 2)]
    assert read_document("# Hé".encode("utf-16"), "a.md").sections[0].title == "Hé"
    assert [item.code for item in read_document(b"\0\1\2", "a.md").diagnostics] == ["documents.binary"]
    assert read_document(b"", "docs/empty.md").title == "empty"
    broken = read_document(b"<h1>A<p>b</h2><![odd <table><td>c", "a.html")
    assert broken.sections[0].title == "A"
    front = read_document(b"---\na: 1\n?? odd\n---\ntext\n", "a.md")
    assert [(item.code, item.line) for item in front.diagnostics] == [("documents.front_matter", 3)]


# Verifies: REQ-d00090-A
def test_renaming_a_document_keeps_the_names_of_its_sections() -> None:
    before = read_document(b"# Old title\n\n## Part\n\n### Deep\n", "a.md")
    after = read_document(b"# New title\n\n## Part\n\n### Deep\n", "a.md")
    assert [section.key for section in before.sections[1:]] == ["part", "part/deep"]
    assert [section.key for section in before.sections[1:]] == [section.key for section in after.sections[1:]]
    several = read_document("# Ä é 中文\n\n## Part\n\n# B\n\n## Part\n".encode(), "a.md")
    assert [section.key for section in several.sections] == ["a-e-中文", "part", "b", "b/part"]


# Verifies: REQ-d00095-A
def test_a_heading_that_is_added_at_the_end_renames_nothing_above_it() -> None:
    text = "# Title\n\n## Part\n\n### Deep\n"
    before = [section.key for section in read_document(text.encode(), "a.md").sections]
    for added in ("# Another title\n", "## Part\n", "### Deep\n"):
        after = [section.key for section in read_document((text + added).encode(), "a.md").sections]
        assert after[:-1] == before
        assert len(set(after)) == len(after)


# Verifies: REQ-d00090-D
@pytest.mark.parametrize("name", ["a.md", "a.rst", "a.html", "a.txt", "a.ipynb", "a.py"])
@pytest.mark.parametrize(
    "text",
    [
        "# " + " " * 50_000 + "x",
        "`" * 50_000,
        "[" * 50_000,
        "<" * 50_000,
        "<!--\n" * 20_000,
        "".join(f"{'  ' * (depth % 400)}- item\n" for depth in range(5_000)),
        "## Same\n" * 5_000,
        "a: " * 20_000,
        ".. note::\n" + "".join(f"{'   ' * depth}.. note::\n" for depth in range(1, 300)),
        "Title\n=====\n\n- item\n\ntext\n\n" * 3_000,
        "- item\n====\n" * 8_000,
        "===  ===\n\n" * 5_000,
        "<ul><li>" * 5_000,
        "<a b=c " * 10_000,
        "[" * 2_000 + "]" * 2_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_texts_cost_no_more_than_others(text: str, name: str) -> None:
    document = read_document(text.encode(), name)
    assert all(chunk.tokens <= 512 for chunk in chunks_of(document))


_SIGNS = (
    "# A",
    "## B",
    "```",
    "~~~~",
    "- x",
    "  - y",
    "1. z",
    "| a | b |",
    "|---|---|",
    "",
    "text",
    "===",
    "---",
    "::",
)
_MORE_SIGNS = (
    ".. note::",
    "   in",
    "<!--",
    "-->",
    ">>> 1",
    "<p>",
    "<ul><li>",
    "</table>",
    "<pre>",
    "+---+",
    "\t",
    "中",
    "\r",
)
_MARKS = st.lists(st.sampled_from((*_SIGNS, *_MORE_SIGNS)), max_size=40)


# Verifies: REQ-d00090-D
@settings(max_examples=examples(150))
@given(
    lines=_MARKS,
    end=st.sampled_from(["\n", "\r\n"]),
    name=st.sampled_from(["a.md", "a.rst", "a.html", "a.txt", "a.py"]),
)
def test_no_text_is_refused_and_everything_read_lies_in_order(lines: list[str], end: str, name: str) -> None:
    document = read_document(end.join(lines).encode(), name)
    at, keys = 0, set()
    for section in document.sections:
        assert section.key not in keys
        keys.add(section.key)
        assert section.parent < len(keys)
        for block in section.blocks:
            assert at <= block.start < block.end <= len(document.text)
            assert 1 <= block.line <= block.end_line
            assert (block.kind is BlockKind.HEADING) == (block.level > 0)
            at = block.end


# Verifies: REQ-d00401-F
def test_options_that_describe_a_thing_are_read_and_those_for_the_layout_are_not() -> None:
    text = (
        ".. conf::\n   :keys: bell_seconds\n   :default: 30\n   :class: wide\n\n   The pause between two strokes.\n\n"
        ".. confval:: horn\n   :type: string\n   :no-index:\n\n   Which horn is blown.\n\n"
        ".. image:: bell.png\n   :alt: a bell\n"
    )
    shown = read_document(text.encode(), "docs/bells.rst").text
    assert len(shown.splitlines()) == len(text.splitlines())
    assert shown.startswith("`bell_seconds`\n\n   default: 30\n\n\n   The pause")
    assert "`horn`\n   type: string\n\n\n   Which" in shown
    assert "no-index" not in shown
    assert "a bell" not in shown


# Verifies: REQ-d00090-B
def test_a_long_table_of_lists_is_cut_between_its_rows() -> None:
    rows = "".join(f"   * - FOG_{number}\n     - yes\n     - no\n" for number in range(200))
    document = read_document(f"Bells\n=====\n\n.. list-table:: Fog\n\n{rows}".encode(), "docs/bells.rst")
    texts = [document.text[each.start : each.end].strip() for each in chunks_of(document)]
    assert len(texts) > 2
    assert all(each.startswith("* - FOG_") for each in texts[1:])


# Verifies: REQ-d00090-E
def test_a_page_of_the_manual_gives_its_sections_and_options_without_macros() -> None:
    text = (
        '.\\" nobody reads this\n.TH SOUND 1 "May 2026"\n.SH NAME\nsound \\- tell the depth\n.SH OPTIONS\n.TP\n'
        '.BR \\-q ", " \\-\\-quiet\nSay \\fInothing\\fR.\n.SS More\n.nf\nsound  -q\n.fi\n'
    )
    document = read_document(text.encode(), "docs/man/sound.1")
    assert outline(document) == [
        (1, "SOUND(1)", "sound-1"),
        (2, "NAME", "name"),
        (2, "OPTIONS", "options"),
        (3, "More", "options/more"),
    ]
    assert document.text == (
        "SOUND(1)\n\nNAME\n\nsound - tell the depth\n\nOPTIONS\n\n-q, --quiet\nSay nothing.\n\nMore\n\nsound  -q"
    )
    assert kinds(document, 2) == ["heading", "item"]
    assert [section.line for section in document.sections] == [2, 3, 5, 9]
    assert read_document(text.encode(), "release/notes.1").format == "plain"


# Verifies: REQ-d00090-E
def test_a_page_of_mdoc_gives_its_options() -> None:
    text = ".Dt PIER 8\n.Sh DESCRIPTION\n.Nm pier\n.Nd moor a ship\n.Bl -tag\n.It Fl f Ar file\nReads\n.Dq it .\n.El\n"
    document = read_document(text.encode(), "man8/pier.8")
    assert document.text == "PIER(8)\n\nDESCRIPTION\n\npier — moor a ship\n\n-f file\nReads “it .”"


YAML = """openapi: 3.1.0
info:
  title: Harbour
  description: |
    Berths and ships.
paths:
  /ships:
    get:
      summary: List ships
      description: >-
        At most
        100 of them.
    parameters: []
  "/ships/{id}":
    delete: {summary: gone}
components:
  schemas:
    Ship:
      description: A hull with a name.
"""
JSON = {
    "info": {"title": "Harbour", "description": "Berths and ships."},
    "swagger": "2.0",
    "paths": {"/ships": {"get": {"summary": "List ships"}, "parameters": []}, "/ships/{id}": {"delete": {}}},
    "definitions": {"Ship": {"description": "A hull with a name."}},
}


# Verifies: REQ-d00090-E
@pytest.mark.parametrize(("text", "path"), [(YAML, "api/openapi.yaml"), (json.dumps(JSON, indent=1), "swagger.json")])
def test_a_description_of_an_interface_gives_its_operations_and_schemas(text: str, path: str) -> None:
    document = read_document(text.encode(), path)
    assert [section.title for section in document.sections] == [
        "Harbour",
        "GET /ships",
        "DELETE /ships/{id}",
        "Schema Ship",
    ]
    paragraphs = [document.text[block.start : block.end] for each in document.sections for block in each.blocks[1:]]
    assert {"Berths and ships.", "List ships", "A hull with a name."} <= set(paragraphs)
    assert ("At most 100 of them." in paragraphs) == (text == YAML)
    lines = text.splitlines()
    assert "get" in lines[document.sections[1].line - 1] or "/ships" in lines[document.sections[1].line - 1]


# Verifies: REQ-d00090-E
@pytest.mark.parametrize("text", ["a: 1\nb: 2\n", '{"paths": {"/a": {"get": {}}}}', '{"openapi"', "{" * 9_999])
def test_what_describes_no_interface_is_plain_text(text: str) -> None:
    document = read_document(text.encode(), "docs/openapi.json")
    assert (document.format, document.text) == ("plain", text)


# Verifies: REQ-d00090-E
def test_a_schema_of_graphql_gives_its_definitions_with_their_descriptions() -> None:
    text = (
        '"""A ship\nthat floats."""\ntype Ship implements Node @key(fields: "id") {\n  "type of hull" type: Hull\n}\n'
        "# none\nextend type Ship { age: Int }\nunion Any = Ship | Hull\nenum Hull { WOOD }\n"
        '"On a day"\nscalar Date\nschema { query: Query }\ndirective @old(why: String) on FIELD\n'
    )
    document = read_document(text.encode(), "schema.graphql")
    named = ["type Ship", "type Ship", "union Any", "enum Hull", "scalar Date", "schema", "directive old"]
    assert [section.title for section in document.sections] == ["schema", *named]
    ship = document.sections[1]
    shown = [document.text[block.start : block.end] for block in ship.blocks]
    assert shown[1] == "A ship\nthat floats."
    assert shown[2].startswith("type Ship implements")
    assert shown[2].endswith("}")
    assert [section.line for section in document.sections[1:]] == [3, 7, 8, 9, 11, 12, 13]
