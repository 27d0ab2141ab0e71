"""Links written into files: in the right words, in the right place, and nothing else changed."""

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.errors import ClewError, Conflict, FormatError, InvalidArgument, NotFound, OutsideProject, Refused
from clew.graph.model import NodeKind
from clew.project import Project
from clew.trace.links.match.sources import ProjectSources
from clew.trace.links.requests import LinkRequest, SuggestionQuery
from clew.trace.links.service import LinkWriter

Plant = Callable[..., Project]

SPEC_IDS = {"d00001": (), "d00002": ()}
ASSERTIONS = {"d00001": ["It SHALL ring.", "It SHALL stop."], "d00002": ["It SHALL glow."]}


@pytest.fixture
def project(plant: Plant, tmp_path: Path) -> Project:
    words_alone = '[embedder]\nkind = "none"\n'
    return plant(SPEC_IDS, assertions=ASSERTIONS, files={"clew.toml": words_alone, "src/keep.txt": ""})


@pytest.fixture
def applied(project: Project, tmp_path: Path) -> Callable[..., Any]:
    """Writes a file, applies a link to it and returns what the file holds then."""

    def apply(path: str, before: str | bytes, line: int, id: str = "REQ-d00001-A", **options: Any) -> bytes:
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(before if isinstance(before, bytes) else before.encode())
        project.ensure_graph()
        project.links.apply(LinkRequest(path, line, id, **options))
        return target.read_bytes()

    return apply


# Verifies: REQ-d00057-A
@pytest.mark.parametrize(
    ("path", "before", "line", "after"),
    [
        ("src/a.py", "def f():\n    pass\n", 2, "# Implements: REQ-d00001-A\ndef f():\n    pass\n"),
        (
            "src/a.py",
            "class A:\n    @cache\n    def f(self):\n        pass\n",
            4,
            "class A:\n    # Implements: REQ-d00001-A\n    @cache\n    def f(self):\n        pass\n",
        ),
        (
            "src/A.java",
            "class A {\n\t/** Rings. */\n\t@Override\n\tvoid f() {\n\t\tring();\n\t}\n}\n",
            5,
            "class A {\n\t// Implements: REQ-d00001-A\n\t/** Rings. */\n\t@Override\n\tvoid f() {\n"
            "\t\tring();\n\t}\n}\n",
        ),
        ("src/a.go", "package a\n\nfunc F() {\n}\n", 3, "package a\n\n// Implements: REQ-d00001-A\nfunc F() {\n}\n"),
        ("src/a.rs", "fn f() {\n}\n", 1, "// Implements: REQ-d00001-A\nfn f() {\n}\n"),
        ("src/a.rb", "def f\n  1\nend\n", 2, "# Implements: REQ-d00001-A\ndef f\n  1\nend\n"),
        ("src/a.lua", "function f()\nend\n", 1, "-- Implements: REQ-d00001-A\nfunction f()\nend\n"),
        ("src/a.sql", "SELECT 1;\n", 1, "-- Implements: REQ-d00001-A\nSELECT 1;\n"),
        ("src/a.css", ".a { color: red }\n", 1, "/* Implements: REQ-d00001-A */\n.a { color: red }\n"),
        ("src/a.ml", "let x = 1\n", 1, "(* Implements: REQ-d00001-A *)\nlet x = 1\n"),
        ("src/a.hs", "x = 1\n", 1, "-- Implements: REQ-d00001-A\nx = 1\n"),
        ("src/a.erl", "f() -> ok.\n", 1, "% Implements: REQ-d00001-A\nf() -> ok.\n"),
        ("src/a.clj", "(def x 1)\n", 1, ";; Implements: REQ-d00001-A\n(def x 1)\n"),
        ("src/a.yml", "a:\n  b: 1\n", 2, "a:\n  # Implements: REQ-d00001-A\n  b: 1\n"),
        (
            "src/a.vue",
            "<template>\n  <p/>\n</template>\n<script>\nlet a\n</script>\n",
            2,
            "<template>\n  <!-- Implements: REQ-d00001-A -->\n  <p/>\n</template>\n<script>\nlet a\n</script>\n",
        ),
        (
            "src/a.vue",
            "<template>\n  <p/>\n</template>\n<script>\nlet a\n</script>\n",
            5,
            "<template>\n  <p/>\n</template>\n<script>\n/* Implements: REQ-d00001-A */\nlet a\n</script>\n",
        ),
        ("src/a.sh", "#!/bin/sh\nset -e\n", 0, "#!/bin/sh\n# Implements: REQ-d00001-A\nset -e\n"),
        (
            "src/a.py",
            "# -*- coding: utf-8 -*-\nx = 1\n",
            0,
            "# -*- coding: utf-8 -*-\n# Implements: REQ-d00001-A\nx = 1\n",
        ),
        ("src/a.py", 'x = """\nring\n"""\n', 2, '# Implements: REQ-d00001-A\nx = """\nring\n"""\n'),
        ("src/a.c", "#define A \\\n  1\n", 2, "// Implements: REQ-d00001-A\n#define A \\\n  1\n"),
        ("src/a.py", "", 0, "# Implements: REQ-d00001-A\n"),
    ],
)
def test_the_comment_is_in_the_files_own_style_beside_the_definition(
    applied: Any, path: str, before: str, line: int, after: str
) -> None:
    assert applied(path, before, line).decode() == after


