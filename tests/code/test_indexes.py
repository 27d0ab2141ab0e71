"""Index files of other programs: what they know counts for the files that are as the indexer read them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.code.asking import answer, opened, places, write
from tests.code.scip_writing import index, symbol
from tests.code.scip_writing import places as indexed
from tests.why.histories import Repository

from clew.errors import FormatError
from clew.formats.code.scip import documents_in
from clew.project import Project

BELLS = "class Bell:\n    def ring(self):\n        return 1\n\n\nclass Gong:\n    def ring(self):\n        return 2\n"
TOWER = "def go(x, y):\n    x.ring()\n    y.ring()\n"
RING, GONG = symbol("bells.py", "Bell", "ring()."), symbol("bells.py", "Gong", "ring().")
FILES = {"bells.py": BELLS, "tower.py": TOWER}


def documents() -> dict[str, Any]:
    both = indexed(BELLS, "ring", RING, (1, 1))
    return {
        "bells.py": [both[0], (*both[1][:3], GONG, 1)],
        "tower.py": [(1, 6, 10, RING, 8), (2, 6, 10, GONG, 8)],
    }


def put(root: Path, data: bytes, path: str = "index.scip") -> None:
    """Write an index, newer than all files."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)
    newest = max(each.stat().st_mtime_ns for each in root.rglob("*"))
    os.utime(root / path, ns=(newest + 1_000, newest + 1_000))


def bases(project: Project, target: str, **arguments: Any) -> list[tuple[str, str, str]]:
    found = answer(project, target, **arguments)
    return [(f"{use['path']}:{use['line']}", use["kind"], use["basis"]) for use in found["uses"]]


