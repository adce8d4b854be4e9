# SPDX-License-Identifier: MIT
"""Reads table.ini, the one place where a board is described."""
import configparser
import os
import re

import kernels
from debian import Failure

HERE = os.path.dirname(os.path.abspath(__file__))
PATH = os.path.join(HERE, "table.ini")
# What a board cannot be without, and what else is taken apart.
FORMS = {"about": r"(?s).+", "arch": r"armhf|armel|arm64", "suites": r"\S.*",
         "kernel": "|".join(["", *kernels.FLAVOURS]),
         "qemu": r"(?s)\S+ -M \S+.*", "pmu": r"|none|\S+ \S+",
         "perfmon": r"|[1-9]|1[0-5]", "memory": r"\d*",
         "memory_at": r"|[\da-e][\da-f]{0,7}",     # its image is behind it
         "channel": r"virtio|ttyS\d+", "end": r"poweroff|kill"}


def _check(name, board):
    for field, form in FORMS.items():
        value = board.get(field, "")
        if not re.fullmatch(form, value):
            raise Failure(f"board '{name}': '{value}' is no {field}\n"
                          f"hint: boards/table.ini tells what it may be")
    if not re.search(r" -m \d", board["qemu"]) and not board["memory"]:
        raise Failure(f"board '{name}': neither its qemu nor its memory tells "
                      "how much memory it has")


def read():
    parser = configparser.ConfigParser(interpolation=None)
    try:
        with open(PATH, encoding="utf-8") as file:
            parser.read_file(file)
    except (configparser.Error, UnicodeDecodeError) as error:
        raise Failure(f"{PATH}: " + " ".join(str(error).split())) from None
    for name in parser.sections():
        _check(name, parser[name])
    return parser


def find(name, changes=()):
    """The board `name`, with FIELD=VALUE for each of changes."""
    boards = read()
    if name not in boards.sections():
        raise Failure(f"unknown board '{name}'; boards are "
                      f"{', '.join(boards.sections())}")
    for change in changes:
        field, equals, value = change.partition("=")
        if not equals or field not in boards[name]:
            raise Failure(f"'{change}' does not set a field of a board; "
                          f"fields are {', '.join(boards[name])}")
        boards[name][field] = value
    _check(name, boards[name])
    return boards[name]


def escaped(path):
    """A path among the emulator's options, which commas part."""
    return path.replace(",", ",,")


def kernel_arch(board):
    return board.get("kernel") or board["arch"]
