"""What documents talk about, found without a model."""

import json
from collections import Counter
from pathlib import Path

import pytest

from clew.formats.documents.chunks import chunks_of
from clew.formats.documents.reader import read_document
from clew.kb.entities.extract import entities_of
from clew.kb.entities.model import DocumentEntities

DEMO = Path(__file__).parent.parent.parent / "examples" / "demo" / "docs"


def entities(text: str, name: str = "a.md") -> DocumentEntities:
    document = read_document(text.encode(), name)
    return entities_of(document, chunks_of(document))


def counts(found: DocumentEntities) -> dict[str, Counter[str]]:
    total: dict[str, Counter[str]] = {}
    for mentions in found.mentions:
        for mention in mentions:
            total.setdefault(mention.kind.value, Counter())[mention.normal] += mention.count
    return total


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("```console\n$ sudo git commit -m x | tee out.log\nnot typed\n```", "command", {"git commit", "tee"}),
        ("```bash\n# why\ncd docs && make html\n```", "command", {"cd", "make html"}),
        ("Use the `clew check` command with `--strict`.", "command", {"clew check"}),
        ("Give --dry-run or `-v`, not a--b.", "flag", {"--dry-run", "-v"}),
        ("```sh\nexport A_KEY=1 B_KEY=2\nrun $HOME_DIR\n```", "environment_variable", {"A_KEY", "B_KEY", "HOME_DIR"}),
        ("Set `LOG_LEVEL` or DATA_DIR.", "environment_variable", {"LOG_LEVEL", "DATA_DIR"}),
        ("```toml\n[server.http]\nport = 1\n```", "configuration_key", {"server.http.port"}),
        ("```yaml\nname: x\nlist:\n  - key: 1\n```", "configuration_key", {"name", "list", "key"}),
        ("## Settings\n\n`graph.auto_refresh` is on.", "configuration_key", {"graph.auto_refresh"}),
        (
            "Edit src/app/main.py, `conf/` and ./a.toml; see https://x.org/b.md",
            "file",
            {"src/app/main.py", "conf/", "a.toml"},
        ),
        (
            "Call `Graph.attach(region)` or `read_file`, a `FileEntry`.",
            "symbol",
            {"Graph.attach", "read_file", "FileEntry"},
        ),
        ("```python\ndef load(path): ...\nclass Boat: ...\n```", "symbol", {"load", "Boat"}),
        ("Python 3.11, v2.0-rc1 and 1.4.2, not 3.5 metres or Section 2.4.", "version", {"3.11", "2.0-rc1", "1.4.2"}),
        ("It raises `ValueError`, ENOENT or ERR_CLOSED.", "error", {"valueerror", "enoent", "err_closed"}),
        ("See the EXAMPLE for EVERY engine in `ENGINES`.", "error", set()),
        ("1. Stop it.\n\n   ```console\n   $ app stop --all\n   ```\n2. Go.", "command", {"app stop"}),
        ("Start it with `app start now`; a `plain phrase` is none.", "command", {"app start"}),
        ("`app -lt` lists; `a - b` does not.", "command", {"app"}),
        (
            "```sh\npip install app==2.4.1\n```\nNeeds lib 0.27 or newer; upgrade from 1.3.",
            "version",
            {"2.4.1", "0.27", "1.3"},
        ),
        (
            "```toml\n[mail]\nfrom = 'x'\n```\n\nRaise `mail.timeout`, call `mail_it`.",
            "configuration_key",
            {"mail.from", "mail.timeout"},
        ),
        ("It reads `~/.app/token.json`.", "file", {"~/.app/token.json"}),
        ("Call `App.open(path, mode=1)`.", "symbol", {"App.open"}),
        ("The Harbour Office opens. Ask the Harbour Office on Monday or Monday.", "term", {"harbour office"}),
        ("**Draught**: how deep it sits. A *margin* is water below.", "defined_term", {"draught", "margin"}),
        ("Neap\n: a small tide\n", "defined_term", {"neap"}),
    ],
)
# Verifies: REQ-d00092-A
def test_entities_of_every_kind_are_found(text: str, kind: str, expected: set[str]) -> None:
    assert set(counts(entities(text)).get(kind, ())) == expected


# Verifies: REQ-d00092-A
def test_a_numbered_list_below_a_heading_is_a_procedure_with_its_steps() -> None:
    text = "# Install\n\n1. Get it. Then wait.\n\n   ```sh\n   get it\n   ```\n2. Run\n   it.\n\nText.\n\n1. Alone.\n"
    (found,) = entities(text).procedures
    assert (found.name, found.steps) == ("Install", ("Get it.", "Run it."))
    assert [text[place : place + 2] for place in found.places] == ["1.", "2."]


# Verifies: REQ-d00092-B
def test_spellings_of_one_entity_are_counted_together_in_each_chunk() -> None:
    found = entities("# A\n\n`load()` and `load_all`, v1.2.3 and 1.2.3, KeyError.\n\n# B\n\n`KeyError` again\n")
    first, second = ({(m.kind.value, m.normal): m.count for m in chunk} for chunk in found.mentions)
    assert first == {
        ("symbol", "load"): 1,
        ("symbol", "load_all"): 1,
        ("version", "1.2.3"): 2,
        ("error", "keyerror"): 1,
    }
    assert second == {("error", "keyerror"): 1}


LABELLED = Path(__file__).parent / "labelled"


# Verifies: REQ-d00092-C
@pytest.mark.parametrize(
    ("documents", "labels"),
    [(DEMO, Path(__file__).parent / "demo_entities.json"), (LABELLED, LABELLED / "entities.json")],
)
def test_nine_of_ten_entities_are_found_and_nine_of_ten_that_are_found_are_right(documents: Path, labels: Path) -> None:
    right = wrong = missed = 0
    for path, expected in json.loads(labels.read_text(encoding="utf-8")).items():
        reading = entities((documents / path).read_text(encoding="utf-8"), path)
        found = {kind: set(normals) for kind, normals in counts(reading).items()}
        found["procedure"] = {procedure.name for procedure in reading.procedures}
        found["step"] = {step for procedure in reading.procedures for step in procedure.steps}
        for kind in expected.keys() | found.keys():
            wanted, got = set(expected.get(kind, ())), found.get(kind, set())
            right, wrong, missed = right + len(wanted & got), wrong + len(got - wanted), missed + len(wanted - got)
    assert right / (right + wrong) >= 0.9
    assert right / (right + missed) >= 0.9