# Verifies: REQ-d00057-A
def test_the_line_of_a_comment_above_a_definition_means_the_definition(applied: Any) -> None:
    before = "# Rings the bell.\n#\ndef f():\n    pass\n"
    assert applied("src/a.py", before, 1).decode() == before.replace("def f", "# Implements: REQ-d00001-A\ndef f")


# Verifies: REQ-d00057-B
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfdef f():\n    pass\n", b"\xef\xbb\xbf# Implements: REQ-d00001-A\ndef f():\n    pass\n"),
        (b"def f():\r\n    pass\r\n", b"# Implements: REQ-d00001-A\r\ndef f():\r\n    pass\r\n"),
        (b"def f():\r    pass\r", b"# Implements: REQ-d00001-A\rdef f():\r    pass\r"),
        (b"def f():\n    pass", b"# Implements: REQ-d00001-A\ndef f():\n    pass"),
        (b"# caf\xe9 \xff\ndef f():\n    pass\n", b"# caf\xe9 \xff\n# Implements: REQ-d00001-A\ndef f():\n    pass\n"),
        (b"def f():\n\tpass  \n\n\n\x0c\n", b"# Implements: REQ-d00001-A\ndef f():\n\tpass  \n\n\n\x0c\n"),
    ],
)
def test_every_other_byte_stays(applied: Any, before: bytes, after: bytes) -> None:
    line = 2 if before.startswith(b"#") else 1
    assert applied("src/a.py", before, line) == after


# Verifies: REQ-d00057-B
def test_permissions_and_links_of_a_file_stay(applied: Any, project: Project, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir(exist_ok=True)
    script = tmp_path / "src" / "real.sh"
    script.write_text("f() {\n  :\n}\n")
    script.chmod(0o750)
    (tmp_path / "src" / "linked.sh").symlink_to("real.sh")
    project.ensure_graph()

    project.links.apply(LinkRequest("src/linked.sh", 1, "REQ-d00001"))

    assert (tmp_path / "src" / "linked.sh").is_symlink()
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    assert script.read_text().startswith("# Implements: REQ-d00001\n")
    assert [path.name for path in (tmp_path / "src").iterdir() if path.suffix == ".tmp"] == []


# Verifies: REQ-d00057-C
@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        (
            "# Verifies: REQ-d00002\n\nimport x\n\ndef test_a():\n    pass\n\ndef test_b():\n    pass\n",
            6,
            "# Verifies: REQ-d00002\n\nimport x\n\n# Verifies: REQ-d00002, REQ-d00001-A\ndef test_a():\n    pass\n\n"
            "def test_b():\n    pass\n",
        ),
        (
            "# Verifies: REQ-d00002\nclass TestX:\n    def test_a(self):\n        pass\n\n"
            "    def test_b(self):\n        pass\n",
            6,
            "# Verifies: REQ-d00002\nclass TestX:\n    def test_a(self):\n        pass\n\n"
            "    # Verifies: REQ-d00002, REQ-d00001-A\n    def test_b(self):\n        pass\n",
        ),
        (
            "# Verifies: REQ-d00001-B\ndef test_a():\n    pass\n",
            3,
            "# Verifies: REQ-d00001-B\n# Verifies: REQ-d00001-A\ndef test_a():\n    pass\n",
        ),
    ],
)
def test_a_test_keeps_the_links_it_had(applied: Any, before: str, line: int, after: str) -> None:
    assert applied("tests/test_a.py", before, line).decode() == after


