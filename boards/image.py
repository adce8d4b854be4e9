# SPDX-License-Identifier: MIT
"""The initramfs and the device tree of an emulated board."""
import glob
import lzma
import os
import re
import shutil
import stat
import subprocess

import tree
from debian import Failure


class Cpio:
    """A cpio archive in the kernel's "newc" format, in memory."""

    def __init__(self):
        self.parts, self.folders, self.inode = [], set(), 0

    def _member(self, name, mode, data=b""):
        self.inode += 1
        name = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0,
                  len(name), 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields)
        head += name
        self.parts += [head, b"\0" * (-len(head) % 4),
                       data, b"\0" * (-len(data) % 4)]

    def folder(self, name):
        if name and name not in self.folders:
            self.folder(os.path.dirname(name))
            self.folders.add(name)
            self._member(name, stat.S_IFDIR | 0o755)

    def data(self, name, data, mode=0o644):
        name = name.lstrip("/")
        self.folder(os.path.dirname(name))
        self._member(name, stat.S_IFREG | mode, data)

    def file(self, name, path):
        """A file, or a folder with all that is in it, links followed."""
        if os.path.isdir(path):
            for entry in sorted(os.listdir(path)):
                self.file(f"{name}/{entry}", os.path.join(path, entry))
            return
        with open(path, "rb") as file:
            self.data(name, file.read(), os.stat(path).st_mode & 0o777)

    def write(self, path):
        self._member("TRAILER!!!", 0)
        with open(path, "wb") as file:
            file.writelines(self.parts)


def _module(kernel, name):
    pattern = re.compile(re.escape(name).replace("_", "[-_]") +
                         r"\.ko(\.xz)?$")
    for folder, _, files in os.walk(kernel):
        for file in files:
            if pattern.fullmatch(file):
                with open(os.path.join(folder, file), "rb") as source:
                    data = source.read()
                return lzma.decompress(data) if file.endswith("xz") else data
    return None     # built in


def _with_dependencies(kernel, names):
    """(name, data) of each module after those that it depends on."""
    done = {}

    def add(name):
        if name in done:
            return
        data = _module(kernel, name)
        if data is None:
            return
        found = re.search(rb"\0depends=([^\0]*)\0", data)
        for needed in (found.group(1).decode().split(",") if found else []):
            if needed:
                add(needed)
        done[name] = data

    for name in names:
        add(name)
    return done.items()


def initramfs(path, board, kernel, busybox, init, command, settings, files):
    """files: list of (host path, guest path)."""
    cpio = Cpio()
    cpio.file("bin/busybox", busybox)
    cpio.file("init", init)
    for number, (name, data) in enumerate(
            _with_dependencies(kernel, board["modules"].split())):
        cpio.data(f"board/modules/{number:02}-{name}.ko", data)
    cpio.data("board/command", command.encode(errors="surrogateescape"))
    cpio.data("board/settings", settings.encode())
    cpio.folder("upmu")
    for host, guest in files:
        cpio.file(guest.strip("/"), host)
    cpio.write(path)


def _call(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise Failure(f"'{' '.join(words)}' failed:\n{done.stdout.strip()}")


def device_tree(path, board, kernel):
    """Debian's, or the emulator's own with the /pmu node of our choice."""
    if board["tree"]:
        found = glob.glob(f"{kernel}/**/{board['tree']}", recursive=True)
        if not found:
            raise Failure(f"no {board['tree']} in {kernel}")
        shutil.copy(found[0], path)
        # the second serial line, which carries the output
        _call("fdtput", "-t", "s", path, "/soc/serial@7e215040", "status",
              "okay")
        return
    words = board["qemu"].split()
    words[words.index("-M") + 1] += ",dumpdtb=" + path
    # no accelerator has started yet: icount has nothing to add
    if "-icount" in words:
        at = words.index("-icount")
        del words[at:at + 2]
    _call(*words, "-display", "none", "-nic", "none")
    if board["pmu"]:
        _put_pmu(path, board)
    if board["cores"]:
        tree.unlike(path, board["cores"].split())
    # The emulator pads its tree to 1 MiB, and doubles what it is given: more
    # than an arm64 kernel takes.
    _call("dtc", "-q", "-I", "dtb", "-O", "dtb", "-o", path + ".packed", path)
    os.rename(path + ".packed", path)


def _put_pmu(path, board):
    subprocess.run(["fdtput", "-r", path, "/pmu"],
                   stderr=subprocess.DEVNULL)
    if board["pmu"] != "none":
        compatible, cell = board["pmu"].split()
        _call("fdtput", "-cp", path, "/pmu")
        _call("fdtput", "-t", "s", path, "/pmu", "compatible", compatible)
        # PPI 7, level high, for the CPUs in the mask of bits 8 up
        if cell != "-":
            _call("fdtput", "-t", "x", path, "/pmu", "interrupts",
                  "1", "7", cell)
