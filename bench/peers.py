# SPDX-License-Identifier: MIT
"""What others' libraries cost beside ours: bench/peers.c for a board.

peers.py ARCH builds it with Debian's packages of PAPI and libcpucycles and
with the library in build/ARCH, and prints its path.
"""
import glob
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "boards"))

from debian import Apt, Failure, command, obtain    # noqa: E402

# Debian has no package of libperf, which comes with the kernel's sources only.
PACKAGES = [("bookworm", "libpapi-dev"), ("bookworm", "libpfm4-dev"),
            ("trixie", "libcpucycles-dev")]
COMPILERS = {"armhf": "arm-linux-gnueabihf-gcc",
             "arm64": "aarch64-linux-gnu-gcc"}


def libraries(arch):
    """Folder with headers and archives of the others."""
    def fill(folder):
        for suite, package in PACKAGES:
            apt = Apt(suite, arch)
            apt.ready()
            apt.fetch(package, folder, ["*/include/*", "*/lib/*"])

    return obtain(f"peers/{arch}", fill)


def build(arch):
    others, ours = libraries(arch), os.path.join(TOP, "build", arch)
    archives = {os.path.basename(path): path for path in
                glob.glob(others + "/usr/lib/**/*.a", recursive=True)}
    program = os.path.join(ours, "peers")
    try:
        named = [archives[name] for name in
                 ("libpapi.a", "libpfm.a", "libsde.a", "libcpucycles.a")]
    except KeyError as missing:
        raise Failure(f"no package of {arch} holds {missing}") from missing
    done = subprocess.run(
        [COMPILERS[arch], "-O2", "-static", "-s", "-I", TOP + "/include",
         "-I", ours + "/include", "-isystem", others + "/usr/include",
         TOP + "/bench/peers.c", ours + "/lib/libupmu.a", *named,
         "-lpthread", "-lm", "-o", program],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False)
    if done.returncode:
        raise Failure(f"bench/peers.c for {arch}:\n{done.stdout.strip()}")
    return program


def main():
    """peers.py ARCH"""
    print(build(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(command("bench", main))
