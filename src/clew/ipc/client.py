"""The asking end of a project's socket: one request, and the lines of its answer."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

_CONNECT_SECONDS = 0.25


def connections(root: str) -> "Iterator[socket.socket]":
    """Connections to servers of the project that belong to this user; each is closed before the next one is made."""
    import socket

    from clew.ipc.address import is_our_socket, peer_is_us, sockets

    if not hasattr(socket, "AF_UNIX"):
        return
    for path in sockets(root):
        if not is_our_socket(path):
            continue
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(_CONNECT_SECONDS)
            connection.connect(path)
            if peer_is_us(connection):
                yield connection
        except OSError:
            continue
        finally:
            connection.close()


class Lines:
    """The lines that a server sends, each within a time and all within a size."""

    def __init__(self, connection: "socket.socket", largest: int) -> None:
        self._connection = connection
        self._left = largest
        self._received = bytearray()

    def next(self, seconds: float) -> object:
        """The next line, decoded. OSError if it does not arrive in time, ValueError if it is not JSON."""
        import json
        import time

        deadline = time.monotonic() + seconds
        looked = 0
        while (end := self._received.find(b"\n", looked)) < 0:
            looked = len(self._received)
            if self._left <= 0:
                raise ValueError("the answer is too large")
            self._connection.settimeout(max(deadline - time.monotonic(), 0.001))
            part = self._connection.recv(min(65_536, self._left))
            if not part:
                raise ConnectionResetError("the server closed the connection")
            self._left -= len(part)
            self._received += part
        line = bytes(self._received[: end + 1])
        del self._received[: end + 1]
        return json.loads(line)