# Verifies: REQ-d00057-D
@pytest.mark.parametrize(
    ("path", "before", "line"),
    [
        ("src/a.py", "# Implements: REQ-d00001-A\ndef f():\n    pass\n", 2),
        ("src/a.py", "# Implements: REQ-d00001-A+B\ndef f():\n    pass\n", 3),
        ("src/a.py", "# Implements: d1-a\ndef f():\n    pass\n", 1),
        ("src/a.js", "// Implements: REQ-d00001-A\n/** Rings. */\nfunction f() {\n}\n", 2),
        ("src/a.sh", "#!/bin/sh\n# Implements: REQ-d00001-A\nset -e\n", 0),
        ("tests/test_a.py", "def test_REQ_d00001_A_rings():\n    pass\n", 1),
    ],
)
def test_a_link_that_is_there_is_not_written_again(
    applied: Any, project: Project, path: str, before: str, line: int
) -> None:
    assert applied(path, before, line).decode() == before
    done = project.links.apply(LinkRequest(path, line, "REQ-d00001-A"))
    assert (done.success, done.already_linked, done.comment) == (True, True, "")


# Verifies: REQ-d00057-D
def test_applying_twice_is_applying_once(applied: Any, project: Project, tmp_path: Path) -> None:
    once = applied("src/a.py", "def f():\n    pass\n", 1)
    done = project.links.apply(LinkRequest("src/a.py", 2, "REQ-d00001-A"))
    assert done.already_linked
    assert (tmp_path / "src" / "a.py").read_bytes() == once


# Verifies: REQ-d00057-E, REQ-d00382-D
@pytest.mark.parametrize(
    ("settings", "keyword"),
    [
        ("", "Verifies"),
        ('[testing]\nreference_keyword = "Validates"\n', "Validates"),
        ('[testing]\nreference_keyword = "tests"\n', "Tests"),
        ('[scanning.test]\nreference_keyword = "Validates"\n', "Verifies"),
        ('[scanning.test]\nreference_keyword = "Proves"\n', "Verifies"),
    ],
)
def test_the_keyword_of_tests_is_the_configured_one(plant: Plant, tmp_path: Path, settings: str, keyword: str) -> None:
    test = "def test_f():\n    pass\n"
    project = plant(SPEC_IDS, assertions=ASSERTIONS, files={".elspais.toml": settings, "tests/test_a.py": test})

    done = project.links.apply(LinkRequest("tests/test_a.py", 1, "REQ-d00001-A"))

    assert done.comment == f"# {keyword}: REQ-d00001-A"


# Verifies: REQ-d00057-F
def test_the_graph_holds_the_link_afterwards(applied: Any, project: Project) -> None:
    applied("src/a.py", "def f():\n    pass\n", 1, "d1-A+B")

    (code,) = project.graph.nodes_by_kind(NodeKind.CODE)
    assert code.title == "f"
    (edge,) = project.graph.iter_outgoing_edges(code.id)
    assert (edge.kind.value, edge.target, edge.labels) == ("implements", "REQ-d00001", ("A", "B"))


# Verifies: REQ-d00058-A
@pytest.mark.parametrize(
    ("id", "says"),
    [("REQ-d00009", "REQ-d00009"), ("REQ-d00001-Z", "'Z'"), ("nonsense", "nonsense"), ("REQ-d00001-A+Z", "'Z'")],
)
def test_an_unknown_requirement_is_refused_before_the_file_is_touched(
    applied: Any, project: Project, tmp_path: Path, id: str, says: str
) -> None:
    with pytest.raises(NotFound, match=says) as refused:
        applied("src/a.py", "def f():\n    pass\n", 1, id)
    assert refused.value.hint
    assert (tmp_path / "src" / "a.py").read_text() == "def f():\n    pass\n"


# Verifies: REQ-d00058-B
@pytest.mark.parametrize(
    ("path", "line", "error"),
    [
        ("../outside.py", 1, OutsideProject),
        ("/etc/hostname", 1, OutsideProject),
        ("src/way.py", 1, OutsideProject),
        ("src/\0.py", 1, OutsideProject),
        ("src/missing.py", 1, NotFound),
        ("src", 1, InvalidArgument),
        ("spec/all.md", 1, Refused),
        ("src/a.py", 3, InvalidArgument),
        ("src/a.py", -1, InvalidArgument),
    ],
)
def test_places_that_no_link_can_be_at_are_refused(
    project: Project, tmp_path: Path, path: str, line: int, error: type[ClewError]
) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.py"
    outside.write_text("def f(): pass\n")
    (tmp_path / "src" / "way.py").symlink_to(outside)
    (tmp_path / "src" / "a.py").write_text("def f():\n    pass\n")
    project.ensure_graph()

    with pytest.raises(error) as refused:
        project.links.apply(LinkRequest(path, line, "REQ-d00001-A"))
    assert refused.value.hint
    assert outside.read_text() == "def f(): pass\n"


