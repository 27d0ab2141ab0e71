"""Issues of GitHub as JSON: what `gh issue list --json ...` prints, or what its REST interface answers.

An issue is a requirement: its text up to a list of boxes to tick is the text, and every box a criterion.
"""

import re
from typing import Any

from clew.errors import FormatError
from clew.exchange.model import REQUIREMENT, Criterion, Exchange, Item
from clew.exchange.sources import ImportSource, listing, mapping, string

_BOX = re.compile(r"\s*[-*] \[([ xX])\] +(.+)")
_PLACED = frozenset({"number", "title", "body", "labels", "state", "pull_request", "url", "html_url"})
_NAMES = frozenset({"id", "node_id"})
"""The service's other names of an issue; its addresses end in `_url`."""


def read(source: ImportSource) -> Exchange:
    document = source.json()
    if isinstance(document, dict):
        document = document.get("items") if "items" in document else [document]
    found = [mapping(each, "An issue") for each in listing(document, f"'{source.name}'")]
    return Exchange(items=tuple(_item(each, number, source.name) for number, each in enumerate(found, start=1)))


def _item(raw: dict[str, Any], place: int, name: str) -> Item:
    number = raw.get("number")
    if not isinstance(number, int):
        raise FormatError(
            f"Issue {place} of '{name}' has no number.",
            hint="Ask for it: `gh issue list --json number,title,body,labels,state,url`. Nothing was changed.",
        )
    body = string(raw.get("body")).replace("\r\n", "\n")
    boxes = [found for line in body.split("\n") if (found := _BOX.fullmatch(line))]
    text = "\n".join(line for line in body.split("\n") if not _BOX.fullmatch(line)).strip()
    labels = [string(each.get("name")) if isinstance(each, dict) else string(each) for each in raw.get("labels") or ()]
    attributes = {
        "status": string(raw.get("state")).lower(),
        "tags": ", ".join(labels),
        "url": string(raw.get("html_url") or raw.get("url")),
    }
    kept: dict[str, Any] = {
        name: value
        for name, value in raw.items()
        if value and name not in _PLACED | _NAMES and not name.endswith("_url")
    }
    if done := [number for number, box in enumerate(boxes, start=1) if box[1] != " "]:
        kept["ticked"] = done
    return Item(
        id=f"#{number}",
        kind="pull request" if raw.get("pull_request") else REQUIREMENT,
        title=string(raw.get("title")),
        text=text,
        criteria=tuple(Criterion(str(number), box[2].strip()) for number, box in enumerate(boxes, start=1)),
        attributes={key: value for key, value in attributes.items() if value},
        kept=kept,
    )
