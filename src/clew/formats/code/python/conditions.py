"""Conditions whose value is known without running a program: versions of Python and names of platforms."""

import ast
import operator
import os
import sys
from collections.abc import Callable
from typing import Any

_COMPARED: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def truth_of(node: ast.expr) -> bool | None:
    """True or False for a condition that is decided here; None for one that only a run decides."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = truth_of(node.operand)
        return None if inner is None else not inner
    if isinstance(node, ast.Call):
        return _starts(node)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    compare = _COMPARED.get(type(node.ops[0]))
    left, right = _known(node.left), _literal(node.comparators[0])
    if compare is None or left is None or type(left) is not type(right):
        return None
    return compare(left, right)


def _starts(node: ast.Call) -> bool | None:
    """`sys.platform.startswith("win")`."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr != "startswith" or len(node.args) != 1 or node.keywords:
        return None
    value, beginning = _known(func.value), _literal(node.args[0])
    return value.startswith(beginning) if isinstance(value, str) and isinstance(beginning, str) else None


def _known(node: ast.expr) -> str | int | tuple[int, ...] | None:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 0:
        return sys.version_info[0] if _name(node.value) == "sys.version_info" else None
    match _name(node):
        case "sys.version_info":
            return tuple(sys.version_info[:3])
        case "sys.version_info.major":
            return sys.version_info[0]
        case "sys.platform":
            return sys.platform
        case "os.name":
            return os.name
    return None


def _name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 3:
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def _literal(node: ast.expr) -> str | int | tuple[int, ...] | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str | int) and type(node.value) is not bool else None
    if isinstance(node, ast.Tuple):
        found = [each.value for each in node.elts if isinstance(each, ast.Constant) and type(each.value) is int]
        return tuple(found) if len(found) == len(node.elts) else None
    return None
