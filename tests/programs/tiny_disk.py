"""`python tiny_disk.py FOLDER KILOBYTES PROGRAM ARGUMENT...`: run a program that finds a disk of this size at FOLDER.

Exits with 77 and the reason where the system does not allow it. Linux only, standard library only.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000
MS_PRIVATE, MS_REC = 1 << 18, 1 << 14
NOT_ALLOWED = 77


def main() -> None:
    """A mount namespace of our own, a small tmpfs in it, then the program in our place."""
    libc = ctypes.CDLL(None, use_errno=True)
    folder, size, *argv = sys.argv[1:]
    root = os.geteuid() == 0
    ids = f"0 {os.geteuid()} 1", f"0 {os.getegid()} 1"
    done = libc.unshare(CLONE_NEWNS if root else CLONE_NEWUSER | CLONE_NEWNS) == 0
    if done and not root:
        # Without a name for ourselves in the new user namespace no file could be made.
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(ids[0], encoding="ascii")
        Path("/proc/self/gid_map").write_text(ids[1], encoding="ascii")
    done = done and libc.mount(b"none", b"/", None, MS_PRIVATE | MS_REC, None) == 0
    done = done and libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, f"size={size}k".encode()) == 0
    if not done:
        sys.stderr.write(f"a disk of our own: {os.strerror(ctypes.get_errno())}\n")
        sys.exit(NOT_ALLOWED)
    os.execvp(argv[0], argv)  # noqa: S606  # the program that was asked for


if __name__ == "__main__":
    main()
