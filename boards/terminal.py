# SPDX-License-Identifier: MIT
"""Standard input on its way to a board; the terminal of a shell there."""
import contextlib
import os
import select
import shutil
import signal
import socket
import sys
import termios
import threading
import time
import tty

LEAVE = b"\x1d"         # Ctrl-], as telnet has it
WAIT_S = 0.2


class Input:
    """Passes standard input on to `writer`, a socket."""

    def __init__(self, writer, is_shell):
        self.writer, self.is_shell = writer, is_shell
        self.left = False       # the user wants to leave at once
        self.saved = None

    def begin(self):
        if self.writer is None:
            return
        if self.is_shell and self.saved is None:
            self.saved = termios.tcgetattr(0)
            tty.setraw(0, termios.TCSADRAIN)
        # Read in the background, a terminal is to fail, not to stop us.
        signal.signal(signal.SIGTTIN, signal.SIG_IGN)
        threading.Thread(target=self._pass_on, daemon=True).start()

    def end(self):
        if self.saved is not None:
            termios.tcsetattr(0, termios.TCSADRAIN, self.saved)
            self.saved = None

    def _read(self):
        while True:
            try:
                select.select([0], [], [])
                return os.read(0, 65536)
            except BlockingIOError:
                continue                # another reader was faster
            except OSError:
                if not os.isatty(0) or os.getpgrp() == os.tcgetpgrp(0):
                    return b""
                time.sleep(WAIT_S)      # until we are in the foreground

    def _pass_on(self):
        try:
            while True:
                data = self._read()
                if not data:
                    break
                if self.is_shell and LEAVE in data:
                    self.left = True
                    break
                self.writer.sendall(data)
        except OSError:
            pass                # the board has ended
        if not self.left:
            # not close: what was not read yet is to arrive
            with contextlib.suppress(OSError):
                self.writer.shutdown(socket.SHUT_WR)


def is_empty():
    """Whether standard input is closed or /dev/null: no channel for it."""
    try:
        return os.path.samestat(os.fstat(0), os.stat(os.devnull))
    except OSError:
        return True


def settings():
    """What the board's shell is to know of this terminal, as shell code."""
    columns, rows = shutil.get_terminal_size((80, 24))
    name = "".join(c for c in os.environ.get("TERM", "vt102")
                   if c.isalnum() or c in "-+._")
    return f"rows={rows} columns={columns} TERM={name}"


def greet(name, user):
    print(f"board {name}: a shell as {'user' if user else 'root'}; Ctrl-D or "
          "exit leaves it, Ctrl-] ends the board at once", file=sys.stderr)
