"""Quotes of an answer, each with the fields of its source."""

from collections.abc import Mapping
from typing import Any


def sourced(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{**answer["sources"][quote["source"] - 1], **quote} for quote in answer["quotes"]]
