# SPDX-License-Identifier: MIT
"""What others' libraries cost beside ours: bench/peers.c for a board.

peers.py ARCH builds it with Debian's packages of PAPI and libcpucycles, with
libperf of Debian's linux-source on arm64, where that reads registers, and with
the library in build/ARCH, and prints its path.
"""
import glob
import os
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "boards"))

from debian import Apt, Failure, command, native, obtain, untar  # noqa: E402

# Where each is had: the first suite whose index can be fetched.
PACKAGES = {"libpapi-dev": ("bookworm",), "libpfm4-dev": ("bookworm",),
            "libcpucycles-dev": ("trixie", "sid")}
COMPILERS = {"armhf": "arm-linux-gnueabihf-gcc",
             "arm64": "aarch64-linux-gnu-gcc"}

# What compilers of newer suites call functions that the cross compiler's libc
# has by their old names.
SAME = {"__isoc23_fscanf": "fscanf", "__isoc23_sscanf": "sscanf"}

# Debian has no package of libperf: the kernel's sources hold it.
LIBPERF = ["*/tools/" + part for part in
           ("lib/perf/*", "lib/api/*", "lib/*.c", "include/*", "build/*",
            "scripts/*", "arch/*/include/*")]


def fetch(package, suites, arch, folder):
    """From the first of these suites that gives it."""
    for suite in suites:
        try:
            apt = Apt(suite, arch)
            apt.ready()
            apt.fetch(package, folder, ["*/include/*", "*/lib/*"])
            return
        except Failure:
            if suite == suites[-1]:
                raise


def libraries(arch):
    """Folder with headers and archives of the others."""
    def fill(folder):
        for package, suites in PACKAGES.items():
            fetch(package, suites, arch, folder)

    return obtain(f"peers/{arch}", fill)


def run(*words):
    done = subprocess.run(words, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode:
        raise Failure(f"{words[0]}:\n{done.stdout.strip()[-2000:]}")


def libperf(arch):
    """Folder of the kernel's tools/lib/perf, built for arch."""
    def fill(folder):
        apt = Apt("bookworm", native())
        apt.ready()
        package = apt.depends("linux-source", r"linux-source-[\d.]+")
        apt.fetch(package, folder + "/package")
        archive = glob.glob(folder +
                            "/package/usr/src/linux-source-*.tar.*")[0]
        untar(package, folder, [*LIBPERF, "--strip-components=1", "-f",
                                archive])
        shutil.rmtree(folder + "/package")
        run("make", "-s", "-C", folder + "/tools/lib/perf", "ARCH=" + arch,
            "CROSS_COMPILE=" + COMPILERS[arch].removesuffix("gcc"),
            "libperf.a", folder + "/tools/lib/api/libapi.a")

    return obtain(f"peers/libperf-{arch}", fill) + "/tools/lib"


def build(arch):
    """The program's path; upmu's own library for @arch is built before."""
    run(os.path.join(TOP, "boards", "build"), arch)
    others, ours = libraries(arch), os.path.join(TOP, "build", arch)
    archives = {os.path.basename(path): path for path in
                glob.glob(others + "/usr/lib/**/*.a", recursive=True)}
    program = os.path.join(ours, "peers")
    try:
        named = [archives[name] for name in
                 ("libpapi.a", "libpfm.a", "libsde.a", "libcpucycles.a")]
    except KeyError as missing:
        raise Failure(f"no package of {arch} holds {missing}") from missing
    words = ["-I", TOP + "/include", "-I", ours + "/include",
             "-isystem", others + "/usr/include"]
    if arch == "arm64":
        kernels = libperf(arch)
        words += ["-DWITH_LIBPERF", "-isystem", kernels + "/perf/include"]
        named += [kernels + "/perf/libperf.a", kernels + "/api/libapi.a"]
    run(COMPILERS[arch], "-O2", "-static", "-s", *words, TOP + "/bench/peers.c",
        ours + "/lib/libupmu.a", *named, "-lpthread", "-lm",
        *(f"-Wl,--defsym={new}={old}" for new, old in SAME.items()),
        "-o", program)
    return program


def main():
    """peers.py ARCH"""
    print(build(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(command("bench", main))
