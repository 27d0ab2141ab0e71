"""Reading files of others: bounded in size, in a known encoding, and never obeyed.

JSON that breaks off, XML that declares a document type or entities, a text in an unknown encoding: each is refused with
the place of the fault, before anything of the project is changed.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import msgspec

from clew.errors import FormatError, NotFound
from clew.formats.repeated_keys import repeated_key
from clew.text.display import shortened
from clew.workspace.file_argument import folder_refused
from clew.workspace.find import files_below
from clew.workspace.regular import TooLarge, contents

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MOST_BYTES = 128 * 1024 * 1024
"""Of one file. Larger ones are refused: an import holds the whole file in memory."""
_NOTHING = "Nothing was changed."


class ImportSource:
    """The file, or the folder of files, that is imported."""

    def __init__(self, place: Path, data: bytes | None = None) -> None:
        self.place = place
        self._data = data

    @property
    def name(self) -> str:
        """The file's name, for messages and for the record of the import."""
        return self.place.name

    @property
    def is_folder(self) -> bool:
        return self._data is None and self.place.is_dir()

    def data(self) -> bytes:
        """The content of the file."""
        if self._data is None:
            self._data = _read(self.place)
        return self._data

    def text(self) -> str:
        return text_of(self.data(), self.name)

    def json(self) -> Any:
        return json_of(self.text().encode(), self.name)

    def xml(self) -> "Element":
        return xml_of(self.data(), self.name)

    def files(self, *endings: str) -> list[Path]:
        """The files of a folder with such names, sorted; the file itself where the source is one."""
        if not self.is_folder:
            return [self.place]
        return sorted(path for path in files_below(self.place) if path.name.endswith(endings))

    def relative(self, path: Path) -> str:
        return path.relative_to(self.place).as_posix() if self.is_folder else path.name

    def each(self, *endings: str) -> "list[ImportSource]":
        """The files of a folder, or the file itself."""
        return [ImportSource(path) for path in self.files(*endings)] if self.is_folder else [self]


def source_at(place: Path) -> ImportSource:
    if not place.exists():
        raise NotFound(f"There is no file or folder '{place}'.", hint="Check the path.")
    return ImportSource(place)


def _read(place: Path) -> bytes:
    try:
        if place.is_dir():
            raise folder_refused(place, "This format is one file: name it.")
        return contents(place, MOST_BYTES)
    except TooLarge as error:
        raise FormatError(
            f"'{place.name}' {error.said}; files over {MOST_BYTES:,} bytes are not imported.",
            hint=f"Export it in parts, and import them one after another. {_NOTHING}",
        ) from error
    except OSError as error:
        raise FormatError(
            f"'{place}' cannot be read: {error.strerror or error}.", hint="Check the path and its permissions."
        ) from error


def text_of(data: bytes, name: str) -> str:
    """A text in UTF-8, or in UTF-16 if its first bytes mark it."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"'{name}' is not {encoding.removesuffix('-sig').upper()}: byte {error.start:,} in line {line:,} "
            f"({data[error.start : error.start + 1]!r}) does not fit.",
            hint=f"Save it as UTF-8. {_NOTHING}",
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def json_of(data: bytes, name: str, line: int = 0) -> Any:
    """The value in JSON; `line` is its number in a file of lines."""
    where = f"line {line} of '{name}'" if line else f"'{name}'"
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        found = msgspec.json.decode(data)
        # What is written as it was read cannot have said a key twice; only other files are searched for one.
        is_same = msgspec.json.encode(found) == msgspec.json.format(data, indent=-1)
        key = None if is_same else repeated_key(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{where[:1].upper()}{where[1:]} is not valid JSON: {error}.", hint=f"Correct the file. {_NOTHING}"
        ) from error
    if key is not None:
        raise FormatError(
            f"An object in {where} has the key '{shortened(key)}' more than once; a key names one value.",
            hint=f"Remove one, or give it another key. {_NOTHING}",
        )
    return found


def xml_of(data: bytes, name: str) -> "Element":
    """The root of an XML file that declares neither a document type nor entities."""
    from xml.etree.ElementTree import TreeBuilder

    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise FormatError(
            f"'{name}' has a document type or entities in line {parser.CurrentLineNumber}, which are never followed.",
            hint=f"Remove the DOCTYPE from the file. {_NOTHING}",
        )

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.StartElementHandler = lambda tag, attributes: builder.start(_tag(tag), _attributes(attributes))
    parser.EndElementHandler = lambda tag: builder.end(_tag(tag))
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise FormatError(
            f"'{name}' is not valid XML: {expat.ErrorString(error.code)} in line {error.lineno}.",
            hint=f"Correct the file. {_NOTHING}",
        ) from error
    except (LookupError, ValueError) as error:
        raise FormatError(f"'{name}' cannot be decoded: {error}.", hint=f"Save it as UTF-8. {_NOTHING}") from error
    return builder.close()


def _tag(name: str) -> str:
    return "{" + name if "}" in name else name


def _attributes(given: dict[str, str]) -> "dict[str, str]":
    return {_tag(name): value for name, value in given.items()}


def local(tag: object) -> str:
    """The name of an element without its namespace."""
    return str(tag).rpartition("}")[2]


def mapping(value: Any, what: str) -> dict[str, Any]:
    """An object of JSON; otherwise an error that names it."""
    if not isinstance(value, dict):
        raise FormatError(
            f"{what} is {shortened(repr(value))}, not an object.", hint=f"Check the format of the file. {_NOTHING}"
        )
    return value


def listing(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(
            f"{what} is {shortened(repr(value))}, not a list.", hint=f"Check the format of the file. {_NOTHING}"
        )
    return value


def string(value: Any) -> str:
    """A value of another format as text: empty for null, JSON for values that are not text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
