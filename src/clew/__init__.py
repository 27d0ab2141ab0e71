"""Clew: one thread through everything a project knows."""

# Implements: REQ-d00015, REQ-d00610-A

import os

# onnxruntime reports to its maker unless this is said before its library is loaded. Every process of Clew imports this
# module first, and those that it starts inherit the variable. It counts whatever the user's environment says: Clew
# promises to send nothing, and reports about the runtime are no setting of Clew's.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

__version__ = "0.1.0"