# Verifies: REQ-d00058-C
def test_binary_and_write_protected_files_and_languages_without_comments_are_refused(
    plant: Plant, tmp_path: Path
) -> None:
    project = plant(
        SPEC_IDS,
        assertions=ASSERTIONS,
        files={"clew.toml": '[code]\npatterns = ["*"]\n', "src/a.json": "{}", "src/locked.py": "def f(): pass\n"},
    )
    (tmp_path / "src" / "binary.py").write_bytes(b"def f():\0\n")
    (tmp_path / "src" / "locked.py").chmod(0o444)
    project.ensure_graph()

    for path, says in (("src/a.json", "comments"), ("src/binary.py", "binary"), ("src/locked.py", "write-protected")):
        before = (tmp_path / path).read_bytes()
        with pytest.raises(Refused, match=says):
            project.links.apply(LinkRequest(path, 1, "REQ-d00001-A"))
        assert (tmp_path / path).read_bytes() == before


# Verifies: REQ-d00058-D
def test_a_file_that_changed_since_it_was_read_is_refused(project: Project, tmp_path: Path) -> None:
    source = tmp_path / "src" / "a.py"
    source.write_text("def ring_stop():\n    pass\n")
    project.ensure_graph()
    version = project.links.suggest(SuggestionQuery("src/a.py")).suggestions[0].file_version
    source.write_text("import os\n\n\ndef ring_stop():\n    pass\n")
    project.ensure_graph()

    with pytest.raises(Conflict, match=r"src/a\.py") as refused:
        project.links.apply(LinkRequest("src/a.py", 1, "REQ-d00001-A", if_version=version))

    assert refused.value.data["provided_version"] == version
    assert "Implements" not in source.read_text()
    done = project.links.apply(
        LinkRequest("src/a.py", 4, "REQ-d00001-A", if_version=refused.value.data["current_version"])
    )
    assert done.line == 4
    assert project.links.apply(LinkRequest("src/a.py", 5, "REQ-d00001-A", if_version=done.file_version)).already_linked


# Verifies: REQ-d00058-D
def test_a_change_between_looking_and_writing_is_never_overwritten(project: Project, tmp_path: Path) -> None:
    source = tmp_path / "src" / "a.py"
    source.write_text("def f():\n    pass\n")
    project.ensure_graph()
    sources = ProjectSources(project.graph, project.config, lambda: project.context.builder.readers)
    writer = LinkWriter(project.graph, project.config, project.context.grammar, sources, project.store)
    planned = writer.plan(LinkRequest("src/a.py", 1, "REQ-d00001-A"))
    source.write_text("def f():\n    return 'edited'\n")

    with pytest.raises(Conflict):
        writer.write(planned, actor="test")

    assert source.read_text() == "def f():\n    return 'edited'\n"


# Verifies: REQ-d00058-E
@pytest.mark.parametrize(
    ("path", "before", "line", "error"),
    [
        ("src/a.php", "<p>ring</p>\n<?php\nfunction f() {\n}\n", 1, FormatError),
        ("src/a.yml", "a: |\n  text\n  more\n", 3, Refused),
    ],
)
def test_a_comment_that_would_not_be_read_as_this_link_is_refused(
    applied: Any, tmp_path: Path, path: str, before: str, line: int, error: type[ClewError]
) -> None:
    with pytest.raises(error):
        applied(path, before, line)
    assert (tmp_path / path).read_text() == before


def test_a_dry_run_shows_the_comment_and_writes_nothing(project: Project, tmp_path: Path) -> None:
    (tmp_path / "src" / "a.py").write_text("def f():\n    pass\n")
    project.ensure_graph()

    done = project.links.apply(LinkRequest("src/a.py", 1, "REQ-d00001-A", dry_run=True))

    assert (done.comment, done.line, done.owner) == ("# Implements: REQ-d00001-A", 1, "f")
    assert (tmp_path / "src" / "a.py").read_text() == "def f():\n    pass\n"
