"""Runs an encoder from an ONNX file on the processor."""

from functools import cache
from typing import TYPE_CHECKING, Any

from clew.errors import ConfigError
from clew.search.embed.integer_arithmetic import TRIAL_SIZE, trial

if TYPE_CHECKING:
    from clew.search.embed.embedder import Ids, Vectors

_SLOWER_OPTIMIZATIONS = ["SkipLayerNormFusion"]
"""Fusing the sum and the normalisation of a layer costs a sixth of the speed instead of adding to it."""
_LARGEST_BYTE, _LARGEST_WEIGHT = 255, 127


class OnnxEncoder:
    def __init__(self, model: bytes, label: str) -> None:
        """`label` names the model in errors."""
        self._session = _session(model, label)
        self._inputs = {port.name for port in self._session.get_inputs()}
        unknown = self._inputs - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown or "input_ids" not in self._inputs:
            raise ConfigError(
                f"{label} takes the inputs {', '.join(sorted(self._inputs))}; a text encoder takes input_ids, and may "
                "take attention_mask and token_type_ids.",
                hint="Export the model as a text encoder (feature extraction).",
            )
        self._output = self._session.get_outputs()[0].name
        self.dimensions = self._find_dimensions(label)

    def encode(self, ids: "Ids", mask: "Ids") -> "Vectors":
        feeds = {"input_ids": ids, "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            feeds["token_type_ids"] = ids * 0
        result: Vectors = self._session.run([self._output], {name: feeds[name] for name in self._inputs})[0]
        return result

    def _find_dimensions(self, label: str) -> int:
        shape = self._session.get_outputs()[0].shape
        if len(shape) not in (2, 3):
            raise ConfigError(
                f"The first output of {label} has {len(shape)} axes; a text encoder's has 2 or 3.",
                hint="Export the model as a text encoder (feature extraction).",
            )
        if isinstance(shape[-1], int):
            return shape[-1]
        import numpy as np

        one = np.ones((1, 2), np.int64)
        return int(self.encode(one, one).shape[-1])


@cache
def sums_are_exact() -> bool:
    """True if this processor adds products of large bytes without cutting them off."""
    import numpy as np

    session = _session(trial(), "the trial of sums")
    sums = session.run(None, {"x": np.full((4, TRIAL_SIZE), _LARGEST_BYTE, np.uint8)})[0]
    return bool((sums == _LARGEST_BYTE * _LARGEST_WEIGHT * TRIAL_SIZE).all())


def _session(model: bytes, label: str) -> Any:
    import onnxruntime  # type: ignore[import-untyped]

    # Where the variable that `clew/__init__.py` sets counts for nothing, on Windows, this is what switches events off.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    # One processor for each run: SentenceEncoder has several runs at a time instead.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"], disabled_optimizers=_SLOWER_OPTIMIZATIONS
        )
    except Exception as error:  # onnxruntime's errors have no common class of their own
        raise ConfigError(
            f"{label} cannot be loaded: {str(error).strip()[:300]}.", hint="Use an ONNX model that onnxruntime can run."
        ) from error
