# SPDX-License-Identifier: MIT
"""Prints a folder with foreign static libraries (lib, include) of ours.

Debian's foreign -dev packages are unpacked there, so that the machine's dpkg
need not learn another architecture.
"""
import glob
import os
import shutil
import sys

sys.dont_write_bytecode = True
import debian       # noqa: E402

# The release whose libc the cross compilers of a Debian 12 link with; older
# static libraries link with newer compilers, not the other way.
SUITE = "bookworm"
TRIPLETS = {"armhf": "arm-linux-gnueabihf", "armel": "arm-linux-gnueabi",
            "arm64": "aarch64-linux-gnu"}

JANSSON = """\
prefix={home}
Name: Jansson
Description: JSON
Version: 2.14
Libs: -L{home}/lib -ljansson
Cflags: -I{home}/include
"""


def fill(folder, arch, home):
    apt = debian.Apt(SUITE, arch)
    apt.fresh() or apt.update()
    debian.unpack(apt.download("libjansson-dev"), folder + "/deb")
    os.makedirs(folder + "/lib/pkgconfig")
    os.makedirs(folder + "/include")
    for path in glob.glob(f"{folder}/deb/usr/lib/*/*.a"):
        shutil.copy(path, folder + "/lib")
    for path in glob.glob(f"{folder}/deb/usr/include/**/*.h",
                          recursive=True):
        shutil.copy(path, folder + "/include")
    shutil.rmtree(folder + "/deb")
    with open(folder + "/lib/pkgconfig/jansson.pc", "w") as file:
        file.write(JANSSON.format(home=home))


def main():
    arch = sys.argv[1]
    home = os.path.join(debian.cache(), "sysroot", arch)
    try:
        print(debian.obtain(f"sysroot/{arch}",
                            lambda folder: fill(folder, arch, home)))
    except debian.Failure as failure:
        sys.exit(f"boards/sysroot.py: {failure}")


main()
