# SPDX-License-Identifier: MIT
"""Debian's own perf for a board: a folder with it and the libraries it needs.

perf.py ARCH prints the folder; copied to /perf on the board, /perf/perf
starts it. Its version does not depend on the board's kernel.
"""
import glob
import os
import re
import shutil
import sys

from debian import Apt, Failure, call, command, obtain
from kernels import USERLAND_SUITE

START = """#!/bin/sh
exec /perf/ld.so --library-path /perf/lib /perf/perf.elf "$@"
"""


def _needed(path):
    """What the dynamic linker will look for on behalf of `path`."""
    text = call("readelf", "-d", path, env=dict(os.environ, LC_ALL="C"))
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def _library_packages(apt):
    """Names of the libraries that linux-perf depends on, theirs included."""
    done = apt.ask("apt-get", "install", "-qq", "--no-install-recommends",
                   "--print-uris", "linux-perf")
    names = re.findall(r"^'[^']*' ([^_ ]+)_", done.stdout, re.M)
    if not names:
        raise Failure(f"apt cannot tell what linux-perf of {apt.name} "
                      f"needs:\n{done.stdout.strip()}")
    return [name for name in names if name.startswith(("lib", "zlib"))]


def _copy_libraries(source, folder):
    """Those of `source` that perf needs into folder/lib."""
    os.makedirs(folder + "/lib")
    found = {os.path.basename(path): path
             for path in glob.glob(source + "/**/*.so*", recursive=True)}
    todo = _needed(folder + "/perf.elf")
    while todo:
        name = todo.pop()
        target = f"{folder}/lib/{name}"
        if os.path.exists(target):
            continue
        if name not in found:
            raise Failure(f"no package that perf depends on holds {name}")
        shutil.copy(os.path.realpath(found[name]), target)
        todo += _needed(target)


def perf(arch):
    """Folder with perf as the userland suite has it."""
    def fill(folder):
        apt = Apt(USERLAND_SUITE, arch)
        apt.ready()
        source = folder + "/source"
        for name in ["linux-perf"] + _library_packages(apt):
            apt.fetch(name, source, ["*/lib/*.so*", "*/bin/perf*"])
        binaries = [path for path in glob.glob(source + "/usr/bin/perf*")
                    if open(path, "rb").read(4) == b"\x7fELF"]
        loaders = glob.glob(source + "/**/ld-linux*.so.*", recursive=True)
        if len(binaries) != 1 or not loaders:
            raise Failure(f"linux-perf of {apt.name} is not as expected")
        shutil.copy(binaries[0], folder + "/perf.elf")
        shutil.copy(os.path.realpath(loaders[0]), folder + "/ld.so")
        _copy_libraries(source, folder)
        shutil.rmtree(source)
        with open(folder + "/perf", "w") as file:
            file.write(START)
        os.chmod(folder + "/perf", 0o755)

    return obtain(f"perf/{USERLAND_SUITE}-{arch}", fill)


def main():
    """perf.py ARCH"""
    print(perf(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(command("boards", main))
