"""Lets an ONNX encoder with 8-bit weights reach the same numbers in fewer steps.

Each step of a model reads and writes all that there is of a batch, and only half of the time goes into products of
matrices. Two things that an export writes out can be shorter:

- Attention has some thirty steps: the heads are cut apart and turned, their products scaled and masked, what is no
  number is replaced, and the heads are put together again. onnxruntime has one operator that does the same arithmetic
  in the same order:

      Reshape(Transpose(MatMul(Softmax(MatMul(heads of q, heads of k) + mask), heads of v)))   ->   MultiHeadAttention

- The activation halves its result, which is then multiplied by weights that have a scale. So the scale is halved, once:

      MatMul(z * (0.5 * e), Cast(w) * scale)   ->   MatMul(z * e, Cast(w) * half the scale)

Every number that is left stays the same, or is exactly the double. So a text keeps its vector, to the last bit. That
matters more than it seems: what is multiplied in bytes is rounded first, and there the last bit of a number can decide.
With a scale of attention that differs in the last bit, some vectors have a cosine of .998 to what they were.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from clew.search.embed import onnx_graph
from clew.search.embed.onnx_graph import CONTRIBUTED, Constant, Element, OnnxNode, attribute, constant, new_node

_MASK, _NARROW_MASK = "attention_mask", "clew.attention_mask"
_OF_HEADS = ("Mul", "Reshape", "Transpose")
"""Operations that an export applies to q, k and v before it multiplies them."""
_HALF = 0.5


def with_fewer_steps(data: bytes, heads: int) -> bytes:
    """The model in fewer steps. ValueError where its attention is not written out as above."""
    model = onnx_graph.read_model(data)
    attentions = {each.outputs[0]: each for each in _attentions(model.nodes, model.constants, heads)}
    if not attentions:
        raise ValueError("the graph has no attention that is written out")
    halvings = [*_halvings(model.nodes, model.constants)]
    instead = {name: other for each in halvings for name, other in each.instead.items()}
    nodes = [_with_inputs(attentions.get(item.outputs[0], item), instead) for item in model.nodes]
    narrow = new_node("Cast", [_MASK], [_NARROW_MASK], attribute("to", Element.INT32))
    return onnx_graph.rewritten(
        model,
        nodes=[item.encoded for item in (narrow, *_needed(nodes, _results(model.nodes)))],
        constants=[each.scale for each in halvings],
        opset=onnx_graph.opset(CONTRIBUTED, 1),
    )


def _attentions(nodes: Sequence[OnnxNode], constants: Mapping[str, Constant], heads: int) -> Iterator[OnnxNode]:
    made_by = {output: item for item in nodes for output in item.outputs}
    for last in nodes:
        # From the end of the chain to its beginning; whatever differs on the way is no attention.
        turned = _before(made_by, last, "Reshape", "Transpose")
        mixed = _before(made_by, turned, "Transpose", "MatMul")
        if mixed is None:
            continue
        shares = made_by.get(mixed.inputs[0])
        if shares is not None and shares.operation == "Where":
            shares = made_by.get(shares.inputs[2])
        masked = _before(made_by, shares, "Softmax", "Add")
        products = _before(made_by, masked, "Add", "MatMul")
        if products is None:
            continue
        q, k = products.inputs
        scale = _factor(made_by[q], constants) * _factor(made_by[k], constants)
        sides = [_beginning(made_by, name) for name in (q, k, mixed.inputs[1])]
        inputs = [*sides, onnx_graph.NONE, _NARROW_MASK]
        settings = attribute("num_heads", heads), attribute("scale", scale)
        yield new_node("MultiHeadAttention", inputs, last.outputs, *settings, domain=CONTRIBUTED)


def _before(made_by: Mapping[str, OnnxNode], item: OnnxNode | None, operation: str, before: str) -> OnnxNode | None:
    """The node before the first input of a node, if both are such operations."""
    if item is None or item.operation != operation:
        return None
    found = made_by.get(item.inputs[0])
    return found if found is not None and found.operation == before else None


def _factor(item: OnnxNode, constants: Mapping[str, Constant]) -> float:
    if item.operation != "Mul" or item.inputs[1] not in constants:
        raise ValueError(f"{item.outputs[0]} of an attention is not scaled by a constant")
    return _numbers(constants[item.inputs[1]])[0]


def _beginning(made_by: Mapping[str, OnnxNode], name: str) -> str:
    while made_by[name].operation in _OF_HEADS:
        name = made_by[name].inputs[0]
    return name


class _Halving(NamedTuple):
    instead: dict[str, str]
    """By which name another is read."""
    scale: bytes


def _halvings(nodes: Sequence[OnnxNode], constants: Mapping[str, Constant]) -> Iterator[_Halving]:
    made_by = {output: item for item in nodes for output in item.outputs}
    readers: dict[str, list[OnnxNode]] = {}
    for item in nodes:
        for name in item.inputs:
            readers.setdefault(name, []).append(item)
    for halved in nodes:
        factor = constants.get(halved.inputs[0]) if halved.operation == "Mul" else None
        if factor is None or factor.element != Element.FLOAT or _numbers(factor) != (_HALF,):
            continue
        activation = _only_reader(readers, halved, "Mul")
        product = _only_reader(readers, activation, "MatMul")
        weights = made_by.get(product.inputs[1]) if product is not None else None
        if weights is None or weights.operation != "Mul" or len(readers[weights.outputs[0]]) > 1:
            continue
        scale = constants.get(weights.inputs[1])
        if scale is not None and len(readers[scale.name]) == 1:
            numbers = _numbers(scale)
            values = struct.pack(f"<{len(numbers)}f", *(number * _HALF for number in numbers))
            name = f"{scale.name}.half"
            instead = {halved.outputs[0]: halved.inputs[1], scale.name: name}
            yield _Halving(instead, constant(name, Element.FLOAT, values, scale.shape))


def _only_reader(readers: Mapping[str, Sequence[OnnxNode]], item: OnnxNode | None, operation: str) -> OnnxNode | None:
    found = readers.get(item.outputs[0], ()) if item is not None else ()
    return found[0] if len(found) == 1 and found[0].operation == operation else None


def _numbers(of: Constant) -> tuple[float, ...]:
    return struct.unpack(f"<{len(of.values) // 4}f", of.values)


def _with_inputs(item: OnnxNode, instead: Mapping[str, str]) -> OnnxNode:
    if instead.keys().isdisjoint(item.inputs):
        return item
    # Only factors have other names, and a product of two numbers has no settings.
    return new_node("Mul", [instead.get(name, name) for name in item.inputs], item.outputs)


def _results(nodes: Sequence[OnnxNode]) -> set[str]:
    read = {name for item in nodes for name in item.inputs}
    return {name for item in nodes for name in item.outputs if name not in read}


def _needed(nodes: Sequence[OnnxNode], results: set[str]) -> list[OnnxNode]:
    needed, kept = set(results), list[OnnxNode]()
    for item in reversed(nodes):
        if not needed.isdisjoint(item.outputs):
            kept.append(item)
            needed.update(item.inputs)
    return kept[::-1]
