"""The engine in PostgreSQL beside the one in files on the public collections: how good the rankings are.

    python -m benchmarks.teams_quality --data FOLDER

Both get the same embeddings: the first one makes them, the second one takes them over.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import retrieval_sets
from benchmarks.teams import postgres
from clew.config import EmbedSettings
from clew.operation.paging import Cursors
from clew.search.database.connecting import Database
from clew.search.database.embeddings import SharedEmbeddings
from clew.search.database.opening import in_database
from clew.search.engine import SearchEngine
from clew.search.eval.collection import Collection, Evaluation, read_collection
from clew.text.database_address import Address

MOST_DIFFERENCE = 0.005
_QUERIES = ("lexical", "dense", "default")
_TURNS = ("conversation",)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.teams_quality", description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=retrieval_sets.FOLDER.parent, help="the folder of public data")
    args = parser.parse_args()
    if not args.data.is_dir():
        print(f"skipped, because {args.data} is not there")
        return 0
    worst = 0.0
    with postgres() as url:
        sets = {"Cranfield": retrieval_sets.cranfield, "CISI": retrieval_sets.cisi}
        for name, read in sets.items():
            values = _compared(name, read(args.data / "retrieval"), url, _QUERIES, "ndcg@10")
            worst = max(worst, *(abs(database - files) for files, database in values))
        worst = max(worst, _conversations(args.data / "memory", url))
    print(f"largest difference: {worst:.4f} (at most {MOST_DIFFERENCE}) {'ok' if worst <= MOST_DIFFERENCE else 'over'}")
    return 0


def _conversations(data: Path, url: str) -> float:
    """All questions of all conversations together, as `make bench-memory` counts them."""
    sums, questions = [0.0, 0.0], 0
    for folder in sorted(data.glob("*")):
        collection = read_collection(folder)
        ((files, database),) = _compared(folder.name, collection, url, _TURNS, "recall@10")
        count = len(collection.queries)
        sums = [sums[0] + files * count, sums[1] + database * count]
        questions += count
    means = [total / max(1, questions) for total in sums]
    print(f"all conversations, {questions} questions: files {means[0]:.4f}, database {means[1]:.4f}")
    return abs(means[1] - means[0])


def _compared(
    name: str, collection: Collection, url: str, recipes: tuple[str, ...], measure: str
) -> list[tuple[float, float]]:
    print(f"{name}: {len(collection.documents)} documents, {len(collection.queries)} queries", flush=True)
    schema = f"quality_{''.join(each if each.isalnum() else '_' for each in name.lower())}"
    cursors, embed = Cursors(bytes(32)), EmbedSettings()
    values: dict[str, list[float]] = {recipe: [] for recipe in recipes}
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        for kind in ("files", "database"):
            if kind == "files":
                sharing = SharedEmbeddings(Database(Address(url), schema))
                engine = SearchEngine(Path(folder), cursors=cursors, embed=embed, sharing=sharing)
            else:
                place = in_database(Address(url), schema, "own", embed)
                engine = SearchEngine(Path(folder), cursors=cursors, embed=embed, backend=place)
            evaluation = Evaluation(Path(folder), collection, engine=engine)
            for recipe in recipes:
                measured = evaluation.measure(recipe)
                values[recipe].append(measured.values[measure])
            evaluation.close()
    for recipe, (files, database) in values.items():
        print(
            f"  {recipe:<12} {measure}: files {files:.4f}, database {database:.4f}, {database - files:+.4f}", flush=True
        )
    return [(files, database) for files, database in values.values()]


if __name__ == "__main__":
    sys.exit(main())
