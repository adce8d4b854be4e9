# SPDX-License-Identifier: MIT
"""Reads table.ini, the one place where a board is described."""
import configparser
import os

from debian import Failure

HERE = os.path.dirname(os.path.abspath(__file__))


def read():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(os.path.join(HERE, "table.ini"))
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
    return boards[name]


def kernel_arch(board):
    return board.get("kernel", board["arch"])
