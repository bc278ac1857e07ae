"""`python offline.py PROGRAM ARGUMENT...`: run a program on a machine whose only network is its own loopback.

Exits with 77 and the reason where the system does not allow it. Linux only, standard library only.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
NOT_ALLOWED = 77


def main() -> None:
    """A new network namespace, loopback up, then the program in our place."""
    libc = ctypes.CDLL(None, use_errno=True)
    # A user namespace is only needed, and only taken, by who is not root.
    flags = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWUSER | CLONE_NEWNET
    if libc.unshare(flags) != 0:
        sys.stderr.write(f"unshare: {os.strerror(ctypes.get_errno())}\n")
        sys.exit(NOT_ALLOWED)
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            request = struct.pack("16sH14x", b"lo", 0)
            (now,) = struct.unpack_from("H", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request), 16)
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", now | IFF_UP))
    except OSError as error:
        sys.stderr.write(f"bringing loopback up: {error}\n")
        sys.exit(NOT_ALLOWED)
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606  # the program that was asked for


if __name__ == "__main__":
    main()
