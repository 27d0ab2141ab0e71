"""Where a project keeps its specs: what the configuration names, or else the usual places."""

from functools import lru_cache
from pathlib import Path

from clew.config import Config
from clew.errors import ConfigError
from clew.formats.elspais.toml_values import parse_toml
from clew.formats.openspec.layout import SPOX_CONFIG, Root, find_roots, openspec_root, spox_root, told_apart
from clew.workspace.find import normal_folder

_OPENSPEC = "openspec"
_SPOX = "specs"
_LOOKED_AT = 5_000
"""Names that are looked at for trees of specs in packages."""


def spec_roots(config: Config) -> tuple[Root, ...]:
    """The trees of specs, in the order in which their ids win."""
    if config.specs:
        alone = len(config.specs) == 1
        return told_apart(_root(config.root, folder, "" if alone else _home(folder)) for folder in config.specs)
    has_openspec, has_spox = (config.root / _OPENSPEC).is_dir(), _is_spox(config.root)
    found = [openspec_root()] if has_openspec or not has_spox else []
    if has_spox:
        found.append(_spox(config.root, ""))
    elif not has_openspec and not config.files:
        # Nobody configured anything, and there is nothing in the usual place: packages may have specs of their own.
        found = [*_nested(config.root)] or found
    return told_apart(found)


@lru_cache(maxsize=16)
def _nested(root: Path) -> tuple[Root, ...]:
    """Looked for once: whoever moves specs into a package configures them, or starts again."""
    # Most projects need none of it.
    from clew.workspace.survey import survey

    return find_roots(survey(root, _LOOKED_AT).files)


def _root(root: Path, folder: str, prefix: str) -> Root:
    if folder.rpartition("/")[2] == _OPENSPEC or (root / folder / "specs").is_dir():
        return openspec_root(folder, prefix)
    configured = _spox(root, prefix)
    return configured if configured.specs == folder else spox_root(folder, prefix=prefix)


def _home(folder: str) -> str:
    """The folder of the package that a tree of specs belongs to."""
    return folder.rpartition("/")[0]


def _is_spox(root: Path) -> bool:
    marks = (SPOX_CONFIG, f"{_SPOX}/_changes", f"{_SPOX}/_archive")
    return any((root / mark).exists() for mark in marks)


def _spox(root: Path, prefix: str) -> Root:
    """The folders that Spec Oxide's own configuration names."""
    path = root / SPOX_CONFIG
    try:
        paths = parse_toml(path.read_bytes(), SPOX_CONFIG).get("paths", {}) if path.is_file() else {}
    except OSError as error:
        raise ConfigError(f"{SPOX_CONFIG} cannot be read: {error}.", hint="Check the file's permissions.") from error
    named = {key: _inside(value, root) for key, value in paths.items() if isinstance(value, str)}
    return spox_root(
        named.get("spec_folder", _SPOX), named.get("changes_folder"), named.get("archive_folder"), prefix=prefix
    )


def _inside(folder: str, root: Path) -> str:
    spelled = normal_folder(folder, root) if "\0" not in folder else ".."
    if spelled.startswith(("/", "..")):
        raise ConfigError(
            f"{SPOX_CONFIG}: the folder {folder!r} lies outside the project.", hint="Name a folder of the project."
        )
    return spelled
