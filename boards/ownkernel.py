# SPDX-License-Identifier: MIT
"""Small kernels of our own configuration, from Debian's linux-source.

For what no kernel of a distribution has: KASAN, KCSAN, lockdep, kmemleak,
faults to order, PREEMPT_RT beside these; patches of upstream/. They boot as
`boards/run BOARD --kernel debug`; building one takes minutes and 2 GiB.
"""
import glob
import hashlib
import os
import re
import shutil
import sys
import typing

from debian import (Apt, Failure, call, command, native, obtain,
                    progress)

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


class Own(typing.NamedTuple):
    suite: str      # whose linux-source
    linux: str      # ARCH
    cross: str      # CROSS_COMPILE
    image: str      # what the emulator loads, in arch/ARCH/boot
    configs: str    # the parts of own_kernels.config that it is made of
    slower: int     # than a distribution's kernel, in time limits
    patches: tuple = ()     # of ours, in their order
    series: str = ""        # debian/ SERIES of the source package linux
    words: tuple = ()       # of make


# By the name that stands for a suite, and the board's kernel (kernels.py).
OWN = {
    ("debug", "armhf"): Own("bookworm", "arm", "arm-linux-gnueabihf-",
                            "zImage", "machine arm trouble kasan", 5),
    ("debug", "arm64"): Own("bookworm", "arm64", "aarch64-linux-gnu-",
                            "Image", "machine arm64 kvm trouble kasan", 5),
    ("debug", "armhf-rt"): Own("bookworm", "arm", "arm-linux-gnueabihf-",
                               "zImage", "machine arm trouble kasan rt", 5,
                               ("boards/rt.patch",),
                               series="patches-rt"),
    # Of the module alone: what the kernel does to itself is not our concern,
    # and so many of the module's accesses can be watched (boards/init).
    ("kcsan", "arm64"): Own("bookworm", "arm64", "aarch64-linux-gnu-",
                            "Image", "machine arm64 kcsan", 5,
                            words=("KCSAN_SANITIZE=n",)),
    ("user-access", "armhf"): Own("bookworm", "arm", "arm-linux-gnueabihf-",
                                  "zImage", "machine arm", 1,
                                  ("upstream/0001-*.patch",
                                   "upstream/arm-user-access-6.1/*.patch")),
    # What a user may configure and no distribution does; 6.1 has no PMUv3.
    ("pmuv3", "armhf"): Own("bookworm-backports", "arm",
                            "arm-linux-gnueabihf-", "zImage",
                            "machine arm pmuv3", 1),
    ("v6v7", "armhf"): Own("bookworm", "arm", "arm-linux-gnueabihf-",
                           "zImage", "machine arm v6v7", 1),
}
SUITES = sorted({suite for suite, _ in OWN})
# What the module is tried on with --debug-kernel, unless a test says another.
DEBUG = "debug"

# What modules are built with; all other sources are removed afterwards.
KEPT = re.compile(r"/(Makefile|Kbuild|Module\.symvers|\.config)$|"
                  r"/(scripts|include)/|/arch/arm(64)?/(Makefile|include/)")


def has(suite, arch):
    return (suite, arch) in OWN


def slower(suite):
    """By how much its time limits are longer."""
    return max((own.slower for (name, _), own in OWN.items()
                if name == suite), default=1)


def _make(own, folder, *words):
    call("nice", "make", "-s", f"ARCH={own.linux}",
         f"CROSS_COMPILE={own.cross}", "-C", folder, *own.words, *words)


def _config(own):
    with open(TOP + "/boards/own_kernels.config") as file:
        head, *parts = re.split(r"^\[(.+)\]\n", file.read(), flags=re.M)
    part = dict(zip(parts[::2], parts[1::2]))
    return "".join(head + part[name] for name in own.configs.split())


def _held(line, got):
    name, value = line.split("=", 1)
    if value == "n":
        return not any(one.startswith(name + "=") for one in got)
    return line in got