# Verifies: REQ-d00788-A
def test_an_index_binds_what_the_source_alone_does_not(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    with opened(tmp_path, {}) as project:
        assert answer(project, "Bell.ring")["uses"] == []
    put(tmp_path, index(documents()))
    with opened(tmp_path, {}) as project:
        found = answer(project, "Bell.ring")
        assert (places(found), found["unbound"], found["one_of"]) == (["tower.py:2"], 0, 0)
        assert bases(project, "Bell.ring") == [("tower.py:2", "call", "index")]
        assert bases(project, "Gong.ring") == [("tower.py:3", "call", "index")]
        assert found["uses"][0]["inside"] == "go"
        assert bases(project, "Gong.ring", basis=["exact"]) == []
        assert bases(project, "Gong.ring", basis=["index"]) == [("tower.py:3", "call", "index")]


# Verifies: REQ-d00788-A
def test_an_index_decides_between_several_values_and_leaves_what_is_exact(tmp_path: Path) -> None:
    tower = "from bells import Bell, Gong\n\n\ndef go(loud):\n    x = Bell() if loud else Gong()\n    x.ring()\n"
    tower += "    Bell().ring()\n"
    write(tmp_path, {"bells.py": BELLS, "tower.py": tower})
    put(tmp_path, index({**documents(), "tower.py": [(5, 6, 10, GONG, 8), (6, 11, 15, RING, 8)]}))
    with opened(tmp_path, {}) as project:
        assert bases(project, "Bell.ring") == [("tower.py:7", "call", "exact")]
        assert bases(project, "Gong.ring") == [("tower.py:6", "call", "index")]


# Verifies: REQ-d00788-B
def test_a_file_that_changed_since_is_read_by_its_source(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    put(tmp_path, index(documents()))
    with opened(tmp_path, {}) as project:
        assert bases(project, "Bell.ring") == [("tower.py:2", "call", "index")]
        write(tmp_path, {"tower.py": f"# Ring\n{TOWER}"})
        found = answer(project, "Bell.ring")
        assert found["uses"] == []
        assert "1 of 2 files are not as index.scip knows them: uses in them are those of the source." in found["notes"]
        write(tmp_path, {"tower.py": TOWER})
        assert bases(project, "Bell.ring") == [("tower.py:2", "call", "index")]


# Verifies: REQ-d00788-B
@pytest.mark.parametrize("shape", ["newer", "other names", "another text", "the same text"])
def test_an_index_counts_only_for_files_as_it_read_them(tmp_path: Path, shape: str) -> None:
    write(tmp_path, FILES)
    texts = {"tower.py": TOWER if shape == "the same text" else f"{TOWER}\n"} if "text" in shape else {}
    moved = [(1, 5, 9, RING, 8), (2, 5, 9, GONG, 8)]
    put(tmp_path, index({**documents(), **({"tower.py": moved} if shape == "other names" else {})}, texts))
    if shape in ("newer", "the same text"):
        later = (tmp_path / "index.scip").stat().st_mtime_ns + 1_000
        os.utime(tmp_path / "tower.py", ns=(later, later))
    with opened(tmp_path, {}) as project:
        expected = [("tower.py:2", "call", "index")] if shape == "the same text" else []
        assert bases(project, "Bell.ring") == expected


# Verifies: REQ-d00788-B
def test_an_index_that_git_keeps_is_about_the_files_of_its_commit(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit("Ring", FILES)
    put(tmp_path, index(documents()))
    repository.commit("Index", {})
    for path in FILES:
        later = (tmp_path / "index.scip").stat().st_mtime_ns + 1_000
        os.utime(tmp_path / path, ns=(later, later))
    with opened(tmp_path, {}) as project:
        assert bases(project, "Bell.ring") == [("tower.py:2", "call", "index")]


# Verifies: REQ-d00788-C
def test_indexes_are_named_in_the_configuration_and_come_and_go(tmp_path: Path) -> None:
    write(tmp_path, {"clew.toml": '[code]\nscip = ["made/a.scip", "made/b.scip"]\n', **FILES})
    put(tmp_path, index(documents()), "made/a.scip")
    with opened(tmp_path, {}) as project:
        found = answer(project, "Bell.ring")
        assert places(found) == ["tower.py:2"]
        assert "Named in the configuration and not there: made/b.scip." in found["notes"]
        (tmp_path / "made/a.scip").unlink()
        assert answer(project, "Bell.ring")["uses"] == []


# Verifies: REQ-d00788-C
@pytest.mark.parametrize("data", [b"\x12\x7fabc", b"\x0b", b"\xff" * 12, index(documents())[:-3]])
def test_a_file_that_is_no_index_is_named(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(FormatError):
        list(documents_in(data))
    write(tmp_path, FILES)
    put(tmp_path, data)
    with opened(tmp_path, {}) as project:
        found = answer(project, "Bell.ring")
        assert found["uses"] == []
        assert any(note.startswith("index.scip is not read: ") for note in found["notes"])


PYTHON = {
    "bells/__init__.py": 'from bells.tower import Bell\n\n__all__ = ["Bell"]\n',
    "bells/tower.py": (
        '"""A tower with bells: été."""\n\nLOUDEST = 3\n\n\nclass Bell:\n    weight = 1\n\n'
        "    def ring(self, times: int = 1) -> int:\n        return times * LOUDEST\n\n\n"
        "def heaviest(bells: list[Bell]) -> Bell:\n    return max(bells, key=lambda bell: bell.weight)\n"
    ),
    "bells/peal.py": (
        "from bells import Bell\nfrom bells.tower import heaviest\n\n\ndef peal(bells: list[Bell]) -> int:\n"
        '    """é"""; total = heaviest(bells).ring(2)\n    for bell in bells:\n        total += bell.ring()\n'
        "    return total\n"
    ),
}
SCRIPT = {
    "src/tower.ts": (
        "export const LOUDEST = 3;\n\nexport class Bell {\n  weight = 1;\n\n  ring(times = 1): number {\n"
        "    return times * LOUDEST;\n  }\n}\n\nexport function heaviest(bells: Bell[]): Bell {\n"
        "  return bells.reduce((one, other) => (one.weight > other.weight ? one : other));\n}\n"
    ),
    "src/peal.ts": (
        'import { Bell, heaviest } from "./tower";\n\nexport function peal(bells: Bell[]): number {\n'
        "  /* é𝄞 */ let total = heaviest(bells).ring(2);\n  for (const bell of bells) total += bell.ring();\n"
        "  return total;\n}\n"
    ),
}


# Verifies: REQ-d00788-A
@pytest.mark.parametrize(("name", "files"), [("python", PYTHON), ("typescript", SCRIPT)])
def test_indexes_of_scip_python_and_scip_typescript_say_what_the_source_says(
    tmp_path: Path, name: str, files: Mapping[str, str]
) -> None:
    targets = ("Bell", "Bell.ring", "Bell.weight", "heaviest", "LOUDEST")
    write(tmp_path, files)
    with opened(tmp_path, {}) as project:
        found = {target: sorted(bases(project, target)) for target in targets}
    # What the first argument of `reduce` is, only the name says.
    expected = {
        target: sorted((place, kind, "index" if basis == "name" else basis) for place, kind, basis in uses)
        for target, uses in found.items()
    }
    put(tmp_path, (Path(__file__).parent / "indexes" / f"{name}.scip").read_bytes())
    with opened(tmp_path, {}) as project:
        file = project.code.file
        for target in targets:
            assert sorted(bases(project, target)) == expected[target]
            meaning = project.uses.meaning(target).symbol
            assert meaning is not None
            binder = project.uses._bound()
            names = binder._index.symbols_of(meaning.path, meaning)
            known = {f"{site.path}:{site.line}" for site in binder._index.uses_of(names)}
            own = {place for place, kind, _ in expected[target] if kind != "export"}
            assert known == own, target
        assert [each.said.split()[0] for each in file.indexed.indexes()] == [f"scip-{name}"]


# Verifies: REQ-d00788-A
def test_a_file_that_an_index_names_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    for more in ("", "./"):
        put(tmp_path, index({f"{more}tower.py": [], **documents()}))
        with opened(tmp_path, {}) as project:
            assert bases(project, "Bell.ring") == [("tower.py:2", "call", "index")]


# Verifies: REQ-d00788-A
def test_numbers_of_more_than_64_bits_are_damage_and_roles_are_what_the_format_knows() -> None:
    with pytest.raises(FormatError):
        list(documents_in(index({"tower.py": [(1, 6, 10, RING, 2**65)]})))
    list(documents_in(index({"tower.py": [(1, 6, 10, RING, 2**63)]})))
