"""Finding out what a folder holds, for `clew init`: bounded work, nothing written, nothing asked.

`walk` lists the files, `sniff` says what one file is, `classify` puts them together, `proposal` turns the
findings into a clew.toml.
"""

# Implements: REQ-d00018
