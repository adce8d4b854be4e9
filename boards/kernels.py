# SPDX-License-Identifier: MIT
"""Debian's kernels, their headers, and busybox, out of the cache."""
import quiet        # first
import contextlib
import functools
import glob
import os
import re
import sys

import ownkernel
from debian import (Apt, DAY_S, Failure, INDEX_LIFE_S, NoFile, NoSuite,
                    cache, cache_for_make, command, native, obtain, write)

# What a row's "kernel" may be: an architecture, or one with another flavour.
FLAVOURS = {"armhf": "armmp", "armhf-rt": "rt-armmp", "armel": "rpi",
            "arm64": "arm64", "arm64-16k": "arm64-16k"}
NEWEST = ("sid", "forky", "trixie")
USERLAND_SUITE = "bookworm"     # busybox: the same on every board


def resolve(suite, arch):
    """The codename that "newest" stands for on this mirror."""
    if suite != "newest":
        return suite
    note = os.path.join(cache(), f"newest-{arch}")
    with contextlib.suppress(OSError), open(note) as file:
        noted = file.read().strip()
        if noted in NEWEST:
            return noted
    wrong = []
    for candidate in NEWEST:
        try:
            kernel(candidate, arch)
        except Failure as failure:
            if not isinstance(failure, NoSuite) or isinstance(failure, NoFile):
                wrong.append(failure)
            continue
        for failure in wrong:       # for now the next one does
            print(f"upmu: {failure}", file=sys.stderr)
        if not wrong:
            write(note, candidate + "\n")
        return candidate
    # What went wrong is told before what is only not there.
    raise min(wrong, key=lambda one: isinstance(one, NoSuite), default=NoSuite(
        f"the mirror has no kernel for {arch} in any of {', '.join(NEWEST)}"))


def _apt(suite, arch):
    return Apt(suite, arch.split("-")[0])


def _parts(apt, image):
    """The image package and, since 7.x, those that it was split into."""
    name = image[len("linux-image-"):]
    found = re.findall(rf"linux-(?:binary|modules)-{re.escape(name)}\b",
                       apt.field(image, "Depends"))
    return [image] + found


@functools.lru_cache(None)      # one and the same while a process runs
def kernel(suite, arch):
    """Folder with vmlinuz, release, modules and trees of a kernel."""
    if ownkernel.has(suite, arch):
        return ownkernel.kernel(suite, arch)
    try:
        return _debians(suite, arch)
    except NoFile:
        # The index, which may be a day old, has been renewed by that.
        return _debians(suite, arch)


def _debians(suite, arch, old=None):
    def fill(folder):
        apt = _apt(suite, arch)
        apt.ready(DAY_S)
        image = apt.depends(f"linux-image-{FLAVOURS[arch]}",
                            r"linux-image-[^ ,]+")
        name = image[len("linux-image-"):]
        for part in _parts(apt, image):
            apt.fetch(part, folder,
                      ["*/vmlinuz*", "*/config-*", "*/virtio*.ko*",
                       "*/bcm2835-rpi-zero*.dtb"])
        found = glob.glob(folder + "/**/vmlinuz*", recursive=True)
        if not found:
            raise Failure(f"{image} of {apt.name} holds no vmlinuz")
        os.rename(found[0], os.path.join(folder, "vmlinuz"))
        with open(os.path.join(folder, "release"), "w") as file:
            file.write(name + "\n")

    return obtain(f"kernels/{suite}-{arch}", fill, INDEX_LIFE_S, old)


def release(suite, arch):
    """What uname -r says on that kernel."""
    with open(os.path.join(kernel(suite, arch), "release")) as file:
        return file.read().strip()


def _relocate(folder, home):
    """Let the unpacked headers find each other where they will be."""
    for name in os.listdir(folder + "/usr/src"):
        path = os.path.join(folder, "usr/src", name, "Makefile")
        if not os.path.isfile(path):
            continue
        with open(path) as source:
            text = source.read()
        with open(path, "w") as target:
            target.write(text.replace("/usr/src/linux-",
                                      f"{home}/usr/src/linux-"))


def _tools(folder):
    """The native programs among what came with the headers."""
    for path in glob.glob(folder + "/usr/lib/linux-kbuild-*/**",
                          recursive=True):
        if os.path.isfile(path) and not os.path.islink(path):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def _newest_glibc(path):
    with open(path, "rb") as file:
        wanted = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", file.read())
    return max(((int(one), int(two)) for one, two in wanted), default=(0, 0))


def _bring_libc(folder, home, tools):
    """Let the suite's modpost run where the C library is older than its own:

    it is started by that suite's dynamic linker, unpacked beside it.
    """
    ours = os.confstr("CS_GNU_LIBC_VERSION") or "glibc 0.0"
    ours = tuple(int(word) for word in ours.split()[1].split(".")[:2])
    late = [path for path in _tools(folder) if _newest_glibc(path) > ours]
    if not late:
        return
    tools.fetch("libc6", folder + "/libc", ["*/lib/*.so*"])
    loaders = glob.glob(folder + "/libc/**/ld-linux*.so.*", recursive=True)
    if not loaders:
        raise Failure(f"libc6 of {tools.name} holds no dynamic linker")
    loader = home + loaders[0][len(folder):]
    for path in late:
        os.rename(path, path + ".elf")
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\nexec '{loader}' --library-path "
                       f"'{os.path.dirname(loader)}' "
                       f"'{home + path[len(folder):]}.elf' \"$@\"\n")
        os.chmod(path, 0o755)


def headers(suite, arch):
    """Kbuild's folder for exactly the kernel that kernel() gave."""
    cache_for_make()
    if ownkernel.has(suite, arch):
        return ownkernel.headers(suite, arch)
    old = kernel(suite, arch)
    try:
        return _headers_of(release(suite, arch), suite, arch)
    except NoSuite as failure:      # of a kernel that was replaced meanwhile
        print(f"upmu: {failure}; taking the kernel that it has now",
              file=sys.stderr)
    kernel.cache_clear()
    _debians(suite, arch, old)  # unless another board has by now
    return _headers_of(release(suite, arch), suite, arch)


def _headers_of(version, suite, arch):
    name = f"headers/{arch}-{version}"
    home = os.path.join(cache(), name)

    def fill(folder):
        apt = _apt(suite, arch)
        apt.ready()
        package = f"linux-headers-{version}"
        common = apt.depends(package, r"linux-headers-[^ ,]+-common[^ ,]*")
        kbuild = apt.depends(package, r"linux-kbuild-[^ ,]+")
        for one in (package, common):
            apt.fetch(one, folder)
        tools = Apt(suite, native())
        tools.ready()
        tools.fetch(kbuild, folder)
        _bring_libc(folder, home, tools)
        _relocate(folder, home)

    obtain(name, fill)
    return os.path.join(home, "usr/src/linux-headers-" + version)


def busybox(arch):
    """Path of a static busybox."""
    def fill(folder):
        apt = Apt(USERLAND_SUITE, arch)
        apt.ready()
        apt.fetch("busybox-static", folder)

    home = obtain(f"busybox/{USERLAND_SUITE}-{arch}", fill)
    for name in ("bin/busybox", "usr/bin/busybox"):
        path = os.path.join(home, name)
        if os.path.exists(path):
            return path
    raise Failure(f"busybox-static of {arch} holds no busybox")


def main():
    """kernels.py headers|release ARCH SUITE: for shell scripts."""
    what, arch, suite = sys.argv[1:]
    suite = resolve(suite, arch)
    print({"headers": headers, "release": release}[what](suite, arch))


if __name__ == "__main__":
    sys.exit(command("boards", main))
