# SPDX-License-Identifier: MIT
"""The initramfs and the device tree of an emulated board."""
import glob
import itertools
import lzma
import os
import re
import shutil
import subprocess

import tree
from archive import Cpio
from debian import Failure
from table import escaped


def _module(roots, name):
    pattern = re.compile(re.escape(name).replace("_", "[-_]") +
                         r"\.ko(\.xz)?$")
    for folder, _, files in itertools.chain(*map(os.walk, roots)):
        for file in files:
            if pattern.fullmatch(file):
                with open(os.path.join(folder, file), "rb") as source:
                    data = source.read()
                return lzma.decompress(data) if file.endswith("xz") else data
    return None     # built in


def _with_dependencies(roots, names):
    """(name, data) of each module after those that it depends on."""
    done = {}

    def add(name):
        if name in done:
            return
        data = _module(roots, name)
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


USER = 1000
HOME = "home/user"
ACCOUNTS = (
    ("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"
     f"user:x:{USER}:{USER}:an ordinary user:/{HOME}:/bin/sh\n"),
    ("etc/group", "root:x:0:\ntty:x:5:\nuser:x:1000:\n"),
    ("etc/hosts", "127.0.0.1 localhost\n"),
)
# As on a machine where `upmu setup` ran and the user was added.
MEMBER = "upmu:x:990:user\n"


def _system(cpio, board, busybox, here, roots, more_modules):
    cpio.add("bin/busybox", busybox)
    for name in ("init", "session"):
        cpio.add(name, os.path.join(here, name))
    for name in ("sbin", "usr/bin", "usr/sbin"):
        cpio.link(name, "/bin")
    cpio.folder("root", 0o700)
    cpio.folder("tmp", 0o1777)
    cpio.folder(HOME, 0o755, USER)
    modules = board["modules"].split() + more_modules
    for number, (name, data) in enumerate(
            _with_dependencies(roots, modules)):
        cpio.data(f"board/modules/{number:02}-{name}.ko", data)


def initramfs(out, board, busybox, here, settings, is_user, roots,
              more_modules, files):
    """settings: file name in /board and its text; files: (host, guest).

    roots: folders that the modules are found in.
    """
    cpio = Cpio(out)
    _system(cpio, board, busybox, here, roots, more_modules)
    for name, text in ACCOUNTS:
        if is_user and name == "etc/group":
            text += MEMBER
        cpio.data(name, text.encode())
    for name, text in settings.items():
        cpio.data(f"board/{name}", text.encode(errors="surrogateescape"))
    cpio.folder("upmu")
    for host, guest, owner in files:
        cpio.owner = owner
        cpio.add(guest, host)
    cpio.data("board/whole", b"")       # the kernel drops what does not fit
    cpio.end()


def disk(out, files):
    """The archive that the board unpacks from /dev/vda."""
    cpio = Cpio(out)
    for host, guest, owner in files:
        cpio.owner = owner
        cpio.add(guest, host)
    cpio.end()
    out.truncate(-(-out.tell() // 512) * 512)


def _call(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise Failure(f"'{' '.join(words)}' failed:\n{done.stdout.strip()}")


def _packaged_tree(path, board, kernel, model):
    """The one that came with the kernel."""
    found = glob.glob(f"{kernel}/**/{board['tree']}", recursive=True)
    if not found:
        raise Failure(f"no {board['tree']} in {kernel}")
    model.look(_call, _dump(board, path + ".seen") + [
        "-dtb", found[0], "-kernel", os.path.join(kernel, "vmlinuz")],
        os.path.dirname(path))
    shutil.copy(found[0], path)
    # the second serial line, which carries the output
    _call("fdtput", "-t", "s", path, "/soc/serial@7e215040", "status", "okay")


def _dump(board, path):
    """How the emulator is called to write its device tree, and end."""
    words = board["qemu"].split()
    words[words.index("-M") + 1] += ",dumpdtb=" + escaped(path)
    # no accelerator has started yet: icount has nothing to add
    if "-icount" in words:
        at = words.index("-icount")
        del words[at:at + 2]
    return words + ["-display", "none", "-nic", "none"]


def device_tree(path, board, kernel, model):
    """Debian's, or the emulator's own with the PMU nodes of our choice."""
    if board["tree"]:
        _packaged_tree(path, board, kernel, model)
        model.tell(_call, path)
        return
    model.look(_call, _dump(board, path), os.path.dirname(path))
    if board["pmu"]:
        _put_pmu(path, board)
    cores = board["cores"].split() or (
        model.names if model.is_unlike() else [])
    if cores:
        tree.unlike(path, cores)
    model.tell(_call, path)
    if "-seed" in board["qemu"]:
        # The emulator fills it at reset, alike in each boot by -seed. Without
        # it the kernel gathers each random number anew, at 100,000
        # instructions a program.
        _call("fdtput", "-t", "x", path, "/chosen", "rng-seed",
              *["0"] * 8)
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
