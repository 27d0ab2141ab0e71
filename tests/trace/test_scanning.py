"""Which files of code and tests are read, and what of them cites."""

from tests.trace.conftest import Ask, Plant

PAGE = """{# Implements: REQ-d00001-A #}
<p>Don't {{ name }}</p>
<!-- Implements: REQ-d00001-B -->
<script>
// Implements: REQ-d00001-C
const url = "http://example.org"; // none: {{ url }}
</script>
"""
SCRIPT = """// Implements: REQ-d00002-A
const text = "// Implements: REQ-d00009";
/* Implements: REQ-d00002-B */
{% if x %}# no comment here{% endif %}
"""
PROSE = '''"""What this does.

Implements: REQ-d09999 is what such a line looks like.
Implements: REQ-d00001-A
"""

# Tests REQ-d09998 style ids are read here
# Implements REQ-xxxxx in the old way
# Implements: REQ-d09997


def run():
    """Implements: REQ-d00001-Z"""
'''


# Verifies: REQ-d00382-A
def test_settings_that_read_code_among_tests_hide_no_code(plant: Plant, ask: Ask) -> None:
    settings = '[scanning.code]\nfile_patterns = ["tests/fixtures/*.py"]\n\n[scanning.test]\nenabled = true\n'
    cites = "# Implements: REQ-d00001\ndef f():\n    pass\n"
    project = plant(
        {"d00001": ()},
        files={
            ".elspais.toml": settings,
            "src/test_bench.py": cites,
            "tests/fixtures/sample.py": cites,
            "tests/fixtures/test_inner.py": cites,
            "tests/test_a.py": cites.replace("def f", "def test_f"),
        },
    )
    found = ask(project, "get_requirement", req_id="d1")["children"]
    assert sorted((each["kind"], each["id"].partition(":")[2].partition(":")[0]) for each in found) == [
        ("code", "src/test_bench.py"),
        ("code", "tests/fixtures/sample.py"),
        ("test", "tests/fixtures/test_inner.py"),
        ("test", "tests/test_a.py"),
    ]


# Verifies: REQ-d00382-B
def test_templates_are_read_by_their_inner_language(plant: Plant, ask: Ask) -> None:
    project = plant(
        {"d00001": (), "d00002": ()},
        assertions={"d00001": ("a", "b", "c"), "d00002": ("a", "b")},
        files={"src/page.html.j2": PAGE, "src/app.js.j2": SCRIPT},
    )
    assert ask(project, "get_requirement", req_id="d1")["coverage"]["implemented_total_covered"] == 3
    assert ask(project, "get_requirement", req_id="d2")["coverage"]["implemented_total_covered"] == 2
    assert ask(project, "get_broken_references")["total"] == 0


# Verifies: REQ-d00382-C
def test_prose_cites_what_exists_and_breaks_nothing(plant: Plant, ask: Ask) -> None:
    project = plant({"d00001": ()}, assertions={"d00001": ("a",)}, files={"src/a.py": PROSE})
    (broken,) = ask(project, "get_broken_references")["broken_references"]
    assert broken["target_id"] == "REQ-d09997"
    assert ask(project, "get_requirement", req_id="d1")["coverage"]["implemented_total_covered"] == 1
