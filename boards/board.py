# SPDX-License-Identifier: MIT
"""boards/run: runs a command on an emulated board (see table.ini)."""
import argparse
import os
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import console      # noqa: E402
import debian       # noqa: E402
import image        # noqa: E402
import kernels      # noqa: E402
import table        # noqa: E402

QUIET = ("rdinit=/init console={console} panic=-1 loglevel=8 "
         "printk.devkmsg=on random.trust_bootloader=on "
         "rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60 {append}")

DEBUG_SLOWER = 5        # KASAN and lockdep, emulated


def print_list():
    boards = table.read()
    for name in boards.sections():
        board = boards[name]
        print(f"{name:6} {board['arch']:6} {board['suites'].split()[0]:9} "
              f"{board['about']}")


def build(board, kernel_arch, suite):
    """What is built from this tree, as (host path, guest path)."""
    arch = board["arch"]
    subprocess.run([os.path.join(HERE, "build"), arch], check=True,
                   stdin=subprocess.DEVNULL, stdout=sys.stderr)
    subprocess.run([os.path.join(HERE, "kmod"), kernel_arch, suite],
                   check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def built(board, kernel_arch, release):
    files = []
    programs = os.path.join(TOP, "build", board["arch"], "board")
    if os.path.isdir(programs):
        files.append((programs, "upmu"))
    module = os.path.join(TOP, "build/kmod", f"{kernel_arch}-{release}",
                          "upmu.ko")
    if os.path.exists(module):
        files.append((module, "upmu/upmu.ko"))
        peek = os.path.join(os.path.dirname(module), "upmu_peek.ko")
        if os.path.exists(peek):
            files.append((peek, "upmu/upmu_peek.ko"))
    return files


def parse(words):
    parser = argparse.ArgumentParser(
        prog="boards/run", usage="boards/run NAME [OPTION...] -- COMMAND...",
        description="Boots an emulated board with a Debian kernel, runs "
        "COMMAND on it as root and returns its exit status; 125 when the "
        "board itself failed. A COMMAND of one word is a line for the "
        "board's shell. What is built from this tree is in /upmu there, "
        "its programs in the PATH.", add_help=True)
    parser.add_argument("--list", action="store_true",
                        help="list the boards")
    parser.add_argument("--kernel", metavar="SUITE",
                        default=os.environ.get("UPMU_KERNEL"),
                        help="Debian suite that the kernel is taken from")
    parser.add_argument("--timeout", metavar="S", type=float, default=120,
                        help="seconds until the board counts as hung (120)")
    parser.add_argument("--file", metavar="HOST[:GUEST]", action="append",
                        default=[], help="copy a file or folder to the board")
    parser.add_argument("--console", metavar="FILE",
                        help="keep the kernel's console there")
    parser.add_argument("--set", metavar="FIELD=VALUE", action="append",
                        default=[], help="another value for a field that "
                        "the board has in table.ini")
    parser.add_argument("--no-build", action="store_true",
                        default=bool(os.environ.get("UPMU_NO_BUILD")),
                        help="take what is built already")
    parser.add_argument("name", nargs="?", help="a board")
    command = []
    if "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1:]
    options = parser.parse_args(words)
    if not options.list and not options.name:
        parser.error("which board? see boards/run --list")
    if not options.list and not command:
        parser.error("no command after --")
    return options, command


def shell_line(command):
    """Words are run as they are; a single one is a line for the shell."""
    return (command[0] if len(command) == 1
            else shlex.join(command)) + "\n"


def copied(specs):
    for spec in specs:
        host, _, guest = spec.partition(":")
        if not os.path.exists(host):
            raise debian.Failure(f"no such file: '{host}'")
        yield host, guest or os.path.basename(os.path.normpath(host))


def boot(options, command):
    board = table.find(options.name, options.set)
    kernel_arch = table.kernel_arch(board)
    suite = options.kernel or board["suites"].split()[0]
    if suite not in board["suites"].split() and not (
            suite == kernels.DEBUG and kernel_arch == "armhf"):
        raise debian.Failure(f"board {options.name} has no kernel suite "
                             f"'{suite}'; it has {board['suites']}")
    extra = list(copied(options.file))
    suite = kernels.resolve(suite, kernel_arch)
    kernel = kernels.kernel(suite, kernel_arch)
    release = kernels.release(suite, kernel_arch)
    busybox = kernels.busybox(board["arch"])
    if not options.no_build:
        build(board, kernel_arch, suite)
    token = secrets.token_hex(8)
    settings = (f"token={token} channel={board['channel']} "
                f"end={board['end']}\n")
    work = tempfile.mkdtemp(prefix="upmu-board-")
    try:
        ramdisk = os.path.join(work, "initramfs")
        image.initramfs(ramdisk, board, kernel, busybox,
                        os.path.join(HERE, "init"),
                        shell_line(command), settings,
                        built(board, kernel_arch, release) + extra)
        tree = os.path.join(work, "tree")
        image.device_tree(tree, board, kernel)
        words = board["qemu"].split() + [
            "-display", "none", "-monitor", "none", "-nic", "none",
            "-no-reboot",
            "-kernel", os.path.join(kernel, "vmlinuz"),
            "-initrd", ramdisk, "-dtb", tree, "-append",
            QUIET.format(console=board["console"], append=board["append"])]
        log = open(options.console, "wb") if options.console else None
        return console.run(board, options.name, words, token,
                           options.timeout *
                           (DEBUG_SLOWER if suite == kernels.DEBUG else 1),
                           log)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main():
    options, command = parse(sys.argv[1:])
    try:
        if options.list:
            print_list()
            return 0
        return boot(options, command)
    except debian.Failure as failure:
        print(f"boards/run: {failure}", file=sys.stderr)
    except subprocess.CalledProcessError as error:
        print(f"boards/run: '{' '.join(error.cmd)}' failed",
              file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 125


sys.exit(main())
