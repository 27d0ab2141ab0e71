"""The local socket of a project: other processes of the same user ask its running server there.

Hooks tell what happens in a session, commands ask to be answered from what the server has read already. A request and
each part of an answer are one line of JSON.
"""

# Implements: REQ-d00313
