"""Specs and changes of OpenSpec and Spec Oxide: questions about them, validation, archiving and conflicts.

It may import the layers below the services. It must not import another service; the rules of the formats themselves are
in `formats/openspec`.
"""

# Implements: REQ-d00076
