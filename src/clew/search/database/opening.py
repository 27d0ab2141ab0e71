"""Opening a search engine whose units are in a database."""

from clew.config import EmbedSettings
from clew.errors import StoreUnreachable
from clew.search.database.connecting import Database, connected
from clew.search.database.embeddings import SharedEmbeddings
from clew.search.database.units import DatabaseUnits
from clew.search.database.vectors import DatabaseVectors
from clew.search.dense.search import VectorSearch
from clew.search.dense.spaces import Embedders
from clew.search.engine import Backend
from clew.text.database_address import Address


def in_database(
    address: Address, schema: str, space: str, embed: EmbedSettings, patience: float | None = None
) -> Backend:
    """The backend of an engine in a schema of a database. `space` names the work tree whose files are searched."""
    database = Database(address, schema, space, awaits_service=embed.kind == "endpoint")
    embedders = Embedders(embed, patience)
    table = DatabaseVectors(database, embedders)
    return Backend(DatabaseUnits(database), VectorSearch(table, embedders, table.shared))


def keeps_vectors(address: Address) -> bool:
    """True if pgvector is installed in the database, and for a database that cannot be reached now."""
    try:
        with connected(address) as connection:
            return connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone() is not None
    except StoreUnreachable:
        return True


def shared_embeddings(address: Address, schema: str) -> SharedEmbeddings:
    """The embeddings of a schema, for an engine whose units are in files."""
    return SharedEmbeddings(Database(address, schema))
