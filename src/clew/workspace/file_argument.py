"""An argument that names a file of the project: one rule, and one wording for each reason to refuse it."""

from pathlib import Path

from clew.errors import ClewError, InvalidArgument, NotFound, OutsideProject
from clew.text.display import shortened
from clew.workspace.files import path_inside


class FileArgument:
    """An argument that names a file of the project: its path, or the error why it has none. A relative path is looked
    up from the folder of a person who types it, if there is one, then from the project's folder."""

    def __init__(self, root: Path, text: str, *, folder: Path | None = None) -> None:
        self.text = text
        self.path: str | None = None
        """The file, relative to the project; None if there is none."""
        self.refusal: ClewError | None = None
        """The error for a folder, or for a path outside of the project; None for a file that does not exist."""
        root = root.resolve()
        for start in (root,) if folder is None else (folder, root):
            try:
                place = (start / text).absolute()
                inside = path_inside(root, str(place))
                if place.is_file():
                    self.path, self.refusal = inside, None
                    return
                if place.is_dir():
                    self.refusal = folder_refused(text, "Name a file in it.")
            except OutsideProject as error:
                # A command may be given in a folder outside of the project.
                if start == root or place.exists():
                    self.refusal = OutsideProject(f"'{shortened(text)}' is outside of the project.", hint=error.hint)
            except ClewError as error:
                self.refusal = error
            except (OSError, ValueError):
                continue

    def required(self) -> str:
        """The path; the error if there is none."""
        if self.path is not None:
            return self.path
        absent = NotFound(
            f"There is no file '{shortened(self.text)}'.", hint="Pass a path relative to the project's folder."
        )
        raise self.refusal or absent


def folder_refused(path: object, hint: str) -> InvalidArgument:
    """The error for a folder in place of a file; `hint` says which file to name."""
    return InvalidArgument(f"'{shortened(str(path))}' is a folder.", hint=hint)
