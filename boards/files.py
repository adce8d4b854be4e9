# SPDX-License-Identifier: MIT
"""What travels to a board and back, and whether the board can hold it."""
import os
import re
import shutil
import stat
import subprocess
import tempfile

import archive
from debian import Failure

MIB = 1 << 20
# The kernel, what it reserves, busybox, room for a program.
REST_MIB = 100
# What is more travels as a disk where the board can have one: an initramfs takes
# its size three times, see check_room().
DISK_FROM = 8 * MIB
# What the emulator's machine takes at most below 4 GiB (highmem=off).
MOST_MIB = 3072


def _split(spec):
    """Host and guest: a name here may have colons, as may one there."""
    at = len(spec)
    while at > 0:
        if os.path.exists(spec[:at]):
            return spec[:at], spec[at + 1:]
        at = spec.rfind(":", 0, at)
    host, colon, _ = spec.rpartition(":")
    raise Failure(f"no such file: '{host if colon else spec}'")


def specified(specs):
    """(host path, guest path) of each --file."""
    for spec in specs:
        host, guest = _split(spec)
        if not guest or guest.endswith("/"):
            guest += os.path.basename(os.path.abspath(host))
        yield host, "/" + guest.strip("/")


def size(pairs):
    """Bytes in memory that (host, guest) pairs take on the board."""
    return sum(-(-state.st_size // 4096) * 4096 + 512
               for host, _ in pairs
               for _, _, state in archive.walk(host)
               if stat.S_ISREG(state.st_mode))


def memory(board):
    """The board's memory in MiB, None where it can't be chosen."""
    found = re.search(r" -m (\d+)([MG]?)\b", board["qemu"])
    if not found:
        return None
    return int(found[1]) * (1024 if found[2] == "G" else 1)


def set_memory(board, name, mebibytes):
    if memory(board) is None:
        raise Failure(f"--memory: {name} has the memory of the machine that "
                      f"it is, {board['memory']} MiB")
    if mebibytes > MOST_MIB:
        raise Failure(f"--memory: {name} takes at most {MOST_MIB}M")
    board["qemu"] = re.sub(r" -m \S+", f" -m {mebibytes}", board["qemu"])


def check_room(board, name, own, taken, by_disk):
    """Refuse before the boot what would not fit, with what would do.

    own, taken: bytes of what is built from this tree, and of --file.
    """
    # While it is unpacked, the archive is in memory, and the tmpfs that the
    # files go to takes at most half of what the archive left. A disk is read
    # afterwards, and the tmpfs may then take all.
    unpacking = 3 * (own if by_disk else own + taken)
    needed = REST_MIB + max(unpacking, own + taken) // MIB
    there = memory(board)
    if needed <= (there or int(board["memory"])):
        return
    said = f"{taken / MIB:.0f} MiB of files do not fit into {name}"
    if there is None:
        raise Failure(f"{said}, whose memory can't be chosen")
    would = -(-needed // 256) * 256
    if would > MOST_MIB:
        raise Failure(f"{said}, which takes at most {MOST_MIB} MiB of memory")
    raise Failure(f"{said} with its {there} MiB of memory; "
                  f"--memory {would}M would do")


class Wanted:
    """A --get: where it is on the board, where it is to be here."""

    def __init__(self, spec):
        self.guest, _, host = spec.partition(":")
        name = os.path.basename(self.guest.rstrip("/"))
        if name in ("", ".", ".."):
            raise Failure(f"--get '{spec}': which file of the board?")
        if host.endswith("/") or os.path.isdir(host):
            host = os.path.join(host, name)
        self.host = host or name
        folder = os.path.dirname(self.host) or "."
        if os.path.isdir(self.host):
            raise Failure(f"--get '{spec}': there is a folder "
                          f"'{self.host}' already")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise Failure(f"--get '{spec}': can't write into '{folder}'")
        self.folder = folder
        self.spool = tempfile.TemporaryFile()

    def deliver(self, token):
        """What came, whole, to its place; what is wrong with it, or None."""
        self.spool.seek(0)
        head = self.spool.readline().decode(errors="replace").split()
        if head[:1] != [token]:
            return f"'{self.guest}' did not come"
        if head[1] == "none":
            return f"no '{self.guest}' on the board"
        begin = self.spool.tell()
        tail = f"{token} 0\n".encode()
        end = self.spool.seek(0, os.SEEK_END) - len(tail)
        self.spool.seek(max(begin, end))
        if end < begin or self.spool.read() != tail:
            return f"'{self.guest}' did not come whole"
        self.spool.seek(begin)
        work = tempfile.mkdtemp(prefix=".upmu-get-", dir=self.folder)
        try:
            return self._put(work, head[1:], end - begin)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _put(self, work, head, length):
        if head[0] == "folder":
            if os.path.lexists(self.host):
                return f"'{self.guest}' is a folder, '{self.host}' is none"
            made = _unpacked(self.spool, work)
        else:
            made = os.path.join(work, "file")
            with open(made, "wb") as file:
                shutil.copyfileobj(self.spool, file, archive.CHUNK)
                file.truncate(length)
            os.chmod(made, int(head[1], 8) & 0o777)
        os.rename(made, self.host)
        return None


def wanted(specs):
    """Each --get, every one with a place of its own."""
    found = [Wanted(spec) for spec in specs]
    places = [os.path.abspath(one.host) for one in found]
    for place in places:
        if places.count(place) > 1:
            raise Failure(f"--get: several files for '{place}'")
    return found


def _unpacked(spool, work):
    """The one folder of a tar archive, unpacked below `work`."""
    os.lseek(spool.fileno(), spool.tell(), os.SEEK_SET)
    done = subprocess.run(["tar", "-x", "--no-same-owner", "-C", work],
                          stdin=spool, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failure(f"cannot unpack what came: {done.stderr.strip()}")
    return os.path.join(work, os.listdir(work)[0])
