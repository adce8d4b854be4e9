# SPDX-License-Identifier: MIT
"""A small ARMv7 kernel configured for trouble, from Debian's linux-source.

What it is configured with is in debug.config. It boots on the boards with
ARMv7 cores as `--kernel debug`; building it takes minutes and 2 GiB.
"""
import glob
import hashlib
import os
import re
import shutil
import sys

from debian import (Apt, Failure, call, command, native, obtain,
                    progress)

SUITE = "bookworm"
HERE = os.path.dirname(os.path.abspath(__file__))
CONFIG = os.path.join(HERE, "debug.config")
MAKE = ["make", "-s", "ARCH=arm", "CROSS_COMPILE=arm-linux-gnueabihf-"]
# What modules are built with; all other sources are removed afterwards.
KEPT = re.compile(r"/(Makefile|Kbuild|Module\.symvers|\.config)$|"
                  r"/(scripts|include)/|/arch/arm/(Makefile|include/)")


def _make(folder, *words):
    call("nice", *MAKE, "-C", folder, *words)


def _held(line, got):
    name, value = line.split("=", 1)
    if value == "n":
        return not any(one.startswith(name + "=") for one in got)
    return line in got


def _configure(tree):
    """allnoconfig and debug.config; every line of that must have held."""
    _make(tree, "KCONFIG_ALLCONFIG=" + CONFIG, "allnoconfig")
    with open(tree + "/.config") as file:
        got = set(file.read().splitlines())
    with open(CONFIG) as file:
        lost = [line for line in file.read().splitlines()
                if line.startswith("CONFIG_") and not _held(line, got)]
    if lost:
        raise Failure("this kernel source refuses " + ", ".join(lost))


def _prune(tree):
    for folder, _, names in os.walk(tree, topdown=False):
        for name in names:
            path = os.path.join(folder, name)
            if not KEPT.match(path[len(tree):]):
                os.unlink(path)
        if not os.listdir(folder):
            os.rmdir(folder)


def _fill(folder):
    call(os.path.join(HERE, "../scripts/need"), "--ask", "make", "bc", "bison",
         "flex", "xz-utils", "gcc-arm-linux-gnueabihf")
    apt = Apt(SUITE, native())
    apt.ready()
    package = apt.depends("linux-source", r"linux-source-[\d.]+")
    apt.fetch(package, folder + "/package")
    archives = glob.glob(folder + "/package/usr/src/linux-source-*.tar.*")
    tree = folder + "/tree"
    os.mkdir(tree)
    progress("unpacking the kernel's source")
    call("tar", "-x", "-C", tree, "--strip-components=1",
         "--exclude=*/Documentation/*/*", "-f", archives[0])
    shutil.rmtree(folder + "/package")
    _configure(tree)
    progress("building the debug kernel: minutes")
    _make(tree, f"-j{os.cpu_count() or 1}", "zImage", "modules")
    with open(tree + "/include/config/kernel.release") as file:
        release = file.read().strip()
    shutil.move(tree + "/arch/arm/boot/zImage", folder + "/vmlinuz")
    with open(folder + "/release", "w") as file:
        file.write(release + "\n")
    progress("")
    _prune(tree)
    os.rename(tree, f"{folder}/linux-headers-{release}")


def kernel():
    """Folder with vmlinuz and release; built at the first call."""
    with open(CONFIG, "rb") as file:
        mark = hashlib.sha256(file.read()).hexdigest()[:12]
    return obtain(f"debug-kernel/{mark}", _fill)


def headers():
    """Kbuild's folder of that kernel."""
    return glob.glob(kernel() + "/linux-headers-*")[0]


if __name__ == "__main__":
    sys.exit(command("boards", lambda: print(kernel())))
