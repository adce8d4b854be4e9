# SPDX-License-Identifier: MIT
"""Which tests there are for boards, and where each of them runs.

tests/boards/*.test tell it in the comment at their top, those that are no more
than a command on the board are rows of tests/boards/programs.ini.
"""
import configparser
import glob
import os
import re
import shlex
import subprocess
import sys

import debian
import one_plan
import ownkernel
from table import find as find_board

FOLDER = "tests/boards"
TABLE = f"{FOLDER}/programs.ini"
DEFAULT_TIMEOUT_S = 600
# A board that hangs says so before it is ended with its test.
EARLIER_S = 100
# What a run may say of itself, and no other.
SAYS = {"kernels": "|".join(("default", "all", "oldest",
                             *ownkernel.SUITES)),
        "tier": "default|all|debug|upstream", "timeout": r"[1-9]\d*",
        "debug": "no", "long": "yes"}
ROW = {"about", "boards", "command", "options", "joined"}


class Run:
    """Boards that a test runs on alike."""

    def __init__(self, boards):
        self.boards, self.kernels, self.tier = boards, "default", "default"
        self.timeout, self.debug, self.long = DEFAULT_TIMEOUT_S, "yes", "no"
        self.words = {}     # of the command

    def set(self, where, key, value):
        if not re.fullmatch(SAYS[key], value):
            raise debian.Failure(f"{where}: {key} '{value}' is none of "
                                 f"{SAYS[key]}")
        setattr(self, key, float(value) if key == "timeout" else value)

    def is_wanted(self, name, options):
        if options.upstream or self.tier == "upstream":
            return options.upstream and self.tier == "upstream"
        if self.tier == "all" and not options.all:
            return False
        if options.debug_kernel:
            return name.startswith("kmod_") and self.debug != "no"
        return self.tier != "debug"

    def own_kernel(self):
        """The name of the kernel that it wants, built by us, or None."""
        return self.kernels if self.kernels in ownkernel.SUITES else None

    def suits(self, board, suite):
        """Which of several runs is meant: that on this board and kernel."""
        if self.own_kernel() or suite != ownkernel.DEBUG:
            return board in self.boards, (
                self.own_kernel() == suite if suite in ownkernel.SUITES
                else self.tier != "debug" and not self.own_kernel())
        return board in self.boards, self.debug != "no"


def headers(path):
    """What the comment at a test's top says: (key, words), line by line."""
    with open(path, errors="replace") as file:
        for line in file:
            found = re.match(r"# ([a-z]+):\s*(.*)", line)
            if found:
                yield found[1], found[2].replace(",", " ").split()
            elif not re.match(r"#|\s*$", line):
                return


def _checked(where, runs):
    if not runs or not all(run.boards for run in runs):
        raise debian.Failure(f"{where}: no board that it runs on")
    return runs


def of_script(path):
    runs = []
    for key, words in headers(path):
        if key == "board":
            runs.append(Run(words))
        elif key == "long":
            raise debian.Failure(f"{path}: a long form is a row of {TABLE}")
        elif runs and key in SAYS:
            runs[-1].set(path, key, words[0] if words else "")
    return _checked(path, runs)


def _wanted(row):
    """The words that a row's command has room for."""
    return set(re.findall(r"%\((\w+)\)s", row.get("command", "", raw=True)))


def _words(row, words):
    """The command, and the options of boards/run, for a run's words."""
    # "%" begins a word in the table, not in what is given for one
    given = {key: value.replace("%", "%%") for key, value in words.items()}
    return row.get("command", vars=given), shlex.split(row.get("options", ""))


def of_row(row):
    where = f"{TABLE}: {row.name}"
    try:
        return _of_row(row, where)
    except (ValueError, configparser.Error) as error:
        raise debian.Failure(f"{where}: " + " ".join(str(error).split())
                             ) from None


def _of_row(row, where):
    runs = []
    for line in row.get("boards", "").strip().splitlines():
        words = [word.partition("=") for word in shlex.split(line)]
        runs.append(Run([name for name, equals, _ in words if not equals]))
        for key, equals, value in words:
            if key in SAYS:
                runs[-1].set(where, key, value)
            elif equals:
                runs[-1].words[key] = value
        wanted = _wanted(row)
        there = set(runs[-1].words) | set(row) - ROW
        wrong = wanted - there or there - wanted - set(row.parser.defaults())
        if wrong:
            raise debian.Failure(f"{where}: {sorted(wrong)[0]}: what the "
                                 "command wants, or a word that it does not")
        if not _words(row, runs[-1].words)[0]:
            raise debian.Failure(f"{where}: no command")
    return _checked(where, runs)


def table(path=TABLE):
    parser = configparser.ConfigParser()
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except (configparser.Error, UnicodeDecodeError) as error:
        raise debian.Failure(f"{path}: " + " ".join(str(error).split())
                             ) from None
    return parser


def _all():
    """{name: its runs}"""
    rows = table()
    found = {name: of_row(rows[name]) for name in rows.sections()}
    for path in glob.glob(f"{FOLDER}/*.test"):
        name = os.path.basename(path)[:-len(".test")]
        if name in found:
            raise debian.Failure(f"{TABLE}: '{name}' is a script, too")
        found[name] = of_script(path)
    return found


def runs():
    """Name, as it is asked for, and run of each test."""
    for name, found in sorted(_all().items()):
        for run in found:
            yield name + "_long" * (run.long == "yes"), run


def command(name, board, given=()):
    """(words, joined) that run a test on a board."""
    find_board(board)
    script = f"{FOLDER}/{name}.test"
    if os.path.exists(script):
        if given:
            raise debian.Failure(f"'{name}' is a script: it takes no words")
        return [script, board], False
    found = [run for one, run in runs() if one == name]
    if not found:
        raise debian.Failure(f"no board test '{name}'\n"
                             "hint: ./check --list --all boards")
    suite = os.environ.get("UPMU_KERNEL")
    run = max(found, key=lambda run: run.suits(board, suite))
    row = table()[name.removesuffix("_long")]
    given = dict(word.split("=", 1) for word in given)
    for key in given.keys() - _wanted(row):
        raise debian.Failure(f"'{name}' has no word '{key}'")
    line, options = _words(row, {**run.words, **given})
    return ["boards/run", board, "--timeout", f"{run.timeout - EARLIER_S:g}",
            *options, "--", line], row["joined"] == "yes"


def execute(words, joined):
    if not joined:
        return subprocess.call(words)
    with subprocess.Popen(words, stdout=subprocess.PIPE) as board:
        one_plan.join(board.stdout, sys.stdout.buffer)
    return board.returncode


def main(words):
    if len(words) < 2 or not all("=" in word for word in words[2:]):
        print("usage: tests/boards/run NAME BOARD [KEY=VALUE...]",
              file=sys.stderr)
        return 2
    try:
        status = execute(*command(*words[:2], words[2:]))
        # as a shell tells of a signal: a crash is forgiven by no repeat
        return 128 - status if status < 0 else status
    except debian.Failure as failure:
        print(f"tests/boards/run: {failure}", file=sys.stderr)
        return 125
