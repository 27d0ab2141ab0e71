"""A process apart: in a network namespace in which every packet is seen, with empty folders where programs like to
leave files.

Whatever address something in it speaks to, the packet goes to the loopback interface, where `Watch` reads it; nothing
answers. Folders such as the user's home and /tmp are empty file systems that go with the process. It takes root, or a
kernel that gives users a namespace of their own.
"""

import ctypes
import fcntl
import ipaddress
import os
import pwd
import socket
import struct
import sys
import tempfile
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

NOT_POSSIBLE = 77
"""How a process ends that cannot go apart."""

_NEWNS, _NEWUSER, _NEWNET = 0x00020000, 0x10000000, 0x40000000
_BIND, _REC, _PRIVATE = 4096, 16384, 1 << 18
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_NEW_ROUTE, _REQUEST, _CREATE, _ACKNOWLEDGE = 24, 1, 0x400, 4
_LOCAL_TABLE, _STATIC, _HOST, _LOCAL, _INTERFACE = 255, 4, 254, 2, 4
_EVERY_PROTOCOL, _OUTGOING = 0x0003, 4
_STATISTICS, _PACKET_OPTIONS = 6, 263
_ICMP, _TCP, _UDP, _ICMP6 = 1, 6, 17, 58
_DOMAIN = 53
_NAME_SERVER = "192.0.2.53"
"""An address that belongs to nobody."""
_IPV6_OFF = Path("/proc/sys/net/ipv6/conf/lo/disable_ipv6")


class NotPossible(Exception):
    """The system gives this process no namespaces."""


def enter(needed: Iterable[Path]) -> tuple["Watch", tuple[Path, ...]]:
    """Go apart, with what the folders that are needed hold; gives what sees packets, and the folders that are empty
    now. Only a process with one thread can."""
    try:
        _unshare(_NEWNET | _NEWNS)
        _mount("none", "/", _REC | _PRIVATE)
        _prepare_network()
        # While the interface is set up, the kernel speaks for itself.
        watch = Watch()
        return watch, _cover(set(needed))
    except OSError as error:
        raise NotPossible(str(error)) from error


def _unshare(flags: int) -> None:
    user, group = os.getuid(), os.getgid()
    if user != 0:
        flags |= _NEWUSER
    _call("unshare", flags)
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _call(name: str, *arguments: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _mount(source: str, target: str, flags: int, kind: str | None = None) -> None:
    _call(
        "mount", os.fsencode(source), os.fsencode(target), kind.encode() if kind else None, ctypes.c_ulong(flags), None
    )


def _prepare_network() -> None:
    with suppress(OSError):
        _IPV6_OFF.write_text("0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        answer = fcntl.ioctl(control, _GET_FLAGS, struct.pack("16sH14x", b"lo", 0))
        (flags,) = struct.unpack_from("H", answer, 16)
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))
    _lead_here(socket.AF_INET)
    if _IPV6_OFF.exists():
        _lead_here(socket.AF_INET6)


