"""One process that writes records, each in a durable transaction: WHERE NUMBER SECONDS.

Waits for a line, then tells how long each write took, as JSON.
"""

import json
import sys
import time
from pathlib import Path

from clew.store.interface import Store
from clew.text.database_address import Address, is_address

SCHEMA = "bench_writes"


def opened(where: str) -> Store:
    if is_address(where):
        from clew.store.postgres.engine import open_postgres

        return open_postgres(Address(where), SCHEMA, create=True)
    from clew.store.sqlite.engine import open_sqlite

    return open_sqlite(Path(where))


def main() -> None:
    where, own, seconds = sys.argv[1:]
    store = opened(where)
    print("ready", flush=True)
    sys.stdin.readline()
    took: list[float] = []
    end = time.monotonic() + float(seconds)
    while (began := time.monotonic()) < end:
        value = {"text": "The lamp needs a fuse of 2 A", "number": len(took)}
        store.put("notes", f"{own}-{len(took)}", value, actor="bench")
        took.append(time.monotonic() - began)
    store.close()
    print(json.dumps(took))


if __name__ == "__main__":
    main()
