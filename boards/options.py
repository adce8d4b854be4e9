# SPDX-License-Identifier: MIT
"""The command line of boards/run."""
import argparse
import os
import re
import sys

ABOUT = """\
Boots an emulated board with a Debian kernel, runs COMMAND on it as root and
returns its exit status; 125 when the board itself failed. A COMMAND of one
word is a line for the board's shell. What is built from this tree is in
/upmu there, its programs in the PATH. Standard input reaches COMMAND.
Without COMMAND, on a terminal, it is a shell on the board."""

FILES = """\
FILES: HOST is a file or folder here. On the board it is GUEST, GUEST/NAME
where GUEST ends with a slash, and /NAME without GUEST. Links are followed. A
dynamic program brings its libraries along, into the board's /lib.
docs/programs.md has examples."""

SIZE = re.compile(r"(\d+)\s*([MG]?)(?:iB)?$", re.I)


def _mebibytes(text):
    found = SIZE.match(text)
    if not found:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no size; say 512M or 1G")
    return int(found[1]) * (1024 if found[2].upper() == "G" else 1)


def _seconds(text):
    try:
        if float(text) >= 0:
            return float(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"'{text}' is no time in seconds")


def _parser():
    parser = argparse.ArgumentParser(
        prog="boards/run",
        usage="boards/run NAME [OPTION...] [-- COMMAND...]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=ABOUT, epilog=FILES)
    parser.add_argument("name", nargs="?", metavar="NAME", help="a board")
    parser.add_argument("--list", action="store_true",
                        help="list the boards")
    parser.add_argument("--kernel", metavar="SUITE",
                        default=os.environ.get("UPMU_KERNEL"),
                        help="Debian suite that the kernel is taken from")
    parser.add_argument("--timeout", metavar="S", type=_seconds,
                        help="seconds until the board counts as hung (120; "
                        "a shell has none)")
    parser.add_argument("--memory", metavar="SIZE", type=_mebibytes,
                        help="the board's memory: 512M, 1G")
    parser.add_argument("--file", metavar="HOST[:GUEST]", action="append",
                        default=[], help="copy a file or folder to the "
                        "board; may be repeated")
    parser.add_argument("--get", metavar="GUEST[:HOST]", action="append",
                        default=[], help="copy a file or folder from the "
                        "board when COMMAND has ended, however it ended; "
                        "to HOST, or to its own name in this folder")
    parser.add_argument("--user", action="store_true",
                        help="run COMMAND as the ordinary user 'user' (1000, "
                        "member of group upmu, in a home of its own)")
    parser.add_argument("--before", metavar="LINE",
                        help="a line of shell that root runs before COMMAND")
    parser.add_argument("--console", metavar="FILE",
                        help="keep the kernel's console there")
    parser.add_argument("--disk", metavar="debian[:FILE]",
                        help="run COMMAND in Debian itself, its systemd and "
                        "apt, from a disk; FILE keeps the disk for the next "
                        "boot, without it each boot begins anew")
    # disk.py's: a disk that the command sets up, not one to boot from
    parser.add_argument("--attach", help=argparse.SUPPRESS)
    parser.add_argument("--set", metavar="FIELD=VALUE", action="append",
                        default=[], help="another value for a field that "
                        "the board has in table.ini")
    parser.add_argument("--no-build", action="store_true",
                        default=bool(os.environ.get("UPMU_NO_BUILD")),
                        help="take what is built already")
    parser.add_argument("--yes", action="store_true",
                        help="install missing packages without asking")
    parser.add_argument("--verbose", "-v", action="store_true",
                        help="say what is copied, and where to")
    return parser


def parse(words):
    """The options, and the words of the command (none: a shell)."""
    parser = _parser()
    command = []
    has_command = "--" in words
    if has_command:
        at = words.index("--")
        words, command = words[:at], words[at + 1:]
    options = parser.parse_args(words)
    options.shell = not has_command
    if options.list:
        return options, command
    if not options.name:
        parser.error("which board? see boards/run --list")
    if has_command and not command:
        parser.error("no command after --")
    if options.shell and not (sys.stdin.isatty() and sys.stdout.isatty()):
        parser.error("no command after --, and no terminal for a shell")
    return options, command
