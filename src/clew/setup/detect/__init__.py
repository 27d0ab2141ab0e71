"""Finding out what a folder holds, for `clew init`: bounded work, nothing written, nothing asked.

`walk` lists the files, `sniff` says what one file is, `classify` puts them together, `proposal` turns the
findings into a clew.toml.
"""

from clew.setup.detect.classify import detect
from clew.setup.detect.findings import Findings
from clew.setup.detect.proposal import proposed_config

__all__ = ["Findings", "detect", "proposed_config"]
