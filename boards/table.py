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


def find(name):
    boards = read()
    if name not in boards.sections():
        raise Failure(f"unknown board '{name}'; boards are "
                      f"{', '.join(boards.sections())}")
    return boards[name]


def kernel_arch(board):
    return board.get("kernel", board["arch"])
