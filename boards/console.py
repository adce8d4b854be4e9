# SPDX-License-Identifier: MIT
"""Runs the emulator: passes the channels on, watches the console."""
import ctypes
import os
import re
import selectors
import signal
import subprocess
import sys
import time

from debian import Failure, progress
from patience import Limit, process_waited_s

FAULTS = re.compile(
    r"upmu-board failed|Kernel panic|Internal error|Oops|\bBUG:|WARNING: |"
    r"\bBUG [\w-]+ \(|irq \d+: nobody cared|"
    r"------\[ cut here|"
    r"Unable to handle kernel|INFO: task .* blocked|"
    r"detected (?:expedited )?stall|hard LOCKUP|non-static key|"
    r"Division by zero in kernel|"
    r"sysfs: cannot create duplicate|refcount_t:|UBSAN:|KASAN:|"
    r"kmemleak: (?!Kernel memory leak detector init)|"
    r"possible (?:recursive|circular) locking|suspicious RCU")
AFTER_FAULT_S = 3       # for the trace to be printed
TAIL_LINES = 40
LEFT = "ended by Ctrl-]"
PR_SET_PDEATHSIG = 1


def _die_with_parent():
    # even a kill -9 of this process leaves no emulator behind
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setpgid(0, 0)


class Console:
    """The kernel's console, line by line."""

    def __init__(self, token, log):
        self.marker = re.compile(rf"upmu-board {token} exit (\d+)")
        self.log = log
        self.lines, self.partial = [], b""
        self.status = self.fault = self.fault_at = None

    def feed(self, data):
        if self.log:
            self.log.write(data)
            self.log.flush()        # a signal may end us
        *whole, self.partial = (self.partial + data).split(b"\n")
        for line in whole:
            self._line(line)

    def _line(self, line):
        line = line.decode(errors="replace").rstrip("\r")
        self.lines.append(line)
        found = self.marker.search(line)
        if found:
            self.status = int(found.group(1))
        elif not self.fault and FAULTS.search(line):
            self.fault, self.fault_at = line, time.monotonic()

    def end(self):
        """Nothing more comes: a line that is cut off may tell a fault, too."""
        self._line(self.partial)
        self.partial = b""

    def said(self):
        """The kernel's fault in words, or None."""
        return self.fault and f"kernel fault: {self.fault.strip()}"

    def tail(self):
        return "\n".join("  | " + line for line in self.lines[-TAIL_LINES:])


class Emulator:
    def __init__(self, board, name, words, fds):
        try:
            self.process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, pass_fds=fds,
                preexec_fn=_die_with_parent)
        except FileNotFoundError:
            raise Failure(f"cannot start '{words[0]}'\n"
                          "hint: apt-get install qemu-system-arm")
        self.board, self.name = board, name
        self.began = time.monotonic()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class _Watch:
    """A running board, until it is done."""

    def __init__(self, emulator, console, channels, keyboard, is_shell):
        self.emulator, self.console = emulator, console
        self.channels, self.keyboard = channels, keyboard
        self.is_shell = is_shell
        self.began, self.said_s = time.monotonic(), None
        self.is_quiet = self.is_told = False

    def _take(self, key):
        """Pass on what a channel has; whether it goes on."""
        try:
            data = os.read(key.fd, 65536)
        except ConnectionResetError:
            return False
        take = self.channels.readers[key.fd]
        if data and take != self.console.feed and not self.is_quiet:
            progress("")            # its line would overwrite the output
            self.is_quiet = True
            if self.is_shell:
                self.keyboard.begin()
        take(data)
        return bool(data)

    def _say_how_long(self, seconds):
        if not self.is_quiet and seconds != self.said_s:
            progress(f"board {self.emulator.name}: {seconds} s")
            self.said_s = seconds

    def _fault(self, ended, now):
        """A kernel fault ends a board, but not a shell that still answers."""
        console = self.console
        said = console.said()
        if not said:
            return None
        if self.is_shell and not ended and console.status is None:
            if not self.is_told:
                print(f"\r\nboards/run: {said}\r", file=sys.stderr)
            self.is_told = True
            return None
        if ended or now - console.fault_at > AFTER_FAULT_S:
            return said
        return None

    def until_done(self, timeout_s):
        """Why the board failed, or None."""
        selector = selectors.DefaultSelector()
        for reader in self.channels.readers:
            selector.register(reader, selectors.EVENT_READ)
        console, process = self.console, self.emulator.process
        limit = timeout_s and Limit(
            timeout_s, lambda: process_waited_s(process.pid))
        while True:
            now = time.monotonic()
            self._say_how_long(int(now - self.began))
            for key, _ in selector.select(0.25):
                if not self._take(key):
                    selector.unregister(key.fd)
            ended = process.poll() is not None
            fault = self._fault(ended, now)
            if fault:
                return fault
            if console.status is not None and (
                    ended or self.emulator.board["end"] == "kill"):
                return None
            if ended:
                return f"emulator ended with status {process.returncode}"
            if self.keyboard.left:
                return LEFT
            if limit and limit.left_s() <= 0:
                return ("hung" if console.status is None
                        else "did not power off")


def run(emulator, console, channels, keyboard, is_shell, timeout_s):
    """Watch a board that was started. Why it failed, or None."""
    try:
        channels.started()
        if not is_shell:
            keyboard.begin()
        watch = _Watch(emulator, console, channels, keyboard, is_shell)
        fault = watch.until_done(timeout_s)
        emulator.end()
        channels.drain()
    finally:
        emulator.end()
        console.end()
        keyboard.end()
        progress("")
    return fault or console.said()


def _tell_the_check(line):
    """Whatever a test makes of our output and status, ./check reads this."""
    path = os.environ.get("UPMU_FAULTS")
    if path:
        with open(path, "a") as file:
            file.write(line + "\n")


def explain(name, fault, emulator, console):
    if fault == LEFT:
        print(f"boards/run: {name}: {fault}", file=sys.stderr)
        return
    said = emulator.process.stdout.read().decode(errors="replace").strip()
    line = (f"boards/run: {name}: {fault} "
            f"(after {time.monotonic() - emulator.began:.0f} s)")
    print(line + (f"\n{said}" if said else "")
          + f"\nlast lines of the console:\n{console.tail()}",
          file=sys.stderr)
    _tell_the_check(line)
