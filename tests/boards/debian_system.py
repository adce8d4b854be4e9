# SPDX-License-Identifier: MIT
"""Debian itself, for a board: debian_system.py ARCH prints a tar archive.

It holds the packages below with all that they depend on, unpacked as
debootstrap's first stage does; no maintainer script has run. systemd is its
PID 1, and makes the users and groups that it needs when it starts.
"""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../boards"))

from debian import Apt, Failure, call, command, obtain  # noqa: E402

SUITE = "bookworm"
PACKAGES = ["base-files", "base-passwd", "bash", "coreutils", "dash",
            "diffutils", "findutils", "grep", "kmod", "libc-bin", "login",
            "mount", "passwd", "procps", "sed", "systemd", "systemd-sysv",
            "udev", "util-linux"]
# Nobody reads them on a board.
LEFT_OUT = ["usr/share/doc", "usr/share/locale", "usr/share/man",
            "usr/share/i18n", "usr/share/zoneinfo", "usr/lib/udev/hwdb.d"]


def _needed(apt):
    done = apt.ask("apt-get", "install", "-qq", "--no-install-recommends",
                   "--print-uris", *PACKAGES)
    names = re.findall(r"^'[^']*' ([^_ ]+)_", done.stdout, re.M)
    if not names:
        raise Failure(f"apt cannot tell what {apt.name} needs:\n"
                      f"{done.stdout.strip()}")
    return names


def _first_files(tree):
    """As base-passwd and the installer leave them."""
    for name in ("passwd", "group"):
        shutil.copy(f"{tree}/usr/share/base-passwd/{name}.master",
                    f"{tree}/etc/{name}")
    for name, text in (("shadow", ""), ("gshadow", ""), ("fstab", ""),
                       ("hostname", "board\n"), ("machine-id", "0" * 31 + "1\n")):
        with open(f"{tree}/etc/{name}", "w") as file:
            file.write(text)


def fill(folder, arch):
    apt = Apt(SUITE, arch)
    apt.ready()
    tree = folder + "/tree"
    os.makedirs(tree)
    for name in _needed(apt):
        apt.fetch(name, tree)
    _first_files(tree)
    for name in LEFT_OUT:
        shutil.rmtree(f"{tree}/{name}", ignore_errors=True)
    call("tar", "-cf", folder + "/system.tar", "--owner=0", "--group=0",
         "--numeric-owner", "-C", tree, ".")
    shutil.rmtree(tree)


def main():
    arch = sys.argv[1]
    print(obtain(f"debian/{SUITE}-{arch}", lambda folder: fill(folder, arch))
          + "/system.tar")


if __name__ == "__main__":
    sys.exit(command("debian_system.py", main))
