# SPDX-License-Identifier: MIT
"""Debian itself on a disk: boards/run --disk.

apt tells what the packages below need and fetches it; it is unpacked here, as
by the first stage of debootstrap, and configured on the board itself: neither
root nor an emulator of programs is needed.
"""
import contextlib
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))

import kernels      # noqa: E402
import table        # noqa: E402
from debian import (Apt, Failure, call, command, obtain,   # noqa: E402
                    progress)

SUITE = "bookworm"
# Which board sets up the disk of an architecture.
MAKER = {"armhf": "a15", "arm64": "a72"}
# The session is a unit of systemd's, which is in /run.
APPEND = (" systemd.wants=board.service systemd.getty_auto=no"
          " systemd.show_status=no")
# Where time leaps while all wait, a disk that is slow would be a task that hangs.
LEAPS = " sysctl.kernel.hung_task_timeout_secs=0"
TIMEOUT_S = 600
SIZE = "3G"     # sparse
MEMORY = 1024   # MiB, for a compiler

ESSENTIAL = """base-files base-passwd bash bsdutils coreutils dash debconf
    debianutils diffutils dpkg findutils grep gzip hostname init
    init-system-helpers libc-bin login mawk ncurses-base ncurses-bin passwd
    perl-base sed sysvinit-utils tar usr-is-merged util-linux""".split()
# What a machine with DKMS has beside that, and what tests Python's packages.
MORE = """apt dkms kmod procps python3 python3-pytest systemd systemd-sysv
    udev""".split()
# The board's kernel needs them to read the disk, before it has one.
MODULES = ["virtio_blk", "crc32c_generic", "ext4"]
FILES = ["ext4", "jbd2", "mbcache", "crc16", "crc32c*", "virtio_blk"]
# Nobody reads them on a board.
LEFT_OUT = ["usr/share/doc", "usr/share/locale", "usr/share/man",
            "usr/share/info"]

# On the board, with its own shell. What everything takes for granted comes
# first; a second round mends what missed something else.
FIRST = """
set -e
for block in /sys/block/vd*; do
    [ "$(cat $block/serial)" != system ] || disk=/dev/${block##*/}
done
mkdir /debian
mount -t ext4 $disk /debian
for folder in proc sys dev; do
    mount --bind /$folder /debian/$folder
done
in_debian() {
    chroot /debian /usr/bin/env -i LC_ALL=C DEBIAN_FRONTEND=noninteractive \\
        DEBCONF_NONINTERACTIVE_SEEN=true \\
        PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
for package in base-passwd mawk base-files; do
    in_debian dpkg --force-depends --configure $package
done
in_debian dpkg --configure -a || in_debian dpkg --configure -a
in_debian useradd -m -s /bin/bash -u 1000 user
in_debian depmod RELEASE
rm /debian/usr/sbin/policy-rc.d
umount /debian/proc /debian/sys /debian/dev /debian
"""


def _debs(release, arch, folder):
    """The files of all packages, in a folder."""
    apt = Apt(SUITE, arch)
    apt.ready()
    progress(f"{apt.name}: fetching Debian")
    os.makedirs(folder + "/partial")
    done = apt.ask("apt-get", "install", "-qy", "--no-install-recommends",
                   "--download-only", "-o", f"Dir::Cache::archives={folder}",
                   *ESSENTIAL, *MORE, f"linux-headers-{release}")
    if done.returncode:
        raise Failure(f"cannot fetch Debian for {arch}:\n"
                      f"{done.stdout.strip()[-2000:]}")
    return sorted(glob.glob(folder + "/*.deb"))


def _modules(release, arch, folder):
    """What the board's kernel needs to read the disk."""
    apt = Apt(SUITE, arch)
    apt.fetch(f"linux-image-{release}", folder,
              [f"*/{name}.ko" for name in FILES])


def _conffiles(info, tree):
    with contextlib.suppress(FileNotFoundError), \
            open(info + "conffiles") as file:
        for name in file.read().split():
            with open(tree + name, "rb") as conffile:
                yield name, hashlib.md5(conffile.read()).hexdigest()


def _status(control, conffiles):
    """The package's stanza in dpkg's status."""
    first, rest = control.split("\n", 1)
    lines = "".join(f" {name} {md5}\n" for name, md5 in conffiles)
    return (f"{first}\nStatus: install ok unpacked\n{rest}" +
            (f"Conffiles:\n{lines}" if lines else "") + "\n")


