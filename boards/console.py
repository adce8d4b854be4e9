# SPDX-License-Identifier: MIT
"""Runs the emulator: passes the command's output on, watches the console."""
import ctypes
import os
import re
import selectors
import signal
import subprocess
import sys
import time

from debian import Failure, progress

FAULTS = re.compile(
    r"upmu-board failed|Kernel panic|Internal error|Oops|BUG:|WARNING: |"
    r"------\[ cut here|"
    r"Unable to handle kernel|INFO: task .* blocked|detected stall|"
    r"Division by zero in kernel|"
    r"sysfs: cannot create duplicate|refcount_t:|UBSAN:|KASAN:|"
    r"kmemleak: (?!Kernel memory leak detector init)|"
    r"possible (?:recursive|circular) locking|suspicious RCU")
AFTER_FAULT_S = 3       # for the trace to be printed
TAIL_LINES = 40
PR_SET_PDEATHSIG = 1


class Interrupted(Exception):
    pass


def _interrupt(number, _frame):
    raise Interrupted(number)


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
        *whole, self.partial = (self.partial + data).split(b"\n")
        for line in whole:
            self._line(line.decode(errors="replace").rstrip("\r"))

    def _line(self, line):
        self.lines.append(line)
        found = self.marker.search(line)
        if found:
            self.status = int(found.group(1))
        elif not self.fault and FAULTS.search(line):
            self.fault, self.fault_at = line, time.monotonic()

    def tail(self):
        lines = self.lines + [self.partial.decode(errors="replace")]
        return "\n".join("  | " + line for line in lines[-TAIL_LINES:])


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

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def _channel_words(board, pipes):
    """Emulator options: console, out, err into the given descriptors."""
    words = []
    for name, fd in pipes.items():
        words += ["-chardev", f"file,id={name},path=/dev/fd/{fd}"]
    words += ["-serial", "chardev:console"]
    if board["channel"] == "virtio":
        words += ["-device", "virtio-serial-device"]
        for name in ("out", "err"):
            words += ["-device",
                      f"virtserialport,chardev={name},name=upmu.{name}"]
    else:
        words += ["-serial", "chardev:out"]
    return words


def _pass_on(data, fd):
    while data:
        data = data[os.write(fd, data):]


def _after(token, take):
    """A taker that drops all up to the line with the token."""
    mark, held = token.encode() + b"\n", bytearray()
    seen = False

    def taker(data):
        nonlocal seen
        if seen:
            return take(data)
        held.extend(data)
        at = held.find(mark)
        if at >= 0:
            seen = True
            take(bytes(held[at + len(mark):]))
    return taker


def _drain(readers):
    """What is still in the pipes after the emulator ended."""
    for reader, take in readers.items():
        while True:
            data = os.read(reader, 65536)
            if not data:
                break
            take(data)


def _watch(emulator, console, readers, deadline):
    """Until the board is done; why it failed, or None."""
    selector = selectors.DefaultSelector()
    for reader in readers:
        selector.register(reader, selectors.EVENT_READ)
    began = time.monotonic()
    while True:
        now = time.monotonic()
        if console.status is None:
            progress(f"board {emulator.name}: {now - began:.0f} s")
        for key, _ in selector.select(0.25):
            data = os.read(key.fd, 65536)
            if data:
                progress("")
                readers[key.fd](data)
            else:
                selector.unregister(key.fd)
        ended = emulator.process.poll() is not None
        if console.fault and (
                ended or now - console.fault_at > AFTER_FAULT_S):
            return f"kernel fault: {console.fault.strip()}"
        if console.status is not None and (
                ended or emulator.board["end"] == "kill"):
            return None
        if ended:
            return f"emulator ended with status {emulator.process.returncode}"
        if now > deadline:
            return "hung" if console.status is None else "did not power off"


def run(board, name, words, token, timeout_s, log):
    """Boot and watch. The command's status, or 125 for a board at fault."""
    console = Console(token, log)
    takers = {"console": console.feed,
              "out": lambda data: _pass_on(data, 1)}
    if board["channel"] == "virtio":
        takers["err"] = lambda data: _pass_on(data, 2)
    else:
        takers["out"] = _after(token, takers["out"])
    readers, writers = {}, {}
    for channel, take in takers.items():
        reader, writers[channel] = os.pipe()
        readers[reader] = take
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _interrupt)
    began = time.monotonic()
    emulator = None
    try:
        emulator = Emulator(board, name,
                            words + _channel_words(board, writers),
                            list(writers.values()))
        for fd in writers.values():
            os.close(fd)
        fault = _watch(emulator, console, readers, began + timeout_s)
        emulator.end()
        _drain(readers)
    except Interrupted as interrupted:
        number = interrupted.args[0]
        if emulator:
            emulator.end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    except BrokenPipeError:
        emulator.end()
        return 141
    finally:
        if emulator:
            emulator.end()
        progress("")
    if not fault and console.fault:
        fault = f"kernel fault: {console.fault.strip()}"
    if not fault:
        return console.status
    said = emulator.process.stdout.read().decode(errors="replace").strip()
    print(f"boards/run: {name}: {fault} "
          f"(after {time.monotonic() - began:.0f} s)"
          + (f"\n{said}" if said else "")
          + f"\nlast lines of the console:\n{console.tail()}",
          file=sys.stderr)
    return 125
