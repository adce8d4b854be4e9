# SPDX-License-Identifier: MIT
"""Prints a folder with foreign static libraries (lib, include) of ours.

Debian's foreign -dev packages are unpacked there, so that the machine's dpkg
need not learn another architecture.
"""
import quiet        # first
import glob
import os
import shutil
import sys
import tarfile

sys.dont_write_bytecode = True
import debian       # noqa: E402

# The release whose libc the cross compilers of a Debian 12 link with; older
# static libraries link with newer compilers, not the other way.
SUITE = "bookworm"
TRIPLETS = {"armhf": "arm-linux-gnueabihf", "armel": "arm-linux-gnueabi",
            "arm64": "aarch64-linux-gnu"}

# Debian has no static cmocka: its one file is compiled here.
CMOCKA_SUITE = "bookworm"
CMOCKA_CONFIG = [
    "HAVE_ASSERT_H", "HAVE_INTTYPES_H", "HAVE_SETJMP_H", "HAVE_STDARG_H",
    "HAVE_STDDEF_H", "HAVE_STDINT_H", "HAVE_STDIO_H", "HAVE_STDLIB_H",
    "HAVE_STRING_H", "HAVE_STRINGS_H", "HAVE_SYS_STAT_H", "HAVE_SYS_TYPES_H",
    "HAVE_TIME_H", "HAVE_UNISTD_H", "HAVE_CALLOC", "HAVE_EXIT",
    "HAVE_FPRINTF", "HAVE_FREE", "HAVE_LONGJMP", "HAVE_MALLOC",
    "HAVE_MEMCPY", "HAVE_MEMSET", "HAVE_PRINTF", "HAVE_SETJMP",
    "HAVE_SIGNAL_H", "HAVE_SIGLONGJMP", "HAVE_SNPRINTF", "HAVE_STRCMP",
    "HAVE_STRNCPY", "HAVE_STRSIGNAL", "HAVE_VSNPRINTF",
    "HAVE_CLOCK_GETTIME", "HAVE_CLOCK_REALTIME", "HAVE_STRUCT_TIMESPEC",
    "HAVE_GCC_THREAD_LOCAL_STORAGE",
]

CMOCKA = """\
prefix={home}
Name: cmocka
Description: unit tests
Version: 1.1.5
Libs: -L{home}/lib -lcmocka
Cflags: -I{home}/include
"""

JANSSON = """\
prefix={home}
Name: Jansson
Description: JSON
Version: 2.14
Libs: -L{home}/lib -ljansson
Cflags: -I{home}/include
"""


def jansson(folder, arch):
    apt = debian.Apt(SUITE, arch)
    apt.ready()
    apt.fetch("libjansson-dev", folder + "/deb")
    for path in glob.glob(f"{folder}/deb/usr/lib/*/*.a"):
        shutil.copy(path, folder + "/lib")
    for path in glob.glob(f"{folder}/deb/usr/include/**/*.h",
                          recursive=True):
        shutil.copy(path, folder + "/include")
    shutil.rmtree(folder + "/deb")


def cmocka_source(folder):
    apt = debian.Apt(CMOCKA_SUITE, debian.native(), "deb-src")
    apt.ready()
    # tarfile, because tar would want xz to be installed
    with tarfile.open(apt.source("cmocka", folder)) as archive:
        for member in archive.getmembers():
            _, _, member.name = member.name.partition("/")
            if member.isfile() and member.name.startswith(
                    ("src/", "include/")):
                archive.extract(member, folder)


def cmocka(folder, arch):
    source = debian.obtain("source/cmocka", cmocka_source)
    tool = TRIPLETS[arch] + "-"
    work = folder + "/cmocka"
    os.makedirs(work)
    with open(work + "/config.h", "w") as file:
        file.writelines(f"#define {name} 1\n" for name in CMOCKA_CONFIG)
    debian.call(tool + "gcc", "-O2", "-D_GNU_SOURCE", "-DHAVE_CONFIG_H", f"-I{work}",
                f"-I{source}/include", "-c", f"{source}/src/cmocka.c",
                "-o", work + "/cmocka.o")
    debian.call(tool + "ar", "rc", folder + "/lib/libcmocka.a", work + "/cmocka.o")
    shutil.copy(source + "/include/cmocka.h", folder + "/include")
    shutil.rmtree(work)


def fill(folder, arch, home):
    os.makedirs(folder + "/lib/pkgconfig")
    os.makedirs(folder + "/include")
    jansson(folder, arch)
    cmocka(folder, arch)
    for name, text in (("jansson", JANSSON), ("cmocka", CMOCKA)):
        with open(f"{folder}/lib/pkgconfig/{name}.pc", "w") as file:
            file.write(text.format(home=home))


def main():
    arch = sys.argv[1]
    home = os.path.join(debian.cache_for_make(), "sysroot", arch)
    print(debian.obtain(f"sysroot/{arch}",
                        lambda folder: fill(folder, arch, home)))


sys.exit(debian.command("boards/sysroot.py", main))