def _unpack(deb, tree):
    """As dpkg --unpack, but for its scripts; the stanza of its status."""
    control = call("dpkg-deb", "--field", deb)
    field = dict(re.findall(r"^(\S+): (.*)$", control, re.M))
    name = field["Package"]
    if field.get("Multi-Arch") == "same":
        name += ":" + field["Architecture"]
    info = f"{tree}/var/lib/dpkg/info/{name}."
    with tempfile.TemporaryDirectory() as folder:
        call("dpkg-deb", "--control", deb, folder)
        for part in os.listdir(folder):
            if part != "control":
                shutil.copy(f"{folder}/{part}", info + part)
    archive = f"{tree}/../archive"
    with open(archive, "wb") as file:
        subprocess.run(["dpkg-deb", "--fsys-tarfile", deb], stdout=file,
                       check=True)
    names = call("tar", "-tf", archive).splitlines()
    with open(info + "list", "w") as file:
        file.writelines((one[1:].rstrip("/") or "/.") + "\n"
                        for one in names)
    call("tar", "-xpf", archive, "-C", tree, "--keep-directory-symlink",
         "--numeric-owner", *(f"--exclude=./{one}/*" for one in LEFT_OUT))
    os.unlink(archive)
    return _status(control, _conffiles(info, tree))


# dpkg asks whether a service may be started: 101 is no.
NOT_NOW = "#!/bin/sh\nexit 101\n"
FIRST_FILES = (("etc/hostname", "board\n"), ("etc/fstab", ""),
               ("etc/hosts", "127.0.0.1 localhost board\n"),
               ("etc/machine-id", "uninitialized\n"),
               ("var/lib/dpkg/info/format", "1\n"),
               ("usr/sbin/policy-rc.d", NOT_NOW))


def make(folder, debs):
    """The disk, of packages' files; as root, or under fakeroot."""
    tree = folder + "/tree"
    os.makedirs(tree + "/var/lib/dpkg/info")
    os.makedirs(tree + "/etc")
    for name in ("bin", "sbin", "lib"):
        os.makedirs(f"{tree}/usr/{name}")
        os.symlink(f"usr/{name}", f"{tree}/{name}")
    stanzas = [_unpack(deb, tree) for deb in debs]
    for name, text in FIRST_FILES + (
            ("var/lib/dpkg/status", "".join(stanzas)),
            ("var/lib/dpkg/available", "")):
        with open(f"{tree}/{name}", "w") as file:
            file.write(text)
    os.chmod(tree + "/usr/sbin/policy-rc.d", 0o755)
    os.symlink("mawk", tree + "/usr/bin/awk")
    call("/sbin/mke2fs", "-q", "-t", "ext4", "-m", "0", "-d", tree,
         folder + "/disk", SIZE)
    shutil.rmtree(tree)


def _set_up(disk, release, arch):
    """Debian's own scripts, on the board."""
    progress("setting Debian up, on the board: minutes")
    call(os.path.join(HERE, "run"), MAKER[arch], "--no-build", "--set",
         "model=", "--memory", f"{MEMORY}M", "--timeout", "5400",
         "--kernel", SUITE, "--attach", disk,
         "--", FIRST.replace("RELEASE", release))


def fill(folder, release, arch):
    call(os.path.join(HERE, "../scripts/need"), "--ask", "e2fsprogs",
         "fakeroot")
    debs = _debs(release, arch, folder + "/debs")
    progress("unpacking Debian")
    as_root = [] if os.geteuid() == 0 else ["fakeroot"]
    call(*as_root, sys.executable, os.path.abspath(__file__), folder, *debs)
    shutil.rmtree(folder + "/debs")
    _modules(release, arch, folder)
    _set_up(folder + "/disk", release, arch)


def debian(release, arch):
    """The folder with the disk, and modules that read it."""
    return obtain(f"debian-disks/{SUITE}-{arch}-{release}",
                  lambda folder: fill(folder, release, arch))


class Disk:
    """--disk debian[:FILE], for a board."""

    def __init__(self, spec, board, suite):
        system, _, self.file = spec.partition(":")
        if system != "debian":
            raise Failure(f"--disk {spec}: there is no such system; debian is")
        if board["channel"] != "virtio":
            raise Failure(f"--disk: {board.name} has no disk")
        if suite != SUITE:
            raise Failure(f"--disk: there is a Debian {SUITE}, for a kernel "
                          "of it")
        arch = table.kernel_arch(board)
        if arch not in MAKER:
            raise Failure(f"--disk: there is no Debian with a kernel of {arch}")
        self.folder = debian(kernels.release(suite, arch), arch)

    def _kept(self):
        """The disk in a file of the user's, which the first use makes."""
        if not os.path.exists(self.file):
            work = f"{self.file}.{os.getpid()}.new"
            try:
                call("cp", "--sparse=always", self.folder + "/disk", work)
                os.rename(work, self.file)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(work)
        return self.file

    def words(self):
        """The emulator's options. Without a FILE, nothing is kept."""
        if self.file:
            return attached(self._kept())
        return attached(self.folder + "/disk", "snapshot=on,read-only=off")


def append(board):
    """More of the kernel's command line."""
    return APPEND + (LEAPS if "sleep=off" in board["qemu"] else "")


def attached(path, more="snapshot=off"):
    file = table.escaped(path)
    return ["-drive", f"file={file},format=raw,if=none,id=system,{more}",
            "-device", "virtio-blk-device,drive=system,serial=system"]


if __name__ == "__main__":
    sys.exit(command("boards/disk.py",
                     lambda: make(sys.argv[1], sys.argv[2:])))
