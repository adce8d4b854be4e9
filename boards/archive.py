# SPDX-License-Identifier: MIT
"""Archives in the kernel's "newc" cpio format, written as they grow."""
import os
import stat

from debian import Failure

CHUNK = 1 << 20


class Cpio:
    """Writes to `out`, a binary file; what it holds is never in memory.

    owner: of what is added. None: it is root's, and each user of the board may
    use it, whatever the umask that it was built or unpacked by.
    """

    def __init__(self, out):
        self.out, self.owner = out, None
        self.folders, self.inode = set(), 0

    def _head(self, name, mode, size, owner):
        self.inode += 1
        name = name.encode(errors="surrogateescape") + b"\0"
        fields = (self.inode, mode, owner, owner, 1, 0, size, 0, 0, 0, 0,
                  len(name), 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields)
        head += name
        self.out.write(head + b"\0" * (-len(head) % 4))

    def _mode(self, state):
        mode = state.st_mode & 0o777
        if self.owner is None:
            mode |= (mode & 0o500) >> 3 | (mode & 0o500) >> 6
        return mode

    def folder(self, name, mode=0o755, owner=0):
        if name and name not in self.folders:
            self.folder(os.path.dirname(name))
            self.folders.add(name)
            self._head(name, stat.S_IFDIR | mode, 0, owner)

    def data(self, name, data, mode=0o644):
        name = name.lstrip("/")
        self.folder(os.path.dirname(name))
        self._head(name, stat.S_IFREG | mode, len(data), 0)
        self.out.write(data + b"\0" * (-len(data) % 4))

    def link(self, name, target):
        self.folder(os.path.dirname(name))
        self.folders.add(name)      # what is put below it follows the link
        target = target.encode()
        self._head(name, stat.S_IFLNK | 0o777, len(target), 0)
        self.out.write(target + b"\0" * (-len(target) % 4))

    def add(self, name, path):
        """A file, or a folder with all that is in it, links followed."""
        for below, host, state in walk(path):
            to = os.path.join(name.strip("/"), below).rstrip("/")
            if stat.S_ISDIR(state.st_mode):
                self.folder(to, self._mode(state), self.owner or 0)
            else:
                self._file(to, host, state)

    def _file(self, name, path, state):
        self.folder(os.path.dirname(name))
        left = state.st_size
        self._head(name, stat.S_IFREG | self._mode(state), left,
                   self.owner or 0)
        with open(path, "rb") as file:
            while left:
                data = file.read(min(left, CHUNK))
                if not data:
                    raise Failure(f"'{path}' became shorter while it was "
                                  "copied")
                self.out.write(data)
                left -= len(data)
        self.out.write(b"\0" * (-state.st_size % 4))

    def end(self):
        self._head("TRAILER!!!", 0, 0, 0)
        self.out.flush()


def walk(path, above=()):
    """(name below path, host path, stat) of all that a copy holds."""
    state = os.stat(path)
    if stat.S_ISREG(state.st_mode):
        yield "", path, state
        return
    if not stat.S_ISDIR(state.st_mode):
        raise Failure(f"'{path}' is neither a file nor a folder")
    here = (state.st_dev, state.st_ino)
    if here in above:
        raise Failure(f"'{path}' is a link to a folder that it lies in")
    yield "", path, state
    for entry in sorted(os.listdir(path)):
        for below, host, state in walk(os.path.join(path, entry),
                                       (*above, here)):
            yield os.path.join(entry, below), host, state
