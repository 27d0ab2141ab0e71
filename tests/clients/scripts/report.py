"""What every script asks for, and how it says what it got."""

import json
import sys

TOOL = "get_requirement"
ARGUMENTS = {"req_id": "REQ-d00001"}


def report(names: list[str], answer: str) -> None:
    sys.stdout.write(json.dumps({"names": names, "answer": answer}) + "\n")
