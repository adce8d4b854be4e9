# SPDX-License-Identifier: MIT
"""Imported first: ctrl-C ends a program that has not begun without a word.

Python would print where among its imports it was.
"""
import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def begin():
    """From now on: what was begun is tidied up."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