def _configure(own, tree):
    """allnoconfig and our lines; every one of these must have held.

    Of two for one option that is the later one.
    """
    with open(tree + "/own.config", "w") as file:
        file.write(_config(own))
    _make(own, tree, f"KCONFIG_ALLCONFIG={tree}/own.config", "allnoconfig")
    with open(tree + "/.config") as file:
        got = set(file.read().splitlines())
    last = {line.split("=")[0]: line for line in _config(own).splitlines()
            if line.startswith("CONFIG_")}
    lost = [line for line in last.values() if not _held(line, got)]
    if lost:
        raise Failure("this kernel source refuses " + ", ".join(lost))


def _patches(own):
    return [path for pattern in own.patches
            for path in sorted(glob.glob(os.path.join(TOP, pattern)))]


def _series(own, folder):
    """Patches that Debian keeps beside its kernel's source."""
    if not own.series:
        return []
    apt = Apt(own.suite, native(), "deb-src")
    apt.ready()
    archive = apt.source("linux", folder, "debian")
    home = os.path.join(folder, "debian", own.series)
    call("tar", "-x", "-C", folder, "-f", archive, "debian/" + own.series)
    os.unlink(archive)
    with open(home + "/series") as file:
        return [os.path.join(home, line.strip()) for line in file
                if line.strip() and not line.startswith("#")]


def _patch(own, folder, tree):
    """Of what was unpacked: the documentation was not."""
    env = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(tree))
    for path in _series(own, folder) + _patches(own):
        call("git", "apply", "--exclude=Documentation/*", path, cwd=tree,
             env=env)
    shutil.rmtree(folder + "/debian", ignore_errors=True)


def _prune(tree):
    for folder, _, names in os.walk(tree, topdown=False):
        for name in names:
            path = os.path.join(folder, name)
            if not KEPT.match(path[len(tree):]):
                os.unlink(path)
        if not os.listdir(folder):
            os.rmdir(folder)


def _unpack(own, folder, tree):
    apt = Apt(own.suite, native())
    apt.ready()
    package = apt.depends("linux-source", r"linux-source-[\d.]+")
    apt.fetch(package, folder + "/package")
    archives = glob.glob(folder + "/package/usr/src/linux-source-*.tar.*")
    os.mkdir(tree)
    progress("unpacking the kernel's source")
    call("tar", "-x", "-C", tree, "--strip-components=1",
         "--exclude=*/Documentation/*/*", "-f", archives[0])
    shutil.rmtree(folder + "/package")


def _fill(own, name, folder):
    call(os.path.join(TOP, "scripts/need"), "--ask", "make", "bc",
         "bison", "flex", "xz-utils", "git", f"gcc-{own.cross[:-1]}")
    tree = folder + "/tree"
    _unpack(own, folder, tree)
    _patch(own, folder, tree)
    _configure(own, tree)
    progress(f"building the kernel '{name}': minutes")
    _make(own, tree, f"LOCALVERSION=-upmu-{name}", f"-j{os.cpu_count() or 1}",
          own.image, "modules")
    with open(tree + "/include/config/kernel.release") as file:
        release = file.read().strip()
    shutil.move(f"{tree}/arch/{own.linux}/boot/{own.image}",
                folder + "/vmlinuz")
    with open(folder + "/release", "w") as file:
        file.write(release + "\n")
    progress("")
    _prune(tree)
    os.rename(tree, f"{folder}/linux-headers-{release}")


def kernel(suite, arch):
    """Folder with vmlinuz and release; built at the first call."""
    own = OWN[suite, arch]
    made_of = _config(own) + own.series + "".join(own.words)
    for path in _patches(own):
        with open(path) as file:
            made_of += file.read()
    mark = hashlib.sha256(made_of.encode()).hexdigest()[:12]
    return obtain(f"own-kernels/{suite}-{arch}-{mark}",
                  lambda folder: _fill(own, suite, folder))


def headers(suite, arch):
    """Kbuild's folder of that kernel."""
    return glob.glob(kernel(suite, arch) + "/linux-headers-*")[0]


if __name__ == "__main__":
    sys.exit(command("boards", lambda: print(kernel(*sys.argv[1:]))))
