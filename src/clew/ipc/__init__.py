"""The local socket of a project: other processes of the same user ask its running server there.

Hooks report events of a session, commands ask for answers from the data that the server has in memory. A request and
each part of an answer are one line of JSON. It may import the layers below it; it must not know an operation, a
service, or the meaning of a request.
"""

# Implements: REQ-d00313
