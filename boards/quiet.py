# SPDX-License-Identifier: MIT
"""Imported first: what a program takes for given.

Ctrl-C ends a program that has not begun without a word: Python would print
where among its imports it was. The three standard descriptors are there: a
file of ours that got one's number would become a child's input.
"""
import _signal      # at hand: signal itself takes a while to import

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import os           # noqa: E402
import signal       # noqa: E402
import sys          # noqa: E402

for number in range(3):
    try:
        os.fstat(number)
    except OSError:
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
sys.stdin = sys.stdin or open(0, closefd=False)
sys.stdout = sys.stdout or open(1, "w", closefd=False)
sys.stderr = sys.stderr or open(2, "w", closefd=False)


def flushed(function, *arguments):
    """function(*arguments), and what it printed is out: also where it exits,
    as for --help, when nobody could tell any more that it can't be written.
    """
    try:
        return function(*arguments)
    finally:
        sys.stdout.flush()


def begin():
    """From now on: what was begun is tidied up."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