def _lead_here(family: int) -> None:
    """Make every address one of this machine, so that what is sent to it becomes a packet."""
    route = struct.pack("BBBBBBBBI", family, 0, 0, 0, _LOCAL_TABLE, _STATIC, _HOST, _LOCAL, 0)
    route += struct.pack("HHI", 8, _INTERFACE, socket.if_nametoindex("lo"))
    header = struct.pack("IHHII", 16 + len(route), _NEW_ROUTE, _REQUEST | _CREATE | _ACKNOWLEDGE, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.send(header + route)
        (number,) = struct.unpack_from("i", kernel.recv(4096), 16)
    if number:
        raise OSError(-number, f"a route: {os.strerror(-number)}")


def _cover(needed: set[Path]) -> tuple[Path, ...]:
    """Put empty file systems over the folders in which programs leave files; what is needed of them stays."""
    homes = [pwd.getpwuid(os.getuid()).pw_dir, str(Path.home())]
    named = (*homes, "/tmp", "/var/tmp", "/dev/shm", tempfile.gettempdir())
    places = {path for each in named if (path := Path(each).resolve()).is_dir() and path != Path("/")}
    covered = sorted(places)
    covered = [each for each in covered if not any(above in covered for above in each.parents)]
    inside = {each.resolve() for each in needed if any(each.resolve().is_relative_to(place) for place in covered)}
    inside = {each for each in inside if each.is_dir() and not any(above in inside for above in each.parents)}
    opened = {each: os.open(each, os.O_PATH) for each in inside}
    for place in covered:
        _mount("none", str(place), 0, "tmpfs")
    for path, number in opened.items():
        path.mkdir(parents=True, exist_ok=True)
        _mount(f"/proc/self/fd/{number}", str(path), _BIND | _REC)
        os.close(number)
    for place in places:
        # One may lie in another.
        place.mkdir(parents=True, exist_ok=True)
    _ask_the_watched_name_server(covered[0])
    os.chdir(Path.cwd())
    return tuple(covered)


def _ask_the_watched_name_server(place: Path) -> None:
    """Names are asked for with packets, and not from a service of the machine at a socket."""
    settings = {"/etc/nsswitch.conf": "hosts: files dns\n", "/etc/resolv.conf": f"nameserver {_NAME_SERVER}\n"}
    for target, text in settings.items():
        if Path(target).exists():
            (file := place / Path(target).name).write_text(text)
            _mount(str(file), target, _BIND)
            file.unlink()
    if Path("/var/run/nscd").is_dir():
        _mount("none", "/var/run/nscd", 0, "tmpfs")


class Watch:
    """Everything that was sent to another machine, and every name that was looked up."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_EVERY_PROTOCOL))
        self._socket.bind(("lo", _EVERY_PROTOCOL))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self._seen: dict[str, None] = {}
        self._marks = 0
        self._changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def seen(self) -> list[str]:
        """What was sent since the last look, one sentence each."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as marker:
            # Packets come in the order in which they were sent: before this one there is none left to read.
            marker.bind(("127.0.0.1", 0))
            with self._changed:
                wanted = self._marks + 1
                marker.sendto(_MARK, marker.getsockname())
                self._changed.wait_for(lambda: self._marks >= wanted)
                found, self._seen = list(self._seen), {}
        _, dropped = struct.unpack("II", self._socket.getsockopt(_PACKET_OPTIONS, _STATISTICS, 8))
        return [*found, *([f"{dropped} packets that nobody read"] if dropped else [])]

    def _read(self) -> None:
        while True:
            packet, address = self._socket.recvfrom(1 << 16)
            if address[2] != _OUTGOING:
                continue
            said = said_of(packet)
            with self._changed:
                if packet.endswith(_MARK):
                    self._marks += 1
                    self._changed.notify()
                elif said:
                    self._seen[said] = None


_MARK = b"a mark in the stream of packets"


def said_of(packet: bytes) -> str | None:
    """What a packet is, where it may not be sent; None for one that stays on the machine and asks for no name."""
    if packet[0] >> 4 == 6:
        protocol, target, inside = packet[6], packet[24:40], packet[40:]
    else:
        protocol, target, inside = packet[9], packet[16:20], packet[(packet[0] & 15) * 4 :]
    address = ipaddress.ip_address(target)
    if protocol in (_TCP, _UDP):
        return _said_of_a_port(protocol, address, inside)
    is_answer = protocol in (_ICMP, _ICMP6) and inside[0] not in (8, 128)
    return None if address.is_loopback or is_answer else f"protocol {protocol} to {address}"


def _said_of_a_port(protocol: int, address: ipaddress.IPv4Address | ipaddress.IPv6Address, inside: bytes) -> str | None:
    source, port = struct.unpack_from(">HH", inside)
    if protocol == _TCP and inside[13] & 0b010010 != 0b000010:
        # Only the first packet of a connection counts.
        return None
    if port == _DOMAIN:
        return f"a look-up of {_name(inside[20:])}" if protocol == _UDP else f"a look-up over TCP at {address}"
    if address.is_loopback:
        return None
    # Every address is one of this machine here, so an answer goes to one as well.
    return f"{'TCP' if protocol == _TCP else 'UDP'} to {address} at port {port}" if source != _DOMAIN else None


def _name(question: bytes) -> str:
    labels = []
    while question and question[0]:
        labels.append(question[1 : 1 + question[0]].decode("ascii", "replace"))
        question = question[1 + question[0] :]
    return ".".join(labels)


def files_beside(left_out: set[Path], places: Iterable[Path]) -> set[Path]:
    """Whatever is in some folders, but for some of those in them, and but for folders that hold something."""
    found = set()
    for place in places:
        for name, folders, files in os.walk(place):
            here = Path(name)
            is_empty = not folders and not files and here != place
            folders[:] = [each for each in folders if here / each not in left_out]
            found.update({here} if is_empty else {here / each for each in files})
    return found


def main() -> int:
    """Say what a program sends, and which files it leaves: `python -m tests.attack.alone COMMAND ...`."""
    import subprocess

    needed = {Path.cwd(), *map(Path, (sys.prefix, sys.base_prefix, *filter(None, sys.path)))}
    try:
        watch, empty = enter(needed)
    except NotPossible as error:
        sys.stdout.write(f"{error}\n")
        return NOT_POSSIBLE
    before = files_beside(needed, empty)
    subprocess.run(sys.argv[1:], check=False)
    left = sorted(files_beside(needed, empty) - before)
    sys.stdout.writelines(f"{each}\n" for each in (*watch.seen(), *(f"{path} was written" for path in left)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
