"""A team's store: which schema of the database belongs to a project, and opening it.

A project is its repository, known by the commit that its history began with, whatever folder it was cloned to. Where
there is none, or where forks of one repository are to be kept apart, `project.id` in a trusted clew.toml names it.
"""

# Implements: REQ-d00480

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from clew.config import Config
from clew.errors import ConfigError
from clew.workspace.git import api as git

if TYPE_CHECKING:
    from clew.store.replica import ReplicatedStore

SHARED_COLLECTIONS = frozenset({"link_decisions", "change_baselines", "change_rebased"})
"""Collections of a project's own store that a team shares. The others are about one work tree: drafts, records of
edits, first sightings."""
_LONGEST_SLUG = 24
_HINT = 'Name the project in clew.toml, [project] id = "NAME", and allow it with `clew trust`.'


def schema_of(config: Config, *, inside: str = "") -> str:
    """The schema of a project, or of a folder `inside` its repository that is a project of its own."""
    if config.project_id:
        slug = re.sub(r"[^a-z0-9]+", "_", config.project_id.lower()).strip("_")[:_LONGEST_SLUG]
        name = f"clew_{slug}_{_short(config.project_id)}" if slug else f"clew_{_short(config.project_id)}"
    else:
        name = f"clew_{_root_commit(config.root)[:16]}"
    return f"{name}_{_short(inside)}" if inside else name


def search_schema(config: Config, *, inside: str = "") -> str:
    """The schema of a project's search index and embeddings, beside that of its store."""
    return f"{schema_of(config, inside=inside)}_search"


def open_team(config: Config, folder: Path, *, inside: str = "", patience: float) -> "ReplicatedStore":
    """The team's store of a project, with a copy in `folder` that answers while the database is gone."""
    # The driver is imported only for PostgreSQL stores.
    from clew.store.postgres.engine import open_postgres
    from clew.store.replica import ReplicatedStore

    address = config.store
    assert address is not None  # noqa: S101 - asked for where a store is configured
    schema = schema_of(config, inside=inside)
    place = folder / f"team-{_short(address.shown + schema)}.db"
    return ReplicatedStore(lambda: open_postgres(address, schema, busy_timeout=patience), place)


def _root_commit(root: Path) -> str:
    if (git.answer(root, "rev-parse", "--is-shallow-repository") or b"").strip() == b"true":
        raise ConfigError(
            f"The clone at '{root}' holds only the latest commits, so that it is not known which project it is.",
            hint=f"Run `git fetch --unshallow`. Or: {_HINT}",
        )
    found = (git.answer(root, "rev-list", "--max-parents=0", "--first-parent", "HEAD") or b"").split()
    if not found:
        raise ConfigError(f"'{root}' has no commit in git that would say which project it is.", hint=_HINT)
    return found[-1].decode("ascii")


def _short(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:8]
