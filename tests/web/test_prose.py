"""Prose becomes HTML of which every piece was escaped."""

from clew.markup.prose import inline, prose


# Verifies: REQ-d00417-A
def test_headings_lists_tables_and_code_are_shown_and_markup_stays_text() -> None:
    text = "# Top <b>\n\nOne `a<b` and **bold** [x](docs/y.md) [evil](javascript:alert)\n\n- item <i>\n  - deeper\n\n"
    text += "| a | b |\n|---|---|\n| `1` | <script> |\n\n```sh\n# no heading <b>\n```\n\n## Below\n"
    html = str(prose(text, lambda to: f"/documents/{to}" if to.endswith(".md") else None, 2))
    assert "<h2>Top &lt;b&gt;</h2>" in html
    assert "<h3>Below</h3>" in html
    assert "<code>a&lt;b</code> and <strong>bold</strong>" in html
    assert '<a href="/documents/docs/y.md" rel="noreferrer">x</a> evil' in html
    assert '<li>item &lt;i&gt;</li><li class="deeper">deeper</li>' in html
    assert "<td><code>1</code></td><td>&lt;script&gt;</td>" in html
    assert "<pre><code># no heading &lt;b&gt;</code></pre>" in html


# Verifies: REQ-d00417-A
def test_very_long_lines_of_marks_stay_plain_text() -> None:
    assert str(inline("*" * 100_000)) == "*" * 100_000
    assert "⟨U+202E⟩" in str(prose("turned \u202e round"))
