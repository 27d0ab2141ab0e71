"""Arguments that name a file of the project."""

from pathlib import Path

import pytest

from clew.errors import ClewError
from clew.workspace.file_argument import FileArgument


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "tides.py").write_text("HIGH = 3\n", encoding="utf-8")
    (tmp_path / "other.py").write_text("LOW = 1\n", encoding="utf-8")
    (root / "away.py").symlink_to(tmp_path / "other.py")
    return root


# Verifies: REQ-d00681-F
@pytest.mark.parametrize("text", ["src/tides.py", "./src/../src/tides.py", "{root}/src/tides.py"])
def test_a_file_of_the_project_has_one_path_however_it_is_spelled(root: Path, text: str) -> None:
    assert FileArgument(root, text.format(root=root)).required() == "src/tides.py"


# Verifies: REQ-d00681-F
def test_a_relative_path_begins_in_the_folder_of_the_person_and_then_in_the_project(root: Path, tmp_path: Path) -> None:
    assert FileArgument(root, "tides.py", folder=root / "src").required() == "src/tides.py"
    assert FileArgument(root, "src/tides.py", folder=root / "src").required() == "src/tides.py"
    assert FileArgument(root, "src/tides.py", folder=tmp_path).required() == "src/tides.py"


# Verifies: REQ-d00681-F
@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("src", "invalid_argument", "'src' is a folder."),
        ("../other.py", "outside_project", "'../other.py' is outside of the project."),
        ("../none.py", "outside_project", "'../none.py' is outside of the project."),
        ("away.py", "outside_project", "'away.py' is outside of the project."),
        ("src/none.py", "not_found", "There is no file 'src/none.py'."),
    ],
)
def test_each_reason_to_refuse_has_one_error_that_names_the_argument(
    root: Path, text: str, code: str, message: str
) -> None:
    with pytest.raises(ClewError) as caught:
        FileArgument(root, text).required()

    assert (caught.value.code, caught.value.message) == (code, message)
    assert caught.value.hint
